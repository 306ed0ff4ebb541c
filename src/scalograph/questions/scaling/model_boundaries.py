"""Where do the CPUs of a curve change their kind? Beyond such a boundary a scaling law of the CPUs before says nothing.

Read from the topology in the journal, in the order in which the CPUs were taken: the first sibling on a core that was
taken, and the first CPU of a further cache, memory node or socket. Source: methods of prediction, analysis.usl_predict.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from pydantic import ValidationError

from scalograph.analysis.usl_predict import Boundary
from scalograph.findings.table import Table
from scalograph.protocol.cpu_order import ORDERS
from scalograph.protocol.facts import CpuFact
from scalograph.protocol.plain import Level

# The widest first: a socket that ends ends its caches too, and one name is enough.
_GROUPS: tuple[tuple[str, Callable[[CpuFact], int | None]], ...] = (
    ("another socket", lambda cpu: cpu.package),
    ("another memory node", lambda cpu: cpu.node),
    ("another L3 cache", lambda cpu: cpu.l3),
    ("another L2 cache", lambda cpu: cpu.l2),
)
SIBLINGS = "CPUs share cores"
NO_CPU = "there is no CPU for each"


def boundaries(table: Table, factor: str, group: Mapping[str, Level], n_cpus: int | None) -> tuple[Boundary, ...]:
    """Boundaries along the curve of a factor, in order.

    Args:
        table: the study and its machine.
        factor: along which the curve runs: CPUs, or workers on them.
        group: levels of the other factors.
        n_cpus: CPUs that the runs could use; None where no run told.
    """
    placement = _placement(table, group)
    controls = {table.study.factors[name].control: level for name, level in group.items()}
    cpus = _in_order(_topology(table), placement)
    if table.study.factors[factor].control == "cpus":
        return tuple(sorted({*_along(cpus), *_end(cpus)}))
    asked = controls.get("cpus", n_cpus)
    usable = cpus[: int(asked)] if isinstance(asked, int) else cpus
    ends = [Boundary(n_cpus, NO_CPU)] if n_cpus else []
    return tuple(sorted({*_of_workers(usable), *ends}))


def _placement(table: Table, group: Mapping[str, Level]) -> str:
    placed = (level for name, level in group.items() if table.study.factors[name].control == "placement")
    return str(next(placed, "compact"))


def _topology(table: Table) -> tuple[CpuFact, ...]:
    """None where the journal is of a machine that did not tell."""
    try:
        return tuple(CpuFact.model_validate(cpu) for cpu in table.machine.get("topology") or ())
    except (ValidationError, TypeError):
        return ()


def _in_order(cpus: tuple[CpuFact, ...], placement: str) -> tuple[CpuFact, ...]:
    """The CPUs in the order in which a placement takes them; none where nobody knows it."""
    return tuple(ORDERS[placement](cpus)) if placement in ORDERS else ()


@cache
def _along(cpus: tuple[CpuFact, ...]) -> tuple[Boundary, ...]:
    """Boundaries between CPUs that are taken one after the other."""
    kinds, found = [(name, of, _shared(cpus, of)) for name, of in _GROUPS], list[Boundary]()
    doubled = False
    for n in range(1, len(cpus)):
        new, before = cpus[n], cpus[:n]
        opened = (name for name, of, groups in kinds if of(new) in groups - {of(cpu) for cpu in before})
        is_sibling = new.core in {cpu.core for cpu in before}
        if name := next(opened, ""):
            found.append(Boundary(n, f"{name} begins"))
        elif is_sibling and not doubled:
            found.append(Boundary(n, SIBLINGS))
        doubled = doubled or is_sibling
    return tuple(found)


def _shared(cpus: Sequence[CpuFact], of: Callable[[CpuFact], int | None]) -> set[int | None]:
    """Those that several cores share: what a core has for itself is no boundary."""
    cores: dict[int | None, set[int]] = {}
    for cpu in cpus:
        cores.setdefault(of(cpu), set()).add(cpu.core)
    return {group for group, members in cores.items() if len(members) > 1}


def _end(cpus: Sequence[CpuFact]) -> Iterator[Boundary]:
    """Where the machine has several of a kind, CPUs that it does not have would be of a further one."""
    for name, of in _GROUPS:
        if len(_shared(cpus, of)) > 1:
            yield Boundary(len(cpus), f"{name} would begin")
            return


def _of_workers(cpus: tuple[CpuFact, ...]) -> Iterator[Boundary]:
    """Workers are placed by the kernel, one a core while there are any: those must share that are more than that.

    How it spreads them over caches, nodes and sockets is not known, only how many fit into one.
    """
    yield from (b for b in _along(_in_order(cpus, "compact")) if b.begins != SIBLINGS)
    n_cores = len({cpu.core for cpu in cpus})
    if 0 < n_cores < len(cpus):
        yield Boundary(n_cores, SIBLINGS)
