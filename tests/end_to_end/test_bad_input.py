"""Whatever is wrong: one message that says what to do, the documented exit code, nothing lost; what may be resumed."""

import gzip
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from scalograph.control.store import Store
from scalograph.findings import table
from tests.kit.command import LONG_S, environment, in_process, machine, shell, study
from tests.kit.processes import pids_with, wait_until, write_program
from tests.kit.refusals import Refusal, check, rows
from tests.kit.results import complete, events_in, findings_in, records_in, run_names_in

# The number of runs is then the design's, however busy this machine is.
ONCE = "max_reruns = 0\n"


def test_every_mistake_of_a_study_at_once(tmp_path: Path) -> None:
    more = 'colour = "red"\n[[exclude]]\nm = [1]\n[quick]\nfactors = { n = [2] }\n'
    file = study(tmp_path, '["true", "{N}"]', more=more)
    file.write_text(file.read_text().replace("runs = 2", 'runs = "2"').replace("seed = 1", ""))
    done = complete("check", file, cwd=tmp_path, codes=(2,))
    places = [line.split(": ")[2] for line in done.stderr.splitlines() if line.startswith("error: ")]
    wrong = ["seed", "workload.command", "factors.n", "protocol.runs", "protocol.colour", "exclude[0].m"]
    assert places == [*wrong, "quick.factors.n"]


def test_plan_for_a_host_that_is_not_looked_at(tmp_path: Path) -> None:
    java = write_program(tmp_path / "java", f"touch {tmp_path}/started")
    more = '[factors.cpus]\ncontrol = "cpus"\nlevels = "1:all:*2"\n'
    more += f'[factors.which]\ncontrol = "jvm"\nlevels = ["{java}"]\n'
    file = study(tmp_path, '["{java}", "{n}"]', more=more)
    done = complete("plan", file, "--no-host", "--cpus", 64, "--json", cwd=tmp_path, codes=(0,))
    assert json.loads(done.stdout)["host"] == {"assumed": True, "n_cpus": 64}
    assert json.loads(done.stdout)["configurations"] == 14
    assert "host: assumed, 1 CPU " in in_process("plan", file, "--no-host", cwd=tmp_path).stdout
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize(("protocols", "is_right"), [
    # More confidence is worth fewer effects; no more runs are promised than a precision may leave.
    ([(2, 'confidence = "90%"\n'), (2, 'confidence = "99%"\n')], lambda low, high: low < high),
    ([(200, ""), (200, 'precision = "10%"\n'), (101, "")], lambda most, left, half: most < left == half),
], ids=["confidence", "precision"])  # fmt: skip
def test_detectable_effects(tmp_path: Path, protocols: list[tuple[int, str]], is_right: Callable[..., bool]) -> None:
    effects = []
    for runs, more in protocols:
        file = study(tmp_path, '["true", "{n}"]', runs=runs, more=more)
        done = in_process("plan", file, "--no-host", "--json", cwd=tmp_path)
        effects.append(json.loads(done.stdout)["detectable_percent"])
    assert is_right(*effects), effects


@pytest.mark.parametrize(("arguments", "last"), [((), "doctor"), (("find",), "tunables")])
def test_a_group_without_a_command_prints_its_whole_help(tmp_path: Path, arguments: Sequence[str], last: str) -> None:
    done = in_process(*arguments, cwd=tmp_path)
    commands = done.stderr.partition("\n  --help ")[2]
    assert f"\n  {last} " in commands and "..." not in commands and "characters)" not in commands


# What a program does, the status of its runs and their reason, and what else its workload declares.
FAILS = [
    ("exit 3", "failed", "3", ""),
    ("kill -SEGV $$", "signal", "", ""),
    ("sleep 60", "timeout", "", ""),
    ("echo lost >&2; exit 69", "failed", "lost", ""),
    ("echo ready to go >&3", "protocol", "ready to go", "\nevents = true"),
]


