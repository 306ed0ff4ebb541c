"""Units of time and of rates as JMH and studies write them, to seconds and per second."""

from typing import Literal

Kind = Literal["s", "1/s"]

_SECONDS = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "hr": 3600.0, "h": 3600.0, "day": 86400.0,
}  # fmt: skip
_COUNTED = ("ops", "op", "1", "")


def unit_of(text: str) -> tuple[Kind, float] | None:
    """The kind of a unit and what its figures are multiplied by; None for what is neither a time nor a rate.

    >>> unit_of("ms/op"), unit_of("ops/us"), unit_of("ms"), unit_of("1/s"), unit_of("bytes")
    (('s', 0.001), ('1/s', 1000000.0), ('s', 0.001), ('1/s', 1.0), None)
    """
    above, stroke, below = text.strip().partition("/")
    if above in _SECONDS and below in ("op", ""):
        return "s", _SECONDS[above]
    if stroke and above in _COUNTED and below in _SECONDS:
        return "1/s", round(1 / _SECONDS[below], 12)
    return None
