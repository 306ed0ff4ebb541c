"""Tables for people: configurations, pivots that the study asks for, the baseline across CPU counts."""

from collections.abc import Mapping, Sequence
from functools import partial

from scalograph.analysis.comparisons import Comparison, compare
from scalograph.analysis.estimate import Estimate, join_flags
from scalograph.findings.answer import SampleMap
from scalograph.findings.curves import estimate_response, point_key
from scalograph.findings.row import Key
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import SpeedupRule, find_speedup_rule, speedup_formula
from scalograph.findings.table import Table
from scalograph.findings.visible_effect import EffectNotes
from scalograph.findings.whole_run import UNLIKE
from scalograph.protocol.findings import Cell, Column, Curve, Point, TableDoc
from scalograph.protocol.plain import Level
from scalograph.study.model import ReportTable

MAX_ROWS = 80  # of one table: past that it is divided by a further factor


def configuration_tables(
    table: Table, curves: Sequence[Curve], samples: SampleMap, visible: EffectNotes
) -> list[TableDoc]:
    """Make tables with a row per configuration, split by as many factors as keep them readable."""
    factor = table.view.curve_factor
    dividers = _dividers(table, factor)
    parts: dict[Key, list[Curve]] = {}
    for curve in curves:
        parts.setdefault(tuple(curve.group[name] for name in dividers), []).append(curve)
    docs = []
    for levels, part in parts.items():
        doc = _part_table(table, factor, dict(zip(dividers, levels, strict=True)), part)
        shown = [samples[point_key(table, curve, point)] for curve in part for point in curve.points]
        docs.append(visible.add_note(doc, shown))
    return docs


def _dividers(table: Table, factor: str) -> list[str]:
    """Return the fewest factors, fewest levels first, that bring every table to at most `MAX_ROWS` rows."""
    counts = {name: len({t[name] for t in table.configurations}) for name in table.view.varying if name != factor}
    dividers: list[str] = []
    n_rows = len(table.configurations)
    for name in sorted(counts, key=lambda name: counts[name])[: max(0, len(counts) - 1)]:
        if n_rows <= MAX_ROWS // 2:
            break
        dividers.append(name)
        n_rows //= counts[name]
    return [name for name in table.study.factors if name in dividers]


def _part_table(table: Table, factor: str, fixed: Mapping[str, Level], curves: Sequence[Curve]) -> TableDoc:
    shown = [name for name in table.view.varying if name != factor and name not in fixed]
    has_speedup = any(point.speedup for curve in curves for point in curve.points)
    columns = table.view.factor_columns([*shown, factor])
    responses = [(table.view.title(name), table.study.responses[name].unit) for name in responses_with_direction(table)]
    columns += [Column(name=name, unit=unit, kind="estimate") for name, unit in responses]
    if has_speedup:
        columns += [Column(name="scaling factor", kind="estimate"), Column(name="efficiency", kind="estimate")]
    columns += [Column(name="runs"), Column(name="flags", kind="text")]
    rows = [_point_row(table, curve, point, shown, has_speedup) for curve in curves for point in curve.points]
    where, name = table.view.levels_text(fixed), "-".join(["configurations", *map(str, fixed.values())])
    heading = f"Configurations with {where}" if where else "Configurations"
    return TableDoc(id=name, title=heading, note=speedup_formula(table, factor), columns=columns, rows=rows)


def responses_with_direction(table: Table) -> list[str]:
    """Return the responses with a better direction; all responses if none has one."""
    names = [name for name, response in table.study.responses.items() if response.better != "none"]
    return names or list(table.study.responses)


def _point_row(table: Table, curve: Curve, point: Point, shown: Sequence[str], has_speedup: bool) -> list[Cell]:
    cells: list[Cell] = [curve.group[name] for name in shown] + [point.level]
    cells += [_estimate_cell(point.responses[name].estimate) for name in responses_with_direction(table)]
    if has_speedup:
        cells += [_estimate_cell(point.speedup), _estimate_cell(point.efficiency)]
    return [*cells, max((len(r.scores) for r in point.responses.values()), default=0), join_flags(point.flags)]


def _estimate_cell(estimate: Estimate | None) -> Cell:
    return estimate or Estimate(warnings=("not taken here",))


def pivot_tables(table: Table, samples: SampleMap, curves: Sequence[Curve], visible: EffectNotes) -> list[TableDoc]:
    """Make the pivot tables that the study asks for."""
    gains = {point_key(table, curve, point): point.speedup for curve in curves for point in curve.points}
    docs = []
    for index, declared in enumerate(table.study.tables):
        shown = [table.view.current_response(name) for name in declared.responses]
        wish = declared.model_copy(update={"response": shown if isinstance(declared.response, list) else shown[0]})
        chosen = {k: s for k, s in samples.items() if wish.where.items() <= s.configuration.items()}
        first = next((name for name in wish.responses if name in table.study.responses), table.view.primary)
        docs.append(visible.add_note(_pivot(table, chosen, gains, index, wish), chosen.values(), first))
    return docs


# A column of a pivot: a level of the factor that runs across (None where none does), and a response.
_Head = tuple[Level | None, str]


