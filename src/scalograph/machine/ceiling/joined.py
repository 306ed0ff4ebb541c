"""A machine's ceiling beside the findings of a study: sentences, a table, and the document."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.flag import Flag
from scalograph.machine.ceiling.ceiling_sentences import sentence, summary
from scalograph.machine.ceiling.reach import CurveReach, reach, speedups
from scalograph.protocol.findings import CeilingPoint, Cell, Column, Findings, TableDoc
from scalograph.protocol.machine_ceiling import WORDS, Ceiling, Timed

# A study may have hundreds of curves; the table has a row for each of these many.
MAX_CURVES, MAX_SENTENCES = 64, 4
_NOTE = "speedup over one CPU of the same total of one kind of work, one worker for each CPU; measured {at}"

_AGAINST = (
    "at the most CPUs that both have, over the baseline of the curve; below, above: the whole interval of the ratio "
    "lies more than 5 % off; alike: not told apart, which is no proof; unknown: an interval is missing or too wide"
)


class Beside(NamedTuple):
    """What a ceiling adds to findings; `document` is kind -> points."""

    answer: list[str]
    tables: list[TableDoc]
    document: dict[str, list[CeilingPoint]]


def beside(found: Findings, ceiling: Ceiling) -> Beside:
    """Hold every curve of a study against the machine's ceiling. Executes nothing."""
    reached = [it for curve in found.curves[:MAX_CURVES] if (it := reach(found, curve, ceiling))]
    largest = max((n for kind in ceiling.kinds for n in ceiling.speedups(kind)), default=1)
    answer = [text for text in [summary(largest, speedups(ceiling, 1, largest))] if largest > 1 and text]
    answer += [sentence(it.name, it.speedup, it.n_cpus, it.found) for it in _worst(reached)]
    if found.curves and not reached:
        answer.append("No curve of this study can be held against it: none has a speedup over CPUs that it has too.")
    return Beside([*answer, *ceiling.warnings], _tables(ceiling, reached), document(ceiling))


def _worst(reached: Sequence[CurveReach]) -> list[CurveReach]:
    """Those that fall furthest behind the best ceiling: of many curves they are what one would look at."""
    behind = sorted(reached, key=lambda it: it.found[0].ratio.value or 0.0)
    return behind[:MAX_SENTENCES]


def joined(found: Findings, ceiling: Ceiling) -> Findings:
    """The findings with the ceiling's sentences after their own, and its tables after theirs."""
    more = beside(found, ceiling)
    update: dict[str, Any] = {"answer": [*found.answer, *more.answer], "tables": [*found.tables, *more.tables]}
    if found.claim and more.answer:
        update["claim"] = found.claim.model_copy(update={"sentences": [*found.claim.sentences[:2], more.answer[0]]})
    return found.model_copy(update={**update, "ceilings": more.document})


def document(ceiling: Ceiling) -> dict[str, list[CeilingPoint]]:
    """`ceilings` of the findings: kind -> points over one CPU, fewest CPUs first."""
    return {kind: [_point(ceiling, kind, part) for part in parts] for kind, parts in ceiling.kinds.items()}


def _point(ceiling: Ceiling, kind: str, part: Timed) -> CeilingPoint:
    point = ceiling.speedups(kind).get(part.n_cpus)
    flags = [Flag("falls back", "rests on disturbed runs", part.n_disturbed)] if part.falls_back else []
    return CeilingPoint(
        n_cpus=part.n_cpus, speedup=point.speedup if point else None,
        n=len(part.scores), n_disturbed=part.n_disturbed, n_failed=part.n_failed, flags=flags,
    )  # fmt: skip


def _tables(ceiling: Ceiling, reached: Sequence[CurveReach]) -> list[TableDoc]:
    points = document(ceiling)
    sizes = sorted({part.n_cpus for parts in ceiling.kinds.values() for part in parts})
    columns = [Column(name="kind of work", kind="label")]
    columns += [Column(name=f"{n} CPU{'s' * (n > 1)}", kind="estimate") for n in sizes]
    rows: list[list[Cell]] = []
    for kind, parts in points.items():
        at = {part.n_cpus: part.speedup for part in parts}
        rows.append([WORDS.get(kind, kind), *(at.get(n) or Estimate() for n in sizes)])
    note = _NOTE.format(at=ceiling.at)
    first = TableDoc(id="ceilings", title="What this machine itself scales to", note=note, columns=columns, rows=rows)
    return [first, _against_table(reached)] if reached else [first]


def _against_table(reached: Sequence[CurveReach]) -> TableDoc:
    """A row for each curve: its speedup, and what it is to each kind of work."""
    kinds = sorted({each.kind for it in reached for each in it.found})
    columns = [Column(name="curve", kind="label"), Column(name="CPUs"), Column(name="speedup", kind="estimate")]
    columns += [Column(name=WORDS.get(kind, kind), kind="text") for kind in kinds]
    rows: list[list[Cell]] = []
    for it in reached:
        labels = {each.kind: each.label for each in it.found}
        rows.append([it.name, it.n_cpus, it.speedup, *(labels.get(kind, "unknown") for kind in kinds)])
    return TableDoc(id="against-ceilings", title="Against the ceilings", note=_AGAINST, columns=columns, rows=rows)
