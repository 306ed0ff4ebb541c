"""A study that asks for precision rather than for a number of runs: its rule, and the score that the rule looks at."""

from collections.abc import Mapping
from statistics import median
from typing import Any

from scalograph.analysis.stopping import Stopping
from scalograph.hosts.records import Record
from scalograph.responses import observe, primary, windows
from scalograph.study import Study


def stopping(study: Study) -> Stopping | None:
    """The rule of a study; None where it asks for a number of runs."""
    protocol = study.protocol
    if protocol.precision is None:
        return None
    return Stopping(protocol.precision, protocol.runs, protocol.confidence)


def score(study: Study, record: Mapping[str, Any]) -> float | None:
    """The primary response's score of a run that succeeded; None where the run did not yield it."""
    read = Record.model_validate(record)
    seen = observe(study.responses[primary(study)].source, read, windows(read), study.protocol.warmup)
    return median(seen) if seen else None
