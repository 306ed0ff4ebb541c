"""The axes of a still picture: where values stand in pixels, and which ticks have room."""

import math
from dataclasses import dataclass
from typing import Any

from scalograph.text.format import number
from scalograph.text.plots import round_numbers, short

LETTER = 0.53  # of the height of letters, how wide one is


@dataclass(frozen=True, slots=True)
class PictureAxis:
    """An axis of a layout between two places in pixels; along a vertical one they fall."""

    layout: dict[str, Any]
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Where a value stands."""
        return self.linear(math.log10(value) if self.is_log else value)

    @property
    def is_log(self) -> bool:
        """Whether its range has powers of ten."""
        return self.layout.get("type") == "log"

    @property
    def title(self) -> str:
        """In full."""
        return str(self.layout.get("title", {}).get("text", ""))

    def linear(self, place: float) -> float:
        """Where a place of its range stands."""
        low, high = map(float, self.layout["range"])
        return self.start + (place - low) / (high - low) * (self.end - self.start)

    def share(self, share: float) -> float:
        """Where a share of its length ends."""
        return self.start + share * (self.end - self.start)

    def has(self, value: float | None) -> bool:
        """Whether a value can stand on it."""
        return value is not None and (value > 0 or not self.is_log)

    def kept(self, pixel: float) -> float:
        """The nearest place inside."""
        return min(max(pixel, min(self.start, self.end)), max(self.start, self.end))

    def inside(self, value: float) -> float:
        """Where a value stands, or the end that it lies beyond."""
        return self.kept(self(value)) if self.has(value) else self.start

    def ticks(self) -> list[tuple[float, str]]:
        """Pixel and label of each tick inside."""
        low, high = sorted(self.layout["range"])
        values = self.layout.get("tickvals")
        if values is None:
            ends = (10**low, 10**high) if self.is_log else (low, high)
            values = round_numbers(*ends, self.is_log and high - low >= 0.3)
        texts = self.layout.get("ticktext") or [number(value) for value in values]
        placed = [(self(value), text) for value, text in zip(values, texts, strict=True) if self.has(value)]
        return [(pixel, text) for pixel, text in placed if abs(pixel - self.kept(pixel)) < 1]

    def fitting(self) -> list[tuple[float, str]]:
        """Ticks of a horizontal axis: the first, the last and those that have room between."""
        ticks = sorted((pixel, short(text, 14)) for pixel, text in self.ticks())
        kept: list[tuple[float, str]] = []
        for tick in ticks:
            if not kept or tick is ticks[-1] or (_apart(kept[-1], tick) and _apart(tick, ticks[-1])):
                kept.append(tick)
        return kept


def _apart(one: tuple[float, str], other: tuple[float, str]) -> bool:
    return abs(one[0] - other[0]) >= 6 * LETTER * (len(one[1]) + len(other[1])) + 8
