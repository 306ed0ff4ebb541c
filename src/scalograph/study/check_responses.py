"""Responses that read what no run reports, or read it in a wrong unit."""

from collections.abc import Iterator
from typing import Any

from scalograph.study.cross_checks import Found, meant, table


def misread(raw: dict[str, Any]) -> Iterator[Found]:
    """Find every mistake in `from` and `unit` of the responses that read a window or a figure of the run.

    Args:
        raw: the document of study.toml, valid or not.
    """
    for name, response in table(raw, "responses").items():
        source = response.get("from") if isinstance(response, dict) else None
        if not isinstance(source, str) or source.partition(".")[0] not in ("window", "run"):
            continue
        known = _unit(source)
        if known is None:
            yield _unknown(("responses", name, "from"), source)
        elif isinstance(unit := response.get("unit"), str) and unit not in (known, ""):
            yield ("responses", name, "unit"), f'found "{unit}"', f'"{known}", which {source} is told in', ""


def _unit(source: str) -> str | None:
    """Return `s`, `bytes`, `%` or none; None for a figure that no run has."""
    room, _, name = source.partition(".")
    if room == "window":
        return "s"
    from scalograph.study.responses import (
        figure_units,  # a slow import of the whole protocol, needed only for such figures
    )

    return figure_units().get(name)


def _unknown(place: tuple[str, ...], source: str) -> Found:
    from scalograph.study.responses import figure_units

    known = sorted(figure_units())
    return place, f'found "{source}"', f"run. and one of {', '.join(known)}", meant(source.partition(".")[2], known)
