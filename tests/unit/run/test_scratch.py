"""Scratch folders: gone with their start, or with the next one."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from scalograph.cli.pipeline import machine_lock
from scalograph.control.store import Store
from scalograph.errors import HostError
from scalograph.system.private_dir import scratch, sweep_scratch

pytestmark = pytest.mark.guarantee


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def root(room: Path) -> Path:
    return room / f"scalograph-scratch-{os.geteuid()}"


def killed(room: Path) -> Path:
    code = "from scalograph.system import private_dir as p\nwith p.scratch('run') as f: print(f, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(room)}, stdin=-1, stdout=-1, text=True
    ) as start:
        assert start.stdout
        folder = Path(start.stdout.readline().strip())
        sweep_scratch()
        assert folder.is_dir()  # its owner lives
        start.send_signal(signal.SIGKILL)
    return folder


def test_nothing_is_left_of_a_folder_its_root_and_a_killed_start(room: Path) -> None:
    with scratch("run") as folder, scratch("run") as other:
        assert folder.parent == other.parent == root(room) and folder != other
        (folder / "file").write_text("x")
    assert [*room.iterdir()] == []
    left = killed(room)
    assert left.parent == root(room) and left.is_dir()
    with scratch("run") as mine:
        sweep_scratch()
        assert not left.exists() and mine.is_dir()
    assert [*room.iterdir()] == []


def test_every_start_that_has_the_machine_to_itself_sweeps(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "locate", lambda: Store(None, None))
    monkeypatch.setattr("scalograph.cli.pipeline.raise_on_signals", lambda: None)
    left = killed(room)
    with machine_lock():
        assert not left.exists() and [*room.iterdir()] == []


def test_only_folders_of_ours_are_swept(room: Path) -> None:
    root(room).mkdir(mode=0o700)
    kept = [room / "run-abcdefgh", root(room) / "notes", root(room) / "run-abcdefgh.txt"]
    for folder in kept:
        folder.mkdir()
    (root(room) / "run-01234567").symlink_to(kept[0])
    (root(room) / "run-76543210").write_text("x")
    sweep_scratch()
    assert all(folder.is_dir() for folder in kept) and len([*root(room).iterdir()]) == 4


@pytest.mark.parametrize("taken", ["link", "open to others"])
def test_a_root_that_is_not_ours_is_left_alone(room: Path, taken: str) -> None:
    (room / "elsewhere" / "run-abcdefgh").mkdir(parents=True)
    if taken == "link":
        root(room).symlink_to("elsewhere")
    else:
        (room / "elsewhere").rename(root(room))
        root(room).chmod(0o777)
    sweep_scratch()
    with scratch("run") as folder:
        assert folder.parent == room
    assert [*room.glob("*/run-abcdefgh")] and not folder.exists()


def test_a_missing_room_is_told_in_one_line(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(room / "none"))
    with pytest.raises(HostError, match=r"^scratch folder: cannot be made: No such file"), scratch("run"):
        pass


def test_read_only_and_deep_folders_are_removed() -> None:
    code = """
import os
from scalograph.system.private_dir import scratch
if os.geteuid() == 0:
    os.setgid(65534), os.setuid(65534)
with scratch("run") as folder:
    os.makedirs(folder / "module/cache/v1")
    (folder / "module/cache/v1/file").write_text("x")
    for name, mode in (("module/cache/v1", 0o555), ("module/cache", 0), ("module", 0o555)):
        os.chmod(folder / name, mode)
    at = os.open(folder, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=at)
        at, before = os.open("d", os.O_RDONLY, dir_fd=at), at
        os.close(before)
"""
    with TemporaryDirectory() as room:
        Path(room).chmod(0o777)
        argv, environ = [sys.executable, "-c", code], {**os.environ, "TMPDIR": room}
        done = subprocess.run(argv, env=environ, capture_output=True, check=False)
        assert (done.returncode, done.stderr, [*Path(room).iterdir()]) == (0, b"", [])
