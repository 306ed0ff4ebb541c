"""Published studies by one command: run, killed at any moment, gone on with, shown on one page."""

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from scalograph.cli.pipeline import StudyStart
from scalograph.cli.reproduce import reproduce_parts
from scalograph.cli.reproduce.reproduce_results import ReproductionRun
from scalograph.control import store
from scalograph.errors import HostError
from scalograph.study.catalogue import OpenedCatalogue
from scalograph.study.declare import Declared
from scalograph.study.load import parse
from tests.kit.command import LONG_S, environment, in_process, machine, scalograph, simulated
from tests.kit.results import complete, findings_in, run_names_in
from tests.unit.cli.reproduced import SLEEP, STUDY, catalogue

PARTS = ("one", "two")
WALLS = {f"sleep 0.05{n}": 0.05 for n in (1, 2)}


def made(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "reproduction.json").read_text()))


def states(folder: Path) -> dict[str, str]:
    return {part["study"]: part["state"] for part in made(folder)["parts"]}


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """The exit code and what was said."""
    said = process.communicate(timeout=LONG_S)[1]
    return process.returncode, said


def under_way(tmp_path: Path, part: str) -> "subprocess.Popen[str]":
    """A reproduction of which some runs of this part are finished."""
    file = catalogue(tmp_path, runs=8)
    argv = ["scalograph", "reproduce", "--catalogue", str(file), "-o", "results", "--when-busy", "report"]
    process = subprocess.Popen(argv, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True)
    journal, limit = tmp_path / "results" / part / "journal.jsonl", time.monotonic() + LONG_S
    while not journal.exists() or journal.read_bytes().count(b'"event":"verdict"') < 3:
        assert process.poll() is None and time.monotonic() < limit
        time.sleep(0.01)
    return process


@pytest.mark.guarantee
@machine
@pytest.mark.parametrize(
    ("number", "code", "part"),
    [(signal.SIGKILL, -signal.SIGKILL, "two"), (signal.SIGINT, 130, "one"), (signal.SIGTERM, 143, "two")],
)
def test_it_goes_on_where_it_was_and_runs_nothing_twice(
    tmp_path: Path, number: signal.Signals, code: int, part: str
) -> None:
    process = under_way(tmp_path, part)
    process.send_signal(number)
    returned, said = ended(process)
    assert returned == code, said
    results = tmp_path / "results"
    assert states(results)[part] == "begun" and made(results)["ended"] is None
    if number != signal.SIGKILL:
        assert "nothing finished is lost" in said and "scalograph reproduce --resume -o results" in said
        assert "--when-busy report" in said
    before = {name: run_names_in(results / name) if (results / name).exists() else [] for name in PARTS}
    complete("reproduce", "--resume", "-o", "results", "--catalogue", "published.toml", cwd=tmp_path)
    for name in PARTS:
        after = run_names_in(results / name)
        assert after[: len(before[name])] == before[name] and len(set(after)) == len(after) >= 16
    if part == "two":
        assert run_names_in(results / "one") == before["one"]
    assert set(states(results).values()) == {"done"} and made(results)["ended"]
    assert all(f'href="{name}/report.html"' in (results / "reproduce.html").read_text() for name in PARTS)
    assert all((results / name / "report.html").exists() for name in PARTS)


