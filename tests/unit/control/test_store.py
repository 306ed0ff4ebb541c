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
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest
from pytest import MonkeyPatch

from scalograph.control.settings import Setting, SettingChange, delegation_change, leaf_change
from scalograph.control.store import CHANGES, Store, apply_change, lock_machine
from scalograph.errors import HostError
from scalograph.system.lock import find_holder, shared_lock_file
from scalograph.system.private_dir import MAX_BYTES, PrivateDir, _is_ours, state_folder
from tests.kit.processes import owner
from tests.kit.refusals import refuses
from tests.unit.control import paper
from tests.unit.control.paper import LEAF, PaperTree, child_environment, put_right

pytestmark = pytest.mark.guarantee

DELEGATION = "cpuset in cgroup.subtree_control of the cgroup v2 root: off"
REMOVED = f"cgroup {LEAF} with its exclusive CPUs: removed"


class Machine:
    """A machine of paper, the changes that are recorded of it, and processes that hold it."""

    def __init__(self, folder: Path) -> None:
        paper.machine(folder / "root")
        self.folder, self.root = folder / "state", folder / "root"
        self.store = paper.store(self.folder, self.root)
        assert isinstance(self.store.tree, PaperTree)
        self.tree, self.changes = self.store.tree, self.folder / CHANGES
        self.processes: list[subprocess.Popen[str]] = []

    def start(self) -> subprocess.Popen[str]:
        """Start a process that holds the machine and waits to be killed."""
        process = self._start("middle")
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        return process

    def start_killed(self, when: str = "before") -> None:
        """Start one and kill it, in the middle or before its last change was made."""
        process = self._start("before") if when == "before" else self.start()
        if when == "middle":
            process.kill()
        assert process.wait() == -signal.SIGKILL

    def _start(self, when: str) -> subprocess.Popen[str]:
        argv = [sys.executable, "-B", paper.__file__, str(self.folder), str(self.root), when]
        process = subprocess.Popen(argv, env=child_environment(), stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process

    def recorded(self) -> list[str]:
        return [change["setting"] for change in json.loads(self.changes.read_text())["changes"]]

    def is_untouched(self) -> bool:
        return not self.tree.is_delegated() and not self.tree.has_leaf(LEAF)

    def lock(self) -> AbstractContextManager[list[str]]:
        return lock_machine(store=self.store)

    def change(self, make: Callable[[], object] | None = None) -> AbstractContextManager[None]:
        return apply_change(delegation_change(), make or (lambda: self.tree.delegate(True)), self.store)

    def leaf(self, make: Callable[[], object], *beside: SettingChange) -> AbstractContextManager[None]:
        return apply_change(leaf_change(Setting.EXCLUSIVE_LEAF, LEAF), make, self.store, beside)

    def hold(self) -> ExitStack:
        """Lock the machine, delegate the controller and make a leaf."""
        with ExitStack() as held:
            held.enter_context(self.lock())
            held.enter_context(self.change())
            held.enter_context(self.leaf(lambda: self.tree.make_leaf(LEAF)))
            return held.pop_all()


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path)
    yield made
    for process in made.processes:
        with process:
            process.kill()


def refusing(monkeypatch: MonkeyPatch, of: object, name: str, number: int = errno.EBUSY) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(of, name, refuse)


@pytest.mark.parametrize(("when", "has_leaf"), [("middle", True), ("before", False)])
def test_what_a_killed_start_left_is_put_back_in_reverse_and_told(machine: Machine, when: str, has_leaf: bool) -> None:
    machine.start_killed(when)
    assert machine.recorded() == ["cpuset-delegation", "exclusive-leaf"], "on the disk before it is made"
    assert (machine.tree.is_delegated(), machine.tree.has_leaf(LEAF)) == (True, has_leaf), "nobody has put it back yet"
    assert put_right(machine.store) == [REMOVED, DELEGATION]
    assert machine.is_untouched()
    assert put_right(machine.store) == []


