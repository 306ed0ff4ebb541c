"""The host that we stand on: which failures are a run's, and which end the study."""

import os
import signal
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scalograph.design.planner import Design
from scalograph.errors import HostError
from scalograph.protocol.journal import MAX_LINE_BYTES
from scalograph.run.hosts.base import ProbeProgram
from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.run.hosts.local.probe import find_probe
from scalograph.run.interrupts import Interrupts
from scalograph.run.plan import Plan
from scalograph.run.runner import Runner
from scalograph.study.declare import Declared
from scalograph.study.levels import Run
from scalograph.study.load import parse
from scalograph.study.program import Program, program
from tests.kit import EXAMPLES
from tests.kit.processes import write_program
from tests.kit.refusals import refuses
from tests.kit.studies import VALID, facts_of

ANSWER = EXAMPLES / "probe_events.jsonl"
FACTS = facts_of()
ANSWERS = f'sed -n \'s/"ok"/"ok"/; 1,6p\' {ANSWER}'
INTERRUPTED = ANSWERS.replace('"ok"/;', '"interrupted"/;')
REFUSED = '{"event":"error","run":"r1","where":"policy","found":"x","expected":"y","fix":"z"}'


def runner(design: Design, started: Program, probe: Path | str) -> Runner:
    """Runs on this machine, as if it had one CPU, by this probe."""
    planned = Plan(Declared(design.study, Path("study.toml")), FACTS, design, started)
    return Runner(planned, LocalHost(ProbeProgram((str(probe),))))


def host(tmp_path: Path, probe: Path) -> tuple[Runner, Run]:
    study = parse(VALID)
    command = study.workload.model_copy(update={"use": None, "command": ["true"], "parameters": {}})
    run = Run("r1", 0, {"threads": 1, "lock": "none"}, 0)
    design = Design(study.model_copy(update={"workload": command}), (run.configuration,))
    return runner(design, program(command, tmp_path), probe), run


def test_a_probe_that_starts_again_is_forgiven_and_a_cpu_that_has_gone_fails_its_runs(tmp_path: Path) -> None:
    probe = tmp_path / "probe"
    here, run = host(tmp_path, probe)
    for _ in range(2):
        here.measure(run)
    write_program(probe, f"cat >/dev/null\nhead -6 {ANSWER}")
    assert here.measure(run).run.status == "ok"
    probe.unlink()
    assert here.measure(run).run.status == "failed"
    said = '"found":"CPU 0","expected":"a CPU of this host: 1","fix":"lower it"'
    refusal = f"""cat >/dev/null\necho '{{"event":"error","run":"r1","where":"commands[0].WHERE",{said}}}'\nexit 3"""
    write_program(probe, refusal.replace("WHERE", "cpus"))
    failed = here.measure(run).run
    assert failed.status == "failed" and "expected a CPU of this host: 1" in (failed.reason or "")
    write_program(probe, refusal.replace("WHERE", "policy"))
    refuses(HostError, "policy", here.measure, run)


def test_wake_up_records_are_held_once_and_by_a_native_probe_only(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    text = f'echo "run $1" >> {asked}\n[ -n "$1" ] && exit\ncat >/dev/null\nhead -6 {ANSWER}'
    for name in ("another", "scalograph-probe"):
        here, run = host(tmp_path, write_program(tmp_path / name, text))
        for _ in range(2):
            assert here.measure(run).run.wait_scope == "preemption and wakeup"
    assert asked.read_text().split("\n") == ["run "] * 3 + ["run --hold", "run ", ""]


def specified(tmp_path: Path, more: str) -> dict[str, Any]:
    """What the probe is asked for one run of the valid study with these keys of its workload, or a response."""
    study = parse(VALID.replace("[factors.threads]", more + "[factors.threads]", 1))
    run = Run("r1", 0, {"threads": 2, "lock": "none"}, 0)
    here = runner(Design(study, (run.configuration,)), program(study.workload, tmp_path), "probe")
    return here.specification(run).line(Path("/somewhere"))


def test_output_is_captured_where_it_is_read_and_copies_share_the_room_of_stderr(tmp_path: Path) -> None:
    assert specified(tmp_path, "")["stdout"] == "null"
    read = '[responses.ops]\nfrom = "output"\npointer = "/ops"\n'
    assert specified(tmp_path, read)["stdout"] == "capture"
    assert specified(tmp_path, read)["stdout_limit_bytes"] == 8 << 20
    assert specified(tmp_path, "")["stderr_limit_bytes"] == 64 << 10
    limit = specified(tmp_path, "copies = 70\n")["stderr_limit_bytes"]
    assert limit > 4096 and 70 * 6 * limit < MAX_LINE_BYTES, "however they are escaped"


def test_the_speed_of_the_cpus_is_measured_where_the_study_compares(tmp_path: Path) -> None:
    assert "sentinel" not in specified(tmp_path, "")
    compares = "[reference]\nlock = 'none'\n"
    assert specified(tmp_path, compares)["sentinel"] is True


def test_a_caller_s_program_is_found_and_his_folder_may_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "link").symlink_to("/bin/true")
    monkeypatch.chdir(elsewhere)
    study = parse(VALID.replace("./prog", "./link").replace("[workload]", '[workload]\ncwd = "caller"'))
    # Not followed: a program may go by its name.
    assert program(study.workload, tmp_path).argv[0] == str(elsewhere / "link")
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    here, run = host(tmp_path, tmp_path / "probe")
    spec = replace(here.specification(run), in_callers_folder=True)
    gone.rmdir()
    refuses(HostError, "the folder of this start: was removed", LocalHost(find_probe()).measure, spec)
    monkeypatch.chdir(tmp_path)


