"""The answer of `compare`: up to three sentences, and the ratios they rest on."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scalograph.analysis.estimate import Estimate
from scalograph.exchange.compare.result_answer import lost_text
from scalograph.protocol.compared_results import (
    ConfigurationRatio,
    ResultComparison,
    ResultComparisons,
    ShownAs,
    sort_configurations,
    split_curves,
)
from scalograph.protocol.findings import Cell, Claim, Column, Matrix, MatrixCell, MatrixRow, TableDoc, Trust
from scalograph.protocol.plain import Level
from scalograph.text.cell_numbers import NOT_RESOLVED, WIDEST, cell_number
from scalograph.text.format import estimate, level_text, significant
from scalograph.text.quantities import change, count_noun, percent_at_most
from scalograph.text.scale import SECONDS
from scalograph.text.short_names import is_counted, short_setting, shorten_titles, singular

# Ratios within this factor share a span.
ALIKE = 1.25


class ResultSpan(NamedTuple):
    """Adjacent configurations that differ in one direction, and by about as much.

    `is_more`: the other result has more of the response.
    """

    configurations: list[ConfigurationRatio]
    is_more: bool

    @property
    def ratios(self) -> tuple[float, float]:
        """Return the smallest and the largest ratio, inverted where needed so that both are above 1."""
        values = [row.ratio.value or 1.0 for row in self.configurations]
        ratios = sorted(value if self.is_more else 1 / value for value in values)
        return ratios[0], ratios[-1]


def spans(result: ResultComparison, only: Sequence[ShownAs] = ()) -> list[ResultSpan]:
    """Group the configurations of one curve into spans.

    If `only` is not empty, other outcomes end a span.
    """
    groups: list[ResultSpan] = []
    is_next = False
    for row in sort_configurations(result):
        if not row.ratio.value or (only and row.shown not in only):
            is_next = False
            continue
        is_more = row.ratio.value > 1
        value, ends = _log(row), groups[-1].ratios if groups else (1.0, 1.0)
        is_alike = max(ends[1], value) <= ALIKE * min(ends[0], value)
        if is_next and groups[-1].is_more == is_more and is_alike:
            groups[-1].configurations.append(row)
        else:
            groups.append(ResultSpan([row], is_more))
        is_next = True
    return groups


def levels_phrase(result: ResultComparison, span: ResultSpan) -> str:
    """Format the levels of a span: "with 1 thread", "from 2 to 128 threads"; empty off the curve's factor."""
    if result.along not in span.configurations[0].levels:
        return ""
    levels = [row.levels[result.along] for row in span.configurations]
    title, unit = result.titles.get(result.along, result.along), result.units.get(result.along, "")
    if len(levels) == 1:
        return f"with {_level(title, levels[0], unit)}"
    if _is_count(title, levels[-1], unit):
        return f"from {level_text(levels[0])} to {_level(title, levels[-1], unit)}"
    return f"from {_level(title, levels[0], unit)} to {level_text(levels[-1], unit)}"


def _level(title: str, level: Level, unit: str) -> str:
    shown = level_text(level, unit)
    if _is_count(title, level, unit):
        return f"{shown} {singular(title) if level == 1 else title}"
    return f"{title} {shown}"


def _is_count(title: str, level: Level, unit: str) -> bool:
    return type(level) is int and not unit and is_counted(title)


MOST_ROWS, MOST_COLUMNS, MOST_SPANS = 8, 6, 4
PROGRAM = "study or program"
_NOTE = "all intervals hold at once"


def compare_claim(comparisons: ResultComparisons) -> Claim:
    """Return which result is faster and by how much, as far as the intervals show."""
    several = len(comparisons.results) > 1
    sentences = [text for result in comparisons.results[:3] for text in _sentences(result, several)][:3]
    return Claim(sentences=sentences, answered=comparisons.answer != "inconclusive", matrix=_matrix(comparisons))


def compare_trust(comparisons: ResultComparisons) -> Trust | None:
    """Return the caveats of the studies as a verdict; None where there are none."""
    doubts = list(dict.fromkeys(text for result in comparisons.results for text in result.doubts))
    return Trust(level="doubt", sentence=doubts[0], points=doubts[1:3]) if doubts else None


def differences(comparisons: ResultComparisons) -> str:
    """List the differences of the environments in one line."""
    several = len(comparisons.results) > 1
    every = [(f"{result.other}: " * several, d) for result in comparisons.results for d in result.differences]
    if not every:
        return "no difference of machine, kernel or JVM is known"
    # Of a digest only the difference is worth showing.
    change_texts = (f" {d.reference} \N{RIGHTWARDS ARROW} {d.other}" * (d.what != PROGRAM) for _, d in every)
    texts = [f"{whose}{d.what}{text}" for (whose, d), text in zip(every, change_texts, strict=True)]
    return f"differs: {'; '.join(dict.fromkeys(texts))}"


