"""A study that ends by what it has learned: its rule, and the scores that the rule, or a search, looks at."""

from statistics import median

from scalograph.analysis.stopping import Stopping
from scalograph.protocol.record import Record
from scalograph.questions.registry import is_search
from scalograph.study.model import Study
from scalograph.study.responses import observe, primary, windows


def stopping(study: Study) -> Stopping | None:
    """The rule of a study; None where it asks for a number of runs, or is a search, which has a rule of its own."""
    protocol = study.protocol
    if protocol.precision is None or is_search(study.question):
        return None
    return Stopping(protocol.precision, protocol.runs, protocol.confidence)


def score(study: Study, record: Record) -> float | None:
    """The primary response's score of a run that succeeded; None where the run did not yield it."""
    seen = observe(study.responses[primary(study)].source, record, windows(record), study.protocol.warmup)
    return median(seen) if seen else None


def work_time(study: Study, score: float | None) -> float | None:
    """A score as time for the same work, in any unit: of a rate its inverse; None for what is not above 0."""
    if score is None or score <= 0:
        return None
    return 1 / score if study.responses[primary(study)].better == "higher" else score
