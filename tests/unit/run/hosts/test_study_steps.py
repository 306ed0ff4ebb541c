"""What is done around runs: in order, outside the window, and every failure says what it was."""

import os
import signal
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from scalograph.control.control import Launch
from scalograph.errors import HostError
from scalograph.run.hosts.python_probe.tree import parse_stat
from scalograph.run.hosts.study_steps import StudySteps

LAUNCH = Launch(env={"PATH": os.environ["PATH"], "WHO": "me"}, values={"n": 3})


def steps(timeout_s: float = 10, **templates: list[str]) -> StudySteps:
    return StudySteps(templates, timeout_s)


def test_a_step_is_filled_in_and_has_the_environment_and_folder_of_a_run(tmp_path: Path) -> None:
    made = steps(prepare=["sh", "-c", "echo $WHO {n} > prepared"])
    assert made.carry_out("prepare", LAUNCH, tmp_path) is None
    assert (tmp_path / "prepared").read_text() == "me 3\n"
    assert made.carry_out("cleanup", LAUNCH, tmp_path) is None


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (["sh", "-c", "echo no room >&2; exit 7"], "prepare failed: sh: exit code 7; it said 'no room'"),
        (["false"], "prepare failed: false: exit code 1"),
        (["sh", "-c", "kill -KILL $$"], "prepare failed: sh: ended by signal 9"),
        (["sh", "-c", "kill -TERM $$"], "prepare failed: sh: ended by signal 15"),  # `pkill -f` may hit its own shell
        (["/nonsense/x"], "prepare failed: /nonsense/x did not start: No such file or directory"),
    ],
)
def test_a_failure_says_what_it_was(argv: list[str], why: str, tmp_path: Path) -> None:
    assert steps(prepare=argv).carry_out("prepare", LAUNCH, tmp_path) == why


def test_a_step_that_hangs_is_killed(tmp_path: Path) -> None:
    why = steps(0.2, cleanup=["sleep", "60"]).carry_out("cleanup", LAUNCH, tmp_path)
    assert why == "cleanup failed: sleep took more than 0.2 s and was killed"


def test_what_a_step_that_hangs_has_started_is_killed_too(tmp_path: Path) -> None:
    hangs = steps(0.3, prepare=["sh", "-c", "sleep 60 & echo $! > pid; wait"])
    assert "was killed" in str(hangs.carry_out("prepare", LAUNCH, tmp_path))
    stat, limit = Path("/proc", (tmp_path / "pid").read_text().strip(), "stat"), time.monotonic() + 10
    # It has been killed, and nobody may have waited for it yet.
    while stat.exists() and parse_stat(stat.read_text())[1] not in "ZX":
        assert time.monotonic() < limit
        time.sleep(0.01)


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
@pytest.mark.parametrize("refused", ["all", "what it started"])
def test_a_step_that_may_not_be_killed_is_told_and_not_waited_for(
    refused: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one under sudo."""
    kill, spared = os.kill, list[int]()

    def forbid(pid: int, number: int) -> None:
        first = not spared and parse_stat(Path(f"/proc/{pid}/stat").read_text())[0] == os.getpid()
        if refused != "all" and first:
            return kill(pid, number)
        spared.append(pid)
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "kill", forbid)
    monkeypatch.setattr("scalograph.run.hosts.study_steps._DEATH_S", 0.2)
    why = steps(0.3, prepare=["sh", "-c", "sleep 60 & wait"]).carry_out("prepare", LAUNCH, tmp_path)
    for pid in spared:
        kill(pid, signal.SIGKILL)
    said = ", ".join(map(str, spared))
    assert why == f"prepare failed: sh took more than 0.3 s and could not be killed (process {said})"
    assert len(spared) == (2 if refused == "all" else 1)


def test_what_runs_on_in_the_background_is_not_waited_for(tmp_path: Path) -> None:
    made = steps(2, prepare=["sh", "-c", "sleep 30 & echo $! > pid"])
    assert made.carry_out("prepare", LAUNCH, tmp_path) is None
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def test_setup_is_made_once_and_stops_everything_where_it_fails(tmp_path: Path) -> None:
    steps(setup=["sh", "-c", "echo x >> made"]).begin(LAUNCH, lambda: nullcontext(tmp_path))
    assert (tmp_path / "made").read_text() == "x\n"
    with pytest.raises(HostError, match=r"workload\.setup: false: exit code 1"):
        steps(setup=["false"]).begin(LAUNCH, lambda: nullcontext(tmp_path))


def test_a_missing_program_is_named_before_anything_is_done(tmp_path: Path) -> None:
    made = steps(setup=["touch", "made"], prepare=["no-such-program"])
    with pytest.raises(HostError, match=r'workload\.prepare: no program "no-such-program"'):
        made.begin(LAUNCH, lambda: nullcontext(tmp_path))
    assert not (tmp_path / "made").exists()