def noun(result: ResultComparison) -> str:
    """Return the noun for the response in a sentence."""
    title = result.response_title or result.response.replace("_", " ")
    is_time = result.unit in SECONDS and result.better == "lower"
    if result.per == "clock":
        return "clock cycles" if is_time else f"{title} per clock cycle"
    if result.per == "cpu":
        return "CPU seconds" if is_time else f"{title} per CPU"
    return "time" if is_time and title in ("wall time", "time") else title


def verb(result: ResultComparison) -> str:
    """Return "takes" for times, "has" for anything else."""
    return "takes" if result.unit in SECONDS and result.better == "lower" else "has"


def _sentences(result: ResultComparison, several: bool) -> list[str]:
    """Return up to three sentences; one per result where several are compared."""
    lost = [text for text in (_missing_sentence(result),) if text]
    if result.answer == "inconclusive":
        printed = _printed_sentence(result)
        if not printed:
            return [
                f"Inconclusive: {result.why}.",
                *([] if several else _opposite_sentences(result)),
                *lost,
            ]
        return [printed, *lost, f"No verdict: {result.why}."][: 1 if several else 3]
    first = _equivalence_sentence(result) if result.answer == "equivalent" else _difference_sentence(result)
    more = [*_opposite_sentences(result), *filter(None, (_law_sentence(result), _excluded_sentence(result)))]
    return [first, *lost, *([] if several else more)]


def _missing_sentence(result: ResultComparison) -> str:
    """Report what failed or is missing, and how much of it is allowed."""
    text, allowed = lost_text(result.lost, result.other), sum(row.allowed for row in result.lost)
    parts = [f"{text[:1].upper()}{text[1:]}"] if text and text != result.why else []
    if allowed:
        parts.append(f"{count_noun(allowed, 'configuration')} may be missing, and {'is' if allowed == 1 else 'are'}")
    return f"{'; '.join(parts)}." if parts else ""


def _printed_sentence(result: ResultComparison) -> str:
    """Report values without intervals; empty where there are intervals, many curves, or flagged configurations."""
    lost = any(row.ratio.low is not None or row.doubt for row in result.configurations)
    if lost or len(list(split_curves(result))) > 1:
        return ""
    texts, every = [], spans(result)[:MOST_SPANS]
    for who, whose, is_more in ((result.reference, result.other, False), (result.other, result.reference, True)):
        if parts := [_factor_phrase(result, span) for span in every if span.is_more == is_more]:
            texts.append(f"{who} {verb(result)} {', '.join(parts)} the {noun(result)} of {whose}")
    return f"Without intervals: {'; '.join(texts)}." if texts else ""


def _factor_phrase(result: ResultComparison, span: ResultSpan) -> str:
    low, high = (significant(x, 3) for x in span.ratios)
    factor = f"{low}x" if low == high else f"{low}x to {high}x"
    return f"{levels_phrase(result, span)} {factor}".strip()


def _equivalence_sentence(result: ResultComparison) -> str:
    n = len(result.configurations)
    many = "" if n == 1 else f" with each of {n} configurations"
    if result.n_inconclusive:
        many = f" with {n - result.n_inconclusive} of {n} configurations"
    within = percent_at_most(result.reach or 0.0)
    return f"Equivalent: {result.other} {verb(result)} the {noun(result)} of {result.reference} within {within}{many}."


def _difference_sentence(result: ResultComparison) -> str:
    head = f"{result.other} is {result.answer}: "
    deciding = [row for row in result.configurations if row.shown == result.answer]
    if len(result.configurations) == 1:
        return f"{head}it {verb(result)} {_change_phrase(result, result.configurations[0].ratio)}."
    shift = result.shift.value if result.shift and result.shift.value else 1.0
    if result.shift and (result.alike is not None and result.alike < max(shift, 1 / shift) - 1):
        shape = f"the same shape at another level, alike within {percent_at_most(result.alike or 0.0)}"
        return f"{head}it {verb(result)} {_change_phrase(result, result.shift)}; {shape}."
    if not deciding:
        return f"{head}{_mean_phrase(result)}; no single configuration shows it."
    parts = list(split_curves(result))
    word: ShownAs = "slower" if result.answer == "slower" else "faster"
    groups = spans(result, (word,)) if len(parts) == 1 else []
    if groups and len(groups) <= MOST_SPANS:
        return f"{head}{'; '.join(_span_phrase(result, span) for span in groups)}."
    worst = max(deciding, key=_log)
    n = f"with {len(deciding)} of {count_noun(len(result.configurations), 'configuration')}"
    return f"{head}{n}; most {_configuration_phrase(result, worst)}: {_change_phrase(result, worst.ratio)}."


