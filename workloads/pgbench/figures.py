"""What pgbench logged, as a workload tells it (protocol/workload.md): rate, quantiles, one histogram."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

# A line is 512 bytes at most.
PAIRS = 20
SUB_BITS = 7


@dataclass(frozen=True)
class Transactions:
    """Those of one run: when each had ended and how long it took, ns; ends by CLOCK_MONOTONIC."""

    ends: tuple[int, ...]
    times: tuple[int, ...]
    n_failed: int

    @staticmethod
    def read(logs: Iterable[Path]) -> "Transactions":
        """Read logs whose lines are client, number, time in us (or `failed`), script, epoch s, us."""
        ahead = time.time_ns() - time.monotonic_ns()
        rows = [line.split() for log in logs for line in log.read_text(encoding="ascii").splitlines()]
        good = [row for row in rows if row[2].isdigit()]
        ends = tuple(int(row[4]) * 10**9 + int(row[5]) * 1000 - ahead for row in good)
        return Transactions(ends, tuple(int(row[2]) * 1000 for row in good), len(rows) - len(good))


def lines(seen: Transactions, clients: int, threads: int, used_s: float) -> Iterator[str]:
    """Yield the lines of a driver: its steady window, values, and the histogram of times."""
    if not seen.times:
        yield f"value errors {seen.n_failed}"
        return
    begin = min(end - took for end, took in zip(seen.ends, seen.times, strict=True))
    end, n = max(seen.ends), len(seen.times)
    window = (end - begin) / 1e9
    yield f"iteration 0 {begin} {end} {n} {round(used_s * 1e9)}"
    yield f"phase steady {begin} {end}"
    for name, value in _values(seen, clients, threads, used_s, window).items():
        yield f"value {name} {value:.6f}" if isinstance(value, float) else f"value {name} {value}"
    yield from histogram(seen.times)


def _values(seen: Transactions, clients: int, threads: int, used_s: float, window: float) -> dict[str, int | float]:
    times, n = sorted(seen.times), len(seen.times)
    quantiles = {f"p{q}_ns": times[ceil(q / 100 * n) - 1] for q in (50, 90, 99)}
    return {
        "requests": n,
        "errors": seen.n_failed,
        "rate": n / window,
        "mean_ns": sum(times) / n,
        **quantiles,
        "max_ns": times[-1],
        "in_flight": sum(times) / 1e9 / window,
        "clients": clients,
        # What pgbench itself takes between two transactions of a client.
        "cycle_ns": max(0.0, (clients * window * 1e9 - sum(times)) / n),
        "late_share": 0.0,
        "driver_cpu_ns": round(used_s * 1e9),
        "threads": min(threads, clients),
    }


def histogram(times: Sequence[int]) -> Iterator[str]:
    """Yield the lines of the histogram of some times, ns."""
    counts = sorted(Counter(map(bucket, times)).items())
    for at in range(0, len(counts), PAIRS):
        yield "histogram steady transaction " + " ".join(f"{i}:{n}" for i, n in counts[at : at + PAIRS])


def bucket(ns: int) -> int:
    """Return the index of a time's bucket: single ns below 128, then 128 to each power of two."""
    e = max(0, ns.bit_length() - 1 - SUB_BITS)
    return (e << SUB_BITS) + (ns >> e)