def _pivot(
    table: Table, chosen: SampleMap, gains: Mapping[Key, Estimate | None], index: int, wish: ReportTable
) -> TableDoc:
    rows = _present_levels(table, wish.rows, chosen)
    levels = _present_levels(table, wish.columns, chosen) if wish.columns else [None]
    heads: list[_Head] = [(level, response) for response in wish.responses for level in levels]
    columns = table.view.factor_columns([wish.rows])
    columns += [_pivot_column(table, wish, head) for head in heads]
    members: dict[tuple[Level, Level | None], list[Key]] = {}
    for configuration, sample in chosen.items():
        column = sample.configuration[wish.columns] if wish.columns else None
        members.setdefault((sample.configuration[wish.rows], column), []).append(configuration)
    cells = [
        [row, *(_pivot_cell(table, chosen, gains, name, members.get((row, level), [])) for level, name in heads)]
        for row in rows
    ]
    return TableDoc(id=f"declared-{index}", title=wish.title, columns=columns, rows=cells)


def _pivot_column(table: Table, wish: ReportTable, head: _Head) -> Column:
    level, response = head
    unit = table.study.responses[response].unit if response in table.study.responses else ""
    if wish.columns is None or level is None:
        return Column(name=table.view.title(response), unit=unit, kind="estimate")
    return Column(name=table.view.levels_text({wish.columns: level}), unit=unit, kind="estimate")


def _present_levels(table: Table, name: str, chosen: SampleMap) -> list[Level]:
    present = {sample.configuration[name] for sample in chosen.values()}
    return [level for level in table.study.factors[name].levels if level in present]


def _pivot_cell(
    table: Table, samples: SampleMap, gains: Mapping[Key, Estimate | None], response: str, here: Sequence[Key]
) -> Cell:
    if len(here) != 1:
        need = f"need one configuration here, have {len(here)}: fix the other factors with `where`"
        return Estimate(warnings=(need,))
    is_speedup = response == "speedup"
    return _estimate_cell(gains.get(here[0]) if is_speedup else estimate_response(table, samples[here[0]], response))


MARGIN = 0.01
_WORDS = {
    "faster": "faster on more CPUs",
    "slower": "slower on more CPUs",
    "equivalent": "equal within 1%",
    "uncertain": "undecided",
}


def baseline_table(table: Table, samples: SampleMap) -> TableDoc | None:
    """Compare the baseline on each CPU count with that on the fewest; None for a single CPU count."""
    factor = table.view.cpu_factor
    how = find_speedup_rule(table, table.view.curve_factor)
    if how is None or factor is None or factor in table.study.baseline or factor not in table.view.varying:
        return None
    pairs = [(group[0], other) for group in _groups(table, samples, factor) for other in group[1:]]
    shown = [name for name in table.view.varying if name != factor and name not in table.study.baseline]
    rows: list[list[Cell]] = []
    for reference, other in pairs:
        comparison = compare_baselines(table, how, reference, other)
        levels = [reference.configuration[name] for name in shown]
        levels += [other.configuration[factor], reference.configuration[factor]]
        rows.append([*levels, comparison.ratio, _WORDS[comparison.label]])
    columns = [Column(name=table.view.title(name), kind="label") for name in shown]
    columns += [Column(name="CPUs", kind="label"), Column(name="compared with", kind="label")]
    columns += [Column(name=f"ratio of {how.kind}s", kind="estimate"), Column(name="so the baseline is", kind="text")]
    ((name, level),) = table.study.baseline.items()
    heading = f"{table.view.title(name)} = {level} across CPU counts"
    note = f"{table.view.title(how.response)} on these CPUs over that on the fewest, paired within blocks"
    if level == 1:
        note += "; a program of one worker should not care how many CPUs it may use"
    return TableDoc(id="baseline-across-cpus", title=heading, note=note, columns=columns, rows=rows)


def _groups(table: Table, samples: SampleMap, factor: str) -> list[list[Sample]]:
    """Group the baseline samples that differ in the CPU count only, fewest CPUs first."""
    ((name, level),) = table.study.baseline.items()
    groups: dict[Key, list[Sample]] = {}
    for sample in samples.values():
        if sample.configuration[name] == level:
            key = tuple(other for factor_, other in sample.configuration.items() if factor_ != factor)
            groups.setdefault(key, []).append(sample)
    return [sorted(group, key=lambda s: str(s.configuration[factor]).zfill(8)) for group in groups.values()]


def compare_baselines(table: Table, how: SpeedupRule, reference: Sample, other: Sample) -> Comparison:
    """Compare `other` with `reference` within shared blocks; uncertain if only one is of whole runs."""
    if (how.response in reference.whole) != (how.response in other.whole):
        refused = Estimate(None, None, None, table.view.confidence, 0, "", (UNLIKE,))
        return Comparison(refused, None, "uncertain", MARGIN, None)
    by_block = [s.scores_by_block(how.response).items() for s in (other, reference)]
    a, b = ({block: sum(scores) / len(scores) for block, scores in items} for items in by_block)
    shared = [block for block in a if block in b]
    confidence = table.view.confidence
    ratio = partial(compare, better="lower" if how.kind == "time" else "higher", margin=MARGIN, confidence=confidence)
    if len(shared) >= 2:
        return ratio([a[k] for k in shared], [b[k] for k in shared], paired=True)
    return ratio(other.scores(how.response), reference.scores(how.response))