def test_a_living_owner_is_left_alone_and_waited_for_which_is_told_once(machine: Machine) -> None:
    process, messages = machine.start(), list[str]()
    refusal = f"process {process.pid} measures on this machine, expected one at a time"
    with pytest.raises(HostError, match=refusal), machine.lock():
        pass
    assert machine.tree.is_delegated() and machine.tree.has_leaf(LEAF)
    with pytest.raises(HostError, match="wait for its end"), lock_machine(1.5, machine.store, messages.append):
        pass
    (message,) = messages
    assert message.startswith(f"waiting for process {process.pid}, which measures on this machine, at most")
    subprocess.Popen(["sh", "-c", f"sleep 0.3; kill -9 {process.pid}"]).wait()
    with lock_machine(30, machine.store, messages.append) as restored:
        assert restored == [REMOVED, DELEGATION] and machine.is_untouched()
    assert messages == [message], "a wait of less than a second is not worth a line"


@pytest.mark.parametrize(("changes", "restored"), [
    ({"boot_id": "another"}, []),  # what was set since a reboot is somebody else's
    ({"owner": {"pid": os.getpid(), "start_ticks": 1}}, [REMOVED, DELEGATION]),  # a later process of that number
], ids=["reboot", "owner"])  # fmt: skip
def test_a_record_is_of_its_boot_and_its_owner(machine: Machine, changes: dict[str, Any], restored: list[str]) -> None:
    machine.start_killed()
    machine.changes.write_text(json.dumps({**json.loads(machine.changes.read_text()), **changes}))
    assert put_right(machine.store) == restored
    assert machine.tree.is_delegated() == (not restored) and not machine.changes.exists()


def test_a_value_that_does_not_come_back_stays_recorded(machine: Machine, monkeypatch: MonkeyPatch) -> None:
    machine.start_killed()
    monkeypatch.setattr(PaperTree, "delegate", lambda self, on: None)
    with pytest.raises(HostError, match="not in force after it was written, expected off; put it right by hand"):
        put_right(machine.store)
    assert machine.changes.exists()


def test_changes_are_undone_at_the_end_also_after_an_error_of_equal_ones_the_last_first(machine: Machine) -> None:
    with pytest.raises(ZeroDivisionError), machine.hold():
        assert machine.tree.is_delegated()
        with machine.leaf(lambda: None):
            assert machine.recorded().count("exclusive-leaf") == 2
        assert machine.recorded().count("exclusive-leaf") == 1
        raise ZeroDivisionError
    assert machine.is_untouched() and not machine.changes.exists()


def test_a_change_that_is_not_undone_stays_recorded(machine: Machine, monkeypatch: MonkeyPatch) -> None:
    with pytest.raises(HostError, match="the kernel refuses: Device or resource busy"), machine.hold():
        refusing(monkeypatch, PaperTree, "remove_leaf")
    (left,) = json.loads(machine.changes.read_text())["changes"]
    assert (left["setting"], left["leaf"]) == ("exclusive-leaf", LEAF)


def test_a_change_that_is_not_undone_keeps_no_other_from_it(machine: Machine, monkeypatch: MonkeyPatch) -> None:
    refusing(monkeypatch, PaperTree, "remove_leaf")
    held = machine.leaf(lambda: machine.tree.delegate(True), delegation_change())
    with pytest.raises(HostError, match="busy"), machine.lock(), held:
        machine.tree.make_leaf(LEAF)
    assert machine.recorded() == ["exclusive-leaf"]


def test_all_is_put_back_that_can_be(machine: Machine, monkeypatch: MonkeyPatch) -> None:
    machine.start_killed("middle")
    with monkeypatch.context() as patch, pytest.raises(HostError, match="busy, expected absent; put it right by hand"):
        refusing(patch, PaperTree, "remove_leaf")
        put_right(machine.store)
    assert not machine.tree.is_delegated() and machine.tree.has_leaf(LEAF)
    # What was put back is somebody else's to change by now.
    machine.tree.delegate(True)
    assert put_right(machine.store) == [REMOVED]
    assert machine.tree.is_delegated()


def test_a_change_whose_tree_is_gone_at_its_end_is_told_and_stays_recorded(machine: Machine) -> None:
    beside = SettingChange(setting=Setting.TASKS_DELEGATION, old="off")
    assert machine.store.tree_of(beside) is None
    held = machine.leaf(lambda: None, beside)
    with pytest.raises(HostError, match="a cgroup tree that is not mounted"), machine.lock(), held:
        pass
    assert machine.recorded() == ["tasks-delegation"]


