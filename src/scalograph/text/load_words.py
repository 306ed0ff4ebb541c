"""Words for services under load: CPUs in use, shares, rates, and how services ended."""

from collections.abc import Iterator, Sequence

from scalograph.protocol.record_processes import ServicesEnded
from scalograph.text.format import number
from scalograph.text.quantities import count_noun
from scalograph.text.scale import SILENT
from scalograph.text.short_names import is_counted
from scalograph.text.units import format_duration

_RATES = ("1/s", "/s", *SILENT)  # units that name nothing that is counted


def used_of_granted(used: float, granted: float) -> str:
    """Format CPUs in use of those that were granted.

    >>> used_of_granted(0.996, 1.0), used_of_granted(0.494, 0.5), used_of_granted(11.93, 12.0)
    ('1.00 of 1', '0.49 of 0.5', '11.9 of 12')
    """
    return f"{used:.{1 if granted >= 10 else 2}f} of {number(granted)}"


def small_percent(share: float) -> str:
    """Format a small share, such as that of requests that were late or wrong.

    >>> small_percent(0.0), small_percent(0.0004), small_percent(0.034)
    ('0%', 'less than 0.1%', '3.4%')
    """
    if 0 < share < 0.001:
        return "less than 0.1%"
    return f"{100 * share:.{1 if 0 < share < 0.1 else 0}f}%"


def rate_unit(title: str, unit: str) -> str:
    """Name the unit of a rate by what its title counts, else requests.

    >>> rate_unit("pages", "1/s"), rate_unit("rate", "1/s"), rate_unit("pages", "1/min")
    ('pages/s', 'requests/s', '1/min')
    """
    if unit not in _RATES:
        return unit
    return f"{title if is_counted(title) else 'requests'}/s"


MOST_ENDS = 6  # sentences about services that ended wrongly


def bad_ends(ended: Sequence[ServicesEnded]) -> Iterator[str]:
    """Yield what went wrong when services ended, block by block, and the number of further ones."""
    texts = [text for block in ended for text in bad_end(block)]
    yield from texts[:MOST_ENDS]
    if len(texts) > MOST_ENDS:
        yield f"and {count_noun(len(texts) - MOST_ENDS, 'more such end')} of services"


def bad_end(block: ServicesEnded) -> Iterator[str]:
    """Yield what went wrong when the services of a block ended."""
    after = f"after block {block.block + 1}" if block.block >= 0 else "after the warm-up runs"
    if block.reason is not None:
        yield f"{block.reason}, {after}"
        return
    for service in block.services:
        if service.was_killed:
            took = format_duration((service.stop_ns or 0) / 1e9)
            yield f"service {service.name} had to be killed {after}: it ran on for {took} after {service.stop_signal}"
    if block.n_survivors:
        left = "1 process" if block.n_survivors == 1 else f"{block.n_survivors} processes"
        yield f"services left {left} {after}, killed then"


def service_end_times(ended: Sequence[ServicesEnded]) -> str:
    """Return a clause on how often services were ended and how long that took; empty if unknown."""
    times = [service.stop_ns / 1e9 for block in ended for service in block.services if service.stop_ns is not None]
    if not times:
        return ""
    return f"; ended {count_noun(len(ended), 'time')}, each within {format_duration(max(times))}"
