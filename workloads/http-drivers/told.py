"""What a driver told of its window, as lines of a workload (protocol/workload.md); what it did not tell is absent."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from asked import Asked


@dataclass(frozen=True)
class Told:
    """What a tool printed.

    Attributes:
        requests: that ended, rightly or not.
        errors: those that did not end rightly.
        window_s: what `requests` were counted over, seconds.
        times_s: of answers, in seconds, by the name that a driver gives them without its unit: mean, p50, p99, max.
        threads: that it used; None where it does not tell.
    """

    requests: int
    errors: int
    window_s: float
    times_s: Mapping[str, float] = field(default_factory=dict)
    threads: int | None = None


def lines(told: Told, asked: Asked, end_ns: int, used_s: float) -> Iterator[str]:
    """Yield the lines of a driver: its window, which ended with the program, and what is known of it.

    Args:
        told: what the tool printed.
        asked: what was asked of it.
        end_ns: when the tool had ended, CLOCK_MONOTONIC.
        used_s: its CPU time, seconds.
    """
    right, cpu_ns = told.requests - told.errors, round(used_s * 1e9)
    begin_ns = end_ns - round(told.window_s * 1e9)
    yield f"phase steady {begin_ns} {end_ns}"
    yield f"iteration 0 {begin_ns} {end_ns} {right} {cpu_ns}"
    yield f"value requests {told.requests}"
    yield f"value errors {told.errors}"
    yield f"value rate {right / told.window_s:.6f}"
    for name, seconds in told.times_s.items():
        yield f"value {name}_ns {seconds * 1e9:.0f}"
    yield f"value clients {asked.at_once}"
    if asked.is_open:
        yield f"value offered_rate {asked.rate:.6f}"
    if told.threads is not None:
        yield f"value threads {told.threads}"
    yield f"value driver_cpu_ns {cpu_ns}"
