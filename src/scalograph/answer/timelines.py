"""One run that stands for its treatment: the timeline of the run nearest the median."""

from collections.abc import Sequence
from statistics import median

from scalograph.answer.curves import Sample
from scalograph.findings import TimelineDoc
from scalograph.table import Row

MAX_TIMELINES = 64


def timelines(samples: Sequence[Sample], response: str) -> list[TimelineDoc]:
    """Timelines for at most 64 treatments, spread evenly over the design."""
    chosen = [row for row in (_typical(sample, response) for sample in samples) if row is not None]
    step = max(1, -(-len(chosen) // MAX_TIMELINES))
    return [_doc(row) for row in chosen[::step]]


def _typical(sample: Sample, response: str) -> Row | None:
    rows = [row for row in sample.counted if response in row.scores and row.record and row.record.timeline]
    if not rows:
        return None
    middle = median(row.scores[response] for row in rows)
    return min(rows, key=lambda row: (abs(row.scores[response] - middle), row.run))


def _doc(row: Row) -> TimelineDoc:
    assert row.record is not None and row.record.timeline is not None
    return TimelineDoc(run=row.run, treatment=dict(row.treatment), timeline=row.record.timeline.model_dump(mode="json"))
