"""One session at a time on a machine, and a way back from every setting that it changes, even after a SIGKILL.

A change is recorded and fsynced before it is made. A later session undoes what a dead owner left, and nothing else.
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scalograph.control.kernel_files import KERNEL, KernelPlace
from scalograph.control.settings import (
    CPU_TIME_SETTINGS,
    MEMORY_SETTINGS,
    TASK_SETTINGS,
    SettingChange,
    Tree,
    is_changed,
    undo,
)  # fmt: skip
from scalograph.errors import HostError
from scalograph.system.cgroups import MEMORY, TASKS, CgroupTree, cgroup2_mount, controller_tree, cpu_tree
from scalograph.system.lock import LockLease, shared_lock_file, take_shared_lock, take_user_lock
from scalograph.system.private_dir import MAX_BYTES, PrivateDir, state_folder
from scalograph.system.stale_processes import Owner, boot_id, kill_stale_processes, remove_stale_cgroups

CHANGES = "changes.json"
_DEATH_S = 1.0
_LOOK = "look at the machine's cgroups, then remove the file"
_BY_HAND = "put it right by hand"
_SEE = "see scalograph doctor --all"


class Changes(BaseModel):
    """The content of the file of changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = Field(default=1, ge=1, le=1)
    boot_id: str = Field(max_length=64)
    owner: Owner
    changes: tuple[SettingChange, ...] = Field(max_length=256)


@dataclass(frozen=True)
class Store:
    """The record of changes and the trees they change. Without a folder there is no lock, and nothing can be changed.

    `shared` is the lock of the machine, which is advice: no user can keep another from measuring. `cpu_time` is the
    tree with the controller of CPU time, `tasks` that with the one of tasks, `memory`
    with that of memory, `tree` that of all other cgroups. Settings
    of the kernel lie below `kernel`: in tests a folder that looks like it.
    """

    folder: Path | None
    tree: Tree | None
    root: Path = Path("/")
    shared: Path | None = None
    cpu_time: Tree | None = None
    tasks: Tree | None = None
    memory: Tree | None = None
    kernel: Path = Path("/")

    @classmethod
    def locate(cls) -> "Store":
        """Return the store of this machine and user."""
        mount = cgroup2_mount()
        tree = None if mount is None else CgroupTree(mount)
        tasks, memory = controller_tree(TASKS), controller_tree(MEMORY)
        return cls(state_folder(), tree, shared=shared_lock_file(), cpu_time=cpu_tree(), tasks=tasks, memory=memory)

    def tree_of(self, change: SettingChange) -> Tree | KernelPlace | None:
        """Return what a change is made in; None if there is none."""
        if change.setting in KERNEL:
            return KERNEL[change.setting].place(self.kernel, change.name)
        if change.setting in TASK_SETTINGS:
            return self.tasks
        if change.setting in MEMORY_SETTINGS:
            return self.memory
        return self.cpu_time if change.setting in CPU_TIME_SETTINGS else self.tree


# Folders whose lock this process holds, and how many times: flock would wait for this process itself.
_lock_counts: dict[Path, int] = {}


@contextmanager
def lock_machine(
    wait_s: float = 0.0,
    store: Store | None = None,
    tell: Callable[[str], object] = str,
    check: Callable[[], object] = lambda: None,
) -> Iterator[list[str]]:
    """Lock the machine against other sessions of this user. First undo what a dead one left, and yield a list of it.

    It waits `wait_s` for another session to end; `tell` gets messages about that, or about the lock of the machine.
    `check` is called before it waits, unless that session has changed settings: the machine is another one then.
    Raises HostError: another session of this user holds the machine, or what it left cannot be undone.
    """
    store = store or Store.locate()
    if store.folder is None:
        yield []
        return
    path = store.folder
    with PrivateDir(path) as folder, ExitStack() as locks:
        first = not _lock_counts.get(path)
        if first:
            lease = LockLease(wait_s, tell, lambda: check() if folder.read(CHANGES) is None else None)
            locks.callback(lease.close)
            lease.join(store.shared)
            locks.callback(os.close, take_user_lock(folder, lease))
            take_shared_lock(store.shared, lease)
        _lock_counts[path] = _lock_counts.get(path, 0) + 1
        try:
            yield _recover(store, folder) if first else []
        finally:
            _lock_counts[path] -= 1


