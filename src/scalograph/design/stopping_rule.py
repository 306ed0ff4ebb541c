"""The stopping rule of a study, and the scores that a rule or a search uses."""

from collections.abc import Iterable, Mapping
from statistics import fmean, median

from scalograph.analysis.stopping import Stopping, level_of_look
from scalograph.protocol.plain import Level
from scalograph.protocol.record import Record
from scalograph.questions.registry import is_search
from scalograph.study.model import Study
from scalograph.study.responses import elapsed_source, limited_score, limits_of, observe, primary_response, windows
from scalograph.verdict.undisturbed import corrected_times


def stopping(study: Study) -> Stopping | None:
    """Return the rule of single configurations; None without one, as in searches and of versions (`pair_stopping`)."""
    return None if study.reference else _rule(study)


def pair_stopping(study: Study) -> Stopping | None:
    """Return the rule of the ratios over the reference; None without one."""
    return _rule(study) if study.reference else None


def _rule(study: Study) -> Stopping | None:
    protocol = study.protocol
    if protocol.precision is None or is_search(study.question):
        return None
    return Stopping(protocol.precision, protocol.runs, protocol.confidence)


def pair_confidence(study: Study, blocks: Iterable[int], confidence: float) -> float:
    """Return the confidence of a ratio over the reference from these blocks: higher after an extension."""
    rule = pair_stopping(study)
    return confidence if rule is None else level_of_look(confidence, blocks, rule.planned)


def reference_key(study: Study, configuration: Mapping[str, Level]) -> tuple[Level, ...]:
    return tuple({**configuration, **study.reference}.values())


def block_ratios(own: Iterable[tuple[int, float]], base: Iterable[tuple[int, float]]) -> list[float]:
    """Return the ratio of each block that holds both, in order, from blocks with scores.

    >>> block_ratios([(0, 2.0), (1, 3.0)], [(1, 1.5), (0, 1.0), (2, 1.0)])
    [2.0, 2.0]
    """
    ours, theirs = _block_means(own), _block_means(base)
    return [ours[block] / theirs[block] for block in sorted(ours.keys() & theirs.keys()) if theirs[block] > 0]


def _block_means(scores: Iterable[tuple[int, float]]) -> dict[int, float]:
    groups: dict[int, list[float]] = {}
    for block, score in scores:
        groups.setdefault(block, []).append(score)
    return {block: fmean(every) for block, every in groups.items()}


def score(study: Study, record: Record) -> float | None:
    """Return the score of the primary response of a run that succeeded; None without one.

    If others took 2% or more, their time is subtracted. Of several responses with limits the worst decides.
    """
    warmup, primary = study.protocol.warmup, primary_response(study)
    scores: dict[str, float | None] = {}
    for name in dict.fromkeys([primary, *limits_of(study)]):
        source = study.responses[name].source
        corrected = corrected_times(record, source, warmup) if name == primary and elapsed_source(study) else []
        seen = corrected or observe(source, record, windows(record), warmup)
        scores[name] = median(seen) if seen else None
    return limited_score(study, scores)


def work_time(study: Study, score: float | None) -> float | None:
    """Return a score as time for the same work, the inverse of a rate; None unless above 0."""
    if score is None or score <= 0:
        return None
    return 1 / score if study.responses[primary_response(study)].better == "higher" else score
