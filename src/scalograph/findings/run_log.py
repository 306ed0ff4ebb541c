"""All runs in the order in which they were made, and what became of each."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from scalograph.findings.answer import Taken
from scalograph.findings.names import brief, curve_factor
from scalograph.findings.row import Row, keys
from scalograph.findings.sample import OtherLevels, others
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.findings import RunLog
from scalograph.protocol.plain import Level
from scalograph.questions.registry import is_search
from scalograph.verdict.cause import COUNTED, Cause

MOST = 30_000  # of more runs, a page could neither hold nor draw each
_NONE = Cause("", None, "", "")


def run_log(table: Table, taken: Taken) -> RunLog | None:
    """List the runs; None where there are too many."""
    rows = [row for row in table.rows if not row.warmup]
    if len(rows) > MOST:
        return None
    name = primary(table)
    counted = {key: sample.rows(name) for key, sample in taken.items()}
    if is_search(table.study.question):  # which goes by clean runs alone
        counted = {key: [row for row in rows if row.verdict in COUNTED] for key, rows in counted.items()}
    typical = {key: median(row.scores[name] for row in found) for key, found in counted.items() if found}
    in_estimates = {row.run for found in counted.values() for row in found}
    places: dict[tuple[Level, ...], int] = {}
    treatments: dict[int, Mapping[str, Level]] = {places.setdefault(r.key, len(places)): r.treatment for r in rows}
    causes = [max(row.causes, key=lambda cause: cause.amount or 0.0, default=_NONE) for row in rows]
    return RunLog(
        treatments=[dict(treatment) for treatment in treatments.values()],
        run=[row.run for row in rows],
        treatment=[places[row.key] for row in rows],
        start_s=[row.start_s for row in rows],
        status=[row.status for row in rows],
        verdict=[row.verdict for row in rows],
        cause=[cause.cause for cause in causes],
        amount=[cause.amount for cause in causes],
        counted=[row.run in in_estimates for row in rows],
        relative=[_relative(row, name, typical) for row in rows],
    )


def _relative(row: Row, name: str, typical: Mapping[tuple[Level, ...], float]) -> float | None:
    middle = typical.get(row.key)
    return round(row.scores[name] / middle, 6) if middle and name in row.scores else None


def too_long(table: Table) -> Iterable[str]:
    """Say so where the list is left out."""
    n = sum(not row.warmup for row in table.rows)
    if n > MOST:
        yield f"the list of runs is left out: it holds {MOST:,} at most, the study made {n:,}"


def residue(table: Table) -> list[str]:
    """Each undeclared difference in words."""
    rows = table.counted()
    setups = sorted({row.setup for row in rows})
    return [
        *_accepted(table),
        *_setups(setups),
        *_work(table, rows),
        *_policies(table, setups),
        *_frequency(rows),
        *_boots(table, rows),
    ]


def _accepted(table: Table) -> Iterable[str]:
    """Differences that a resume was told to accept: the runs before it and after it are of two set-ups."""
    for key, before, now in table.accepted:
        yield f"{brief(key)}: {brief(before)} before a resume, {brief(now)} after it; accepted as a difference"


def _setups(setups: Sequence[tuple[str, ...]]) -> Iterable[str]:
    for name, number in (("probe", 0), ("backend", 1), ("containment", 2)):
        seen = sorted({setup[number] for setup in setups})
        if len(seen) > 1:
            yield f"{name}: {', '.join(seen)} in one study; figures of different instruments are not compared"


def _work(table: Table, rows: list[Row]) -> Iterable[str]:
    """Within a curve, along which speedup is taken: other kinds of work may come in other amounts."""
    if table.study.work != "total":
        return
    factor = curve_factor(table)
    curves: dict[OtherLevels, set[int]] = {}
    # Most runs of a treatment do the same: few are left.
    counted = {(key, row.work): row for key, row in zip(keys(rows), rows, strict=True) if row.work is not None}
    for (_, work), row in counted.items():
        curves.setdefault(others(row.treatment, factor), set()).add(work)
    if differing := [works for works in curves.values() if len(works) > 1]:
        told = f"{min(differing[0]):,} to {max(differing[0]):,} units counted"
        yield f"work: {told}, though the study declares it the same in all configurations"


def _policies(table: Table, setups: Sequence[tuple[str, ...]]) -> Iterable[str]:
    declared = {factor.control for factor in table.study.factors.values()}
    for control, index in (("policy", 3), ("nice", 4)):
        seen = sorted({setup[index] for setup in setups})
        if control not in declared and len(seen) > 1:
            yield f"{control}: {', '.join(seen)} in force"


def _boots(table: Table, rows: list[Row]) -> Iterable[str]:
    """Boots of a machine that is booted for a factor are declared by that."""
    kernels = any(factor.control == "kernel" for factor in table.study.factors.values())
    if (n := len({row.boot for row in rows})) > 1 and not (kernels and table.machine.get("reached")):
        yield f"boot: runs of {n} boots of the machine in one study; `export` has the boot of each"


# CPUs that ran a tenth slower in some runs than in others make an effect of a tenth.
_SLOWER = 0.9


def _frequency(rows: list[Row]) -> Iterable[str]:
    seen = [row.frequency_hz for row in rows if row.frequency_hz]
    if seen and min(seen) < _SLOWER * max(seen):
        yield f"frequency: {min(seen) / 1e9:.2f} to {max(seen) / 1e9:.2f} GHz at the end of runs; fix the governor"
