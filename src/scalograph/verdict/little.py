"""Little's law as a check of what the drivers of a load report.

Requests in flight are the rate times the response time, and clients of a closed loop the rate times response and think
time. Values that break this were not measured in one window: such a run is invalid.

Source: J. D. C. Little, A proof for the queuing formula L = lambda W, Operations Research 9 (1961).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scalograph.protocol.record import Record
from scalograph.protocol.response_times import steady_counts, variation
from scalograph.verdict.cause import Cause

LITTLE = 0.05  # tolerance, beside what the ends of the window may add

DriverValues = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class _Law:
    """A reported number, the one by the law, and whether the latter may be more, or less, for good reason.

    `ends` is the share by which what is under way at the two ends of the window may change it: that lasts longer than
    the mean, by its variation (W. Feller, An introduction to probability theory II, 1971, I.4).
    """

    what: str
    number: float
    expected: float
    may_exceed: bool
    may_fall_short: bool
    ends: float

    @property
    def deviation(self) -> float:
        share = self.expected / self.number - 1
        return 0.0 if (share > 0 and self.may_exceed) or (share < 0 and self.may_fall_short) else abs(share)

    @property
    def excess(self) -> float:
        return self.deviation - LITTLE - self.ends


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverLoad:
    """What the drivers of a run report of its steady window, times in seconds; None if not reported.

    Attributes:
        rate: right answers per second.
        n_requests: answers in the window, wrong ones too.
        n_errors: wrong answers.
        response_s: mean response time.
        in_flight: mean number of requests that were sent and not answered.
        clients: of a closed loop.
        think_s: of a closed loop, mean time of a client between an answer and its next request.
        offered: of an open loop, requests per second that were meant to start.
        variation: of response times, their variance over their squared mean.
        unanswered: of `in_flight`, requests without a right answer; None: the wrong ones are among them.
        starved: clients without a right answer.
    """

    rate: float
    n_requests: int
    n_errors: int = 0
    response_s: float | None = None
    in_flight: float | None = None
    clients: float | None = None
    think_s: float | None = None
    offered: float | None = None
    variation: float = 0.0
    unanswered: float | None = None
    starved: float | None = None

    @property
    def deviation(self) -> float:
        """Return the largest deviation from Little's law, as a share; 0 where it cannot be checked."""
        return max((law.deviation for law in self._laws()), default=0.0)

    @property
    def is_lawful(self) -> bool:
        """Tell whether the values can be of one window, with tolerance for what overlaps its ends."""
        return all(law.excess <= 0 for law in self._laws())

    @property
    def is_checked(self) -> bool:
        """Tell whether the driver reported what Little's law is about."""
        return any(True for _ in self._laws())

    def contradiction(self) -> str:
        """Return what contradicts Little's law; empty where nothing does."""
        if self.is_lawful:
            return ""
        law = max(self._laws(), key=lambda law: law.excess)
        return f"{law.number:.3g} {law.what}, but rate times time is {law.expected:.3g}: not values of one window"

    def _laws(self) -> Iterator[_Law]:
        if self.response_s is None:
            return
        # The response time is that of right answers; how long others take is part of `unanswered`, if reported.
        wrong, n, lost = self.n_errors > 0, max(1, self.n_requests), self.unanswered or 0.0
        is_mixed = wrong and self.unanswered is None
        if self.in_flight and self.in_flight > lost:
            # Requests of an open loop may wait for a connection before they are in flight.
            expected = self.rate * self.response_s + lost
            ends = self.in_flight * (1 + self.variation) / n
            yield _Law("requests were in flight", self.in_flight, expected, self.offered is not None, is_mixed, ends)
        if self.clients and self.think_s is not None:
            cycle_s = self.response_s + self.think_s
            # How much thinking varies is not reported: at most as exponential times do.
            varies = (self.variation * self.response_s**2 + self.think_s**2) / cycle_s**2 if cycle_s else 0.0
            ends = self.clients * (1 + varies) / n
            yield _Law("clients took turns", self.clients, self.rate * cycle_s + lost, False, wrong, ends)


def find_little_violation(record: Record) -> list[Cause]:
    """Find that what the drivers of a run report breaks Little's law."""
    load = driver_load(record)
    text = load.contradiction() if load else ""
    return [Cause("Little's law", load.deviation, "of the load", text)] if load and text else []


def driver_load(record: Record) -> DriverLoad | None:
    """Return what the drivers of a run report: rates and counts add up, times are means over requests.

    None where no driver reports a rate and a count of requests.
    """
    drivers = driver_values(record)
    if not (n := sum_values(drivers, "requests")):
        return None
    return DriverLoad(
        rate=sum_values(drivers, "rate") or 0.0, n_requests=int(n), n_errors=int(sum_values(drivers, "errors") or 0.0),
        response_s=_seconds(request_mean(drivers, "mean_ns")), in_flight=sum_values(drivers, "in_flight"),
        clients=sum_values(drivers, "clients"), think_s=_seconds(request_mean(drivers, "cycle_ns")),
        offered=sum_values(drivers, "offered_rate"), variation=variation(steady_counts(record.histograms)),
        unanswered=sum_values(drivers, "unanswered"), starved=sum_values(drivers, "starved"),
    )  # fmt: skip


def driver_values(record: Record) -> list[DriverValues]:
    """Return the values of each copy that reports a rate and a count of requests."""
    return [part.values for part in record.values if part.values.get("rate") and part.values.get("requests")]


def sum_values(drivers: Sequence[DriverValues], name: str) -> float | None:
    """Sum a value over the copies of the driver; None where one of them does not report it."""
    numbers = [values[name][-1] for values in drivers if values.get(name)]
    return float(sum(numbers)) if numbers and len(numbers) == len(drivers) else None


def request_mean(drivers: Sequence[DriverValues], name: str) -> float | None:
    """Average a value over the requests of all copies; None where one of them does not report it."""
    n = sum(values["requests"][-1] for values in drivers)
    if not n or any(not values.get(name) for values in drivers):
        return None
    return sum(values[name][-1] * values["requests"][-1] for values in drivers) / n


def _seconds(ns: float | None) -> float | None:
    return None if ns is None else ns / 1e9
