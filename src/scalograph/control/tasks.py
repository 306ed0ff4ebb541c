"""A limit on tasks: a cgroup of our own in which the kernel refuses a further process or thread.

It shows what a program does at such a limit, and how many threads it gets, without going near the machine's own.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from scalograph.control.capacity import CgroupControl, CgroupLimit, enter_limited_cgroup, find_cgroup_refusal
from scalograph.control.control import Launch
from scalograph.control.isolation import Refusal
from scalograph.control.settings import Setting
from scalograph.control.store import Store
from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts
from scalograph.system.cgroups import TASKS as CONTROLLER
from scalograph.system.cgroups import CgroupTree, controller_tree, read

TASKS = "tasks"
_WITHOUT = "leave limits of tasks out"
# The probe and a JVM have some forty; the kernel itself numbers no more.
MIN_TASKS, MAX_TASKS = 10, 4_194_304


def find_tasks_refusal(root: Path = Path("/")) -> Refusal | None:
    """Find what prevents a limit of tasks, by reading only; None if nothing does."""
    return find_cgroup_refusal(CONTROLLER, _WITHOUT, root)


class TasksControl(CgroupControl):
    """Levels are tasks (processes and threads, the probe's too) beside those of `scalograph` itself, and "none"."""

    name = TASKS

    def accepts(self, level: float, facts: HostFacts) -> tuple[bool, str]:
        is_limit = isinstance(level, int) and MIN_TASKS <= level <= MAX_TASKS
        return is_limit, f"an integer from {MIN_TASKS} to {MAX_TASKS}"

    def set_limit(self, launch: Launch, level: float | None) -> Launch:
        return replace(launch, max_tasks=None if level is None else int(level))

    def apply_limit(self, level: float) -> AbstractContextManager[None]:
        return limit_tasks(int(level))


@contextmanager
def limit_tasks(
    n_tasks: int, tree: CgroupTree | None = None, store: Store | None = None, root: Path = Path("/")
) -> Iterator[None]:
    """Limit what this process starts to `n_tasks` more tasks at once; no other process is moved.

    Tests pass a cgroup tree, a store of changes and a root in place of the machine's. Raises HostError if the limit is
    refused (with the kernel's reason), is lost before the end, or a smaller one holds.
    """
    if refused := find_tasks_refusal(root):
        raise HostError(TASKS, refused.why, "the controller pids, and leave to make a cgroup", refused.fix)
    store, tree = store or Store.locate(), tree or controller_tree(CONTROLLER, root)
    assert tree is not None
    _refuse_smaller(n_tasks, tree)
    most = n_tasks + len(list((root / "proc/self/task").iterdir()))
    limit = CgroupLimit(
        TASKS, f"{n_tasks} tasks", _WITHOUT, Setting.TASKS_DELEGATION, Setting.TASKS_LEAF,
        write=lambda tree, folder: tree.write(folder / "pids.max", str(most)), prove=partial(_prove, most),
    )  # fmt: skip
    with enter_limited_cgroup(limit, tree, store):
        yield


def _refuse_smaller(n_tasks: int, tree: CgroupTree) -> None:
    """Refuse a limit beyond that of our own cgroup or one above: it would be reached first, or left behind."""
    own = tree.own_folder() or tree.mount
    for folder in (home for home in (own, *own.parents) if home.is_relative_to(tree.mount)):
        most, current = read(folder / "pids.max") or "", read(folder / "pids.current") or "0"
        if most.isdecimal() and current.isdecimal() and int(most) - int(current) < n_tasks:
            excess = f"{n_tasks} tasks more, but {int(most) - int(current)} of the {most} of our own cgroup are left"
            raise HostError(TASKS, excess, "a lower level", "lower the level, or start outside that cgroup")


def _prove(most: int, folder: Path) -> None:
    limit = read(folder / "pids.max")
    if limit != str(most):
        in_force = "none" if limit in (None, "max") else limit
        raise HostError(TASKS, f"in force: {in_force}", str(most), "see who else writes to our cgroups")
