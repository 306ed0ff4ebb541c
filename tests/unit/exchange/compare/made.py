"""Sources of a comparison, made of scores."""

from collections.abc import Mapping, Sequence
from typing import Any

from scalograph.exchange.compare.measured_source import MeasuredSource, SourceConfiguration
from scalograph.protocol.findings import FactorDoc, ResponseDoc, Trust

SCORES = (1.0, 1.01, 0.99, 1.005, 0.995, 1.0)


def source(label: str, times: Mapping[int, float], scores: Sequence[float] = SCORES, **more: Any) -> MeasuredSource:
    """A sweep over threads: what the typical run takes, times the scores."""
    given = {"better": "lower", "unit": "s", "title": "wall time", **more.pop("response", {})}
    doubt, levels = more.pop("doubt", ""), more.pop("levels", {})
    every = {"threads": FactorDoc(name="threads", title="threads", levels=[])}
    every |= {name: FactorDoc(name=name, title=name, levels=[]) for name in levels}
    made = []
    for i, (n, typical) in enumerate(times.items()):
        own = [typical * score for score in (*scores[i % len(scores) :], *scores[: i % len(scores)])]
        blocks = tuple(range(len(own)))
        made.append(SourceConfiguration({"threads": n, **levels}, tuple(own), blocks, None, n, doubt if n == 1 else ""))
    return MeasuredSource(
        label=label, name="made", factors=every, along="threads", response=ResponseDoc(name="wall", **given),
        configurations=tuple(made), **{"trust": Trust(level="reliable", sentence="Made."), **more},
    )  # fmt: skip