@pytest.mark.parametrize(("script", "status", "reason", "declared"), FAILS)
def test_a_failing_workload_is_a_record(tmp_path: Path, script: str, status: str, reason: str, declared: str) -> None:
    command = f"['sh', '-c', '[ {{n}} = 1 ] || {{{{ {script}; }}}}']{declared}"
    file = study(tmp_path, command, timeout="500ms" if status == "timeout" else "10s", more=ONCE)
    complete("run", file, "-o", "results", cwd=tmp_path, codes=(4,))
    runs = events_in(tmp_path / "results", "run")
    assert len(runs) == 4
    bad = [event["record"]["run"] for event in runs if event["configuration"] == {"n": 2}]
    assert [run["status"] for run in bad] == [status, status]
    assert all(reason in run["reason"] for run in bad)
    found = findings_in(tmp_path / "results")
    assert found["runs"]["n_failed"] == 2 and found["runs"]["n_empty"] == 1
    assert found["trust"]["level"] != "reliable"


def test_what_forks_and_leaves_is_gone(tmp_path: Path) -> None:
    mark = f"{os.getpid()}.75"
    file = study(tmp_path, f"['sh', '-c', 'setsid sleep {mark} & exit 0', '{{n}}']", runs=1, more=ONCE)
    complete("run", file, "-o", "results", cwd=tmp_path)
    assert pids_with("sleep", mark) == []
    assert [record["run"]["n_survivors"] for record in records_in(tmp_path / "results")] == [1, 1]