def _mean_phrase(result: ResultComparison) -> str:
    """Format the mean ratio; that of the upper levels where only it differs."""
    shift, upper = result.shift, result.upper
    if upper and result.upper_from is not None and not (shift and not shift.contains(1.0)):
        begin = level_text(result.upper_from, result.units.get(result.along, ""))
        levels = f"from {begin} {result.titles.get(result.along, '')} on together"
        return f"{levels} it {verb(result)} {_change_phrase(result, upper)}"
    return f"over all configurations it {verb(result)} {_change_phrase(result, shift)}" if shift else ""


def _span_phrase(result: ResultComparison, span: ResultSpan) -> str:
    head = f"{levels_phrase(result, span)} it {verb(result)}"
    if len(span.configurations) == 1:
        return f"{head} {_change_phrase(result, span.configurations[0].ratio)}"
    values = sorted(row.ratio.value or 1.0 for row in span.configurations)
    low, high = (significant(x, 3) for x in values[:: len(values) - 1])
    return f"{head} {low}x to {high}x the {noun(result)} of {result.reference}"


def _opposite_sentences(result: ResultComparison) -> list[str]:
    """Report where a result that is slower, or inconclusive, is faster; a faster one is slower nowhere."""
    faster = [row for row in result.configurations if row.shown == "faster"]
    if not faster or result.answer not in ("slower", "inconclusive"):
        return []
    most = max(faster, key=_log)
    count = f"It is faster with {len(faster)} of {count_noun(len(result.configurations), 'configuration')}"
    return [f"{count}; most {_configuration_phrase(result, most)}: {_change_phrase(result, most.ratio)}."]


def _law_sentence(result: ResultComparison) -> str:
    """Report the changed coefficients of a single curve's scaling law, or why none were compared."""
    if result.laws_left_out:
        return "Scaling laws are compared only of the primary response over whole curves."
    if len(list(split_curves(result))) > 1 or not result.laws:
        return ""
    ends = ((law.coefficient, estimate(law.reference), estimate(law.other)) for law in result.laws)
    changes = (f"{name} {before} \N{RIGHTWARDS ARROW} {after}" for name, before, after in ends)
    return f"Of the scaling law changed: {', '.join(changes)}."


def _excluded_sentence(result: ResultComparison) -> str:
    lost = sum(bool(row.doubt) for row in result.configurations)
    others = result.unmatched - len(result.lost)
    parts = [f"{count_noun(others, 'configuration')} only one of them has"] if others else []
    parts += [f"{lost} rest on disturbed runs and decide nothing"] if lost else []
    return f"Left out: {'; '.join(parts)}." if parts else ""


def _change_phrase(result: ResultComparison, ratio: Estimate) -> str:
    """Format a change; only its direction where the interval spans more than a factor of 2."""
    text = change(ratio, noun(result), result.reference)
    if text != NOT_RESOLVED:
        return text
    more = "more" if (ratio.value or 1.0) > 1 else "less"
    return f"{more} {noun(result)} than {result.reference}, by how much is {NOT_RESOLVED}"


def _configuration_phrase(result: ResultComparison, row: ConfigurationRatio) -> str:
    varied = [n for n in row.levels if len({t.levels[n] for t in result.configurations}) > 1]
    named = (short_setting(result.titles.get(n, n), row.levels[n], result.units.get(n, "")) for n in varied)
    return f"with {', '.join(named)}"


def _log(row: ConfigurationRatio) -> float:
    value = row.ratio.value or 1.0
    return max(value, 1 / value)


def _matrix(comparisons: ResultComparisons) -> Matrix | None:
    """Return a row per curve and result, a column per level; None without common configurations."""
    if not any(result.configurations for result in comparisons.results):
        return None
    first = comparisons.results[0]
    rows_of_all = (row for result in comparisons.results for row in sort_configurations(result))
    levels = list(dict.fromkeys(row.levels.get(first.along, "") for row in rows_of_all))
    last = len(levels) - 1
    columns = levels
    if last >= MOST_COLUMNS:
        columns = [levels[i] for i in sorted({round(i * last / (MOST_COLUMNS - 1)) for i in range(MOST_COLUMNS)})]
    rows = [row for _, row in sorted(_rows(comparisons.results, columns), key=lambda row: -row[0])[:MOST_ROWS]]
    over = first.reference if len(comparisons.results) > 1 else f"{first.other} over {first.reference}"
    title = f"{noun(first)}, {over}" if len(comparisons.results) == 1 else f"{noun(first)} over that of {over}"
    names = [level_text(level, first.units.get(first.along, "")) if level != "" else "ratio" for level in columns]
    return Matrix(
        title=title, better=first.better, rows_are=first.titles.get(first.along, "") if len(levels) > 1 else "",
        columns=names, rows=rows, note=_NOTE if first.reach is not None and len(first.configurations) > 1 else "",
    )  # fmt: skip


