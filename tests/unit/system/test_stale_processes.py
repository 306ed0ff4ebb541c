"""What the steps of a killed start left is ended by the next one; everything that might be somebody's stays."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from scalograph.system import stale_processes
from scalograph.system.stale_processes import MARK, kill_stale_processes, owner_variables
from tests.kit.processes import sleeping, wait_until

pytestmark = pytest.mark.guarantee

DEAD = f"{MARK}=1234.5678"


@pytest.fixture
def left() -> Iterator[int]:
    """A process that is somebody's."""
    with sleeping() as process:
        yield process.pid


def test_a_mark_is_found_where_the_kernel_shows_it() -> None:
    with sleeping(env=owner_variables()) as ours:
        folder = Path(f"/proc/{ours.pid}")
        wait_until(lambda: b"sleep" in (folder / "cmdline").read_bytes())
        assert owner_variables()[MARK].encode() in (folder / "environ").read_bytes()
        assert not stale_processes._is_stale(folder, Path("/")), "while its start is at work"


def shown(root: Path, pid: int, environ: str, namespace: str = "pid:[1]") -> None:
    """What /proc tells of a process, and of a start that is at work as 99."""
    folder = root / "proc" / str(pid)
    (folder / "ns").mkdir(parents=True)
    (folder / "ns/pid").symlink_to(namespace)
    (folder / "environ").write_text(environ.replace(" ", "\0") + "\0")
    for name, ticks in (("self", 0), ("99", 77)):
        (root / "proc" / name / "ns").mkdir(parents=True, exist_ok=True)
        (root / "proc" / name / "stat").write_text(f"99 (a b) S {'0 ' * 18}{ticks} 0\n")
    (root / "proc/self/ns/pid").symlink_to("pid:[1]")


def is_alive(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


@pytest.mark.parametrize("environ", [DEAD, f"PATH=/bin {DEAD} LANG=C", f"{MARK}=99.76"])
def test_what_a_dead_start_left_ends(tmp_path: Path, left: int, environ: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown(tmp_path, left, environ)
    monkeypatch.setattr(stale_processes, "_WAIT_S", 0)  # a folder stays where a process goes
    assert kill_stale_processes(tmp_path) == [f"process {left}, left by a step: ended"]
    os.waitid(os.P_PID, left, os.WEXITED | os.WNOWAIT)


# A start at work, words that are no mark, marks of no process; a start whose number is of another container.
@pytest.mark.parametrize(("environ", "namespace", "owner"), [
    *((environ, "pid:[1]", None) for environ in (
        f"{MARK}=99.77", f"X{DEAD}", f"{MARK}=", f"{MARK}=1234", f"{MARK}=0.1", f"{MARK}=a.b", "",
    )),
    (DEAD, "pid:[2]", None),
    pytest.param(DEAD, "pid:[1]", 65534, marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root can give away")),
])  # fmt: skip
def test_what_may_be_anothers_stays(tmp_path: Path, left: int, environ: str, namespace: str, owner: int | None) -> None:
    shown(tmp_path, left, environ, namespace)
    if owner:
        os.chown(tmp_path / "proc" / str(left), owner, owner)
    assert kill_stale_processes(tmp_path) == [] and is_alive(left)
