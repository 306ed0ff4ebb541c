"""A study that ends by what it has learned: its rule, and the scores that the rule, or a search, looks at."""

from collections.abc import Iterable, Mapping
from statistics import fmean, median

from scalograph.analysis.stopping import Stopping
from scalograph.protocol.plain import Level
from scalograph.protocol.record import Record
from scalograph.questions.registry import is_search
from scalograph.study.model import Study
from scalograph.study.responses import observe, primary_response, windows


def stopping(study: Study) -> Stopping | None:
    """The rule of single configurations; None where a study asks for a number of runs, or has a rule of another kind.

    A search has one of its own, and versions end by their ratios (`pair_stopping`).
    """
    return None if study.reference else _rule(study)


def pair_stopping(study: Study) -> Stopping | None:
    """The rule of the ratios over the reference; None where a study has none, or asks for a number of runs."""
    return _rule(study) if study.reference else None


def _rule(study: Study) -> Stopping | None:
    protocol = study.protocol
    if protocol.precision is None or is_search(study.question):
        return None
    return Stopping(protocol.precision, protocol.runs, protocol.confidence)


def reference_key(study: Study, configuration: Mapping[str, Level]) -> tuple[Level, ...]:
    """The levels of what a configuration is compared with: its own, but those of the reference."""
    return tuple({**configuration, **study.reference}.values())


def block_ratios(own: Iterable[tuple[int, float]], base: Iterable[tuple[int, float]]) -> list[float]:
    """The ratio of each block that holds both, in order, from scores with their blocks.

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
    """The primary response's score of a run that succeeded; None where the run did not yield it."""
    seen = observe(study.responses[primary_response(study)].source, record, windows(record), study.protocol.warmup)
    return median(seen) if seen else None


def work_time(study: Study, score: float | None) -> float | None:
    """A score as time for the same work, in any unit: of a rate its inverse; None for what is not above 0."""
    if score is None or score <= 0:
        return None
    return 1 / score if study.responses[primary_response(study)].better == "higher" else score
