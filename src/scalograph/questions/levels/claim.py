"""State what levels do: the largest difference that is sure, or how small a one would have been visible."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import expm1
from statistics import median

from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import SampleMap
from scalograph.findings.curves import estimate_response, modes_text
from scalograph.findings.sample import Sample, is_functional
from scalograph.findings.table import Table
from scalograph.findings.visible_effect import estimate_noise
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import Level
from scalograph.questions.claims import limit_sentences, missing_response, why_unanswerable
from scalograph.questions.levels.model import MOST_PAIRS, LevelDifference, differences, farthest
from scalograph.questions.matrices import choose_columns, matrix, rows
from scalograph.text.cell_numbers import capitalize, is_resolved
from scalograph.text.format import estimate, significant
from scalograph.text.quantities import change, count_noun, percent_at_most, two_digits
from scalograph.text.scale import SILENT, Scale, scale_for
from scalograph.text.short_names import join_names

_SUMMARIES: Mapping[str, Callable[[Sequence[float]], float]] = {"median": median, "least": min, "most": max}


def single_claim(table: Table, sample: Sample) -> Claim:
    """State the primary response of the runs of one configuration."""
    view, scores = table.view, sample.scores(table.view.primary)
    response, typical = view.response, estimate_response(table, sample)
    scale, modes = scale_for(response.unit, scores), modes_text(table, sample)
    is_time, called = view.kind == "time", view.primary_title.capitalize()
    if typical.low is None or is_resolved(typical):
        shown = f"{estimate(typical, scale)} {scale.unit}".rstrip()
        text = f"A run takes {shown}." if is_time else f"{called}: {shown}."
    else:
        text = f"{_range_text(scores, scale, 'took' if is_time else 'had')}: what is typical is not resolved."
        text = text if is_time else f"{called}: {text}"
    figures = [typical, *(Estimate(float(figure(scores))) for figure in _SUMMARIES.values())]
    matrix = Matrix(
        title=f"{view.primary_title} of {len(scores)} run{'s' * (len(scores) != 1)}",
        unit=response.unit, better=response.better, columns=["typical", *_SUMMARIES],
        rows=[MatrixRow(label="", cells=[MatrixCell(estimate=x) for x in figures])],
    )  # fmt: skip
    sentences = [f"Runs have {modes}: none takes what is typical of all."] if modes else [text]
    return Claim(sentences=sentences, matrix=matrix)


def _range_text(scores: Sequence[float], scale: Scale, verb: str) -> str:
    """State the range of all runs: "2 runs took 761 to 863 µs"."""
    least, most = (significant(x * scale.factor) for x in (min(scores), max(scores)))
    return f"{count_noun(len(scores), 'run')} {verb} {least} to {most} {scale.unit}".rstrip()


# All levels count as alike where no two may differ by more.
ALIKE = 0.05
# A larger share is no percentage to read.
MOST_SHARE = 9.0
# Percent: smaller differences come from rounding.
ROUNDING = 1e-4


def claim(table: Table, samples: SampleMap) -> Claim:
    """State what the levels of each factor do."""
    name = table.view.primary
    measured = [sample for sample in samples.values() if sample.scores(name)]
    pairs = differences(table, samples, name)
    alone = single_claim(table, measured[0]) if measured and len(table.configurations) == 1 else None
    if reason := why_unanswerable(table, samples):
        sentences = [f"Cannot be said: {reason}."]
    elif not measured:
        sentences = [f"Cannot be said: {missing_response(table, samples, name)}."]
    elif alone:
        return alone
    elif len(measured) == 1:
        sentences = [f"Cannot be said: of {len(table.configurations):,} configurations one has runs."]
    else:
        sentences = limit_sentences(_sentences(table, samples, measured, pairs))
    shown = _matrix(table, measured, pairs) if len(measured) > 1 else alone and alone.matrix
    return Claim(sentences=sentences, answered=not sentences[0].startswith("Cannot be said"), matrix=shown)


def _sentences(
    table: Table, samples: SampleMap, measured: Sequence[Sample], pairs: Sequence[LevelDifference]
) -> Iterator[str]:
    if success := _success_sentence(samples.values()):
        yield success
        return
    noise = estimate_noise(table, samples.values())
    percent = noise.sd_log_percent if noise else 0.0
    by = "more than 10-fold" if expm1(percent / 100) > MOST_SHARE else f"by {two_digits(percent)} %"
    spread = [f"Runs of a typical configuration differ {by}."] if percent > ROUNDING else []
    effects = [*_difference_sentences(table, measured, pairs)]
    # Of work that is the same under all names, how much its runs differ is the question.
    is_noise = any(table.study.factors[name].kind == "nuisance" for name in table.view.varying)
    yield from [*spread, *effects] if is_noise else [*effects, *spread]


def _success_sentence(samples: Iterable[Sample]) -> str:
    samples = list(samples)
    runs = [row for sample in samples for row in sample.succeeded]
    if max(len(sample.succeeded) for sample in samples) > 1 or not all(map(is_functional, runs)):
        return ""
    n = len(runs) + sum(sample.n_failed for sample in samples)
    subject = f"All {n} runs" if n == len(runs) else f"{len(runs)} of {n} runs"
    return f"{subject} ended well: one of each configuration, so their figures are not compared."


def _difference_sentences(table: Table, samples: Sequence[Sample], pairs: Sequence[LevelDifference]) -> Iterator[str]:
    left = sum(min(sample.scores(table.view.primary)) <= 0 for sample in samples)
    sure, confidence = [pair for pair in pairs if pair.is_sure], table.view.confidence
    if not sure:
        most = farthest(pairs, confidence) if len(pairs) < MOST_PAIRS else None
        if most is None:
            reason = f"too {'few runs' if len(pairs) < MOST_PAIRS else 'many configurations'} to compare"
            yield f"Cannot be said: {'figures of 0 or less have no ratio' if left and not pairs else reason}."
        elif most == 0:
            yield "Cannot be told apart: all runs are alike to the last digit."
        elif most <= ALIKE:
            yield f"Cannot be told apart: every level lies within {percent_at_most(most)} of the others."
        elif most > MOST_SHARE:
            yield "Cannot be said: runs differ too much to compare."
        else:
            yield f"Cannot be said: effects below {percent_at_most(most)} are not visible."
        return
    yield _largest_sentence(table, sure[0])
    yield from _equivalence_sentences(table, pairs, sure[0], confidence)
    if left:
        verb = "is" if left == 1 else "are"
        yield f"{count_noun(left, 'configuration')} with figures of 0 or less {verb} not compared."
    tried = list(dict.fromkeys(pair.factor for pair in pairs if pair.factor != sure[0].factor))
    if second := next((pair for name in tried for pair in sure if pair.factor == name), None):
        text = f"{_difference_text(table, second, confidence)}{_context_text(table, second)}"
        yield f"{capitalize(table.view.title(second.factor))}: {text}."
    elif tried and len(pairs) < MOST_PAIRS:
        yield f"No difference by {join_names([table.view.title(name) for name in tried], 'or')} is resolved."


def _equivalence_sentences(
    table: Table, pairs: Sequence[LevelDifference], lead: LevelDifference, confidence: float
) -> Iterator[str]:
    by_others: dict[tuple[tuple[str, Level], ...], list[LevelDifference]] = {}
    for pair in pairs if len(pairs) < MOST_PAIRS else ():
        if pair.factor == lead.factor:
            by_others.setdefault(_other_levels(pair), []).append(pair)
    far = {others: farthest(each, confidence) for others, each in by_others.items() if not any(p.is_sure for p in each)}
    alike = {others: most for others, most in far.items() if most is not None and most <= ALIKE}
    if not alike:
        return
    here = {*_other_levels(lead)}
    others = min(alike, key=lambda levels: len({*levels} - here))
    within = f"every level lies within {percent_at_most(alike[others])} of the others"
    apart = dict(level for level in others if level not in here)
    yield f"Not with {table.view.short_levels(apart)}: there {within if alike[others] else 'all levels are alike'}."


def _other_levels(pair: LevelDifference) -> tuple[tuple[str, Level], ...]:
    return tuple((name, level) for name, level in pair.less.configuration.items() if name != pair.factor)


def _largest_sentence(table: Table, pair: LevelDifference) -> str:
    """State both values; only their order where one of them has too wide an interval."""
    less, more = (estimate_response(table, sample) for sample in (pair.less, pair.more))
    where, name = _context_text(table, pair), capitalize(table.view.primary_title)
    low, high = _level_names(table, pair)
    if _is_wide(less) or _is_wide(more):
        return f"{name} is more with {high} than with {low}{where}: by how much is not resolved."
    return f"{name} goes from {_value_text(table, less)} with {low} to {_value_text(table, more)} with {high}{where}."


def _difference_text(table: Table, pair: LevelDifference, confidence: float) -> str:
    (less, more), ratio = _level_names(table, pair), pair.ratio(confidence)
    verb, noun = "takes" if table.view.kind == "time" else "has", table.view.primary_title
    if _is_wide(ratio):
        return f"a run with {more} {verb} more {noun} than one with {less}, by how much is not resolved"
    return f"a run with {more} {verb} {change(ratio, noun, f'one with {less}')}"


def _level_names(table: Table, pair: LevelDifference) -> list[str]:
    return [table.view.short_levels({pair.factor: s.configuration[pair.factor]}) for s in (pair.less, pair.more)]


def _is_wide(value: Estimate) -> bool:
    return value.low is None or value.high is None or value.low <= 0 or value.high > 2 * value.low


def _context_text(table: Table, pair: LevelDifference) -> str:
    others = {n: level for n, level in table.view.varying_levels(pair.less.configuration).items() if n != pair.factor}
    return f" ({table.view.short_levels(others)})" if others else ""


def _value_text(table: Table, value: Estimate) -> str:
    unit = table.view.response.unit
    scale = scale_for(unit, [value.value])
    shown = estimate(value, scale)
    return " ".join(text for text in (shown.value, "" if unit in SILENT else scale.unit, shown.interval) if text)


def _matrix(table: Table, samples: Sequence[Sample], pairs: Sequence[LevelDifference]) -> Matrix | None:
    if not pairs:
        return None
    name = pairs[0].factor
    levels = [level for level in table.study.factors[name].levels for s in samples if s.configuration[name] == level]
    chosen = choose_columns(levels, [s.configuration[name] for s in (pairs[0].less, pairs[0].more)])
    cells = [(s, MatrixCell(estimate=estimate_response(table, s))) for s in samples]
    heads = [table.view.short_levels({name: level}) for level in chosen]
    return matrix(table, rows(table, name, chosen, cells), heads, **table.view.matrix_texts)
