"""What levels do, first: the largest difference that the runs show, or how small a one they would have shown."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import expm1
from statistics import median

from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import Taken
from scalograph.findings.curves import estimated, two_modes
from scalograph.findings.names import short, title, varied, varying
from scalograph.findings.sample import Sample, is_functional
from scalograph.findings.speedup_rule import kind, primary
from scalograph.findings.table import Table
from scalograph.findings.visible_effect import noise
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import Level
from scalograph.questions.claims import fitting, unsaid, untold
from scalograph.questions.levels.model import MOST_PAIRS, LevelDifference, differences, farthest
from scalograph.questions.matrices import columns_of, matrix, rows
from scalograph.text.cell_numbers import is_resolved
from scalograph.text.format import estimate, significant
from scalograph.text.quantities import change, counted, percent_at_most, two_digits
from scalograph.text.scale import SILENT, Scale, scale_for
from scalograph.text.short_names import listed

_FIGURES: Mapping[str, Callable[[Sequence[float]], float]] = {"median": median, "least": min, "most": max}


def single_claim(table: Table, sample: Sample) -> Claim:
    """Tell the primary response of all its runs, one or more."""
    name, scores = primary(table), sample.scores(primary(table))
    response, found = table.study.responses[name], estimated(table, sample, name)
    scale, modes = scale_for(response.unit, scores), two_modes(table, sample, name)
    is_time, called = kind(response) == "time", title(table, name).capitalize()
    if found.low is None or is_resolved(found):
        shown = f"{estimate(found, scale)} {scale.unit}".rstrip()
        text = f"A run takes {shown}." if is_time else f"{called}: {shown}."
    else:
        text = f"{_all(scores, scale, 'took' if is_time else 'had')}: what is typical is not resolved."
        text = text if is_time else f"{called}: {text}"
    figures = [found, *(Estimate(float(figure(scores))) for figure in _FIGURES.values())]
    matrix = Matrix(
        title=f"{title(table, name)} of {len(scores)} run{'s' * (len(scores) != 1)}",
        unit=response.unit, better=response.better, columns=["typical", *_FIGURES],
        rows=[MatrixRow(label="", cells=[MatrixCell(estimate=x) for x in figures])],
    )  # fmt: skip
    sentences = [f"Runs have {modes}: none takes what is typical of all."] if modes else [text]
    return Claim(sentences=sentences, matrix=matrix)


def _all(scores: Sequence[float], scale: Scale, verb: str) -> str:
    """The range of all runs: "2 runs took 761 to 863 µs"."""
    least, most = (significant(x * scale.factor) for x in (min(scores), max(scores)))
    return f"{counted(len(scores), 'run')} {verb} {least} to {most} {scale.unit}".rstrip()


# All levels are told to be alike where no two may differ by more.
ALIKE = 0.05
# A larger share is no percentage to read.
MOST_SHARE = 9.0
# Percent: figures that differ by less differ by how they were rounded.
ROUNDING = 1e-4


def claim(table: Table, taken: Taken) -> Claim:
    """Say what the levels of each factor do.

    Args:
        table: the study.
        taken: the runs of each configuration.
    """
    name = primary(table)
    known = [sample for sample in taken.values() if sample.scores(name)]
    found = differences(table, taken, name)
    alone = single_claim(table, known[0]) if known and len(table.treatments) == 1 else None
    if why := unsaid(table, taken):
        sentences = [f"Cannot be said: {why}."]
    elif not known:
        sentences = [f"Cannot be said: {untold(table, taken, name)}."]
    elif alone:
        return alone
    elif len(known) == 1:
        sentences = [f"Cannot be said: of {len(table.treatments):,} configurations one has runs."]
    else:
        sentences = fitting(_ordered(table, taken, known, found))
    shown = _matrix(table, known, found) if len(known) > 1 else alone and alone.matrix
    return Claim(sentences=sentences, answered=not sentences[0].startswith("Cannot be said"), matrix=shown)


def _ordered(table: Table, taken: Taken, known: Sequence[Sample], found: Sequence[LevelDifference]) -> Iterator[str]:
    if ended := _ended_well(taken.values()):
        yield ended
        return
    found_noise = noise(taken.values(), primary(table))
    percent = found_noise.sd_log_percent if found_noise else 0.0
    by = "more than 10-fold" if expm1(percent / 100) > MOST_SHARE else f"by {two_digits(percent)} %"
    differ = f"Runs of a typical configuration differ {by}." if percent > ROUNDING else ""
    # Of work that is the same under all names, how much its runs differ is the question.
    is_noise = any(table.study.factors[name].kind == "nuisance" for name in varied(table))
    if is_noise and differ:
        yield differ
    yield from _differences(table, known, found)
    if not is_noise and differ:
        yield differ


def _ended_well(samples: Iterable[Sample]) -> str:
    """What one run each without times is for: whether it ends well; empty of other runs."""
    samples = list(samples)
    runs = [row for sample in samples for row in sample.every]
    if max(len(sample.every) for sample in samples) > 1 or not all(map(is_functional, runs)):
        return ""
    n = len(runs) + sum(sample.n_failed for sample in samples)
    said = f"All {n} runs" if n == len(runs) else f"{len(runs)} of {n} runs"
    return f"{said} ended well: one of each configuration, so their figures are not compared."


def _differences(table: Table, known: Sequence[Sample], found: Sequence[LevelDifference]) -> Iterator[str]:
    left = sum(min(sample.scores(primary(table))) <= 0 for sample in known)
    sure, confidence = [one for one in found if one.is_sure], table.study.protocol.confidence
    if not sure:
        most = farthest(found, confidence) if len(found) < MOST_PAIRS else None
        if most is None:
            why = f"too {'few runs' if len(found) < MOST_PAIRS else 'many configurations'} to compare"
            yield f"Cannot be said: {'figures of 0 or less have no ratio' if left and not found else why}."
        elif most == 0:
            yield "Cannot be told apart: all runs are alike to the last digit."
        elif most <= ALIKE:
            yield f"Cannot be told apart: every level lies within {percent_at_most(most)} of the others."
        elif most > MOST_SHARE:
            yield "Cannot be said: runs differ too much to compare."
        else:
            yield f"Cannot be said: effects below {percent_at_most(most)} are not visible."
        return
    yield _largest(table, sure[0])
    yield from _alike(table, found, sure[0], confidence)
    if left:
        yield f"{counted(left, 'configuration')} with figures of 0 or less {'is' if left == 1 else 'are'} not compared."
    tried = list(dict.fromkeys(one.factor for one in found if one.factor != sure[0].factor))
    for name in tried:
        if next_one := next((one for one in sure if one.factor == name), None):
            where = _rest(table, next_one)
            yield f"{_capital(title(table, name))}: {_more(table, next_one, confidence)}{where}."
            return
    if tried and len(found) < MOST_PAIRS:
        yield f"No difference by {listed([title(table, name) for name in tried], 'or')} is resolved."


def _alike(table: Table, found: Sequence[LevelDifference], lead: LevelDifference, confidence: float) -> Iterator[str]:
    """Where the same factor changes nothing, nearest to the setting of the largest difference."""
    pairs: dict[tuple[tuple[str, Level], ...], list[LevelDifference]] = {}
    for one in found if len(found) < MOST_PAIRS else ():
        if one.factor == lead.factor:
            pairs.setdefault(_others(one), []).append(one)
    far = {others: farthest(each, confidence) for others, each in pairs.items() if not any(p.is_sure for p in each)}
    alike = {others: most for others, most in far.items() if most is not None and most <= ALIKE}
    if not alike:
        return
    here = {*_others(lead)}
    others = min(alike, key=lambda one: len({*one} - here))
    within = f"every level lies within {percent_at_most(alike[others])} of the others"
    apart = dict(level for level in others if level not in here)
    yield f"Not with {short(table, apart)}: there {within if alike[others] else 'all levels are alike'}."


def _others(one: LevelDifference) -> tuple[tuple[str, Level], ...]:
    return tuple((name, level) for name, level in one.less.treatment.items() if name != one.factor)


def _largest(table: Table, one: LevelDifference) -> str:
    """The two figures; only their ratio where one of them has too wide an interval."""
    less, more = (estimated(table, sample, primary(table)) for sample in (one.less, one.more))
    where, name = _rest(table, one), _capital(title(table, primary(table)))
    low, high = (short(table, {one.factor: s.treatment[one.factor]}) for s in (one.less, one.more))
    if _is_wide(less) or _is_wide(more):
        return f"{name} is more with {high} than with {low}{where}: by how much is not resolved."
    return f"{name} goes from {_figure(table, less)} with {low} to {_figure(table, more)} with {high}{where}."


def _more(table: Table, one: LevelDifference, confidence: float) -> str:
    """Which level has more, and by how much: a run with "cas" takes so much more than one with "none"."""
    name, ratio = primary(table), one.ratio(confidence)
    less, more = (short(table, {one.factor: sample.treatment[one.factor]}) for sample in (one.less, one.more))
    verb, noun = "takes" if kind(table.study.responses[name]) == "time" else "has", title(table, name)
    if _is_wide(ratio):
        return f"a run with {more} {verb} more {noun} than one with {less}, by how much is not resolved"
    return f"a run with {more} {verb} {change(ratio, noun, f'one with {less}')}"


def _is_wide(one: Estimate) -> bool:
    return one.low is None or one.high is None or one.low <= 0 or one.high > 2 * one.low


def _rest(table: Table, one: LevelDifference) -> str:
    """The other settings, which are the same for both."""
    others = {n: level for n, level in varying(table, one.less.treatment).items() if n != one.factor}
    return f" ({short(table, others)})" if others else ""


def _figure(table: Table, one: Estimate) -> str:
    unit = table.study.responses[primary(table)].unit
    scale = scale_for(unit, [one.value])
    shown = estimate(one, scale)
    return " ".join(text for text in (shown.value, "" if unit in SILENT else scale.unit, shown.interval) if text)


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _matrix(table: Table, known: Sequence[Sample], found: Sequence[LevelDifference]) -> Matrix | None:
    """Levels of the factor that does the most in columns."""
    if not found:
        return None
    name, response = found[0].factor, table.study.responses[primary(table)]
    levels = [level for level in table.study.factors[name].levels for s in known if s.treatment[name] == level]
    chosen = columns_of(levels, [s.treatment[name] for s in (found[0].less, found[0].more)])
    lines = rows(table, name, chosen, [(s, MatrixCell(estimate=estimated(table, s, primary(table)))) for s in known])
    texts = {"title": title(table, primary(table)), "unit": response.unit, "better": response.better}
    return matrix(table, lines, [short(table, {name: level}) for level in chosen], **texts)