def test_its_end_is_counts_of_claims_and_places(tmp_path: Path) -> None:
    file = catalogue(tmp_path)
    (tmp_path / "one.old").mkdir()  # somebody's own
    busy = ("--wait-quiet", "1s", "--when-busy", "cpu-time")
    done = complete("reproduce", "--quick", "--catalogue", file, *busy, cwd=tmp_path)
    assert (tmp_path / "one.old").is_dir()
    assert "part 1 of 2: one: 2 configurations" in done.stderr and "2 parts to run, at most 2 min" in done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 25
    # Of sleeps on a real machine claims may stay open. The path of the catalogue is long, and a command is never cut.
    further = f"further scalograph reproduce --resume --catalogue {file} {' '.join(busy)} --more 5min"
    lines = lines[:-1] if lines[-1] == further else lines
    assert max(map(len, lines)) <= 80
    assert "of 3 claims of one published study" in lines[0] and "quick forms" in done.stdout
    assert lines[-2].split() == ["page", "scalograph-results/reproduce/latest/reproduce.html"]
    folder = tmp_path / "scalograph-results" / "reproduce" / "latest"
    document = made(folder)
    (study,) = document["studies"]
    assert study["outcomes"]["P0-3"] == "not yet" and set(study["outcomes"]) == {"P0-1", "P0-2", "P0-3"}
    assert len(run_names_in(folder / "one")) >= 4 and document["quick"] is True
    for part in PARTS:
        protocol = json.loads((folder / part / "journal.jsonl").read_text().splitlines()[0])["study"]["protocol"]
        assert (protocol["wait_quiet_s"], protocol["when_busy"]) == (1.0, "cpu-time")
    page = (folder / "reproduce.html").read_text()
    shown = complete("report", folder, cwd=tmp_path, codes=(0,))
    assert shown.stdout.splitlines()[0] == lines[0]
    assert (folder / "reproduce.html").read_text() == page
    told = in_process("report", folder, "--json", cwd=tmp_path)
    assert json.loads(told.stdout) == document


def test_claims_are_read_again_when_it_goes_on(tmp_path: Path) -> None:
    """On a machine whose times are made up: no noise of a few runs decides what the claim comes to."""
    file, env = catalogue(tmp_path), simulated(tmp_path, WALLS)
    begun = ("reproduce", "--catalogue", file, "-o", "results")
    complete(*begun, cwd=tmp_path, env=env)
    before = run_names_in(tmp_path / "results" / "one")
    study, sentence = tmp_path / "one" / "study.toml", "It takes a hundred times as long."
    study.write_text(study.read_text().replace("It takes as long.", sentence) + "holds = [50, 200]\n")
    complete(*begun, "--resume", cwd=tmp_path, env=env)
    (claim,) = (one for one in made(tmp_path / "results")["studies"][0]["claims"] if one["id"] == "P0-1")
    assert (claim["sentence"], claim["outcome"]) == (sentence, "does not hold")
    assert run_names_in(tmp_path / "results" / "one") == before


def said_disturbed(folder: Path) -> None:
    """Let the findings of a part say that all its runs were disturbed."""
    found = findings_in(folder)
    found["runs"]["verdicts"] = {"disturbed": found["runs"]["n_done"]}
    (folder / "findings.json").write_text(json.dumps(found))


def test_a_part_of_a_busy_machine_is_run_once_more(tmp_path: Path) -> None:
    """On a machine whose times are made up: on one that stays busy the old result would stay."""
    file, env = catalogue(tmp_path), simulated(tmp_path, WALLS)
    in_process("reproduce", "--catalogue", file, "-o", "results", cwd=tmp_path, env=env)
    before = {name: (tmp_path / "results" / name / "journal.jsonl").read_bytes() for name in PARTS}
    said_disturbed(tmp_path / "results" / "one")
    again = ["reproduce", "--resume", "--again", "-o", "results", "--catalogue", "published.toml"]
    short = in_process(*again, "--budget", "1s", cwd=tmp_path, env=env)
    assert "it ends here" in short.stderr and set(states(tmp_path / "results").values()) == {"done"}
    said_disturbed(tmp_path / "results" / "one")
    done = complete(*again, cwd=tmp_path, env=env)
    assert "one: once more; " in done.stderr and "the new result stays" in done.stderr
    assert (tmp_path / "results" / "one" / "journal.jsonl").read_bytes() != before["one"]
    assert set(states(tmp_path / "results").values()) == {"done"}
    assert not any(folder.suffix for folder in (tmp_path / "results").iterdir() if folder.is_dir())


