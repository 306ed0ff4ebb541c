"""A cgroup of our own with one limit, which this process and all that it starts are in for a while."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from scalograph.control.isolation import Refusal, find_write_refusal, report_refusal
from scalograph.control.settings import Setting, delegation_change, leaf_change
from scalograph.control.store import Store, apply_change, lock_machine
from scalograph.system.cgroups import CgroupTree, V1Tree, controller_tree, read


def find_cgroup_refusal(controller: str, without: str, root: Path = Path("/")) -> Refusal | None:
    """Find what prevents a cgroup with a limit of a controller, by reading only; None if nothing does.

    `without` is what to do where it is refused, such as "leave quotas out".
    """
    tree = controller_tree(controller, root)
    if tree is None:
        return Refusal(f"no cgroup has the controller {controller} here", f"run outside the container, or {without}")
    # Only the hierarchy's true root lacks this file, and only there may processes be beside cgroups with limits.
    if (tree.mount / "cgroup.type").exists() and read(tree.mount / "cgroup.procs"):
        return Refusal("the visible root of cgroup v2 holds processes (a container)", f"run outside it, or {without}")
    return find_write_refusal(tree.mount, without)


def cgroup_version(controller: str, root: Path = Path("/")) -> str:
    """Return which cgroups set the limits of a controller here, for people."""
    return "cgroup v1" if isinstance(controller_tree(controller, root), V1Tree) else "cgroup v2"


@dataclass(frozen=True)
class CgroupLimit:
    """One limit of a cgroup, and the changes of the machine that it takes.

    Attributes:
        name: for people, such as "quota".
        amount: for people, such as "0.5 CPUs".
        without: what to do where it is refused, such as "leave quotas out".
        delegation: the setting that gives leaves the controller's files.
        leaf: the setting of a leaf with this limit.
        write: writes it to a tree's folder. Raises OSError.
        prove: reads it back from a folder. Raises HostError where another one is in force.
    """

    name: str
    amount: str
    without: str
    delegation: Setting
    leaf: Setting
    write: Callable[[CgroupTree, Path], None]
    prove: Callable[[Path], None]


@contextmanager
def make_limited_cgroup(limit: CgroupLimit, tree: CgroupTree, store: Store) -> Iterator[Path]:
    """Make a cgroup with a limit, and yield its folder; afterwards remove it with all that it holds.

    Raises HostError if the limit is refused (with the kernel's reason), or lost before the end.
    """
    name = f"scalograph-{secrets.token_hex(8)}"
    with ExitStack() as held:
        held.enter_context(lock_machine(store=store))
        if not tree.is_delegated():
            held.enter_context(apply_change(delegation_change(limit.delegation), lambda: tree.delegate(True), store))
        held.enter_context(apply_change(leaf_change(limit.leaf, name), lambda: tree.make_leaf(name), store))
        with report_refusal(limit.name, limit.amount, f"a cgroup with that {limit.name}", limit.without):
            limit.write(tree, tree.leaf(name))
            limit.prove(tree.leaf(name))
        yield tree.leaf(name)
        limit.prove(tree.leaf(name))


@contextmanager
def enter_limited_cgroup(limit: CgroupLimit, tree: CgroupTree, store: Store) -> Iterator[None]:
    """Move this process into a `make_limited_cgroup`, and afterwards back; no other process is moved.

    Enter it before a run starts, so that the window of the run begins under the limit.
    """
    with make_limited_cgroup(limit, tree, store) as folder, ExitStack() as held:
        with report_refusal(limit.name, limit.amount, f"a cgroup with that {limit.name}", limit.without):
            held.enter_context(tree.enter(folder))
        yield