@pytest.mark.guarantee
@machine
def test_a_full_disk_loses_nothing_that_was_measured(tmp_path: Path) -> None:
    file = study(tmp_path, '["true", "{n}"]', runs=20, more=ONCE)
    # Compiled modules are files, too: one that is cut short would break later starts.
    limited = 'export PYTHONDONTWRITEBYTECODE=1; ulimit -f 24; exec scalograph run "$1" -o results'
    done = shell(limited, file, cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "cannot be written: File too large" in done.stderr.replace("\n", " ")
    before = (tmp_path / "results" / "journal.jsonl").read_bytes().count(b'"event":"run"')
    assert 0 < before < 40
    complete("run", file, "-o", "results", "--resume", cwd=tmp_path)
    runs = run_names_in(tmp_path / "results")
    assert len(runs) == len(set(runs)) == 40


@machine
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv (util-linux)")
def test_no_permission_to_write(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    file = study(tmp_path, '["true", "{n}"]')
    for folder in (tmp_path, *tmp_path.parents):
        if folder.owner() == "root" and folder.name.startswith(("pytest-", "popen-")):
            folder.chmod(0o755)
    unprivileged = 'exec setpriv --reuid=65534 --regid=65534 --clear-groups scalograph run "$1" -o "$2"'
    done = shell(unprivileged, file, tmp_path / "results", cwd=Path("/"), env={"HOME": "/"})
    if "Permission denied" in done.stderr and "scalograph" not in done.stderr:
        pytest.skip("the unprivileged user cannot reach the program")
    assert done.returncode == 3, done.stderr
    assert "cannot be made: Permission denied" in done.stderr


def test_a_truncated_journal_is_read_and_said_so(finished: Path, tmp_path: Path) -> None:
    file = finished / "journal.jsonl"
    file.write_bytes(file.read_bytes()[:-10])
    done = complete("analyze", "results", "--json", cwd=tmp_path, codes=(0,))
    assert any("a torn last line" in text for text in json.loads(done.stdout)["warnings"])
    done = complete("export", "journal.jsonl", "--to", "x.csv", cwd=finished, codes=(0,))
    assert "warning: journal.jsonl:" in done.stderr and "was dropped" in done.stderr


BOMB = gzip.compress(json.dumps({"event": "study", "protocol": 1}).encode() + b"\n" + b"x" * (64 << 20))


@pytest.mark.parametrize(("name", "content"), [
    *(("journal.jsonl", text) for text in (b"", b"hello\n", b'{"event":"study","protocol":9}\n', b"\x00" * 100)),
    pytest.param("journal.jsonl.gz", BOMB, id="a bomb is bounded"),
])  # fmt: skip
def test_an_unreadable_journal(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    for command in (["analyze", "."], ["report", "."], ["export", ".", "--to", "x.csv"]):
        done = complete(*command, cwd=tmp_path, codes=(6,))
        assert "journal.jsonl" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.guarantee
@machine
def test_two_studies_never_measure_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = study(tmp_path, '["sleep", "3{n}"]', runs=1, timeout="60s")
    first = subprocess.Popen(["scalograph", "run", str(file), "-o", "first"], cwd=tmp_path, env=environment())
    wait_until(lambda: (tmp_path / "first" / "journal.jsonl").exists() or first.poll() is not None, LONG_S)
    assert first.poll() is None
    argv = ["scalograph", "run", str(file), "-o", "told"]
    with subprocess.Popen(argv, cwd=tmp_path, env=environment(), stderr=-1, text=True) as told:
        assert told.stderr and "wait" in told.stderr.readline()
        told.send_signal(signal.SIGTERM)
        assert told.wait(timeout=LONG_S) == 143
    monkeypatch.setattr("scalograph.cli.pipeline.WAIT_S", 0.2)
    second = in_process("run", file, "-o", "second", cwd=tmp_path, store=Store.locate())
    first.send_signal(signal.SIGTERM)
    assert first.wait(timeout=LONG_S) == 143
    assert second.returncode == 3, second.stderr
    assert not (tmp_path / "second").exists()


@pytest.mark.parametrize(
    ("lose", "found"), [("rm -r", "was removed"), ("mv -T --backup=numbered", "was moved")], ids=["removed", "moved"]
)
def test_results_that_lose_their_place_end_a_study_at_once(tmp_path: Path, lose: str, found: str) -> None:
    there, elsewhere = tmp_path / "results", tmp_path / "elsewhere"
    words = ["sh", "-c", f"{lose} {there} {elsewhere} 2>/dev/null; echo {{n}} >> {tmp_path}/runs"]
    file = study(tmp_path, json.dumps(words), runs=20, more=ONCE)
    done = complete("run", file, "-o", "results", cwd=tmp_path, codes=(3,))
    assert f"results/journal.jsonl: {found} while the study ran" in done.stderr and "Traceback" not in done.stderr
    assert len((tmp_path / "runs").read_text().split()) == 1
    if elsewhere.exists():
        elsewhere.rename(there)
        file.write_text(file.read_text().replace(lose, ":"))
        accepted = ["--resume", "--accept-difference", "study_hash"]
        complete("run", file, "-o", "results", *accepted, cwd=tmp_path)
        assert len(run_names_in(there)) == 40


@pytest.mark.usefixtures("finished")
def test_results_are_never_overwritten_and_a_link_in_the_place_of_a_file_of_ours_leads_nowhere(tmp_path: Path) -> None:
    done = complete("run", "study.toml", "-o", "results", cwd=tmp_path, codes=(2,))
    assert "go on with: scalograph run" in done.stderr
    victim = tmp_path / "victim"
    for name in ("out.csv", "out.csv.part", "taken/journal.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).symlink_to(victim)
    complete("export", "results", "--to", "out.csv", cwd=tmp_path, codes=(0,))
    done = complete("run", "study.toml", "-o", "taken", cwd=tmp_path, codes=(3,))
    assert "taken/journal.jsonl: cannot be written: it is a link, expected a plain file\nhint: remove it" in done.stderr
    assert not victim.exists()


def test_a_mistyped_path_is_not_the_folder_that_it_would_be_in(finished: Path, tmp_path: Path) -> None:
    (finished / "findings.json").unlink()
    for command in ("analyze", "report", "profile", ["export", "--to", "x.csv"], ["plan", "study.toml", "--earlier"]):
        words = [command] if isinstance(command, str) else command
        done = complete(*words, "results/typo", cwd=tmp_path, codes=(6,))
        assert done.stderr.startswith("error: results/typo: no such file, expected a results folder or a journal")
    assert not (finished / "findings.json").exists()


@pytest.mark.parametrize("refusal", rows(Path(__file__).parent / "refusals.toml"))
def test_it_is_one_message_and_nothing_is_left(tmp_path: Path, refusal: Refusal) -> None:
    check(refusal, tmp_path)
    assert not (tmp_path / "scalograph-results").exists()


RESUME = ("run", "study.toml", "-o", "results", "--resume")


def blocks_of(folder: Path) -> set[str]:
    return {str(run)[:5] for run in run_names_in(folder)}


# A file of a finished study, what is edited in it, which differences are accepted, and what is said.
DIFFERENT = [
    ("study.toml", '"1,2"', '"1,2,3"', ["study_hash", "configurations"], ["resume: configurations", "start over"]),
    ("study.toml", "runs = 2", "runs = 3", [], ["study.protocol.runs: now 3, expected 2 as in the journal"]),
    ("prog", "exit 0", "exit 0 # edited", [], ["resume: study_hash"]),
    ("results/journal.jsonl", r'"cpu_model":\s*"[^"]*"', '"cpu_model":"Another CPU"', [],
     ["resume: cpu_model", "--accept-difference cpu_model"]),
]  # fmt: skip


@pytest.mark.guarantee
@pytest.mark.parametrize(("name", "old", "new", "accepted", "told"), DIFFERENT)
def test_what_differs_does_not_resume_and_the_difference_is_shown(
    finished: Path, tmp_path: Path, name: str, old: str, new: str, accepted: list[str], told: list[str]
) -> None:
    text = (tmp_path / name).read_text()
    edited = re.sub(old, new, text, count=1)
    assert edited != text
    (tmp_path / name).write_text(edited)
    before = (finished / "journal.jsonl").read_bytes()
    options = [word for difference in accepted for word in ("--accept-difference", difference)]
    said = " ".join(complete(*RESUME, *options, cwd=tmp_path, codes=(2,)).stderr.split())
    assert [words for words in told if words not in said] == []
    assert (finished / "journal.jsonl").read_bytes() == before


@pytest.mark.guarantee
def test_a_changed_study_resumes_where_the_difference_is_accepted(finished: Path, tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(file.read_text().replace("runs = 2", "runs = 3"))
    complete(*RESUME, "--accept-difference", "study_hash", cwd=tmp_path)
    assert [event["accepted"] for event in events_in(finished, "resume")] == [["study_hash"]]


@pytest.mark.guarantee
def test_a_finished_study_gets_further_runs_and_then_resumes_to_nothing(finished: Path, tmp_path: Path) -> None:
    before, ended = run_names_in(finished), table.load(finished / "journal.jsonl").ended
    again = complete(*RESUME, cwd=tmp_path)
    assert f"nothing left to run, {len(before)} runs done before" in again.stderr
    assert run_names_in(finished) == before and events_in(finished)[-1]["event"] == "end"
    assert table.load(finished / "journal.jsonl").ended == ended
    complete(*RESUME, "--runs", "4", cwd=tmp_path)
    after = run_names_in(finished)
    assert after[: len(before)] == before and blocks_of(finished) == {f"b000{block}" for block in range(4)}
    assert {tuple(event["accepted"]) for event in events_in(finished, "resume")} == {()}
    plain = in_process(*RESUME, cwd=tmp_path)
    assert "nothing left to run" in plain.stderr and run_names_in(finished) == after
    assert set(table.load(finished / "journal.jsonl").n_asked) == {4}


@pytest.mark.guarantee
def test_further_runs_that_were_interrupted_go_on(finished: Path, tmp_path: Path) -> None:
    n = len(run_names_in(finished))
    in_process(*RESUME, "--runs", "4", "--max-runs", str(n + 2), cwd=tmp_path)
    assert n < len(run_names_in(finished)) and "b0003" not in blocks_of(finished)
    in_process(*RESUME, cwd=tmp_path)
    assert blocks_of(finished) == {f"b000{block}" for block in range(4)}
