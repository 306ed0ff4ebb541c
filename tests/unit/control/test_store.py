"""One start at a time, and nothing that a killed one leaves behind: with real processes, on a tree of paper."""

import errno
import fcntl
import json
import os
import pwd
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import scalograph
from scalograph.control.settings import Setting, SettingChange, delegation_change, leaf_change
from scalograph.control.store import CHANGES, Store, apply_change, lock_machine
from scalograph.errors import HostError
from scalograph.system.lock import find_holder, shared_lock_file
from scalograph.system.private_dir import MAX_BYTES, PrivateDir, _is_ours, state_folder
from tests.unit.control.paper import LEAF, PaperTree, machine, put_right, store

pytestmark = pytest.mark.guarantee

DELEGATION = "cpuset in cgroup.subtree_control of the cgroup v2 root: off"
REMOVED = f"cgroup {LEAF} with its exclusive CPUs: removed"

Start = Callable[[str], subprocess.Popen[str]]


@pytest.fixture
def kept(tmp_path: Path) -> Store:
    machine(tmp_path / "root")
    return store(tmp_path / "state", tmp_path / "root")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a process that holds the machine and waits to be killed."""
    started: list[subprocess.Popen[str]] = []

    def begin(when: str) -> subprocess.Popen[str]:
        home = str(Path(scalograph.__file__).parents[1])
        environment = {"PYTHONPATH": os.pathsep.join([home, *filter(None, sys.path)])}
        program = str(Path(__file__).parent / "paper.py")
        argv = [sys.executable, "-B", program, str(tmp_path / "state"), str(tmp_path / "root"), when]
        process = subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def tree(kept: Store) -> PaperTree:
    assert isinstance(kept.tree, PaperTree)
    return kept.tree


def wait_until_held(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None and process.stdout.readline() == "held\n"


def untouched(kept: Store) -> bool:
    return not tree(kept).is_delegated() and not tree(kept).has_leaf(LEAF)


def test_what_a_killed_start_left_is_put_back_in_reverse_and_told(kept: Store, start: Start) -> None:
    process = start("middle")
    wait_until_held(process)
    assert tree(kept).is_delegated() and tree(kept).has_leaf(LEAF)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not untouched(kept), "nobody has put it back yet"
    assert put_right(kept) == [REMOVED, DELEGATION]
    assert untouched(kept)
    assert put_right(kept) == []


def test_a_change_is_on_the_disk_before_it_is_made(kept: Store, start: Start) -> None:
    process = start("before")
    assert process.wait() == -signal.SIGKILL
    assert kept.folder is not None
    assert [c["setting"] for c in json.loads((kept.folder / CHANGES).read_text())["changes"]] == [
        "cpuset-delegation",
        "exclusive-leaf",
    ]
    assert not tree(kept).has_leaf(LEAF)
    assert put_right(kept) == [REMOVED, DELEGATION]
    assert untouched(kept)


def test_a_living_owner_is_left_alone_and_a_second_start_is_refused(kept: Store, start: Start) -> None:
    process = start("middle")
    wait_until_held(process)
    said = f"process {process.pid} measures on this machine, expected one at a time"
    with pytest.raises(HostError, match=said), lock_machine(store=kept):
        pass
    assert tree(kept).has_leaf(LEAF)


def test_a_second_start_waits_when_told_to_and_puts_right_what_the_first_left(kept: Store, start: Start) -> None:
    process = start("middle")
    wait_until_held(process)
    subprocess.Popen(["sh", "-c", f"sleep 0.3; kill -9 {process.pid}"]).wait()
    told: list[str] = []
    with lock_machine(wait_s=30, store=kept, tell=told.append) as restored:
        assert restored == [REMOVED, DELEGATION]
        assert untouched(kept)
    assert told == [], "a wait of less than a second is not worth a line"


def test_a_longer_wait_is_told_once(kept: Store, start: Start) -> None:
    process = start("middle")
    wait_until_held(process)
    told: list[str] = []
    with pytest.raises(HostError, match="wait for its end"), lock_machine(1.5, kept, told.append):
        pass
    (line,) = told
    assert line.startswith(f"waiting for process {process.pid}, which measures on this machine, at most")


def test_after_a_reboot_nothing_is_touched(kept: Store, start: Start) -> None:
    start("before").wait()
    assert kept.folder is not None
    file = kept.folder / CHANGES
    file.write_text(json.dumps({**json.loads(file.read_text()), "boot_id": "another"}))
    assert put_right(kept) == []
    assert tree(kept).is_delegated(), "what was set since is somebody else's"
    assert not file.exists()


def test_a_later_process_with_the_owners_number_is_not_the_owner(kept: Store, start: Start) -> None:
    start("before").wait()
    assert kept.folder is not None
    file = kept.folder / CHANGES
    record = json.loads(file.read_text())
    record["owner"]["pid"] = os.getpid()
    file.write_text(json.dumps(record))
    assert put_right(kept) == [REMOVED, DELEGATION]


def test_a_value_that_does_not_come_back_is_told_and_the_record_kept(
    kept: Store, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    start("before").wait()
    monkeypatch.setattr(PaperTree, "delegate", lambda self, on: None)
    with pytest.raises(HostError, match="not in force after it was written, expected off; put it right by hand"):
        put_right(kept)
    assert kept.folder is not None and (kept.folder / CHANGES).exists()


def test_changes_are_undone_at_the_end_also_after_an_error(kept: Store) -> None:
    delegate = apply_change(delegation_change(), lambda: tree(kept).delegate(True), kept)
    with pytest.raises(ZeroDivisionError), lock_machine(store=kept), delegate:
        assert tree(kept).is_delegated()
        raise ZeroDivisionError
    assert untouched(kept)
    assert kept.folder is not None and not (kept.folder / CHANGES).exists()


def both(kept: Store) -> ExitStack:
    """The machine is locked, the controller delegated, and a leaf made."""
    with ExitStack() as held:
        held.enter_context(lock_machine(store=kept))
        held.enter_context(apply_change(delegation_change(), lambda: tree(kept).delegate(True), kept))
        held.enter_context(
            apply_change(leaf_change(Setting.EXCLUSIVE_LEAF, LEAF), lambda: tree(kept).make_leaf(LEAF), kept)
        )
        return held.pop_all()


def test_a_change_that_could_not_be_undone_stays_in_the_record(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: PaperTree, name: str) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    with pytest.raises(HostError, match="the kernel refuses: Device or resource busy"), both(kept):
        monkeypatch.setattr(PaperTree, "remove_leaf", refuse)
    assert kept.folder is not None
    (left,) = json.loads((kept.folder / CHANGES).read_text())["changes"]
    assert (left["setting"], left["leaf"]) == ("exclusive-leaf", LEAF)


def test_of_equal_changes_the_first_stays_recorded_while_it_is_held(kept: Store) -> None:
    def recorded() -> list[str]:
        assert kept.folder is not None
        return [one["setting"] for one in json.loads((kept.folder / CHANGES).read_text())["changes"]]

    leaf = leaf_change(Setting.EXCLUSIVE_LEAF, LEAF)
    with both(kept):
        with apply_change(leaf, lambda: None, kept):
            assert recorded().count("exclusive-leaf") == 2
        assert recorded().count("exclusive-leaf") == 1


def test_a_change_that_is_not_undone_keeps_no_other_from_it(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: PaperTree, name: str) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(PaperTree, "remove_leaf", refuse)
    with pytest.raises(HostError, match="busy"), lock_machine(store=kept):
        beside = delegation_change()
        with apply_change(
            leaf_change(Setting.EXCLUSIVE_LEAF, LEAF), lambda: tree(kept).delegate(True), kept, (beside,)
        ):
            tree(kept).make_leaf(LEAF)
    assert kept.folder is not None
    (left,) = json.loads((kept.folder / CHANGES).read_text())["changes"]
    assert left["setting"] == "exclusive-leaf"


def test_of_what_a_killed_start_left_all_is_put_back_that_can_be(
    kept: Store, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: PaperTree, name: str) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    process = start("middle")
    wait_until_held(process)
    process.kill()
    process.wait()
    with monkeypatch.context() as patch, pytest.raises(HostError, match="busy, expected absent; put it right by hand"):
        patch.setattr(PaperTree, "remove_leaf", refuse)
        put_right(kept)
    assert not tree(kept).is_delegated() and tree(kept).has_leaf(LEAF)
    # What was put back is somebody else's to change by now.
    tree(kept).delegate(True)
    assert put_right(kept) == [REMOVED]
    assert tree(kept).is_delegated()


def test_a_change_whose_tree_is_gone_at_its_end_is_told_and_stays_recorded(kept: Store) -> None:
    beside = SettingChange(setting=Setting.TASKS_DELEGATION, old="off")
    assert kept.folder is not None and kept.tree_of(beside) is None
    held = apply_change(leaf_change(Setting.EXCLUSIVE_LEAF, LEAF), lambda: None, kept, (beside,))
    with pytest.raises(HostError, match="a cgroup tree that is not mounted"), lock_machine(store=kept), held:
        pass
    (left,) = json.loads((kept.folder / CHANGES).read_text())["changes"]
    assert left["setting"] == "tasks-delegation"


@pytest.mark.parametrize(
    ("file", "text"), [("cgroup.subtree_control", "cpuset cpu\n"), ("cpuset.cpus", "0-1\n"), ("cpuset.mems", "0\n")]
)
def test_a_delegation_that_others_use_meanwhile_is_left_to_them(kept: Store, file: str, text: str) -> None:
    with both(kept):
        (tree(kept).mount / "user.slice" / file).write_text(text)
    assert tree(kept).is_delegated() and not tree(kept).has_leaf(LEAF)
    assert kept.folder is not None and not (kept.folder / CHANGES).exists()


def test_a_delegation_that_the_kernel_holds_on_to_is_left_on(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: PaperTree, on: bool) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    with both(kept):
        monkeypatch.setattr(PaperTree, "delegate", refuse)
    assert tree(kept).is_delegated()
    assert kept.folder is not None and not (kept.folder / CHANGES).exists()


def test_a_delegation_that_others_use_after_a_crash_is_left_on_and_told(kept: Store, start: Start) -> None:
    start("before").wait()
    others = tree(kept).mount / "user.slice"
    (others / "cgroup.subtree_control").write_text("cpuset\n")
    left_on = "cpuset in cgroup.subtree_control of the cgroup v2 root: left on, other cgroups use it by now"
    assert put_right(kept) == [REMOVED, left_on]
    assert put_right(kept) == [] and tree(kept).is_delegated()


def test_cgroups_with_the_values_they_had_from_the_start_use_nothing(kept: Store) -> None:
    others = tree(kept).mount / "user.slice"
    for file, text in {"cgroup.subtree_control": "cpu\n", "cpuset.cpus": "\n", "cpuset.mems": "\n"}.items():
        (others / file).write_text(text)
    with both(kept):
        pass
    assert untouched(kept)


def test_two_users_have_two_folders_and_one_lock(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    file = shared_lock_file([tmp_path / "none", tmp_path])
    assert file == tmp_path / "scalograph.lock"
    mine, theirs = (Store(tmp_path / name, None, shared=file) for name in ("mine", "theirs"))
    with lock_machine(store=mine), lock_machine(store=mine):
        assert stat.S_IMODE(file.stat().st_mode) == 0o644
    with lock_machine(store=theirs):
        pass


def test_a_user_with_two_folders_has_one_lock(tmp_path: Path) -> None:
    """Another XDG_RUNTIME_DIR, as under cron, is no second machine."""
    file = tmp_path / "scalograph.lock"
    one, other = (Store(tmp_path / name, None, shared=file) for name in ("one", "other"))
    said = f"scalograph.lock: process {os.getpid()} measures on this machine, expected one at a time"
    with lock_machine(store=one), pytest.raises(HostError, match=said), lock_machine(store=other):
        pass


LOCKED = """
import fcntl, os, time
os.setuid(65534)
fcntl.flock({}, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(60)"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_keeps_nobody_from_measuring_and_is_named(tmp_path: Path) -> None:
    file, told = tmp_path / "scalograph.lock", list[str]()
    fd = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    argv = [sys.executable, "-S", "-c", LOCKED.format(fd)]
    with subprocess.Popen(argv, pass_fds=[fd], stdout=subprocess.PIPE, text=True) as holder:
        os.close(fd)
        wait_until_held(holder)
        with lock_machine(0.2, Store(tmp_path / "mine", None, shared=file), told.append) as restored:
            assert restored == []
        holder.kill()
    who = f"process {holder.pid} of user {pwd.getpwuid(65534).pw_name}"
    assert told == [f"{who} still measures on this machine: both measurements are disturbed"]


def test_a_holder_of_another_container_is_not_named(tmp_path: Path) -> None:
    file = tmp_path / "scalograph.lock"
    file.write_text("")
    assert find_holder(file) is None


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        (lambda file: file.symlink_to(file.with_name("victim")), "a link"),
        (lambda file: file.hardlink_to(file.with_name("victim")), "a file with several names"),
        (Path.mkdir, "a folder"),
        (os.mkfifo, "a FIFO"),
    ],
)
def test_a_spoiled_lock_of_the_machine_is_told_once_and_left_alone(
    tmp_path: Path, spoil: Callable[[Path], object], kind: str
) -> None:
    (tmp_path / "victim").write_text("precious")
    file, told = tmp_path / "scalograph.lock", list[str]()
    spoil(file)
    with lock_machine(0, Store(tmp_path / "mine", None, shared=file), told.append) as restored:
        assert restored == []
    expected = "expected a plain file; remove it: until then nobody sees who else measures here"
    assert told == [f"{file}: {kind}, {expected}"]
    assert (tmp_path / "victim").read_text() == "precious"


