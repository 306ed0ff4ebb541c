"""A treatment, and a run under it: what a design plans, a host makes, a journal keeps and findings are made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scalograph.study.scalars import Level, refuse

Treatment = Mapping[str, Level]


@dataclass(frozen=True)
class Run:
    """One launch under one treatment: the experimental unit."""

    run: str
    block: int
    treatment: Treatment
    replicate: int
    warmup: bool = False


def as_run(event: Mapping[str, Any]) -> Run:
    """Return the run that an `ask` or `run` event is about.

    Raises:
        KeyError, TypeError, ValueError: the event does not follow protocol/journal.md.
    """
    run = Run(event["run"], event["block"], event["treatment"], event["replicate"], event["warmup"])
    types = (str, int, dict, int, bool)
    fields = (run.run, run.block, run.treatment, run.replicate, run.warmup)
    for value, wanted in zip(fields, types, strict=True):
        if not isinstance(value, wanted):
            raise TypeError(f"{value!r:.80}, expected {wanted.__name__}")
    if wrong := next(filter(None, map(refuse, (*run.treatment.values(), run.block, run.replicate))), None):
        raise ValueError(wrong)
    return run