def test_claims_that_are_not_resolved_get_further_runs(tmp_path: Path) -> None:
    """One run of each configuration resolves nothing."""
    file, env = catalogue(tmp_path, runs=1), simulated(tmp_path, WALLS)
    first = in_process("reproduce", "--catalogue", file, "-o", "results", cwd=tmp_path, env=env)
    command = f"scalograph reproduce --resume -o results --catalogue {file} --more 5min"
    assert first.stdout.splitlines()[-1].split() == ["further", *command.split()]
    before = {name: run_names_in(tmp_path / "results" / name) for name in PARTS}
    claims = made(tmp_path / "results")["studies"][0]["claims"]
    assert [claim["outcome"] for claim in claims][:2] == ["not resolved", "not resolved"]
    more = ["reproduce", "--resume", "--more", "1s", "-o", "results", "--catalogue", "published.toml"]
    done = complete(*more, cwd=tmp_path, env=env)
    assert "one: goes on for P0-1; " in done.stderr, done.stderr
    assert set(states(tmp_path / "results").values()) == {"done"}
    for name in PARTS:
        after = run_names_in(tmp_path / "results" / name)
        assert after[: len(before[name])] == before[name] and len(set(after)) == len(after) > len(before[name])
    claims = made(tmp_path / "results")["studies"][0]["claims"]
    assert not any("need >= 2 runs" in claim["why"] for claim in claims)


def test_further_runs_that_were_interrupted_go_on(tmp_path: Path) -> None:
    file, env = catalogue(tmp_path, runs=1), simulated(tmp_path, WALLS)
    begun = ("reproduce", "--catalogue", file, "-o", "results")
    in_process(*begun, cwd=tmp_path, env=env)
    in_process(*begun, "--resume", "--more", "1s", cwd=tmp_path, env=env)
    journal = tmp_path / "results" / "one" / "journal.jsonl"
    text = journal.read_text()
    journal.write_text(text[: text.index('{"event":"ask"', text.index('"event":"resume"'))])
    before = run_names_in(journal.parent)
    complete(*begun, "--resume", cwd=tmp_path, env=env)
    assert (
        run_names_in(journal.parent)[: len(before)] == before and len(run_names_in(journal.parent)) > len(before) == 2
    )


def test_a_part_that_cannot_run_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    file = catalogue(tmp_path, '["no-such-program-here", "{n}"]')
    done = complete("reproduce", "--catalogue", file, "-o", "results", cwd=tmp_path)
    assert states(tmp_path / "results") == {"one": "skipped", "two": "done"}
    assert 'one: skipped: workload: no program "no-such-program-here"' in done.stderr
    claims = {claim["id"]: claim for claim in made(tmp_path / "results")["studies"][0]["claims"]}
    assert claims["P0-1"]["outcome"] == "not measured" and "no-such-program-here" in claims["P0-1"]["why"]
    assert "no-such-program-here" in done.stdout


