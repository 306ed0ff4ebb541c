"""The queue at the machine's lock: who is before whom, from /proc/locks as it is written and with real processes."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scalograph.control.store import Store, lock_machine
from scalograph.system import lock
from scalograph.system.lock import Holder, LockLease, find_holder, find_waiters
from tests.kit.processes import is_gone, wait_until
from tests.unit.control.paper import child_environment

pytestmark = pytest.mark.guarantee
WAITS = """
import codecs, os, sys
from pathlib import Path
from scalograph.control.store import Store, lock_machine
codecs.lookup("ascii")  # the interpreter itself may be closed to the other user
os.setuid(int(sys.argv[3]))
store = Store(Path(sys.argv[1]), None, shared=Path(sys.argv[2]))
with lock_machine(250, store, tell=lambda text: print(text, flush=True)):
    print("held", flush=True)
    sys.stdin.read()
"""
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def machine() -> Iterator[Path]:
    """A folder that anybody may write to; the ones of pytest are closed to others."""
    with tempfile.TemporaryDirectory(prefix="scalograph-test-") as name:
        Path(name).chmod(0o1777)
        yield Path(name)


@pytest.fixture
def start(machine: Path) -> Iterator[Start]:
    """Start a session that waits for the machine, and holds it until its input ends."""
    started: list[subprocess.Popen[str]] = []

    def start_one(uid: int = os.geteuid()) -> subprocess.Popen[str]:
        folder = machine / f"state-{uid}"
        folder.mkdir(mode=0o700, exist_ok=True)
        os.chown(folder, uid, -1)
        argv = [sys.executable, "-B", "-c", WAITS, str(folder), str(machine / lock.NAME), str(uid)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        started.append(subprocess.Popen(argv, env=child_environment(), text=True, **pipes))
        return started[-1]

    yield start_one
    for process in started:
        with process:
            process.kill()


def read_until_held(process: subprocess.Popen[str]) -> list[str]:
    """Return the messages of a session until it holds the machine."""
    assert process.stdout is not None
    return list(iter(process.stdout.readline, "held\n"))


def end(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    process.wait()


def wait_for_queue(folder: Path, *processes: subprocess.Popen[str]) -> None:
    """Wait until exactly these wait, in this order."""
    pids = [process.pid for process in processes]
    wait_until(lambda: [each.pid for each in find_waiters(folder / lock.NAME, sys.maxsize)] == pids)


def test_sessions_take_the_machine_in_the_order_of_their_arrival_and_a_dead_one_is_skipped(
    machine: Path, start: Start
) -> None:
    first = start()
    assert read_until_held(first) == []
    waiting: list[subprocess.Popen[str]] = []
    for _ in range(4):
        waiting.append(start())
        wait_for_queue(machine, *waiting)
    waiting[1].send_signal(signal.SIGKILL)
    wait_until(lambda: is_gone(waiting[1].pid))
    left = [waiting[0], *waiting[2:]]
    wait_for_queue(machine, *left)
    for holder, process in zip([first, *left], left, strict=False):
        end(holder)
        read_until_held(process)
        wait_for_queue(machine, *left[left.index(process) + 1 :])
        found = find_holder(machine / lock.NAME)
        assert found is not None and found.pid == process.pid


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_waits_in_the_same_queue_and_is_named(machine: Path, start: Start) -> None:
    first = start()
    read_until_held(first)
    theirs = start(65534)
    wait_for_queue(machine, theirs)
    ours = start()
    wait_for_queue(machine, theirs, ours)
    assert str(find_waiters(machine / lock.NAME, sys.maxsize)[0]).startswith(f"process {theirs.pid} of user ")
    end(first)
    read_until_held(theirs)
    wait_for_queue(machine, ours)
    end(theirs)
    read_until_held(ours)


def test_who_has_no_time_to_wait_takes_a_free_machine_also_before_others(tmp_path: Path) -> None:
    """A place in the queue is advice: a session that is stopped there keeps nobody from measuring."""
    file = tmp_path / lock.NAME
    messages: list[str] = []
    lease = LockLease(0.0, messages.append)
    lease.join(file)
    queued = "import fcntl, sys; f = open(sys.argv[1]); fcntl.lockf(f, fcntl.LOCK_SH, 1, 5)"
    ready = f"{queued}; print('queued', flush=True); input()"
    argv = [sys.executable, "-S", "-c", ready, str(file)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "queued\n"
        assert [each.pid for each in find_waiters(file, sys.maxsize)] == [process.pid, os.getpid()]
        with lock_machine(0.0, Store(tmp_path / "state", None, shared=file), messages.append):
            assert find_holder(file) == Holder(os.getpid(), os.geteuid())
        process.kill()
    lease.close()
    assert messages == [] and find_holder(file) is None


def test_the_queue_is_read_from_the_locks_of_this_file_the_first_one_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, locks, me, parent = tmp_path / lock.NAME, tmp_path / "locks", os.getpid(), os.getppid()
    file.write_text("")
    status = file.stat()
    inode = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    gone = subprocess.Popen(["true"])
    gone.wait()
    locks.write_text(
        f"1: POSIX  ADVISORY  READ {me} {inode} 300 300\n2: POSIX  ADVISORY  READ {parent} {inode} 200 200\n"
        f"3: POSIX  ADVISORY  READ {gone.pid} {inode} 100 100\n4: POSIX  ADVISORY  READ {me} 00:00:1 10 10\n"
        f"5: FLOCK  ADVISORY  WRITE {parent} {inode} 0 EOF\n5: -> FLOCK  ADVISORY  WRITE 1 {inode} 0 EOF\n"
        f"6: OFDLCK ADVISORY  READ -1 {inode} 7 7\n7: LEASE\n\n"
    )
    monkeypatch.setattr(lock, "_PROC_LOCKS", locks)
    assert [each.pid for each in find_waiters(file, 301)] == [1, parent, me]
    assert [each.pid for each in find_waiters(file, 300)] == [1, parent]
    assert [each.pid for each in find_waiters(file, 0)] == [1], "who blocks in the kernel is served first"
    assert find_holder(file) == Holder(parent, Path(f"/proc/{parent}").stat().st_uid)
    monkeypatch.setattr(lock, "_PROC_LOCKS", tmp_path / "none")
    assert find_waiters(file, 301) == [] and find_holder(file) is None


def test_messages_name_the_holder_and_those_before_and_change_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[str] = []
    clock = iter(range(0, 1000, 2))
    monkeypatch.setattr(lock.time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(lock.time, "sleep", lambda seconds: None)
    lease = LockLease(100.0, messages.append)
    before = [Holder(pid, os.geteuid()) for pid in (2, 3, 4, 5)]
    for who, others in (("process 1", before), ("process 1", before), ("process 2", before), ("process 5", [])):
        assert lease.wait(who, others)
    told = [text.rpartition(", at most")[0].removeprefix("waiting for ") for text in messages]
    measures = "which measures on this machine"
    assert told == [
        f"process 1, {measures}, then for process 2, process 3, process 4 and 1 more",
        f"process 2, {measures}, then for process 3, process 4 and process 5",
        f"process 5, {measures}",
    ]
