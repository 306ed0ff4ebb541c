"""Flags as a reader sees them."""

from collections.abc import Iterable

from scalograph.analysis.estimate import Flag


def texts(flags: Iterable[Flag]) -> list[str]:
    """Their words, in order."""
    return [flag.text for flag in flags]
