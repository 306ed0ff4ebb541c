"""Find where the CPUs of a curve change their kind: beyond such a boundary a scaling law says nothing.

Read from the topology in the journal, in the order in which the CPUs were taken: the first sibling on a core that was
taken, and the first CPU of a further cache, memory node or socket. Source: methods of prediction, analysis.usl_predict.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

from pydantic import ValidationError

from scalograph.analysis.estimate import BEYOND_CPUS, Estimate, Flag
from scalograph.analysis.usl import Usl
from scalograph.analysis.usl_predict import REACH, Boundary, fitted_throughput, largest_prediction, predict
from scalograph.findings.table import Table
from scalograph.protocol.facts import ORDERS, CpuFact
from scalograph.protocol.findings import LawDoc
from scalograph.protocol.plain import Level

# The widest first: a socket that ends ends its caches too, and one name is enough.
_GROUPS: tuple[tuple[str, Callable[[CpuFact], int | None]], ...] = (
    ("another socket", lambda cpu: cpu.package),
    ("another memory node", lambda cpu: cpu.node),
    ("another L3 cache", lambda cpu: cpu.l3),
    ("another L2 cache", lambda cpu: cpu.l2),
)
SIBLINGS = "CPUs share cores"
SPEED = "CPUs of another speed begin"
# Clocks of cores of one kind differ by less.
_ONE_KIND = 1.05
NO_CPU = "there is no CPU for each"


def boundaries(table: Table, factor: str, group: Mapping[str, Level], n_cpus: int | None) -> tuple[Boundary, ...]:
    """List the boundaries along the curve of a factor, in order.

    `factor`: along which the curve runs: CPUs, or workers on them; `n_cpus`: CPUs that the runs could use; None
    where no run told.
    """
    if table.study.factors[factor].control == "cluster:nodes":
        return ()  # the CPUs of one node bound no number of nodes
    placed = (level for name, level in group.items() if table.study.factors[name].control == "placement")
    placement = str(next(placed, "compact"))
    controls = {table.study.factors[name].control: level for name, level in group.items()}
    cpus = _sort_cpus(_topology(table), placement)
    if table.study.factors[factor].control == "cpus":
        # Where the machine has several of a kind, CPUs that it does not have would be of a further one.
        further = next((name for name, of in _GROUPS if len(_shared_groups(cpus, of)) > 1), None)
        last = [Boundary(len(cpus), f"{further} would begin")] if further else []
        return tuple(sorted({*_find_boundaries(cpus), *last}))
    asked = controls.get("cpus", n_cpus)
    usable = cpus[: int(asked)] if isinstance(asked, int) else cpus
    return tuple(sorted({*_worker_boundaries(usable), *([Boundary(n_cpus, NO_CPU)] if n_cpus else [])}))


def _topology(table: Table) -> tuple[CpuFact, ...]:
    try:
        return tuple(CpuFact.model_validate(cpu) for cpu in table.machine.get("topology") or ())
    except (ValidationError, TypeError):
        return ()


def _sort_cpus(cpus: tuple[CpuFact, ...], placement: str) -> tuple[CpuFact, ...]:
    return tuple(ORDERS[placement](cpus)) if placement in ORDERS else ()


@cache
def _find_boundaries(cpus: tuple[CpuFact, ...]) -> tuple[Boundary, ...]:
    kinds, limits = [(name, of, _shared_groups(cpus, of)) for name, of in _GROUPS], list[Boundary]()
    doubled, speeds = False, speed_classes(cpus)
    for n in range(1, len(cpus)):
        new, before = cpus[n], cpus[:n]
        opened = (name for name, of, groups in kinds if of(new) in groups - {of(cpu) for cpu in before})
        is_sibling = new.core in {cpu.core for cpu in before}
        is_sibling |= new.shared is not None and new.shared in {cpu.shared for cpu in before}
        if speeds[n] not in speeds[:n]:
            limits.append(Boundary(n, SPEED))
        elif name := next(opened, ""):
            limits.append(Boundary(n, f"{name} begins"))
        elif is_sibling and not doubled:
            limits.append(Boundary(n, SIBLINGS))
        doubled = doubled or is_sibling
    return tuple(limits)


def speed_classes(cpus: Sequence[CpuFact]) -> list[int]:
    """Return the class of speed of each CPU: as measured, else by its highest clock.

    >>> speed_classes([CpuFact(cpu=n, core=n, max_khz=khz) for n, khz in enumerate([5000, 4900, 3600])])
    [1, 1, 0]
    """
    if any(cpu.speed_class is not None for cpu in cpus):
        return [cpu.speed_class or 0 for cpu in cpus]
    clocks = [cpu.max_khz or 0 for cpu in cpus]
    steps = [above for below, above in pairwise(sorted({*clocks})) if above > _ONE_KIND * below]
    return [sum(khz >= step for step in steps) for khz in clocks]


def _shared_groups(cpus: Sequence[CpuFact], of: Callable[[CpuFact], int | None]) -> set[int | None]:
    """Return groups that several cores share: what a core has for itself is no boundary."""
    cores: dict[int | None, set[int]] = {}
    for cpu in cpus:
        cores.setdefault(of(cpu), set()).add(cpu.core)
    return {group for group, members in cores.items() if len(members) > 1}


def _worker_boundaries(cpus: tuple[CpuFact, ...]) -> Iterator[Boundary]:
    """List boundaries of workers: the kernel places one a core while there are any, then they share.

    How it spreads them over caches, nodes and sockets is not known, only how many fit into one.
    """
    yield from (b for b in _find_boundaries(_sort_cpus(cpus, "compact")) if b.begins != SIBLINGS)
    n_cores = len({cpu.core for cpu in cpus})
    if 0 < n_cores < len(cpus):
        yield Boundary(n_cores, SIBLINGS)


N_INSIDE, N_BEYOND = 24, 6  # points of a line within the measured range, and beyond it


def law_doc(fit: Usl, smallest: float, base: float, limits: Sequence[Boundary]) -> LawDoc:
    """Describe the law of a curve. `smallest`: size measured; `base`: size that speedup is over."""
    over = fit.throughput(base)
    largest, (end, reason) = fit.law.largest, largest_prediction(fit, limits)
    confidence, inside = fit.sigma.confidence, _geometric_sizes(smallest, largest, N_INSIDE)
    sizes = [*inside, *_geometric_sizes(largest, end, N_BEYOND)[1:]] if not fit.misfit else []
    line = [fitted_throughput(fit, n, confidence, base) for n in sizes if n <= largest]
    line += [predict(fit, n, limits, confidence, base) for n in sizes[len(line) :]]
    twice = predict(fit, REACH * largest, limits, confidence, base)
    return LawDoc(
        sigma=fit.sigma, kappa=fit.kappa, gamma=fit.gamma, optimum=fit.optimum,
        twice=twice, flags=[*fit.flags, *_no_cpu_flags(largest, limits)], largest=largest, end=reason, sizes=sizes,
        fitted=[fit.throughput(n) / over for n in sizes], low=[e.low for e in line], high=[e.high for e in line],
        amdahl=_amdahl(fit, sizes, over),
    )  # fmt: skip


def _geometric_sizes(first: float, last: float, n: int) -> list[float]:
    if last <= first:
        return [first]
    step = math.log(last / first) / (n - 1)
    return [first, *(first * math.exp(i * step) for i in range(1, n - 1)), last]


def _no_cpu_flags(largest: float, limits: Sequence[Boundary]) -> list[Flag]:
    n = next((limit.after for limit in limits if limit.begins == NO_CPU and limit.after < largest), None)
    text = f"fitted beyond {n}, where {NO_CPU}: sigma is no serial share"
    return [] if n is None else [Flag(BEYOND_CPUS, text, n)]


def _amdahl(fit: Usl, sizes: Sequence[float], over: float) -> list[float]:
    """Draw the best line without coherency; empty where the interval of kappa excludes that."""
    if fit.kappa.low or fit.misfit:
        return []
    gamma, sigma, _ = fit.law.fit_shape("contention")
    return [gamma * n / (1 + sigma * (n - 1)) / over for n in sizes]


METHOD = "from 1 and n alone: from coherency alone to Amdahl's law"


def next_gain(serial: Estimate, n: int) -> Estimate | None:
    """Estimate the gain in throughput from n to n + 1, as a share; None where `serial` has no interval.

    With the serial fraction e, all of it contention (Amdahl) gives S(n + 1) = (n + 1) / (1 + e n); all of it coherency,
    kappa = e / n, gives (n + 1) / (1 + e (n + 1)): the universal scalability law (Gunther 2007, ch. 4) at its ends.
    A fraction below zero counts as none.

    >>> from scalograph.analysis import Estimate
    >>> gain = next_gain(Estimate(0.05, 0.0, 0.1, 0.95, 10, ""), 2)
    >>> round(gain.low, 3), round(gain.high, 3)
    (0.269, 0.5)
    """
    if serial.value is None or serial.low is None or serial.high is None:
        return None
    value, least, most = (max(0.0, e) for e in (serial.value, serial.low, serial.high))
    low, high = _gain(most, n, most * (n + 1)), _gain(least, n, least * n)
    between = (_gain(value, n, value * n) + _gain(value, n, value * (n + 1))) / 2
    return replace(serial, value=between, low=low, high=high, method=METHOD)


def _gain(serial: float, n: int, loss: float) -> float:
    return (n + 1) / (1 + loss) * (1 + serial * (n - 1)) / n - 1
