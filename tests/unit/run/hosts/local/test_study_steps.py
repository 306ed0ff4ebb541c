"""What is done around runs: in order, outside the window, held together by the probe; a failure says what it was."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest

from scalograph.control.control import Launch
from scalograph.errors import HostError, Terminated
from scalograph.run.hosts.local.local_host import StudySteps
from scalograph.run.hosts.local.probe import DEGRADED, find_probe
from scalograph.run.hosts.local.probe_process import ProbeProcess
from scalograph.run.interrupts import Interrupts
from scalograph.system.stale_processes import MARK, owner_variables
from tests.kit.processes import is_gone, read_pids, wait_for_end

LAUNCH = Launch(env={"PATH": os.environ["PATH"], "WHO": "me"}, values={"n": 3})
# A step that stays, and has started something that stays; both numbers are in the file `pids`.
STAYS = "sleep 60 & echo $! $$ > pids; wait"
KILLED = """
import os, sys
from pathlib import Path
from scalograph.control.control import Launch
from scalograph.run.hosts.local.probe import find_probe
from scalograph.run.hosts.local.probe_process import ProbeProcess
from scalograph.run.hosts.local.local_host import StudySteps
steps = StudySteps({"prepare": ["sh", "-c", sys.argv[1]]}, 60, lambda fresh: ProbeProcess(find_probe().argv, fresh))
steps.carry_out("prepare", Launch(env={"PATH": os.environ["PATH"]}, values={}), Path(sys.argv[2]))
"""


def steps(timeout_s: float = 10, **templates: list[str]) -> StudySteps:
    return StudySteps(templates, timeout_s, partial(ProbeProcess, find_probe().argv))


def test_a_step_is_filled_in_has_the_environment_of_a_run_and_is_done_after_a_signal(tmp_path: Path) -> None:
    made = steps(prepare=["sh", "-c", f"echo $WHO {{n}} ${MARK} > prepared"])
    assert made.carry_out("prepare", LAUNCH, tmp_path) is None
    assert (tmp_path / "prepared").read_text() == f"me 3 {owner_variables()[MARK]}\n"
    assert made.carry_out("cleanup", LAUNCH, tmp_path) is None
    with Interrupts():
        signal.raise_signal(signal.SIGTERM)
        done = steps(cleanup=["touch", "cleaned"]).carry_out("cleanup", LAUNCH, tmp_path)
    assert done is None and (tmp_path / "cleaned").exists()
    made = steps(prepare=["sh", "-c", "setsid sleep 60 & echo $! > pids"])
    assert (made.carry_out("prepare", LAUNCH, tmp_path), made.n_ended) == (None, 1)
    wait_for_end(*read_pids(tmp_path / "pids"))


@pytest.mark.parametrize(("argv", "why"), [
    (["sh", "-c", "echo no room >&2; exit 7"], "prepare failed: sh: exit code 7; it said 'no room'"),
    (["false"], "prepare failed: false: exit code 1"),
    (["sh", "-c", "kill -KILL $$"], "prepare failed: sh: ended by signal 9"),
    (["sh", "-c", "kill -TERM $$"], "prepare failed: sh: ended by signal 15"),  # `pkill -f` may hit its own shell
])  # fmt: skip
def test_a_failure_says_what_it_was(argv: list[str], why: str, tmp_path: Path) -> None:
    assert steps(prepare=argv).carry_out("prepare", LAUNCH, tmp_path) == why


def test_programs_that_are_missing_or_gone_and_a_step_that_ends_its_probe_are_named(tmp_path: Path) -> None:
    why = steps(prepare=["/nonsense/x"]).carry_out("prepare", LAUNCH, tmp_path) or ""
    assert why.startswith("prepare failed: did not start: /nonsense/x") and "No such file" in why
    ended = steps(prepare=["sh", "-c", "kill -TERM $PPID; sleep 60"]).carry_out("prepare", LAUNCH, tmp_path)
    assert (ended or "").startswith("prepare failed: sh: another program ended its probe: SIGTERM received")
    made = steps(setup=["touch", "made"], prepare=["no-such-program"])
    with pytest.raises(HostError, match=r'workload\.prepare: no program "no-such-program"'):
        made.begin(LAUNCH, lambda: nullcontext(tmp_path))
    assert not (tmp_path / "made").exists()


@pytest.mark.guarantee
@pytest.mark.parametrize("probe", [find_probe().argv, DEGRADED])
def test_a_step_that_hangs_is_killed_with_all_that_it_started(probe: tuple[str, ...], tmp_path: Path) -> None:
    hangs = StudySteps({"cleanup": ["sh", "-c", f"setsid {STAYS}"]}, 0.5, partial(ProbeProcess, probe))
    assert hangs.carry_out("cleanup", LAUNCH, tmp_path) == "cleanup failed: sh took more than 0.5 s and was killed"
    wait_for_end(*read_pids(tmp_path / "pids"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_setup_and_what_it_started(number: signal.Signals, tmp_path: Path) -> None:
    def send() -> None:
        read_pids(tmp_path / "pids")
        os.kill(os.getpid(), number)

    sender = threading.Thread(target=send)
    sender.start()
    before = signal.signal(number, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt) as raised:
            steps(setup=["sh", "-c", STAYS]).begin(LAUNCH, lambda: nullcontext(tmp_path))
    finally:
        sender.join()
        signal.signal(number, before)
    assert isinstance(raised.value, Terminated) is (number == signal.SIGTERM)
    assert all(map(is_gone, read_pids(tmp_path / "pids")))


@pytest.mark.guarantee
def test_a_step_ends_with_a_start_that_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED, STAYS, str(tmp_path)]) as start:
        pids = read_pids(tmp_path / "pids")
        start.kill()
    wait_for_end(*pids)


@pytest.mark.parametrize("probe", [find_probe().argv, DEGRADED])
def test_setup_is_made_once_and_stops_everything_where_it_fails(probe: tuple[str, ...], tmp_path: Path) -> None:
    told: list[str] = []
    made = StudySteps({"setup": ["sh", "-c", "echo x >> made"]}, 10, partial(ProbeProcess, probe))
    made.begin(LAUNCH, lambda: nullcontext(tmp_path), told.append)
    assert (tmp_path / "made").read_text() == "x\n" and told == ["setup: sh -c 'echo x >> made'"]
    with pytest.raises(HostError, match=r"workload\.setup: false: exit code 1"):
        steps(setup=["false"]).begin(LAUNCH, lambda: nullcontext(tmp_path))