@contextmanager
def apply_change(
    change: SettingChange, make: Callable[[], object], store: Store, beside: Sequence[SettingChange] = ()
) -> Iterator[None]:
    """Make a change, undo it at the end, and prove that it is undone. The machine must be locked.

    `beside` is what the kernel may change with it, and is undone after it.

    Raises HostError if the record cannot be written, or the kernel refuses the change or its undoing.
    """
    tree = store.tree_of(change)
    if store.folder is None or tree is None or not _lock_counts.get(store.folder):
        raise HostError(str(change), "the machine is not locked", "a lock before a change", "this is a bug")
    with PrivateDir(store.folder) as folder:
        before = _read(folder)
        if before and before.owner != Owner.current(store.root):
            state = f"changes of process {before.owner.pid}, which is still there"
            raise HostError(str(folder.path / CHANGES), state, "one owner at a time", "wait for its end")
        kept = before.changes if before else ()
        changes = (*beside, change)
        owner = Owner.current(store.root)
        _write(folder, Changes(boot_id=boot_id(store.root), owner=owner, changes=(*kept, *changes)))
        # The last is undone first, and each of them whatever becomes of the others.
        with ExitStack() as undoing:
            for each in changes:
                undoing.callback(_undo_recorded, each, store, folder)
            with _kernel_errors(change):
                make()
            yield


def _recover(store: Store, folder: PrivateDir) -> list[str]:
    restored = _restore(store, folder)
    swept = remove_stale_cgroups(store.tree, store.root) if isinstance(store.tree, CgroupTree) else []
    return [*restored, *kill_stale_processes(), *swept]


def _restore(store: Store, folder: PrivateDir) -> list[str]:
    left = _read(folder)
    if left is None or _owner_survives(left.owner, store.root):
        return []
    # A reboot has already restored everything.
    changes = left.changes if left.boot_id == boot_id(store.root) else ()
    trees, messages = [(change, _tree_of(change, store, folder)) for change in changes], list[str]()

    def put_back(change: SettingChange, tree: Tree | KernelPlace) -> None:
        messages.append(_undo(change, tree))
        _forget(folder, change)

    # As at the end of a change: the last one first, and each of them whatever becomes of the others.
    with ExitStack() as undoing:
        for pair in trees:
            undoing.callback(put_back, *pair)
    folder.remove(CHANGES)
    return messages


def _owner_survives(owner: Owner, root: Path) -> bool:
    """Return whether the owner goes on without its lock; the kernel frees it a moment before its process is gone."""
    until = time.monotonic() + (0 if owner == Owner.current(root) else _DEATH_S)
    while alive := owner.is_alive(root):
        if time.monotonic() >= until:
            break
        time.sleep(0.01)
    return alive


def _undo(change: SettingChange, tree: Tree | KernelPlace) -> str:
    """Undo a change and return the outcome in words."""
    with _kernel_errors(change, change.old, _BY_HAND):
        if not undo(change, tree):
            return f"{str(change).removesuffix(change.old)}left on, other cgroups use it by now"
    if is_changed(change, tree):
        raise HostError(str(change), "not in force after it was written", change.old, _BY_HAND)
    return str(change)


def _undo_recorded(change: SettingChange, store: Store, folder: PrivateDir) -> None:
    _undo(change, _tree_of(change, store, folder))
    _forget(folder, change)


def _tree_of(change: SettingChange, store: Store, folder: PrivateDir) -> Tree | KernelPlace:
    """Return what a recorded change is undone in. Raises HostError where that is gone: the change stays recorded."""
    if (tree := store.tree_of(change)) is None:
        raise HostError(str(folder.path / CHANGES), "changes of a cgroup tree that is not mounted", "", _LOOK)
    return tree


def _forget(folder: PrivateDir, change: SettingChange) -> None:
    """Remove one change from the record, of equal ones the last. One that was not undone stays for the next session."""
    left = _read(folder)
    kept = list(left.changes) if left else []
    if left is None or change not in kept:
        return
    del kept[len(kept) - 1 - kept[::-1].index(change)]
    _write(folder, left.model_copy(update={"changes": tuple(kept)}))


@contextmanager
def _kernel_errors(change: SettingChange, expected: str = "", fix: str = _SEE) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise HostError(str(change), f"the kernel refuses: {error.strerror}", expected, fix) from error


def _read(folder: PrivateDir) -> Changes | None:
    content = folder.read(CHANGES)
    if content is None:
        return None
    try:
        return Changes.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        location = ".".join(str(step) for step in first["loc"]) or "the file"
        problem = f"{location}: {first['msg']}"
        raise HostError(str(folder.path / CHANGES), problem, "changes as Scalograph writes them", _LOOK) from None


def _write(folder: PrivateDir, record: Changes) -> None:
    if not record.changes:
        folder.remove(CHANGES)
        return
    content = json.dumps(record.model_dump(mode="json")).encode() + b"\n"
    if len(content) > MAX_BYTES:
        problem = f"{len(record.changes)} settings at once"
        raise HostError(str(folder.path / CHANGES), problem, "fewer", "change fewer together")
    folder.write(CHANGES, content)
