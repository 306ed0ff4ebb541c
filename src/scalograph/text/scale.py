"""Scales: the unit in which the numbers of a column read best."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MICRO = "\N{MICRO SIGN}s"
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, MICRO: 1e-6, "ns": 1e-9}
TIME_STEPS = ((1.0, "s"), (1e-3, "ms"), (1e-6, MICRO), (1e-9, "ns"))
BYTE_STEPS = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))
BYTES = {"bytes", "byte", "B"}
NEAR = 30.0  # times further apart than this read better in separate units
SILENT = {"", "1", "ratio", "fraction"}


@dataclass(frozen=True, slots=True)
class Scale:
    """The factor of a number before it is printed, and its unit then."""

    factor: float
    unit: str


PLAIN = Scale(1.0, "")


def scale_for(unit: str, values: Iterable[float | None]) -> Scale:
    """Return the scale in which values read best.

    Times become s, ms, µs or ns and sizes B .. TiB, by the geometric middle of the values; other units stay.

    >>> scale_for("s", [0.012, 0.2])
    Scale(factor=1000.0, unit='ms')
    >>> scale_for("percent", [3.0])
    Scale(factor=1.0, unit='%')
    """
    if unit in SECONDS:
        return _choose_step(TIME_STEPS, SECONDS[unit], values)
    if unit in BYTES:
        return _choose_step(BYTE_STEPS, 1.0, values)
    if unit == "percent":
        return Scale(1.0, "%")
    return PLAIN if unit in SILENT else Scale(1.0, unit)


def scale_for_label(unit: str) -> Scale:
    """Return the scale of a label: its declared unit, and no factor."""
    return PLAIN if unit in SILENT else Scale(1.0, "%" if unit == "percent" else unit)


def shared_scales(columns: Sequence[tuple[str, Sequence[float | None]]]) -> list[Scale]:
    """Return a scale for each column of (unit, values), the same for columns of similar size.

    >>> [s.unit for s in shared_scales([("s", [0.5]), ("s", [1.5]), ("s", [2e-5]), ("", [3.0])])]
    ['ms', 'ms', 'µs', '']
    """
    scales: list[Scale] = []
    for unit, values in columns:
        alike = [v for u, v in columns if u == unit and _is_near(values, v)]
        scales.append(scale_for(unit, [x for v in alike for x in v]))
    return scales


def _is_near(a_values: Sequence[float | None], other: Sequence[float | None]) -> bool:
    a, b = _middle(a_values), _middle(other)
    return a is not None and b is not None and max(a, b) < NEAR * min(a, b)


def _choose_step(steps: tuple[tuple[float, str], ...], base: float, values: Iterable[float | None]) -> Scale:
    """Return the largest step below the middle of the values; without values, the step nearest to the base."""
    middle = _middle(values)
    wanted = base if middle is None else middle * base
    size, unit = next((s for s in steps if wanted >= s[0] * 0.9995), steps[-1])
    exact, rounded = base / size, float(f"{base / size:.12g}")  # without binary rounding of a power of ten
    return Scale(rounded if math.isclose(exact, rounded, rel_tol=1e-12) else exact, unit)


def _middle(values: Iterable[float | None]) -> float | None:
    sizes = [abs(x) for x in values if x is not None and x != 0 and math.isfinite(x)]
    return math.exp((math.log(min(sizes)) + math.log(max(sizes))) / 2) if sizes else None