def _rows(results: Sequence[ResultComparison], columns: Sequence[Level]) -> Iterator[tuple[float, MatrixRow]]:
    """Yield each row with the largest difference it shows."""
    for result in results:
        if not (parts := list(split_curves(result))):
            continue
        varied = [n for n in parts[0][0] if len({group[n] for group, _ in parts}) > 1]
        first = dict(zip(varied, shorten_titles(result.titles.get(n, n) for n in varied), strict=True))
        for group, curve in parts:
            named = [short_setting(first[n], group[n], result.units.get(n, "")) for n in varied]
            label = ", ".join([*([result.other] if len(results) > 1 else []), *named]) or "ratio"
            by_level = {t.levels.get(result.along, ""): t for t in curve.configurations}
            most = max((_log(t) for t in curve.configurations if t.shown in ("slower", "faster")), default=0.0)
            yield most, MatrixRow(label=label, cells=[_cell(by_level.get(column)) for column in columns])


def _cell(row: ConfigurationRatio | None) -> MatrixCell:
    if row is None:
        return MatrixCell()
    ratio = row.ratio
    if ratio.low and ratio.high and ratio.high > WIDEST * ratio.low and row.shown in ("slower", "faster"):
        return MatrixCell(text=f"{'>' if row.ratio.low and row.ratio.low > 1 else '<'} 1", doubt=row.doubt)
    return MatrixCell(text=cell_number(ratio) if ratio.low is None else "", estimate=ratio, doubt=row.doubt)


_TABLES_NOTE = (
    "ratio: the second over the first, Welch t on log scores; its intervals hold for all configurations at once; those "
    "of the figures beside it are of each alone"
)


def compare_tables(comparisons: ResultComparisons) -> list[TableDoc]:
    """Return the ratios of each result, what is missing, the environment differences, and changed laws."""
    results = enumerate(comparisons.results)
    tables = [_table(r, f"ratios-{i}" if i else "ratios") for i, r in results if r.configurations]
    tables += _compare_tables_lost(comparisons)
    rows: list[list[Cell]] = [
        [result.other, d.what, d.reference, d.other] for result in comparisons.results for d in result.differences
    ]
    columns = [Column(name=name, kind="text") for name in ("result", "what", comparisons.results[0].reference, "there")]
    tables += [TableDoc(id="differences", title="What differs", columns=columns, rows=rows)] if rows else []
    return tables + _law_rows(comparisons)


def _compare_tables_lost(comparisons: ResultComparisons) -> list[TableDoc]:
    rows: list[list[Cell]] = [
        [r.other, row.name, row.why, row.n_failed, row.n_runs, "yes" if row.allowed else "no"]
        for r in comparisons.results
        for row in r.lost
    ]
    columns = [Column(name=name, kind="label") for name in ("result", "configuration", "is")]
    columns += [Column(name="failed"), Column(name="runs"), Column(name="allowed", kind="label")]
    title = f"Failed or missing, and measured in {comparisons.results[0].reference}"
    return [TableDoc(id="lost", title=title, columns=columns, rows=rows)] if rows else []


def _law_rows(comparisons: ResultComparisons) -> list[TableDoc]:
    rows: list[list[Cell]] = [
        [result.other, ", ".join(f"{k} {v}" for k, v in law.group.items()), law.coefficient, law.reference, law.other]
        for result in comparisons.results
        for law in result.laws
    ]
    columns = [Column(name=name, kind="label") for name in ("result", "curve", "coefficient")]
    columns += [Column(name=name, kind="estimate") for name in (comparisons.results[0].reference, "there")]
    title = "Coefficients of the scaling law whose intervals do not touch"
    return [TableDoc(id="laws", title=title, columns=columns, rows=rows)] if rows else []


def _table(result: ResultComparison, name: str) -> TableDoc:
    factors = list(result.configurations[0].levels)
    columns = [Column(name=result.titles.get(n, n), unit=result.units.get(n, ""), kind="label") for n in factors]
    columns += [Column(name=who, unit=result.unit, kind="estimate") for who in (result.reference, result.other)]
    columns += [Column(name="ratio", kind="estimate"), Column(name="is", kind="text")]
    rows: list[list[Cell]] = [
        [*(row.levels[n] for n in factors), row.reference, row.other, row.ratio, row.doubt or row.shown]
        for row in sort_configurations(result)
    ]
    title = f"{noun(result)}: {result.other} beside {result.reference}"
    return TableDoc(id=name, title=title, note=_TABLES_NOTE, columns=columns, rows=rows)
