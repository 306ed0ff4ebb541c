"""The figures that decide a claim of a paper, as estimates from the runs of this study.

Two configurations are compared within blocks where they share some; figures of one response lend each other what they
know of their spread, whichever claim they are of.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

import numpy as np

from scalograph.analysis.baseline import NEEDED_PAIRS, block_logs
from scalograph.analysis.contrast import Contrast, paired, welch
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.analysis.modes import widened
from scalograph.analysis.ratios import ratio
from scalograph.analysis.variance_moderation import borrowed
from scalograph.findings.answer import Taken
from scalograph.findings.curves import is_count, known_count
from scalograph.findings.doubts import n_disturbed
from scalograph.findings.names import short
from scalograph.findings.row import Row
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.plain import Level
from scalograph.study.published_claim import PublishedClaim

WantedLevels = Mapping[str, Level]


@dataclass(frozen=True)
class FigureHere:
    """One figure of a claim.

    Attributes:
        label: what it is of, among the figures of its claim.
        estimate: from a confidence to the estimate; None where a part of it was not measured.
        missing: why it was not measured.
        lacks: whether it was not measured because this machine cannot.
        doubt: why its estimate is to be read with care.
        none: what is here instead of a number, where the question has decided that there is none.
        group: levels of the configurations that it is of.
        unseen: whether these runs could not show it, whatever it is: `missing` says why.
        disturbed: the runs of configurations more than half of whose runs were disturbed: they decide nothing.
    """

    label: str
    estimate: Callable[[float], Estimate] | None = None
    missing: str = ""
    lacks: bool = False
    doubt: str = ""
    none: str = ""
    group: WantedLevels = field(default_factory=dict)
    unseen: bool = False
    disturbed: tuple[Row, ...] = ()


@dataclass(frozen=True)
class _Pair:
    """Numerator and denominator of one figure."""

    label: str
    top: WantedLevels
    bottom: WantedLevels


Lenders = Mapping[str, Sequence[Contrast]]


def lenders(table: Table, taken: Taken, claims: Iterable[PublishedClaim]) -> Lenders:
    """Return, by response, what claims compare, each two configurations once.

    Args:
        table: the runs.
        taken: the sample of each treatment.
        claims: all of the study.
    """
    found: dict[str, dict[object, Contrast]] = {}
    for claim in claims:
        if claim.quantity or claim.stack or claim.kind == "value":
            continue
        response = claim.response or primary(table)
        for pair in pairs_of(table, claim, claim_levels(table, claim)):
            one = _compared(table, taken, response, pair)
            if isinstance(one, _Known) and one.contrast:
                found.setdefault(response, {}).setdefault(one.configurations, one.contrast)
    return {response: [*contrasts.values()] for response, contrasts in found.items()}


def measured_figures(table: Table, taken: Taken, claim: PublishedClaim, lending: Lenders) -> list[FigureHere]:
    """Estimate the figures of a claim that is about responses.

    Args:
        table: the runs.
        taken: the sample of each treatment.
        claim: of kind value, ratio, flat or order.
        lending: what the claims of the study compare, by response.
    """
    levels = claim_levels(table, claim)
    if claim.kind == "value":
        return [_value(table, taken, claim, level) for level in levels]
    return _ratios(table, taken, claim, [*pairs_of(table, claim, levels)], lending)


def claim_levels(table: Table, claim: PublishedClaim) -> list[Level | None]:
    """Levels along which there is one figure each; a single None where there is one figure in all."""
    if claim.along is None:
        return [None]
    planned = dict.fromkeys(treatment[claim.along] for treatment in table.treatments if claim.along in treatment)
    return list(claim.levels) or list(planned) or [None]


def pairs_of(table: Table, claim: PublishedClaim, levels: Sequence[Level | None]) -> list[_Pair]:
    """What is compared with what, in the order of the levels."""
    if claim.kind == "ratio":
        return [_Pair(_label(table, claim, level), *_sides(claim, level)) for level in levels]
    steps = pairwise(levels) if claim.kind == "order" else [(levels[0], level) for level in levels[1:]]
    return [_Pair(_label(table, claim, now), _sides(claim, now)[0], _sides(claim, before)[1]) for before, now in steps]


def _sides(claim: PublishedClaim, level: Level | None) -> tuple[WantedLevels, WantedLevels]:
    """Selections of numerator and denominator; the level is of the side, or both, that does not name its factor."""
    along = {} if claim.along is None or level is None else {claim.along: level}
    return {**along, **claim.where, **claim.of}, {**along, **claim.where, **claim.over}


def _label(table: Table, claim: PublishedClaim, level: Level | None) -> str:
    return short(table, {claim.along: level}) if claim.along and level is not None else ""


def _value(table: Table, taken: Taken, claim: PublishedClaim, level: Level | None) -> FigureHere:
    response, wanted = claim.response or primary(table), _sides(claim, level)[0]
    sample, label = find_sample(table, taken, wanted), _label(table, claim, level)
    if sample is None or not sample.scores(response):
        return replace(why_missing(table, wanted, sample), label=label)
    scores = sample.scores(response)
    return FigureHere(
        label,
        partial(_center, scores, is_count=not table.study.responses[response].unit),
        doubt=_doubt(response, sample),
        group=sample.treatment,
        disturbed=mostly_disturbed(table, response, [sample]),
    )


def _center(scores: Sequence[float], confidence: float, is_count: bool) -> Estimate:
    """The typical score; a count that is the same in every run is known exactly, a time on a coarse clock is not."""
    known = known_count(scores, confidence) if is_count else None
    return known or widened(summarize(scores, confidence), scores)


def _ratios(
    table: Table, taken: Taken, claim: PublishedClaim, pairs: Sequence[_Pair], lending: Lenders
) -> list[FigureHere]:
    response = claim.response or primary(table)
    found = [_compared(table, taken, response, pair) for pair in pairs]
    contrasts = [one for one in found if isinstance(one, _Known) and one.contrast]
    lent = borrowed([one.contrast for one in contrasts if one.contrast], lending.get(response, ()))
    known = {id(one): replace(one, contrast=contrast) for one, contrast in zip(contrasts, lent, strict=True)}
    return [one if isinstance(one, FigureHere) else known.get(id(one), one).figure() for one in found]


@dataclass(frozen=True)
class _Known:
    """Two samples that have scores; `contrast` is None where a score has no log."""

    label: str
    response: str
    top: Sample
    bottom: Sample
    contrast: Contrast | None
    disturbed: tuple[Row, ...]

    @property
    def configurations(self) -> frozenset[tuple[Level, ...]]:
        """Which two are compared: one over the other is as spread as the other over the one."""
        return frozenset(tuple(side.treatment.values()) for side in (self.top, self.bottom))

    def figure(self) -> FigureHere:
        common = dict(self.top.treatment.items() & self.bottom.treatment.items())
        doubt = _doubt(self.response, self.top, self.bottom)
        return FigureHere(self.label, self._estimate, doubt=doubt, group=common, disturbed=self.disturbed)

    def _estimate(self, confidence: float) -> Estimate:
        scores = self.top.scores(self.response), self.bottom.scores(self.response)
        found = self.contrast.estimate(confidence) if self.contrast else ratio(*scores, confidence)
        return widened(found, *scores)


def _compared(table: Table, taken: Taken, response: str, pair: _Pair) -> "_Known | FigureHere":
    top, bottom = (find_sample(table, taken, side) for side in (pair.top, pair.bottom))
    for wanted, sample in ((pair.top, top), (pair.bottom, bottom)):
        if sample is None or not sample.scores(response):
            return replace(why_missing(table, wanted, sample), label=pair.label)
    assert top and bottom
    disturbed = [row for side in (top, bottom) for row in mostly_disturbed(table, response, [side])]
    return _Known(pair.label, response, top, bottom, _contrast(table, response, top, bottom), tuple(disturbed))


def _contrast(table: Table, response: str, top: Sample, bottom: Sample) -> Contrast | None:
    """Within blocks where the two share some; as independent runs else."""
    scores = [sample.scores(response) for sample in (top, bottom)]
    if min(map(min, scores)) <= 0:
        return None
    if table.study.protocol.order == "blocks":
        blocks = [sample.blocks(response) for sample in (top, bottom)]
        one, two = (block_logs(0, s, {0: b}) for s, b in zip(scores, blocks, strict=True))
        shared = [block for block in one if block in two]
        if len(shared) >= NEEDED_PAIRS:
            return paired(np.array([one[block] for block in shared]), np.array([two[block] for block in shared]))
    return welch(np.log(scores[0]), np.log(scores[1]))


def mostly_disturbed(table: Table, response: str, samples: Iterable[Sample]) -> tuple[Row, ...]:
    """Return the runs that figures of some samples rest on, where more than half of them were disturbed.

    None of a CPU time that the study goes by, nor of a count: disturbance leaves both as they are.
    """
    if is_count(table.study.responses[response]):
        return ()
    rows = [row for sample in samples if response not in sample.by_cpu for row in sample.rows(response)]
    return tuple(rows) if 2 * n_disturbed(rows) > len(rows) else ()


def _doubt(response: str, *samples: Sample) -> str:
    rests = any(sample.falls_back and response not in sample.by_cpu for sample in samples)
    return "rests on disturbed runs" if rests else ""


def find_sample(table: Table, taken: Taken, wanted: WantedLevels) -> Sample | None:
    """Find the first treatment, in declared order, that has the levels; `all` CPUs are as many as were planned."""
    spelled = {name: spell(table, name, level) for name, level in wanted.items()}
    fitting = partial(_has, spelled)
    return next(filter(fitting, taken.values()), None)


def _has(wanted: WantedLevels, sample: Sample) -> bool:
    return all(name in sample.treatment and sample.treatment[name] == level for name, level in wanted.items())


def spell(table: Table, name: str, level: Level) -> Level:
    """Spell a level out: `all` CPUs are as many as were planned."""
    planned = [treatment[name] for treatment in table.treatments if name in treatment]
    return max((n for n in planned if type(n) is int), default=level) if level == "all" not in planned else level


def why_missing(table: Table, wanted: WantedLevels, sample: Sample | None) -> FigureHere:
    """Say why there is no figure of these levels."""
    wanted = {name: spell(table, name, level) for name, level in wanted.items()}
    if sample is not None:
        named = short(table, wanted)
        return FigureHere(
            "", missing=f"no run of {named} succeeded" if sample.n_failed else f"no run of {named} counts"
        )
    for name, level in wanted.items():
        if any(treatment.get(name) == level for treatment in table.treatments):
            continue
        n_cpus = table.machine.get("n_cpus")
        counts = table.study.factors[name].control == "cpus" and type(level) is int and isinstance(n_cpus, int)
        if counts and isinstance(level, int) and isinstance(n_cpus, int) and level > n_cpus:
            return FigureHere("", missing=f"it needs {level} CPUs, this machine has {n_cpus}", lacks=True)
        by_quick = name in table.study.quick.factors and level not in table.study.factors[name].levels
        if level in table.study.factors[name].if_granted and not by_quick:
            return FigureHere("", missing=f"this machine does not grant {short(table, {name: level})}", lacks=True)
        return FigureHere("", missing=_left_out(table, by_quick, {name: level}))
    return FigureHere("", missing=_left_out(table, _is_quick(table), wanted))


def _is_quick(table: Table) -> bool:
    """Whether the exclusions of the quick form are in force."""
    return any(entry in table.study.exclude for entry in table.study.quick.exclude)


def _left_out(table: Table, by_quick: bool, levels: WantedLevels) -> str:
    """The levels that were not planned; those of the quick form are checked against the study in full."""
    if by_quick:
        return f"the quick form leaves out {short(table, levels)}: run the full form"
    return f"{short(table, levels)} was not planned"
