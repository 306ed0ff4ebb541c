"""Parse quantities with units ("10ms", "4min", "1%"), and format durations."""

import re
from typing import Literal

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}
_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zµ%]+)\s*", re.IGNORECASE)

# Multiples of one amount, such as MB/s and GB/s, compare.
_MULTIPLE = re.compile(r"([kmgtpe])(i?)(b|bytes?|bits?|flops?|ops|iops|req|requests)(/.*)?", re.IGNORECASE)

Kind = Literal["s", "1/s"]

# The notation of JMH and imported studies.
_BENCHMARK_SECONDS = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "hr": 3600.0, "h": 3600.0, "day": 86400.0,
}  # fmt: skip
_SPELLED = {"seconds": "s", "milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns"}
_COUNTED = ("ops", "op", "1", "")


def _quantity(text: str, units: dict[str, float], example: str) -> float:
    match = _QUANTITY.fullmatch(text)
    if match is None or match[2] not in units:
        allowed = ", ".join(units)
        raise ValueError(f'found "{text}", expected a number with a unit such as "{example}" (units: {allowed})')
    return float(match[1]) * units[match[2]]


def parse_duration(text: str) -> float:
    """Return the seconds of a duration.

    >>> parse_duration("10ms"), parse_duration("4min")
    (0.01, 240.0)
    """
    return _quantity(text, _SECONDS, "10ms")


_MIB = {"K": 1 / 1024, "KiB": 1 / 1024, "M": 1.0, "MiB": 1.0, "G": 1024.0, "GiB": 1024.0}


def parse_mib(text: str) -> float:
    """Return the MiB of a size.

    >>> parse_mib("256M"), parse_mib("1.5G"), parse_mib("512K")
    (256.0, 1536.0, 0.5)
    """
    return _quantity(text, _MIB, "256M")


def parse_percent(text: str) -> float:
    """Return the fraction that a percentage stands for.

    >>> parse_percent("95%")
    0.95
    """
    # Divided, not multiplied by 0.01: 95% is the float nearest to 0.95.
    return _quantity(text, {"%": 1.0}, "95%") / 100


def format_duration(seconds: float) -> str:
    """Format a duration for people, with two or three digits.

    >>> format_duration(0.0123), format_duration(75), format_duration(7322)
    ('12.3 ms', '1 min 15 s', '2 h 02 min')
    """
    if seconds < 60:
        for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
            if seconds >= size:
                return f"{seconds / size:.3g} {unit}"
        return f"{seconds / 1e-9:.3g} ns"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s" if rest else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def unit_of(text: str) -> tuple[Kind, float] | None:
    """Return the kind of a unit and its factor; None for what is neither a time nor a rate.

    >>> unit_of("ms/op"), unit_of("ops/us"), unit_of("ms"), unit_of("1/s"), unit_of("bytes")
    (('s', 0.001), ('1/s', 1000000.0), ('s', 0.001), ('1/s', 1.0), None)
    """
    above, stroke, below = text.strip().partition("/")
    if above in _BENCHMARK_SECONDS and below in ("op", ""):
        return "s", _BENCHMARK_SECONDS[above]
    if stroke and above in _COUNTED and below in _BENCHMARK_SECONDS:
        return "1/s", round(1 / _BENCHMARK_SECONDS[below], 12)
    return None


def rate_or_time(unit: str) -> tuple[Kind, float] | None:
    """Return kind and factor of a unit; any amount per second is a rate, of that amount; None for others.

    >>> rate_or_time("ms"), rate_or_time("GB/s"), rate_or_time("KiB/s"), rate_or_time("pages/s"), rate_or_time("KB")
    (('s', 0.001), ('1/s', 1000000000.0), ('1/s', 1024.0), ('1/s', 1.0), None)
    """
    prefix = _MULTIPLE.fullmatch(unit)
    factor = (1024.0 if prefix[2] else 1000.0) ** (1 + "kmgtpe".index(prefix[1].lower())) if prefix else 1.0
    return unit_of(unit) or (("1/s", factor) if unit.lower().endswith(("/s", "/sec", "flops")) else None)


def column_unit(name: str) -> str:
    """Return the unit of time that the name of a column ends with; empty without one, or for a rate.

    >>> column_unit("seconds"), column_unit("wall_ms"), column_unit("time (us)"), column_unit("cost")
    ('s', 'ms', 'us', '')
    >>> column_unit("requests_per_s"), column_unit("ops/s")
    ('', '')
    """
    *before, last = re.findall(r"[a-zµ]+|/", name.lower()) or [""]
    if before and before[-1] in ("per", "/"):
        return ""
    return _SPELLED.get(last, last if last in ("s", "ms", "us", "µs", "ns") else "")
