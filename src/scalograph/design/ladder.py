"""Divide the sizes of a block among jobs of a cluster; neighboring jobs share an anchor, by which they are compared.

Jobs of a block may run on different nodes and at different times. The anchor is a configuration of the largest size of
one job that the next larger job makes once more.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from scalograph.study.levels import Configuration, Run
from scalograph.study.model import Study

# Idle node-hours above which the runs of a block are divided among several jobs.
MAX_IDLE = 0.3
# How long each node is timed alone at the start of a job, unless the study says.
REFERENCE_S = 5
_PREFIX = "cluster:"


def cluster_factors(study: Study) -> dict[str, str]:
    """Return the factors that ask something of a cluster, by the names of `cluster:NAME`."""
    controls = {factor: declared.control or "" for factor, declared in study.factors.items()}
    return {name.removeprefix(_PREFIX): factor for factor, name in controls.items() if name.startswith(_PREFIX)}


def max_idle(study: Study) -> float:
    """Return the share of the node-hours of a job that may be idle."""
    return MAX_IDLE if study.protocol.max_idle is None else study.protocol.max_idle


def reference_s(study: Study) -> int:
    """Return how long each node is timed alone at the start of a job, seconds."""
    asked = study.protocol.node_reference_s
    return REFERENCE_S if asked is None else math.ceil(asked)


def split_sizes(seconds: Mapping[int, float], most: float) -> list[set[int]]:
    """Divide sizes, from the smallest on, into ranges whose idle share stays below the limit.

    >>> split_sizes({1: 1.0, 2: 1.0, 4: 1.0, 8: 1.0}, 0.3)
    [{1, 2}, {8, 4}]
    """
    ranges, node_seconds, spent = list[set[int]](), 0.0, 0.0
    for size, own in sorted(seconds.items()):
        used, all_s = node_seconds + size * own, spent + own
        if ranges and (size * all_s - used) / (size * all_s) < most:
            ranges[-1].add(size)
            node_seconds, spent = used, all_s
        else:
            ranges.append({size})
            node_seconds, spent = size * own, own
    return ranges


def anchors(study: Study, configurations: Iterable[Configuration]) -> Iterator[Configuration]:
    """Yield the configurations that two jobs of each block make, one for each pair of neighboring jobs."""
    names = cluster_factors(study)
    if "nodes" not in names:
        return
    kinds: dict[tuple[object, ...], dict[int, list[Configuration]]] = {}
    for levels in configurations:
        kind = tuple(levels[names[name]] for name in ("partition", "constraint") if name in names)
        kinds.setdefault(kind, {}).setdefault(int(levels[names["nodes"]]), []).append(levels)
    for sizes in kinds.values():
        ranges = split_sizes({size: float(len(own)) for size, own in sizes.items()}, max_idle(study))
        yield from (sizes[max(lower)][0] for lower in ranges[:-1])


def anchor_runs(study: Study, block: Sequence[Run]) -> set[str]:
    """Return the runs of a block that belong to the next larger job: the last one of each anchor."""
    distinct = {tuple(run.configuration.items()): run.configuration for run in block}
    last = {tuple(run.configuration.items()): run.run for run in block}
    return {last[tuple(levels.items())] for levels in anchors(study, distinct.values())}
