"""Less capacity, not fewer CPUs: a cgroup of our own with a limit of CPU time in each period, on any CPUs.

A quota differs from a mask. Under a mask of one CPU two workers take turns; under a quota of one CPU both run side by
side until the time of the period is used up, and then both stand still until the next one.
"""

import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from scalograph.control.control import Control, Launch, Level, LevelError
from scalograph.control.isolation import Refusal, find_write_refusal, report_refusal
from scalograph.control.settings import Setting, delegation_change, leaf_change
from scalograph.control.store import Store, apply_change, lock_machine
from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts
from scalograph.system import cgroups


def find_cgroup_refusal(controller: str, without: str, root: Path = Path("/")) -> Refusal | None:
    """Find what prevents a cgroup with a limit of a controller, by reading only; None if nothing does.

    `without` is what to do where it is refused, such as "leave quotas out".
    """
    tree = cgroups.controller_tree(controller, root)
    if tree is None:
        return Refusal(f"no cgroup has the controller {controller} here", f"run outside the container, or {without}")
    # Only the hierarchy's true root lacks this file, and only there may processes be beside cgroups with limits.
    if (tree.mount / "cgroup.type").exists() and cgroups.read(tree.mount / "cgroup.procs"):
        return Refusal("the visible root of cgroup v2 holds processes (a container)", f"run outside it, or {without}")
    return find_write_refusal(tree.mount, without)


def cgroup_version(controller: str, root: Path = Path("/")) -> str:
    """Return which cgroups set the limits of a controller here, for people."""
    return "cgroup v1" if isinstance(cgroups.controller_tree(controller, root), cgroups.V1Tree) else "cgroup v2"


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
    write: Callable[[cgroups.CgroupTree, Path], None]
    prove: Callable[[Path], None]


@contextmanager
def make_limited_cgroup(
    limit: CgroupLimit,
    tree: cgroups.CgroupTree,
    store: Store,
    more: Sequence[tuple[CgroupLimit, cgroups.CgroupTree]] = (),
) -> Iterator[Path]:
    """Make a cgroup with a limit, and yield its folder; afterwards remove it with all that it holds.

    `more` limits it further, each by another controller of the same hierarchy.

    Raises HostError if the limit is refused (with the kernel's reason), or lost before the end.
    """
    name = f"scalograph-{secrets.token_hex(8)}"
    with ExitStack() as held:
        held.enter_context(lock_machine(store=store))
        limits = [(limit, tree), *more]
        for each, home in limits:
            if not home.is_delegated():
                delegate = partial(home.delegate, True)
                held.enter_context(apply_change(delegation_change(each.delegation), delegate, store))
        held.enter_context(apply_change(leaf_change(limit.leaf, name), lambda: tree.make_leaf(name), store))
        for each, home in limits:
            with report_refusal(each.name, each.amount, f"a cgroup with that {each.name}", each.without):
                each.write(home, tree.leaf(name))
                each.prove(tree.leaf(name))
        yield tree.leaf(name)
        for each, _ in limits:
            each.prove(tree.leaf(name))


@contextmanager
def enter_limited_cgroup(limit: CgroupLimit, tree: cgroups.CgroupTree, store: Store) -> Iterator[None]:
    """Move this process into a `make_limited_cgroup`, and afterwards back; no other process is moved.

    Enter it before a run starts, so that the window of the run begins under the limit.
    """
    with make_limited_cgroup(limit, tree, store) as folder, ExitStack() as held:
        with report_refusal(limit.name, limit.amount, f"a cgroup with that {limit.name}", limit.without):
            held.enter_context(tree.enter(folder))
        yield


NO_LIMIT = "none"
_GRANTED_BY = "run as root outside of a container, or leave it out; for details: scalograph doctor --all"


class CgroupControl(Control, ABC):
    """Levels are numbers, which limit a run, and "none"; the limit is read back before and after the run.

    `name` is that of the control.
    """

    may_conflict = True
    name: str

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        """Set the limit in the launch, so that the record of the run shows it; the held context enforces it."""
        return self.set_limit(launch, None if level == NO_LIMIT else float(level))

    def apply_settings(self, level: Level, facts: HostFacts) -> AbstractContextManager[None]:
        return nullcontext() if level == NO_LIMIT else self.apply_limit(float(level))

    @abstractmethod
    def accepts(self, level: float, facts: HostFacts) -> tuple[bool, str]:
        """Return whether a number is a limit, and a description of valid ones."""

    def refuse_beyond(self, level: float, facts: HostFacts) -> None:
        """Raise LevelError for a limit beyond one that holds for this process already, as far as that is a fact."""

    @abstractmethod
    def set_limit(self, launch: Launch, level: float | None) -> Launch:
        """Return the launch with this limit, or none."""

    @abstractmethod
    def apply_limit(self, level: float) -> AbstractContextManager[None]:
        """Return the context in which this process and what it starts are limited."""

    def check_level(self, level: Level, facts: HostFacts) -> None:
        if level == NO_LIMIT:
            return
        number = -1 if isinstance(level, (bool, str)) else level
        is_limit, expected = self.accepts(number, facts)
        if not is_limit:
            raise LevelError(f"{self.name} {level!r}", f'{expected}, or "{NO_LIMIT}"', "correct it")
        if self.name in facts.refused:
            refusal = f"{self.name} {level} is refused here ({facts.refused[self.name]})"
            raise LevelError(refusal, NO_LIMIT, _GRANTED_BY)
        self.refuse_beyond(number, facts)


_COUNT = re.compile("[0-9]{1,18}")  # a file of another machine may hold anything


def cpu_quota(root: Path = Path("/")) -> float | None:
    """Return the least quota of our cgroup and those above it, in CPUs; None if nothing limits us."""
    quotas = [quota for folder in _own_folders(root) if (quota := read_quota(folder)) is not None]
    return min(quotas, default=None)