@pytest.mark.parametrize(("when", "files", "stays"), [
    ("meanwhile", {"cgroup.subtree_control": "cpuset cpu\n"}, True), ("meanwhile", {"cpuset.cpus": "0-1\n"}, True),
    ("meanwhile", {"cpuset.mems": "0\n"}, True),
    ("before", {"cgroup.subtree_control": "cpu\n", "cpuset.cpus": "\n", "cpuset.mems": "\n"}, False),
])  # fmt: skip
def test_a_delegation_is_left_to_others(machine: Machine, when: str, files: dict[str, str], stays: bool) -> None:
    def write_files() -> None:
        for file, text in files.items():
            (machine.tree.mount / "user.slice" / file).write_text(text)

    if when == "before":
        write_files()
    with machine.hold():
        if when == "meanwhile":
            write_files()
    assert (machine.tree.is_delegated(), machine.tree.has_leaf(LEAF)) == (stays, False)
    assert not machine.changes.exists()


def test_a_kernel_that_refuses_is_quoted_or_if_it_holds_on_let_be(machine: Machine, monkeypatch: MonkeyPatch) -> None:
    with monkeypatch.context() as patch, pytest.raises(HostError, match="the kernel refuses: Operation not permitted"):
        refusing(patch, PaperTree, "delegate", errno.EPERM)
        with machine.lock(), machine.change():
            pass
    assert not machine.changes.exists()
    with machine.hold():
        refusing(monkeypatch, PaperTree, "delegate")
    assert machine.tree.is_delegated() and not machine.changes.exists()


def test_a_delegation_that_others_use_after_a_crash_is_left_on_and_told(machine: Machine) -> None:
    machine.start_killed()
    (machine.tree.mount / "user.slice/cgroup.subtree_control").write_text("cpuset\n")
    left_on = "cpuset in cgroup.subtree_control of the cgroup v2 root: left on, other cgroups use it by now"
    assert put_right(machine.store) == [REMOVED, left_on]
    assert put_right(machine.store) == [] and machine.tree.is_delegated()


def test_one_lock_for_all_users_and_folders_in_a_sticky_folder_that_is_open_to_all(tmp_path: Path) -> None:
    """Another XDG_RUNTIME_DIR, as under cron, is no second machine."""
    tmp_path.chmod(0o1777)
    file = shared_lock_file([tmp_path / "none", tmp_path])
    assert file == tmp_path / "scalograph.lock"
    mine, theirs = (Store(tmp_path / name, None, shared=file) for name in ("mine", "theirs"))
    refusal = f"scalograph.lock: process {os.getpid()} measures on this machine, expected one at a time"
    with lock_machine(store=mine), lock_machine(store=mine):
        assert stat.S_IMODE(file.stat().st_mode) == 0o644
        with pytest.raises(HostError, match=refusal), lock_machine(store=theirs):
            pass
    with lock_machine(store=theirs):
        pass
    file.write_text("")
    assert find_holder(file) is None, "nor is one of another container named"
    for mode in (0o777, 0o1755):
        tmp_path.chmod(mode)
        assert shared_lock_file([tmp_path]) is None


