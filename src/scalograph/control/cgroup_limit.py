"""A cgroup of our own with one limit, which this process and all that it starts are in for a while."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from scalograph.control.isolation import Refusal, unwritable
from scalograph.control.scheduler import kernel_says
from scalograph.control.settings import SettingChange
from scalograph.control.store import Store, changed, lock_machine
from scalograph.errors import HostError
from scalograph.system.cgroups import CgroupTree, FirstTree, controller_tree, read


def why_no_group(controller: str, without: str, root: Path = Path("/")) -> Refusal | None:
    """Find what prevents a cgroup with a limit, by reading only; None if nothing does.

    Args:
        controller: of cgroups, whose limit it is.
        without: what to do where it is refused, such as "leave quotas out".
        root: where /proc and /sys are.
    """
    tree = controller_tree(controller, root)
    if tree is None:
        return Refusal(f"no cgroup has the controller {controller} here", f"run outside the container, or {without}")
    # Only the hierarchy's true root lacks this file, and only there may processes be beside cgroups with limits.
    if (tree.mount / "cgroup.type").exists() and read(tree.mount / "cgroup.procs"):
        return Refusal("the visible root of cgroup v2 holds processes (a container)", f"run outside it, or {without}")
    return unwritable(tree.mount, without)


def cgroup_version(controller: str, root: Path = Path("/")) -> str:
    """Tell people which cgroups set the limits of a controller here."""
    return "cgroup v1" if isinstance(controller_tree(controller, root), FirstTree) else "cgroup v2"


@dataclass(frozen=True)
class GroupLimit:
    """One limit of a cgroup, and the changes of the machine that it takes.

    Attributes:
        name: what people call it, such as "quota".
        amount: it in words, such as "0.5 CPUs".
        without: what to do where it is refused, such as "leave quotas out".
        delegation: the change before leaves get the controller's files.
        leaf: the change before a leaf of this name is made.
        write: writes it to a tree's folder. Raises OSError.
        prove: reads it back from a folder. Raises HostError where another one is in force.
    """

    name: str
    amount: str
    without: str
    delegation: SettingChange
    leaf: Callable[[str], SettingChange]
    write: Callable[[CgroupTree, Path], None]
    prove: Callable[[Path], None]


@contextmanager
def limited_group(limit: GroupLimit, tree: CgroupTree, store: Store) -> Iterator[Path]:
    """Make a cgroup with a limit, and yield its folder; afterwards remove it with all that it holds.

    Args:
        limit: of the cgroup.
        tree: the hierarchy.
        store: where the changes are recorded, so that a later start can undo them.

    Raises:
        HostError: the limit is refused (with the kernel's reason), or lost before the end.
    """
    name = f"scalograph-{secrets.token_hex(8)}"
    with ExitStack() as held:
        held.enter_context(lock_machine(store=store))
        if not tree.delegated():
            held.enter_context(changed(limit.delegation, lambda: tree.delegate(True), store))
        held.enter_context(changed(limit.leaf(name), lambda: tree.make_leaf(name), store))
        with _refused_in_words(limit):
            limit.write(tree, tree.leaf(name))
            limit.prove(tree.leaf(name))
        yield tree.leaf(name)
        limit.prove(tree.leaf(name))


@contextmanager
def inside_group(limit: GroupLimit, tree: CgroupTree, store: Store) -> Iterator[None]:
    """Move this process into a `limited_group`, and afterwards back; no process of others is moved.

    Enter it before a run starts, so that the window of the run begins under the limit.
    """
    with limited_group(limit, tree, store) as folder, ExitStack() as held:
        with _refused_in_words(limit):
            held.enter_context(tree.inside(folder))
        yield


@contextmanager
def _refused_in_words(limit: GroupLimit) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        found = f"the kernel refuses {limit.amount} ({kernel_says(error)})"
        raise HostError(limit.name, found, f"a cgroup with that {limit.name}", limit.without) from error
