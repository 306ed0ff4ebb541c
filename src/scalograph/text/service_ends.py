"""How services that stayed up over runs ended, for people: what was not as it should be, and how long it took."""

from collections.abc import Iterator, Sequence

from scalograph.protocol.ended_services import ServicesEnded
from scalograph.text.quantities import counted
from scalograph.text.units import format_duration

# Sentences of a study whose services never end as they should.
MOST_ENDS = 6


def bad_ends(ended: Sequence[ServicesEnded]) -> Iterator[str]:
    """Yield what went wrong when services ended, block by block; beyond the first few, how many there are."""
    found = [text for one in ended for text in bad_end(one)]
    yield from found[:MOST_ENDS]
    if len(found) > MOST_ENDS:
        yield f"and {counted(len(found) - MOST_ENDS, 'more such end')} of services"


def bad_end(one: ServicesEnded) -> Iterator[str]:
    """Yield what went wrong when the services of a block ended. After a failure the others are killed at once."""
    after = f"after block {one.block + 1}" if one.block >= 0 else "after the warm-up runs"
    if one.reason is not None:
        yield f"{one.reason}, {after}"
        return
    for service in one.services:
        if service.was_killed:
            took = format_duration((service.stop_ns or 0) / 1e9)
            yield f"service {service.name} had to be killed {after}: it ran on for {took} after {service.stop_signal}"
    if one.n_survivors:
        left = "1 process" if one.n_survivors == 1 else f"{one.n_survivors} processes"
        yield f"services left {left} {after}, killed then"


def told_ends(ended: Sequence[ServicesEnded]) -> str:
    """Tell how often services were ended and how long that took; empty where it is not known.

    A clause that follows "services stayed up over runs of a block".
    """
    times = [service.stop_ns / 1e9 for one in ended for service in one.services if service.stop_ns is not None]
    if not times:
        return ""
    return f"; ended {counted(len(ended), 'time')}, each within {format_duration(max(times))}"