LOCKED = """
import fcntl, os, time
os.setuid(65534)
fcntl.flock({}, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(60)"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_keeps_nobody_from_measuring_and_is_named(tmp_path: Path) -> None:
    file, messages = tmp_path / "scalograph.lock", list[str]()
    fd = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    with owner([sys.executable, "-S", "-c", LOCKED.format(fd)], pass_fds=[fd]) as (pid, said):
        os.close(fd)
        assert said == "held"
        with lock_machine(0.2, Store(tmp_path / "mine", None, shared=file), messages.append) as restored:
            assert restored == []
    who = f"process {pid} of user {pwd.getpwuid(65534).pw_name}"
    assert messages == [f"{who} still measures on this machine: both measurements are disturbed"]


# How a file is no plain one of ours, and what is said of it.
SPOILED: list[tuple[Callable[[Path], object], str]] = [
    (lambda file: file.symlink_to(victim_of(file)), "a link"),
    (lambda file: file.hardlink_to(victim_of(file)), "a file with several names"),
    (Path.mkdir, "a folder"),
    (lambda file: os.mkfifo(file, 0o600), "a FIFO"),
]


def victim_of(file: Path) -> Path:
    victim = file.with_name("victim")
    victim.write_text("precious")
    return victim


@pytest.mark.parametrize(("spoil", "kind"), SPOILED)
def test_a_spoiled_lock_is_told_once_and_left_alone(tmp_path: Path, spoil: Callable[[Path], object], kind: str) -> None:
    file, messages, victim = tmp_path / "scalograph.lock", list[str](), victim_of(tmp_path / "file")
    spoil(file)
    with lock_machine(0, Store(tmp_path / "mine", None, shared=file), messages.append) as restored:
        assert restored == []
    expected = "expected a plain file; remove it: until then nobody sees who else measures here"
    assert messages == [f"{file}: {kind}, {expected}"]
    assert victim.read_text() == "precious"


def test_the_lock_may_be_taken_again_by_its_holder_only(machine: Machine) -> None:
    with machine.lock(), machine.lock():
        assert put_right(machine.store) == []
    with machine.lock():
        pass
    with pytest.raises(HostError, match="the machine is not locked"), machine.change(lambda: None):
        pass
    assert put_right(Store(None, None)) == [], "without a folder there is none"


@pytest.mark.parametrize(("of", "name", "number"), [
    (os, "pwrite", errno.ENOSPC),
    *((fcntl, "flock", number) for number in (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK)),
])  # fmt: skip
def test_no_room_or_no_locks(machine: Machine, monkeypatch: MonkeyPatch, of: object, name: str, number: int) -> None:
    refusing(monkeypatch, of, name, number)
    with machine.lock() as restored:
        assert restored == []


def test_a_lock_that_is_refused_is_told_and_its_file_closed(machine: Machine, monkeypatch: MonkeyPatch) -> None:
    refusing(monkeypatch, fcntl, "flock", errno.EIO)
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(HostError, match=r"state/lock: cannot be locked: Input/output error"), machine.lock():
        pass
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def valid(**changes: Any) -> dict[str, Any]:
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return {"version": 1, "boot_id": boot_id, "owner": {"pid": 1, "start_ticks": 1}, "changes": leaf()} | changes


def leaf(**changes: Any) -> list[dict[str, Any]]:
    return [{"setting": "exclusive-leaf", "old": "absent", "leaf": LEAF} | changes]


def sysctl(name: str, **changes: Any) -> list[dict[str, Any]]:
    return [{"setting": "sysctl", "old": "1", "name": name} | changes]


TAMPERED = [
    leaf(setting="drop-caches"), leaf(setting="cpuset-delegation"), leaf(leaf="../scalograph-00"),
    leaf(leaf="scalograph-00/../../etc"), leaf(leaf="scalograph-00\n"), leaf(leaf="/etc"), leaf(leaf=""),
    leaf(leaf="user.slice"), leaf(old="1"), leaf(path="/etc/passwd"), leaf() * 257,
    sysctl("kernel.core_pattern/../../etc"), sysctl("../etc/passwd"), sysctl("vm..swappiness"),
    sysctl("vm/swappiness"), sysctl(""), sysctl("vm.swappiness", setting="io-queue"),
    sysctl("sda/../../x", setting="io-queue"), sysctl("sda", setting="thp"), sysctl("vm.swappiness", old="1" * 1001),
]  # fmt: skip


TOO_LONG = json.dumps(valid()).encode().ljust(MAX_BYTES + 1)  # though its beginning is valid
NOT_OURS = r"changes\.json: .*expected changes as Scalograph writes them; look at"


@pytest.mark.parametrize(("content", "refusal"), [
    *((json.dumps(record).encode(), NOT_OURS) for record in (
        *(valid(changes=changes) for changes in TAMPERED), valid(owner={"pid": -1, "start_ticks": 1}),
        valid(owner={"pid": "1", "start_ticks": 1}), valid(version=2), valid(more=1), {}, [], "text",
    )),
    (b"{", "expected"), (b"\xff", "expected"), (b"", "expected"), (b" " * (MAX_BYTES + 1), "expected"),
    (TOO_LONG, "a longer file, expected at most 65536 bytes"),
], ids=map(str, range(99)))  # fmt: skip
def test_tampered_records_and_garbage_are_refused(machine: Machine, content: bytes, refusal: str) -> None:
    with machine.lock():
        machine.changes.write_bytes(content)
    refuses(HostError, refusal, put_right, machine.store)
    assert (machine.tree.mount / "user.slice").is_dir() and machine.changes.exists()
    machine.changes.write_text(json.dumps(valid()))
    assert put_right(machine.store) == [REMOVED], "of the record that is tampered with here"


def test_a_living_owner_without_its_lock_is_left_alone(machine: Machine) -> None:
    process = machine.start()
    (machine.folder / "lock").unlink()
    assert put_right(machine.store) == []
    assert machine.tree.has_leaf(LEAF)
    refusal = f"changes of process {process.pid}, which is still there, expected one owner at a time"
    with machine.lock(), pytest.raises(HostError, match=refusal), machine.change(lambda: None):
        pass
    assert str(process.pid) in machine.changes.read_text()


def test_the_folder_is_ours_alone_or_refused(tmp_path: Path) -> None:
    with PrivateDir(tmp_path / "state"):
        assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700
    (tmp_path / "state").chmod(0o755)
    with pytest.raises(HostError, match="state: mode 0755, expected mode 0700; look at it, then remove it"):
        PrivateDir(tmp_path / "state")
    with pytest.raises(HostError, match=r"No such file or directory.*; make .*/runtime a folder that we may write to"):
        PrivateDir(tmp_path / "runtime/scalograph")


@pytest.mark.parametrize("target", ["real", "nowhere", None])
def test_no_folder_but_a_real_one(tmp_path: Path, target: str | None) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    path = tmp_path / "state"
    path.symlink_to(tmp_path / target) if target else path.write_text("")
    refuses(HostError, "expected a folder, not a link", PrivateDir, path)
    assert list((tmp_path / "real").iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_anothers_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(mode=0o700)
    os.chown(tmp_path / "state", 65534, 65534)
    refuses(HostError, "owned by user 65534, expected user 0", PrivateDir, tmp_path / "state")


def write_open(file: Path) -> None:
    file.write_text("{}")
    file.chmod(0o666)


@pytest.mark.parametrize("name", ["lock", CHANGES])
@pytest.mark.parametrize(("spoil", "kind"), [*SPOILED, (write_open, "mode 0666")])
def test_files_not_plainly_ours(machine: Machine, name: str, spoil: Callable[[Path], object], kind: str) -> None:
    with machine.lock():
        pass
    file = machine.folder / name
    file.unlink(missing_ok=True)
    victim = victim_of(file)
    spoil(file)
    refuses(HostError, f"{name}: {kind}, expected", put_right, machine.store)
    assert victim.read_text() == "precious"


def test_the_place_depends_on_the_user(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    assert [_is_ours(tmp_path / name) for name in (".", "file", "none")] == [True, False, False]
    us = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: us + 1)
    assert not _is_ours(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert state_folder({"XDG_RUNTIME_DIR": "/run/user/0"}) == Path("/run/scalograph")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr("scalograph.system.private_dir._is_ours", lambda folder: folder == Path("/run/user/1000"))
    for environ, folder in (
        ({"XDG_RUNTIME_DIR": "/run/user/1000"}, "/run/user/1000/scalograph"),
        ({"XDG_RUNTIME_DIR": "/run/user/999"}, "/tmp/scalograph-1000"),  # a plain su leaves it
        ({"XDG_RUNTIME_DIR": "relative"}, "/tmp/scalograph-1000"),
        ({"TMPDIR": "/var/tmp"}, "/var/tmp/scalograph-1000"),
        ({"TMPDIR": "relative"}, "/tmp/scalograph-1000"), ({}, "/tmp/scalograph-1000"),
    ):  # fmt: skip
        assert state_folder(environ) == Path(folder)


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
@pytest.mark.parametrize(("mode", "found"), [
    (0o755, "owned by user 0, expected user 65534"), (0o700, "Permission denied"),
])  # fmt: skip
def test_who_squats_on_the_name_is_told(nobody: Callable[..., str], open_folder: Path, mode: int, found: str) -> None:
    squatted = open_folder / "scalograph-65534"
    squatted.mkdir()
    squatted.chmod(mode)
    said = nobody(NOBODY.format(str(open_folder)))
    assert found in said and said.endswith("or set XDG_RUNTIME_DIR to a folder of your own\n")
    assert not list(squatted.iterdir())


@pytest.mark.parametrize("name", ["scalograph-", "scalograph-XY", "scalograph-00/..", "init.scope", "scalograph-0\n"])
def test_only_leaves_of_ours_have_a_record(name: str) -> None:
    refuses(ValueError, "a leaf is named scalograph-HEX", leaf_change, Setting.EXCLUSIVE_LEAF, name)
