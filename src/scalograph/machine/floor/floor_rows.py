"""The noise floor in words: cells of the table that `scalograph doctor --noise` prints."""

from collections.abc import Callable, Iterator

from scalograph.protocol.noise_floor import Floor, FloorPart
from scalograph.text.quantities import two_digits

UNKNOWN = "not known"


def rows(floor: Floor) -> Iterator[list[str]]:
    """A heading, then a row for each figure: what it is, and its value for each number of CPUs."""
    yield ["the same work", *(f"on {part.n_cpus} CPU{'s' * (part.n_cpus > 1)}" for part in floor.parts)]
    for title, cell in _ROWS:
        yield [title, *(cell(part) for part in floor.parts)]
    for n in sorted({n for part in floor.parts for n in part.detectable_percent}):
        yield [f"smallest effect, {n} runs each", *(_effect(part, n) for part in floor.parts)]


def _count(part: FloorPart) -> str:
    return f"{part.n} of {part.n_runs}"


def _disturbed(part: FloorPart) -> str:
    share = 100 * (part.n_runs - part.n) / part.n_runs if part.n_runs else 0
    told = [f"{name} {n}" for name, n in part.causes.items()] + ([f"failed {part.n_failed}"] if part.n_failed else [])
    return f"{share:.0f} %" + (f" ({', '.join(told)})" if told else "")


def _median(part: FloorPart) -> str:
    return UNKNOWN if part.median_s is None else f"{part.median_s:.4g} s"


def _spread(part: FloorPart) -> str:
    spread = part.spread
    if spread is None:
        return UNKNOWN
    low, high = ("" if end is None else two_digits(end) for end in (spread.low, spread.high))
    return f"{two_digits(spread.sd_log_percent)} % [{low} .. {high}]"


def _on_end(part: FloorPart) -> str:
    return UNKNOWN if part.reference is None else f"{two_digits(part.reference.spread.sd_log_percent)} %"


def _difference(part: FloorPart) -> str:
    d = part.difference
    if d is None or d.percent is None or d.low is None or d.high is None:
        return UNKNOWN
    return f"{d.percent:+.2g} % [{d.low:+.2g} .. {d.high:+.2g}]" + (", not 0" if d.is_false else "")


def _effect(part: FloorPart, n: int) -> str:
    return f"{two_digits(part.detectable_percent[n])} %" if n in part.detectable_percent else UNKNOWN


_ROWS: tuple[tuple[str, Callable[[FloorPart], str]], ...] = (
    ("runs that count", _count),
    ("disturbed or failed", _disturbed),
    ("median time", _median),
    ("runs differ by (sd of logs)", _spread),
    ("ten runs on end differ by", _on_end),
    ("A over B (99 %)", _difference),
)