def test_a_damaged_journal_is_told_by_its_part_and_the_others_go_on(tmp_path: Path) -> None:
    file, env = catalogue(tmp_path), simulated(tmp_path, WALLS)
    begun = ("reproduce", "--catalogue", file, "-o", "results")
    in_process(*begun, cwd=tmp_path, env=env)
    first, *rest = (tmp_path / "results" / "one" / "journal.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "results" / "one" / "journal.jsonl").write_text("".join([first, "{\n", *rest[1:]]))
    done = complete(*begun, "--resume", cwd=tmp_path, env=env)
    assert states(tmp_path / "results") == {"one": "skipped", "two": "done"}
    assert "one: skipped: journal.jsonl:2: not JSON" in done.stderr


def test_a_part_that_a_busy_machine_ended_goes_on(tmp_path: Path) -> None:
    file, env = catalogue(tmp_path), simulated(tmp_path, WALLS)
    begun = ("reproduce", "--catalogue", file, "-o", "results")
    in_process(*begun, cwd=tmp_path, env=env)
    journal = tmp_path / "results" / "one" / "journal.jsonl"
    *lines, end = journal.read_text().splitlines(keepends=True)
    second = next(i for i, line in enumerate(lines) if '"event":"ask"' in line and '"block":1' in line)
    journal.write_text("".join([*lines[:second], end.replace('"complete"', '"busy"')]))
    before = run_names_in(journal.parent)
    complete(*begun, "--resume", cwd=tmp_path, env=env)
    assert run_names_in(journal.parent)[: len(before)] == before and len(run_names_in(journal.parent)) > len(before) > 0


def test_a_budget_is_what_a_part_may_take_beside_what_it_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float | None] = []

    def stopped(declared: Declared, start: StudyStart) -> None:
        asked.append(declared.study.protocol.budget_s)
        raise HostError("here", "nothing", "to run")

    made = ReproductionRun(OpenedCatalogue(Path("published.toml"), (), {}), tmp_path, False, "")
    monkeypatch.setattr(reproduce_parts, "run_declared", stopped)
    monkeypatch.setattr("scalograph.protocol.results.is_begun", lambda file: file.exists())
    monkeypatch.setattr(reproduce_parts, "spent_s", lambda file: 300.0)
    one = Declared(
        parse(STUDY.format(name="one", command=SLEEP, runs=2, budget="60s", claim="P0-1")), Path("study.toml")
    )
    endless = one.study.protocol.model_copy(update={"budget_s": None})
    endless_one = Declared(one.study.model_copy(update={"protocol": endless}), one.file)
    for declared, folder in ((endless_one, "new"), (endless_one, "begun"), (one, "begun")):
        (tmp_path / "begun").mkdir(exist_ok=True)
        (tmp_path / "begun" / "journal.jsonl").touch()
        with pytest.raises(HostError):
            reproduce_parts._run(made, declared, tmp_path / folder, "", 100.0)
    assert asked == [100.0, 400.0, 60.0]


def test_the_machine_is_held_between_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another start that waits for it would else take it there, and all further parts would fail."""
    held: list[bool] = []

    def parts(made: ReproductionRun, budget_s: float | None) -> int:
        held.append(any(store._lock_counts.values()))
        return 0

    monkeypatch.setattr(reproduce_parts, "run_parts", parts)
    file, env = catalogue(tmp_path), simulated(tmp_path, WALLS)
    own = store.Store(tmp_path / "state", None)
    in_process("reproduce", "--catalogue", file, "-o", "results", cwd=tmp_path, env=env, store=own)
    assert held == [True] and not any(store._lock_counts.values())


def test_a_part_all_of_whose_runs_fail_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    file = catalogue(tmp_path, '["false", "{n}"]')
    complete("reproduce", "--catalogue", file, "-o", "results", cwd=tmp_path, codes=(4,))
    parts = {part["study"]: part for part in made(tmp_path / "results")["parts"]}
    assert parts["one"]["code"] == 4 and parts["one"]["trust"]["level"] == "reject" and parts["two"]["state"] == "done"


def test_a_part_begins_only_where_it_fits_into_the_budget(tmp_path: Path) -> None:
    file = catalogue(tmp_path)
    done = in_process("reproduce", "--catalogue", file, "-o", "results", "--budget", "65s", cwd=tmp_path)
    assert done.returncode in (0, 5)  # what a part leaves of its own time is for the others
    short = complete("reproduce", "--catalogue", file, "-o", "short", "--budget", "30s", cwd=tmp_path, codes=(5,))
    assert "the last ones may not run" in short.stderr
    assert states(tmp_path / "short") == {"one": "not run", "two": "not run"}
    assert not (tmp_path / "short" / "one").exists() and "go on" in short.stdout.splitlines()[-1]


def test_the_published_studies_are_listed(tmp_path: Path) -> None:
    done = scalograph("reproduce", "--list", cwd=tmp_path)
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines() if line[0] == "S"] == ["S0", "S1", "S2", "S3", "S4"]
    told = json.loads(in_process("reproduce", "--list", "--json", cwd=tmp_path).stdout)
    assert sum(len(study["claims"]) for study in told) == 53
