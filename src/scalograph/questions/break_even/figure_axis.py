"""Axes of break-even: where levels stand that need not be declared ones, and which of them get a tick."""

import math
from collections.abc import Sequence
from typing import Any

from scalograph.text.axes import Levels
from scalograph.text.escape import visible
from scalograph.text.format import level_text
from scalograph.text.plots import at, axis, outside, round_numbers

# More declared levels than that get round numbers as ticks.
FEW_LEVELS = 24
# Ratio of the largest level to the smallest from which they stand by their ratios.
WIDE = 3


class EvenAxis:
    """Where the levels of a factor stand: by their ratios where they reach far, else by their differences."""

    def __init__(self, levels: Levels, numbers: Sequence[float]) -> None:
        self.levels = levels
        self.low, self.high = min(numbers), max(numbers)
        self.is_log = self.low > 0 and self.high / self.low >= WIDE

    def __call__(self, level: float) -> float:
        inside = min(max(level, self.low), self.high)
        return round(math.log10(inside) if self.is_log else inside, 6)

    def text(self, level: float) -> str:
        return f"{self.levels.title}: {visible(level_text(level, self.levels.unit))}"

    def ends(self) -> list[float]:
        """Where its first and its last level stand."""
        return [self(self.low), self(self.high)]

    def drawn(self, span: Sequence[float]) -> dict[str, Any]:
        """Make it an axis of a figure, from one place to another."""
        ticks = self.ticks()
        unit, scale = self.levels.unit, " (log scale)" if self.is_log else ""
        title = self.levels.title + (f" ({unit})" if unit else "") + scale
        return axis(title, span, **outside(**at([self(n) for n in ticks], [level_text(n) for n in ticks])))

    def ticks(self) -> list[float]:
        """Declared levels where they are few, else round numbers."""
        numbers = [float(n) for n in self.levels.levels if isinstance(n, int | float) and not isinstance(n, bool)]
        declared = sorted(n for n in numbers if self.low <= n <= self.high)
        return declared if 2 <= len(declared) <= FEW_LEVELS else round_numbers(self.low, self.high, self.is_log)
