"""What comparing results comes to, in three sentences and the ratios that carry them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scalograph.analysis.estimate import Estimate
from scalograph.exchange.compare.result_answer import lost_text
from scalograph.protocol.compared_results import (
    ResultComparison,
    ResultComparisons,
    ShownAs,
    TreatmentRatio,
    curves,
    ordered,
)
from scalograph.protocol.findings import Cell, Claim, Column, Matrix, MatrixCell, MatrixRow, TableDoc, Trust
from scalograph.protocol.plain import Level
from scalograph.text.cell_numbers import NOT_RESOLVED, WIDEST, compact
from scalograph.text.format import estimate, level_text, significant
from scalograph.text.quantities import change, counted, percent_at_most
from scalograph.text.scale import SECONDS
from scalograph.text.short_names import heads, is_counted, one_of, short_setting

# Ratios that differ by more are told apart.
ALIKE = 1.25


class ResultSpan(NamedTuple):
    """Treatments next to each other that differ in one direction, and by about as much.

    Attributes:
        treatments: one or more, in order.
        is_more: whether the other result has more of the response.
    """

    treatments: list[TreatmentRatio]
    is_more: bool

    @property
    def ratios(self) -> tuple[float, float]:
        """Return the smallest and the largest, either way around, so that both are above 1."""
        values = [one.ratio.value or 1.0 for one in self.treatments]
        found = sorted(value if self.is_more else 1 / value for value in values)
        return found[0], found[-1]


def spans(found: ResultComparison, only: Sequence[ShownAs] = ()) -> list[ResultSpan]:
    """Group the treatments of one curve.

    Args:
        found: of one curve.
        only: what treatments that are told must show; empty for all that have a ratio.
    """
    made: list[ResultSpan] = []
    is_next = False
    for one in ordered(found):
        if not one.ratio.value or (only and one.shown not in only):
            is_next = False
            continue
        is_more = one.ratio.value > 1
        if is_next and made[-1].is_more == is_more and _alike(made[-1], one):
            made[-1].treatments.append(one)
        else:
            made.append(ResultSpan([one], is_more))
        is_next = True
    return made


def where(found: ResultComparison, span: ResultSpan) -> str:
    """Name the levels of a span: "with 1 thread", "from 2 to 128 threads"; empty where they differ."""
    if found.along not in span.treatments[0].levels:
        return ""
    levels = [one.levels[found.along] for one in span.treatments]
    title, unit = found.titles.get(found.along, found.along), found.units.get(found.along, "")
    if len(levels) == 1:
        return f"with {_level(title, levels[0], unit)}"
    if _is_count(title, levels[-1], unit):
        return f"from {level_text(levels[0])} to {_level(title, levels[-1], unit)}"
    return f"from {_level(title, levels[0], unit)} to {level_text(levels[-1], unit)}"


def _alike(span: ResultSpan, one: TreatmentRatio) -> bool:
    value = one.ratio.value or 1.0
    value = value if span.is_more else 1 / value
    low, high = span.ratios
    return max(high, value) <= ALIKE * min(low, value)


def _level(title: str, level: Level, unit: str) -> str:
    shown = level_text(level, unit)
    if _is_count(title, level, unit):
        return f"{shown} {one_of(title) if level == 1 else title}"
    return f"{title} {shown}"


def _is_count(title: str, level: Level, unit: str) -> bool:
    return type(level) is int and not unit and is_counted(title)


MOST_ROWS, MOST_COLUMNS, MOST_SPANS = 8, 6, 4
PROGRAM = "study or program"
_NOTE = "all intervals hold at once"
_LEFT_OUT = "Scaling laws are compared only of the primary response over whole curves."


def compare_claim(found: ResultComparisons) -> Claim:
    """Say which result is faster, and by how much, as far as the intervals carry it."""
    several = len(found.results) > 1
    sentences = [text for one in found.results[:3] for text in _sentences(one, several)][:3]
    return Claim(sentences=sentences, answered=found.answer != "not measurable", matrix=_matrix(found))


def compare_trust(found: ResultComparisons) -> Trust | None:
    """Return what the studies say against themselves; None where they say nothing."""
    doubts = list(dict.fromkeys(text for one in found.results for text in one.doubts))
    return Trust(level="doubt", sentence=doubts[0], points=doubts[1:3]) if doubts else None


def differences(found: ResultComparisons) -> str:
    """Tell what is not the same around the runs, in one line."""
    every = ((f"{r.other}: " * (len(found.results) > 1), one) for r in found.results for one in r.differences)
    # A digest tells a reader no more than that they are not the same.
    told = [
        f"{whose}{one.what}" + f" {one.reference} \N{RIGHTWARDS ARROW} {one.other}" * (one.what != PROGRAM)
        for whose, one in every
    ]
    return f"differs: {'; '.join(dict.fromkeys(told))}" if told else "no difference of machine, kernel or JVM is known"


def margin_told(found: ResultComparisons) -> Iterator[str]:
    """Tell the margin where the noise floor of the machine made it wider than it would be."""
    if (one := found.results[0]).margin_from == "noise floor":
        yield f"margin {percent_at_most(one.margin)}, the noise floor of this machine"


def noun(found: ResultComparison) -> str:
    """Name what the figures are of, in a sentence."""
    title = found.response_title or found.response.replace("_", " ")
    is_time = found.unit in SECONDS and found.better == "lower"
    if found.per == "clock":
        return "clock cycles" if is_time else f"{title} per clock cycle"
    if found.per == "cpu":
        return "CPU seconds" if is_time else f"{title} per CPU"
    return "time" if is_time and title in ("wall time", "time") else title


def verb(found: ResultComparison) -> str:
    """Choose the verb: times are taken, all else is had."""
    return "takes" if found.unit in SECONDS and found.better == "lower" else "has"


def _sentences(found: ResultComparison, several: bool) -> list[str]:
    """One sentence where several results are told; else up to three."""
    lost = [text for text in (_lost(found),) if text]
    if found.answer == "not measurable":
        told = _printed(found)
        if not told:
            return [f"Cannot be said: {found.why}.", *lost]
        return [told, *lost, f"No verdict: {found.why}."][: 1 if several else 3]
    first = _same(found) if found.answer == "same" else _first(found)
    more = [text for text in (_opposite(found), _laws(found), _unmatched(found)) if text]
    return [first, *lost, *([] if several else more)]


def _lost(found: ResultComparison) -> str:
    """What failed or is missing, unless it is the reason why nothing can be said; what may be, counted."""
    text, allowed = lost_text(found.lost, found.other), sum(one.allowed for one in found.lost)
    parts = [f"{text[:1].upper()}{text[1:]}"] if text and text != found.why else []
    parts += [f"{counted(allowed, 'configuration')} may be missing, and {'is' if allowed == 1 else 'are'}"] * (
        allowed > 0
    )
    return f"{'; '.join(parts)}." if parts else ""


def _printed(found: ResultComparison) -> str:
    """Figures without intervals, as they are; empty where there are intervals, many curves, or disturbed runs alone."""
    lost = any(one.ratio.low is not None or one.doubt for one in found.treatments)
    if lost or len(list(curves(found))) > 1:
        return ""
    told, every = [], spans(found)[:MOST_SPANS]
    for who, whose, is_more in ((found.reference, found.other, False), (found.other, found.reference, True)):
        if parts := [_span(found, span) for span in every if span.is_more == is_more]:
            told.append(f"{who} {verb(found)} {', '.join(parts)} the {noun(found)} of {whose}")
    return f"Without intervals: {'; '.join(told)}." if told else ""


def _span(found: ResultComparison, span: ResultSpan) -> str:
    low, high = (significant(x, 3) for x in span.ratios)
    factor = f"{low}x" if low == high else f"{low}x to {high}x"
    return f"{where(found, span)} {factor}".strip()


def _same(found: ResultComparison) -> str:
    n = len(found.treatments)
    many = "" if n == 1 else f" with each of {n} configurations"
    if found.n_blind:
        many = f" with {n - found.n_blind} of {n} configurations; the others are too noisy to say"
    within = percent_at_most(found.reach or 0.0)
    return f"The same: {found.other} {verb(found)} the {noun(found)} of {found.reference} within {within}{many}."


def _first(found: ResultComparison) -> str:
    head = f"{found.other} is {found.answer}: "
    deciding = [one for one in found.treatments if one.shown == found.answer]
    if len(found.treatments) == 1:
        return f"{head}it {verb(found)} {_change(found, found.treatments[0].ratio)}."
    if found.shift and _is_common(found):
        shape = f"the same shape at another level, alike within {percent_at_most(found.alike or 0.0)}"
        return f"{head}it {verb(found)} {_change(found, found.shift)}; {shape}."
    if not deciding:
        return f"{head}{_mean(found)}; no single configuration shows it."
    parts = list(curves(found))
    word: ShownAs = "slower" if found.answer == "slower" else "faster"
    told = spans(found, (word,)) if len(parts) == 1 else []
    if told and len(told) <= MOST_SPANS:
        return f"{head}{'; '.join(_shown_span(found, span) for span in told)}."
    worst = max(deciding, key=_log)
    n = f"with {len(deciding)} of {counted(len(found.treatments), 'configuration')}"
    return f"{head}{n}; most {_called(found, worst)}: {_change(found, worst.ratio)}."


def _mean(found: ResultComparison) -> str:
    """The mean over all treatments; that over the upper levels where only it shows a difference."""
    shift, upper = found.shift, found.upper
    if upper and found.upper_from is not None and not (shift and not shift.contains(1.0)):
        begin = level_text(found.upper_from, found.units.get(found.along, ""))
        return f"from {begin} {found.titles.get(found.along, '')} on together it {verb(found)} {_change(found, upper)}"
    return f"over all configurations it {verb(found)} {_change(found, shift)}" if shift else ""


def _is_common(found: ResultComparison) -> bool:
    """Whether all treatments are shown to differ alike: nearer to each other than the results are apart."""
    shift = found.shift.value if found.shift and found.shift.value else 1.0
    return found.alike is not None and found.alike < max(shift, 1 / shift) - 1


def _shown_span(found: ResultComparison, span: ResultSpan) -> str:
    if len(span.treatments) == 1:
        return f"{where(found, span)} it {verb(found)} {_change(found, span.treatments[0].ratio)}"
    values = sorted(one.ratio.value or 1.0 for one in span.treatments)
    low, high = (significant(x, 3) for x in values[:: len(values) - 1])
    return f"{where(found, span)} it {verb(found)} {low}x to {high}x the {noun(found)} of {found.reference}"


def _opposite(found: ResultComparison) -> str:
    """Where it is faster, though slower elsewhere; what is faster as a whole is slower nowhere."""
    faster = [one for one in found.treatments if one.shown == "faster"] if found.answer == "slower" else []
    if not faster:
        return ""
    most = max(faster, key=_log)
    told = f"It is faster with {len(faster)} of {counted(len(found.treatments), 'configuration')}"
    return f"{told}; most {_called(found, most)}: {_change(found, most.ratio)}."


def _laws(found: ResultComparison) -> str:
    """Which coefficient of the scaling law changed, of a single curve; or why no law was compared."""
    if found.laws_left_out:
        return _LEFT_OUT
    if len(list(curves(found))) > 1 or not found.laws:
        return ""
    told = (
        f"{one.coefficient} {estimate(one.reference)} \N{RIGHTWARDS ARROW} {estimate(one.other)}" for one in found.laws
    )
    return f"Of the scaling law changed: {', '.join(told)}."


def _unmatched(found: ResultComparison) -> str:
    lost = sum(bool(one.doubt) for one in found.treatments)
    others = found.unmatched - len(found.lost)
    parts = [f"{counted(others, 'configuration')} only one of them has"] if others else []
    parts += [f"{lost} rest on disturbed runs and decide nothing"] if lost else []
    return f"Left out: {'; '.join(parts)}." if parts else ""


def _change(found: ResultComparison, ratio: Estimate) -> str:
    """By how much; where that is wider than a factor of 2, only in which direction."""
    told = change(ratio, noun(found), found.reference)
    if told != NOT_RESOLVED:
        return told
    more = "more" if (ratio.value or 1.0) > 1 else "less"
    return f"{more} {noun(found)} than {found.reference}, by how much is {NOT_RESOLVED}"


def _called(found: ResultComparison, one: TreatmentRatio) -> str:
    varied = [n for n in one.levels if len({t.levels[n] for t in found.treatments}) > 1]
    named = (short_setting(found.titles.get(n, n), one.levels[n], found.units.get(n, "")) for n in varied)
    return f"with {', '.join(named)}"


def _log(one: TreatmentRatio) -> float:
    value = one.ratio.value or 1.0
    return max(value, 1 / value)


def _matrix(found: ResultComparisons) -> Matrix | None:
    """A row for each curve of each result, a column for each level; None where nothing was measured in both."""
    if not any(one.treatments for one in found.results):
        return None
    first = found.results[0]
    levels = list(dict.fromkeys(one.levels.get(first.along, "") for r in found.results for one in ordered(r)))
    columns = _spread(levels)
    rows = [row for _, row in sorted(_rows(found.results, columns), key=lambda row: -row[0])[:MOST_ROWS]]
    over = first.reference if len(found.results) > 1 else f"{first.other} over {first.reference}"
    title = f"{noun(first)}, {over}" if len(found.results) == 1 else f"{noun(first)} over that of {over}"
    names = [level_text(level, first.units.get(first.along, "")) if level != "" else "ratio" for level in columns]
    return Matrix(
        title=title, better=first.better, rows_are=first.titles.get(first.along, "") if len(levels) > 1 else "",
        columns=names, rows=rows, note=_NOTE if first.reach is not None and len(first.treatments) > 1 else "",
    )  # fmt: skip


def _spread(levels: Sequence[Level]) -> list[Level]:
    last = len(levels) - 1
    if last < MOST_COLUMNS:
        return list(levels)
    return [levels[i] for i in sorted({round(i * last / (MOST_COLUMNS - 1)) for i in range(MOST_COLUMNS)})]


def _rows(results: Sequence[ResultComparison], columns: Sequence[Level]) -> Iterator[tuple[float, MatrixRow]]:
    """Each row with the largest difference that is shown in it."""
    for one in results:
        if not (parts := list(curves(one))):
            continue
        varied = [n for n in parts[0][0] if len({group[n] for group, _ in parts}) > 1]
        first = dict(zip(varied, heads(one.titles.get(n, n) for n in varied), strict=True))
        for group, curve in parts:
            named = [short_setting(first[n], group[n], one.units.get(n, "")) for n in varied]
            label = ", ".join([*([one.other] if len(results) > 1 else []), *named]) or "ratio"
            known = {t.levels.get(one.along, ""): t for t in curve.treatments}
            most = max((_log(t) for t in curve.treatments if t.shown in ("slower", "faster")), default=0.0)
            yield most, MatrixRow(label=label, cells=[_cell(known.get(column)) for column in columns])


def _cell(one: TreatmentRatio | None) -> MatrixCell:
    if one is None:
        return MatrixCell()
    ratio = one.ratio
    if ratio.low and ratio.high and ratio.high > WIDEST * ratio.low and one.shown in ("slower", "faster"):
        return MatrixCell(text=f"{'>' if one.ratio.low and one.ratio.low > 1 else '<'} 1", doubt=one.doubt)
    return MatrixCell(text=compact(ratio) if ratio.low is None else "", estimate=ratio, doubt=one.doubt)


_TABLES_NOTE = (
    "ratio: the second over the first, Welch t on log scores; its intervals hold for all configurations at once; those "
    "of the figures beside it are of each alone"
)


def compare_tables(found: ResultComparisons) -> list[TableDoc]:
    """Return one table for each result, and one of what differs around the runs."""
    tables = [_table(r, f"ratios-{i}" if i else "ratios") for i, r in enumerate(found.results) if r.treatments]
    tables += _compare_tables_lost(found)
    rows: list[list[Cell]] = [
        [one.other, d.what, d.reference, d.other] for one in found.results for d in one.differences
    ]
    columns = [Column(name=name, kind="text") for name in ("result", "what", found.results[0].reference, "there")]
    tables += [TableDoc(id="differences", title="What differs", columns=columns, rows=rows)] if rows else []
    return tables + _law_rows(found)


def _compare_tables_lost(found: ResultComparisons) -> list[TableDoc]:
    rows: list[list[Cell]] = [
        [r.other, one.name, one.why, one.n_failed, one.n_runs, "yes" if one.allowed else "no"]
        for r in found.results
        for one in r.lost
    ]
    columns = [Column(name=name, kind="label") for name in ("result", "configuration", "is")]
    columns += [Column(name="failed"), Column(name="runs"), Column(name="allowed", kind="label")]
    title = f"Failed or missing, and measured in {found.results[0].reference}"
    return [TableDoc(id="lost", title=title, columns=columns, rows=rows)] if rows else []


def _law_rows(found: ResultComparisons) -> list[TableDoc]:
    """Coefficients of the scaling law that changed; no table where none did."""
    rows: list[list[Cell]] = [
        [one.other, ", ".join(f"{k} {v}" for k, v in law.group.items()), law.coefficient, law.reference, law.other]
        for one in found.results
        for law in one.laws
    ]
    columns = [Column(name=name, kind="label") for name in ("result", "curve", "coefficient")]
    columns += [Column(name=name, kind="estimate") for name in (found.results[0].reference, "there")]
    title = "Coefficients of the scaling law whose intervals do not touch"
    return [TableDoc(id="laws", title=title, columns=columns, rows=rows)] if rows else []


def _table(found: ResultComparison, name: str) -> TableDoc:
    factors = list(found.treatments[0].levels)
    columns = [Column(name=found.titles.get(n, n), unit=found.units.get(n, ""), kind="label") for n in factors]
    columns += [Column(name=who, unit=found.unit, kind="estimate") for who in (found.reference, found.other)]
    columns += [Column(name="ratio", kind="estimate"), Column(name="is", kind="text")]
    rows: list[list[Cell]] = [
        [*(one.levels[n] for n in factors), one.reference, one.other, one.ratio, one.doubt or one.shown]
        for one in ordered(found)
    ]
    title = f"{noun(found)}: {found.other} beside {found.reference}"
    return TableDoc(id=name, title=title, note=_TABLES_NOTE, columns=columns, rows=rows)