def _own_folders(root: Path) -> Iterator[Path]:
    """Yield our cgroups with all above them: the unified one, and that of the v1 controller cpu."""
    mount = cgroups.cgroup2_mount(root)
    v1 = cgroups.v1_mount("cpu", root)
    homes = {"": mount, "cpu": root / v1.lstrip("/") if v1 else None}
    for line in (cgroups.read(root / "proc/self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        for name in controllers.split(","):
            home = homes.get(name)
            if home is not None and ".." not in path.split("/"):  # one that we do not see
                own = home / path.lstrip("/")
                yield from (folder for folder in (own, *own.parents) if folder.is_relative_to(home))


def read_quota(folder: Path) -> float | None:
    """Return the quota of one cgroup, of either version, in CPUs; None if it has none."""
    text = cgroups.read(folder / "cpu.max")
    if text is None:
        text = f"{cgroups.read(folder / 'cpu.cfs_quota_us')} {cgroups.read(folder / 'cpu.cfs_period_us')}"
    quota, _, period = text.partition(" ")
    counts = [int(text) for text in (quota, period) if _COUNT.fullmatch(text)]
    return counts[0] / counts[1] if len(counts) == 2 and counts[1] else None


QUOTA = "quota"
PERIOD_US = 100_000  # what kernels and containers have by default
_WITHOUT = "leave quotas out"
MIN_QUOTA_CPUS = 0.01  # the kernel accepts no less than 1 ms in a period


def find_quota_refusal(root: Path = Path("/")) -> Refusal | None:
    """Find what prevents a quota, by reading only; None if nothing does."""
    return find_cgroup_refusal(cgroups.CPU_TIME, _WITHOUT, root)


class QuotaControl(CgroupControl):
    """Levels are CPUs' worth of time, such as 0.5, and "none"."""

    name = QUOTA

    def accepts(self, level: float, facts: HostFacts) -> tuple[bool, str]:
        expected = f"CPUs' worth of time from {MIN_QUOTA_CPUS} to {facts.n_cpus}"
        return MIN_QUOTA_CPUS <= level <= facts.n_cpus, expected

    def refuse_beyond(self, level: float, facts: HostFacts) -> None:
        if facts.cpu_quota is not None and level > facts.cpu_quota:
            raise LevelError(*_describe_excess(level, facts.cpu_quota))

    def set_limit(self, launch: Launch, level: float | None) -> Launch:
        return replace(launch, quota_cpus=level)

    def apply_limit(self, level: float) -> AbstractContextManager[None]:
        return limit_cpu_time(level)


@contextmanager
def limit_cpu_time(
    cpus: float, tree: cgroups.CgroupTree | None = None, store: Store | None = None, root: Path = Path("/")
) -> Iterator[None]:
    """Limit this process and what it starts to `cpus` seconds of CPU time in a second; no other process is moved.

    Tests pass a cgroup tree, a store of changes and a root in place of the machine's. Raises HostError if the quota is
    refused (with the kernel's reason), is lost before the end, or a smaller one holds.
    """
    with enter_limited_cgroup(*quota_in_tree(cpus, tree, store, root)):
        yield


@contextmanager
def make_quota_cgroup(
    cpus: float, tree: cgroups.CgroupTree | None = None, store: Store | None = None, root: Path = Path("/")
) -> Iterator[Path]:
    """Yield the folder of an empty cgroup with so much CPU time. Arguments and errors as above."""
    with make_limited_cgroup(*quota_in_tree(cpus, tree, store, root)) as folder:
        yield folder


def quota_in_tree(
    cpus: float, tree: cgroups.CgroupTree | None, store: Store | None, root: Path
) -> tuple[CgroupLimit, cgroups.CgroupTree, Store]:
    """Return the limit of CPU time, and where it is made and recorded. Arguments and errors as above."""
    if refused := find_quota_refusal(root):
        raise HostError(QUOTA, refused.why, "the controller cpu, and leave to make a cgroup", refused.fix)
    around = cpu_quota(root)
    if around is not None and around < cpus:
        raise HostError(QUOTA, *_describe_excess(cpus, around))
    tree = tree or cgroups.cpu_tree(root)
    assert tree is not None, "refused where there is none"
    limit = CgroupLimit(
        QUOTA, f"{cpus:g} CPUs", _WITHOUT, Setting.CPU_DELEGATION, Setting.QUOTA_LEAF,
        write=partial(_write_quota, round(cpus * PERIOD_US)), prove=partial(_prove_quota, cpus),
    )  # fmt: skip
    return limit, tree, store or Store.locate()


def _describe_excess(cpus: float, around: float) -> tuple[str, str, str]:
    """Return found, expected and what to do: a cgroup gets no more than those above it."""
    excess = f"{cpus:g} CPUs, but a quota of {around:g} holds for this process already"
    return excess, f"at most {around:g}", "lower the level, or start outside that cgroup"


def _write_quota(quota_us: int, tree: cgroups.CgroupTree, folder: Path) -> None:
    if isinstance(tree, cgroups.V1Tree):
        tree.write(folder / "cpu.cfs_period_us", str(PERIOD_US))
        tree.write(folder / "cpu.cfs_quota_us", str(quota_us))
    else:
        tree.write(folder / "cpu.max", f"{quota_us} {PERIOD_US}")


def _prove_quota(cpus: float, folder: Path) -> None:
    quota = read_quota(folder)
    if quota is None or abs(quota - cpus) * PERIOD_US > 1:
        in_force = "none" if quota is None else f"{quota:g} CPUs"
        raise HostError(QUOTA, f"in force: {in_force}", f"{cpus:g} CPUs", "see who else writes to our cgroups")
