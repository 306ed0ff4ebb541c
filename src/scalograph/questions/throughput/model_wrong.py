"""Requests without a right answer, what became of most of them, and connections that were dropped."""

from collections import Counter
from collections.abc import Sequence

from scalograph.questions.throughput.model_driven import DrivenRun

# From this share on they end a load that nothing else ends.
WRONG = 0.01
# What became of them, by the driver's values `errors_KIND`; `waiting` is its own, which had no connection left.
KINDS = ("connect", "closed", "timeout", "malformed", "status", "content")
UNKNOWN = "answer"
# As many connections dropped for each request end a load that nothing else ends.
DROPPED = 0.01


def wrong_requests(runs: Sequence[DrivenRun]) -> tuple[str, float]:
    """Return what became of most requests without a right answer, and the share of all such requests.

    Args:
        runs: of one treatment.

    Returns:
        One of `KINDS`, or `UNKNOWN` where no driver tells; and the share of the requests of all runs.
    """
    kinds: Counter[str] = Counter()
    for run in runs:
        kinds.update({kind: run.wrong.get(kind, 0) for kind in KINDS} if run.wrong else {UNKNOWN: run.n_errors})
    n_requests = sum(run.n_requests for run in runs)
    kind, _ = max(kinds.items(), key=lambda one: one[1], default=(UNKNOWN, 0))
    return kind, kinds.total() / n_requests if n_requests else 0.0


def dropped_connections(runs: Sequence[DrivenRun]) -> float | None:
    """Return the connections that the kernel dropped over the requests of all runs; None where no driver tells."""
    counts = [run.dropped for run in runs if run.dropped is not None]
    n_requests = sum(run.n_requests for run in runs)
    return sum(counts) / n_requests if counts and len(counts) == len(runs) and n_requests else None