def between_steps(tmp_path: Path, probe: str, prepare: str = "true") -> tuple[Runner, Run]:
    """A host whose runs leave `prepared` and `cleaned` behind, and `run` where the probe was started for the run."""
    steps_probe = " ".join(find_probe().argv)
    write_program(
        tmp_path / "probe",
        f'IFS= read -r line\ncase $line in *\'"run": "r1"\'*) touch {tmp_path}/run\n{probe}\n;;\n'
        f"*) printf '%s\\n' \"$line\" > {tmp_path}/probe.line; exec {steps_probe} < {tmp_path}/probe.line;; esac",
    )
    steps = (
        f'command = ["true"]\nprepare = ["sh", "-c", "touch {tmp_path}/prepared; {prepare}"]\n'
        f'cleanup = ["touch", "{tmp_path}/cleaned"]'
    )
    study = parse(VALID.replace('command = ["./prog", "-t", "{threads}"]', steps))
    run = Run("r1", 0, {"threads": 1, "lock": "none"}, 0)
    return runner(Design(study, (run.configuration,)), program(study.workload, tmp_path), tmp_path / "probe"), run


def left(tmp_path: Path) -> set[str]:
    return {path.name for path in tmp_path.iterdir()} - {"probe", "probe.line"}


@pytest.mark.parametrize(("probe", "prepare", "status", "reason", "done"), [
    (f"trap '' TERM; kill -TERM $PPID; {INTERRUPTED}", "true", "interrupted", None, {"prepared", "run", "cleaned"}),
    (f"echo '{REFUSED}'; exit 3", "true", "ended", "policy: x, expected y; z", {"prepared", "run", "cleaned"}),
    (ANSWERS, "kill -TERM {us}; sleep 60", "interrupted", "a signal came before it was started",
     {"prepared", "cleaned"}),
    (ANSWERS, "exit 3", "failed", "prepare failed: sh: exit code 3", {"prepared", "cleaned"}),
])  # fmt: skip
def test_what_was_prepared_is_cleaned_up_after_a_run_that_ends_badly_or_does_not_start(
    tmp_path: Path, probe: str, prepare: str, status: str, reason: str | None, done: set[str]
) -> None:
    here, run = between_steps(tmp_path, probe, prepare.format(us=os.getpid()))
    ends_the_study = pytest.raises(HostError, match=f"^{reason}$") if status == "ended" else nullcontext()
    with Interrupts(), ends_the_study:
        stopped = here.measure(run).run
        assert (stopped.status, stopped.reason) == (status, reason)
    assert left(tmp_path) == done


def test_a_run_that_fails_without_what_prepare_left_running_says_so(tmp_path: Path) -> None:
    here, run = between_steps(tmp_path, ANSWERS.replace('"ok"/;', '"failed"/;'), "sleep 60 &")
    assert "processes that prepare left running had been ended: 1" in (here.measure(run).run.reason or "")


def test_a_signal_before_prepare_starts_nothing(tmp_path: Path) -> None:
    here, run = between_steps(tmp_path, ANSWERS)
    with Interrupts():
        signal.raise_signal(signal.SIGTERM)
        assert here.measure(run).run.status == "interrupted"
    assert left(tmp_path) == set()
    assert here.measure(run).run.status == "ok", "and what was kept then is over"
