"""What keeps a program from more CPUs? One sentence, from figures that answer different questions.

CPUs that help (k_eff, from times), CPUs used (CPU time over wall time), CPUs it may use (mask, quota) and CPUs that it
believes it has are four numbers. Where they differ, the difference names the limit.
"""

import math
from dataclasses import dataclass
from typing import Literal

from scalograph.text.quantities import cpus, percent

Limit = Literal[
    "none", "mask", "quota", "more CPUs than work", "believes in another number", "lock or serial share",
    "pool of fixed size", "not sure", "unknown",
]  # fmt: skip
# Used CPUs below this share of k_eff stood idle part of the time; above its inverse they were burnt without help.
USED = 0.85
# CPUs that are used up to this share of a quota used all of it.
AT_THE_QUOTA = 0.9
SURE = 0.95
# A serial share whose lower end is above this is one.
SERIAL = 0.02
# Tasks that were ready and had no CPU, over the CPU time that was wanted: fewer CPUs than there is work.
WAITED = 0.1


@dataclass(frozen=True, slots=True)
class Seen:
    """What was measured, most of it on all CPUs that the program was given.

    Attributes:
        k_eff: CPUs that help.
        probability: of that number, 0 to 1.
        machine: CPUs of the machine.
        mask: CPUs that the program may run on (affinity, cpuset), the most that were tried.
        used: CPU seconds over wall seconds; None where not measured.
        quota: CPUs' worth of time that a cgroup grants; None: no quota.
        believed: CPUs that the program says it has; None where it says nothing.
        workers: threads, processes or jobs that it was told to use; None where nobody told it.
        n_tasks: tasks that were seen in the tree; None without records.
        serial: ends of the interval of the serial share; None where there is none.
        waited: time that tasks were ready without a CPU over that and the CPU time; None without switch records.
        between: ends of the middle 95 % of the answers; None without a model.
    """

    k_eff: int
    probability: float
    machine: int
    mask: int
    used: float | None = None
    quota: float | None = None
    believed: int | None = None
    workers: int | None = None
    n_tasks: int | None = None
    serial: tuple[float, float] | None = None
    waited: float | None = None
    between: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """The limit, and the sentence with its evidence."""

    limit: Limit
    text: str


def name_limit(seen: Seen) -> Named:
    """The first limit that the figures speak for.

    Limits that somebody set (a quota, a mask) come before those of the program: the program could not have used more.

    >>> name_limit(Seen(k_eff=2, probability=0.97, machine=12, mask=12, used=1.97, n_tasks=40)).limit
    'pool of fixed size'
    """
    rules = (_not_sure, _quota, _all_help, _work, _believes, _serial, _burns, _pool)
    named = (found for rule in rules if (found := rule(seen)))
    return _with_belief(next(named, None) or _unknown(seen), seen)


def _unknown(seen: Seen) -> Named:
    used = "CPU time was not measured" if seen.used is None else f"it uses {seen.used:.1f}"
    text = f"{cpus(seen.k_eff)} of {seen.mask} {_help(seen)}, {used}: nothing measured says why"
    return Named("unknown", text + _waits(seen))


def _not_sure(seen: Seen) -> Named | None:
    if seen.probability >= SURE:
        return None
    probability = f"with a probability of {percent(seen.probability)} only"
    between = "{} to {} with 95 %".format(*seen.between) if seen.between else ""
    told = ", ".join(filter(None, (f"{cpus(seen.k_eff)} {_help(seen)} {probability}", between)))
    return Named("not sure", f"{told}: make more runs")


def _quota(seen: Seen) -> Named | None:
    if seen.quota is None or seen.quota >= seen.mask or seen.used is None:
        return None
    if seen.used < AT_THE_QUOTA * seen.quota or seen.k_eff > math.ceil(seen.quota):
        return None
    return Named(
        "quota", f"a quota of {seen.quota:g} CPUs, of which it uses {seen.used:.1f}: less capacity, not fewer CPUs"
    )


def _all_help(seen: Seen) -> Named | None:
    if seen.k_eff < seen.mask:
        return None
    if seen.mask < seen.machine:
        return Named("mask", f"a mask: all {seen.mask} CPUs that it may run on help, of {seen.machine} of the machine")
    return Named("none", f"none found on this machine{_waits(seen)}")


def _work(seen: Seen) -> Named | None:
    if seen.workers is None or seen.workers > seen.k_eff:
        return None
    told = f"it was told to use {seen.workers} workers"
    return Named("more CPUs than work", f"more CPUs than work: {told}, and {cpus(seen.k_eff)} {_help(seen)}")


def _believes(seen: Seen) -> Named | None:
    if seen.believed is None or seen.believed != seen.k_eff or seen.believed == seen.mask:
        return None
    text = f"it believes that it has {cpus(seen.believed)}, was given {seen.mask}, and uses as many as it believes in"
    return Named("believes in another number", text)


def _serial(seen: Seen) -> Named | None:
    low, high = seen.serial or (0.0, 0.0)
    idle = seen.used is not None and seen.used < USED * seen.k_eff
    if low <= SERIAL or not (idle or seen.used is None):
        return None
    share = f"a serial share, or a cost of each CPU, of {percent(low)} to {percent(high)}"
    uses = "" if seen.used is None else f"; it uses {seen.used:.1f} CPUs and {cpus(seen.k_eff)} {_help(seen)}"
    return Named("lock or serial share", f"{share}: a lock, or a part that one alone does, or sharing{uses}")


def _burns(seen: Seen) -> Named | None:
    if seen.used is None or seen.used <= seen.k_eff / USED:
        return None
    text = f"it uses {seen.used:.1f} CPUs and only {seen.k_eff} {_help(seen)}: time goes into a lock, or the work grows"
    return Named("lock or serial share", text)


def _pool(seen: Seen) -> Named | None:
    if seen.used is None or seen.used < USED * seen.k_eff:
        return None
    tasks = "" if seen.n_tasks is None else f" ({seen.n_tasks} tasks were seen)"
    busy = f"it keeps {cpus(seen.k_eff)} busy ({seen.used:.1f} used)"
    text = f"a pool of fixed size: {busy} and leaves {seen.mask - seen.k_eff} idle{tasks}"
    return Named("pool of fixed size", text)


def _with_belief(found: Named, seen: Seen) -> Named:
    """A program that merely believes in another number is told apart from one that uses it."""
    if seen.believed is None or seen.believed == seen.mask or found.limit == "believes in another number":
        return found
    return Named(found.limit, f"{found.text}; it believes in {seen.believed}, which does not decide")


def _waits(seen: Seen) -> str:
    waited = seen.waited or 0.0
    return "" if waited < WAITED else f"; its tasks waited {percent(waited)} of their time for a CPU"


def _help(seen: Seen) -> str:
    return "helps" if seen.k_eff == 1 else "help"
