"""Bring the runs of a block that several jobs of a cluster made to the speed of one of them.

Jobs may run on other nodes. Two that share a configuration, the anchor, are joined by the ratio of its values; so the
error of the anchor is part of each ratio between them. Jobs that share none are left as they are.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import exp, log
from statistics import fmean

from msgspec import structs

from scalograph.findings.row import Key, Row
from scalograph.study.model import Study
from scalograph.verdict.cause import COUNTED

# Logs of the values of a response, by configuration.
Values = Mapping[Key, list[float]]


def join_jobs(study: Study, rows: list[Row]) -> list[Row]:
    """Return the rows with values as if one job had made each block; `better = "none"` stays as it is.

    Source: bridging of unconnected designs by common treatments, as in incomplete blocks.
    """
    blocks: dict[int, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        if row.job and row.status == "ok" and not row.warmup:
            blocks[row.block].append(i)
    names = [name for name, response in study.responses.items() if response.better != "none"]
    joined = [*rows]
    for members in blocks.values():
        if len({rows[i].job for i in members}) > 1:
            for name in names:
                for i, factor in _factors([rows[i] for i in members], name):
                    joined[members[i]] = _scale(joined[members[i]], name, factor)
    return joined


def _factors(rows: Sequence[Row], name: str) -> Iterator[tuple[int, float]]:
    """Yield the places of rows whose values of a response change, and their factors: first comes the largest job."""
    jobs: dict[str, dict[Key, list[float]]] = {}
    for row in rows:
        if row.verdict in COUNTED and row.scores.get(name, 0) > 0:
            jobs.setdefault(row.job, {}).setdefault(row.key, []).append(log(row.scores[name]))
    if len(jobs) < 2:
        return
    first = max(jobs, key=lambda job: sum(map(len, jobs[job].values())))
    offsets, waiting = {first: 0.0}, [first]
    while waiting:
        here = waiting.pop()
        for job in jobs.keys() - offsets.keys():
            if (offset := _offset(jobs[here], jobs[job])) is not None:
                offsets[job] = offsets[here] + offset
                waiting.append(job)
    for i, row in enumerate(rows):
        if offset := offsets.get(row.job):
            yield i, exp(offset)


def _offset(here: Values, other: Values) -> float | None:
    """Return the log of what brings values of the other job to those here; None if they share no configuration."""
    shared = here.keys() & other.keys()
    return fmean(fmean(here[key]) - fmean(other[key]) for key in shared) if shared else None


def _scale(row: Row, name: str, factor: float) -> Row:
    scores, observations = dict(row.scores), dict(row.observations)
    scores[name] *= factor
    if name in observations:
        observations[name] = tuple(factor * value for value in observations[name])
    return structs.replace(row, scores=scores, observations=observations)