def test_only_a_sticky_folder_that_is_open_to_all_holds_the_shared_lock(tmp_path: Path) -> None:
    for mode in (0o777, 0o1755):
        tmp_path.chmod(mode)
        assert shared_lock_file([tmp_path]) is None


def test_the_lock_may_be_taken_again_by_its_holder_only(kept: Store) -> None:
    with lock_machine(store=kept), lock_machine(store=kept):
        assert put_right(kept) == []
    with lock_machine(store=kept):
        pass
    with (
        pytest.raises(HostError, match="the machine is not locked"),
        apply_change(delegation_change(), lambda: None, kept),
    ):
        pass


def refusing(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, number: int) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(module, name, refuse)


def test_a_full_disk_keeps_nobody_from_the_lock(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(monkeypatch, os, "pwrite", errno.ENOSPC)
    with lock_machine(store=kept):
        pass


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK])
def test_a_file_system_without_locks_is_done_without_them(
    kept: Store, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing(monkeypatch, fcntl, "flock", number)
    with lock_machine(store=kept) as told:
        assert told == []


def test_a_lock_that_is_refused_is_told_and_its_file_closed(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(monkeypatch, fcntl, "flock", errno.EIO)
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(HostError, match=r"state/lock: cannot be locked: Input/output error"), lock_machine(store=kept):
        pass
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_kernel_that_refuses_is_quoted(kept: Store) -> None:
    def refuse() -> None:
        raise PermissionError(1, "Operation not permitted")

    said = "the kernel refuses: Operation not permitted"
    with (
        lock_machine(store=kept),
        pytest.raises(HostError, match=said),
        apply_change(delegation_change(), refuse, kept),
    ):
        pass
    assert kept.folder is not None and not (kept.folder / CHANGES).exists()


def valid(**changes: Any) -> dict[str, Any]:
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    leaf = {"setting": "exclusive-leaf", "old": "absent", "leaf": LEAF}
    return {"version": 1, "boot_id": boot_id, "owner": {"pid": 1, "start_ticks": 1}, "changes": [leaf]} | changes


def leaf(**changes: Any) -> list[dict[str, Any]]:
    return [{"setting": "exclusive-leaf", "old": "absent", "leaf": LEAF} | changes]


def sysctl(name: str, **changes: Any) -> list[dict[str, Any]]:
    return [{"setting": "sysctl", "old": "1", "name": name} | changes]


@pytest.mark.parametrize(
    "record",
    [
        valid(changes=leaf(setting="drop-caches")),
        valid(changes=leaf(setting="cpuset-delegation")),
        valid(changes=leaf(leaf="../scalograph-00")),
        valid(changes=leaf(leaf="scalograph-00/../../etc")),
        valid(changes=leaf(leaf="scalograph-00\n")),
        valid(changes=leaf(leaf="/etc")),
        valid(changes=leaf(leaf="")),
        valid(changes=leaf(leaf="user.slice")),
        valid(changes=leaf(old="1")),
        valid(changes=leaf(path="/etc/passwd")),
        valid(changes=leaf() * 257),
        valid(changes=sysctl("kernel.core_pattern/../../etc")),
        valid(changes=sysctl("../etc/passwd")),
        valid(changes=sysctl("vm..swappiness")),
        valid(changes=sysctl("vm/swappiness")),
        valid(changes=sysctl("")),
        valid(changes=sysctl("vm.swappiness", setting="io-queue")),
        valid(changes=sysctl("sda/../../x", setting="io-queue")),
        valid(changes=sysctl("sda", setting="thp")),
        valid(changes=sysctl("vm.swappiness", old="1" * 1001)),
        valid(owner={"pid": -1, "start_ticks": 1}),
        valid(owner={"pid": "1", "start_ticks": 1}),
        valid(version=2),
        valid(more=1),
        {},
        [],
        "text",
    ],
)
def test_tampered_records_are_refused_and_nothing_is_done(kept: Store, record: object) -> None:
    with lock_machine(store=kept):
        pass
    assert kept.folder is not None
    victim = tree(kept).mount / "user.slice"
    (kept.folder / CHANGES).write_text(json.dumps(record))
    with pytest.raises(HostError, match=r"changes\.json: .*expected changes as Scalograph writes them; look at"):
        put_right(kept)
    assert victim.is_dir() and (kept.folder / CHANGES).exists()


def test_the_valid_record_of_these_tests_is_valid(kept: Store) -> None:
    with lock_machine(store=kept):
        pass
    assert kept.folder is not None
    (kept.folder / CHANGES).write_text(json.dumps(valid()))
    assert put_right(kept) == [REMOVED]


@pytest.mark.parametrize("content", [b"{", b"\xff", b"", b" " * (MAX_BYTES + 1)])
def test_garbage_is_refused(kept: Store, content: bytes) -> None:
    with lock_machine(store=kept):
        pass
    assert kept.folder is not None
    (kept.folder / CHANGES).write_bytes(content)
    with pytest.raises(HostError, match="expected"):
        put_right(kept)


def test_a_record_that_is_too_long_is_refused_though_its_beginning_is_valid(kept: Store) -> None:
    with lock_machine(store=kept):
        pass
    assert kept.folder is not None
    (kept.folder / CHANGES).write_bytes(json.dumps(valid()).encode().ljust(MAX_BYTES + 1))
    with pytest.raises(HostError, match="a longer file, expected at most 65536 bytes"):
        put_right(kept)


def test_a_living_owner_without_its_lock_is_left_alone(kept: Store, start: Start) -> None:
    process = start("middle")
    wait_until_held(process)
    assert kept.folder is not None
    (kept.folder / "lock").unlink()
    assert put_right(kept) == []
    assert tree(kept).has_leaf(LEAF)
    said = f"changes of process {process.pid}, which is still there, expected one owner at a time"
    with (
        lock_machine(store=kept),
        pytest.raises(HostError, match=said),
        apply_change(delegation_change(), lambda: None, kept),
    ):
        pass
    assert str(process.pid) in (kept.folder / CHANGES).read_text()


def test_without_a_folder_there_is_no_lock() -> None:
    assert put_right(Store(None, None)) == []


def test_the_folder_is_ours_alone(tmp_path: Path) -> None:
    with PrivateDir(tmp_path / "state"):
        assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700


def test_a_folder_that_is_open_to_others_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(mode=0o755)
    (tmp_path / "state").chmod(0o755)
    with pytest.raises(HostError, match="state: mode 0755, expected mode 0700; look at it, then remove it"):
        PrivateDir(tmp_path / "state")


@pytest.mark.parametrize("kind", ["link", "dangling", "file"])
def test_no_folder_but_a_real_one(tmp_path: Path, kind: str) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    path = tmp_path / "state"
    if kind == "file":
        path.write_text("")
    else:
        path.symlink_to(tmp_path / ("real" if kind == "link" else "nowhere"))
    with pytest.raises(HostError, match="expected a folder, not a link"):
        PrivateDir(path)
    assert list((tmp_path / "real").iterdir()) == []


def test_a_place_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(HostError, match=r"No such file or directory.*; make .*/runtime a folder that we may write to"):
        PrivateDir(tmp_path / "runtime/scalograph")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_anothers_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(mode=0o700)
    os.chown(tmp_path / "state", 65534, 65534)
    with pytest.raises(HostError, match="owned by user 65534, expected user 0"):
        PrivateDir(tmp_path / "state")


@pytest.mark.parametrize("name", ["lock", CHANGES])
@pytest.mark.parametrize("kind", ["symbolic link", "hard link", "pipe", "folder", "writable"])
def test_files_that_are_not_plainly_ours_are_refused(kept: Store, tmp_path: Path, name: str, kind: str) -> None:
    with lock_machine(store=kept):
        pass
    assert kept.folder is not None
    victim = tmp_path / "victim"
    victim.write_text("precious")
    file = kept.folder / name
    file.unlink(missing_ok=True)
    if kind == "symbolic link":
        file.symlink_to(victim)
    elif kind == "hard link":
        file.hardlink_to(victim)
    elif kind == "pipe":
        os.mkfifo(file, 0o600)
    elif kind == "folder":
        file.mkdir()
    else:
        file.write_text("{}")
        file.chmod(0o666)
    found = {
        "symbolic link": "a link",
        "hard link": "a file with several names",
        "pipe": "a FIFO",
        "folder": "a folder",
        "writable": "mode 0666",
    }[kind]
    with pytest.raises(HostError, match=f"{name}: {found}, expected"):
        put_right(kept)
    assert victim.read_text() == "precious"


def test_the_place_depends_on_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert state_folder({"XDG_RUNTIME_DIR": "/run/user/0"}) == Path("/run/scalograph")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr("scalograph.system.private_dir._is_ours", lambda folder: folder == Path("/run/user/1000"))
    assert state_folder({"XDG_RUNTIME_DIR": "/run/user/1000"}) == Path("/run/user/1000/scalograph")
    assert state_folder({"XDG_RUNTIME_DIR": "/run/user/999"}) == Path("/tmp/scalograph-1000"), "a plain su leaves it"
    assert state_folder({"XDG_RUNTIME_DIR": "relative"}) == Path("/tmp/scalograph-1000")
    assert state_folder({"TMPDIR": "/var/tmp"}) == Path("/var/tmp/scalograph-1000")
    assert state_folder({"TMPDIR": "relative"}) == state_folder({}) == Path("/tmp/scalograph-1000")


def test_a_runtime_folder_is_ours_or_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    us = os.geteuid()
    assert [_is_ours(tmp_path / name) for name in (".", "file", "none")] == [True, False, False]
    monkeypatch.setattr(os, "geteuid", lambda: us + 1)
    assert not _is_ours(tmp_path)


NOBODY = """
import os
os.environ["TMPDIR"] = {!r}
from scalograph.control.store import Store, lock_machine
from scalograph.errors import HostError
store = Store.locate()
try:
    with lock_machine(store=store) as told:
        print(store.folder, oct(store.folder.stat().st_mode), told, (store.folder / "lock").exists())
except HostError as error:
    print(error)
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that anybody may write to, as /tmp; the ones of pytest are closed to others."""
    with tempfile.TemporaryDirectory(prefix="scalograph-test-") as name:
        Path(name).chmod(0o1777)
        yield Path(name)


@pytest.mark.xdist_group("machine")
def test_nobody_has_a_lock_too(nobody: Callable[..., str], open_folder: Path) -> None:
    made = open_folder / f"scalograph-{os.geteuid() or 65534}"
    assert nobody(NOBODY.format(str(open_folder))) == f"{made} 0o40700 [] True\n"
    assert nobody(NOBODY.format(str(open_folder))).endswith("True\n"), "and again in the same folder"


@pytest.mark.xdist_group("machine")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be in another user's way")
@pytest.mark.parametrize(
    ("mode", "found"), [(0o755, "owned by user 0, expected user 65534"), (0o700, "Permission denied")]
)
def test_who_squats_on_the_name_is_told_and_gone_around(
    nobody: Callable[..., str], open_folder: Path, mode: int, found: str
) -> None:
    squatted = open_folder / "scalograph-65534"
    squatted.mkdir()
    squatted.chmod(mode)
    said = nobody(NOBODY.format(str(open_folder)))
    assert found in said and said.endswith("or set XDG_RUNTIME_DIR to a folder of your own\n")
    assert not list(squatted.iterdir())


@pytest.mark.parametrize("name", ["scalograph-", "scalograph-XY", "scalograph-00/..", "init.scope", "scalograph-0\n"])
def test_only_leaves_of_ours_have_a_record(name: str) -> None:
    with pytest.raises(ValueError, match="a leaf is named scalograph-HEX"):
        leaf_change(Setting.EXCLUSIVE_LEAF, name)
