"""The seconds of runs by part, in a table: what a run costs beside its steady window."""

from collections.abc import Sequence
from statistics import fmean

from scalograph.protocol.findings import Column, TableDoc
from scalograph.questions.throughput.model_parts import WHOLE, RunPart

ID = "seconds-by-part"
_NOTE = (
    "over all runs that succeeded: mean, shortest and longest; copies of a process come up and are ended one after the "
    "other, and count together; what a service restores before it is ready is part of its start"
)


def parts_table(runs: Sequence[Sequence[RunPart]]) -> list[TableDoc]:
    """Return the table of these runs, each with its parts in order; none where no run has any."""
    longest = max(runs, key=len, default=[])
    order = dict.fromkeys((part.process, part.what) for run in (longest, *runs) for part in run)
    keys = sorted(order, key=lambda key: key[1] == WHOLE)  # their sum is the last
    seconds = {key: [part.seconds for run in runs for part in run if (part.process, part.what) == key] for key in keys}
    if not seconds:
        return []
    columns = [
        Column(name="process", kind="text"), Column(name="part", kind="text"), Column(name="mean", unit="s"),
        Column(name="shortest", unit="s"), Column(name="longest", unit="s"), Column(name="runs"),
    ]  # fmt: skip
    rows = [
        [process or "all", what, round(fmean(found), 3), round(min(found), 3), round(max(found), 3), len(found)]
        for (process, what), found in seconds.items()
    ]
    return [TableDoc(id=ID, title="Seconds of a run, by part", note=_NOTE, columns=columns, rows=[*rows])]
