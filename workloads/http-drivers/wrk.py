"""wrk 4: a closed loop; what it prints for people is all that it tells."""

import re
from math import ceil

from asked import Asked
from told import Told

INSTALL = "apt-get install wrk"
VERSION = "--version"
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_TIME = r"([0-9.]+)(us|ms|s|m|h)"
_LATENCY = re.compile(rf"^ +Latency +{_TIME} +{_TIME} +{_TIME} ", re.MULTILINE)
_QUANTILE = re.compile(rf"^ +(50|90|99)% +{_TIME}$", re.MULTILINE)
_COUNT = re.compile(r"^ +([0-9]+) requests in ", re.MULTILINE)
_RATE = re.compile(r"^Requests/sec: +([0-9.]+)$", re.MULTILINE)
_SOCKET = re.compile(
    r"^ +Socket errors: connect ([0-9]+), read ([0-9]+), write ([0-9]+), timeout ([0-9]+)$", re.MULTILINE
)
_STATUS = re.compile(r"^ +Non-2xx or 3xx responses: ([0-9]+)$", re.MULTILINE)
_THREADS = re.compile(r"^ +([0-9]+) threads and ", re.MULTILINE)


def refusal(asked: Asked) -> str:
    """Say what wrk cannot do of it; empty where it can."""
    if asked.clients % asked.threads:
        return f"threads: found {asked.threads}, expected a divisor of {asked.clients} clients: wrk would start fewer"
    return ""


def argv(program: str, asked: Asked, seconds: float) -> list[str]:
    """Return the command of one load; wrk counts in whole seconds."""
    how = ["--threads", str(asked.threads), "--connections", str(asked.clients), "--duration", f"{ceil(seconds)}s"]
    return [program, *how, "--timeout", f"{ceil(asked.timeout_s)}s", "--latency", asked.url]


def read(text: str) -> Told:
    """Read what `wrk --latency` prints.

    The mean is left out: wrk adds to its times those of requests that it would have sent while it waited, so that it is
    no mean of answers. Its duration is printed in two digits: the rate tells it better.

    Raises:
        ValueError: it is something else, or tells of no answer.
    """
    count, rate, latency, threads = (each.search(text) for each in (_COUNT, _RATE, _LATENCY, _THREADS))
    if not (count and rate and latency and threads):
        raise ValueError("no line of latency, requests, threads, or requests per second")
    answers, per_s = int(count[1]), float(rate[1])
    if not answers or not per_s:
        raise ValueError(f"{answers} answers")
    socket, status = _SOCKET.search(text), _STATUS.search(text)
    *lost, late = map(int, socket.groups()) if socket else (0, 0, 0, 0)
    wrong = min(late + (int(status[1]) if status else 0), answers)
    times = {f"p{name}": _seconds(number, unit) for name, number, unit in _QUANTILE.findall(text)}
    return Told(
        answers + sum(lost), wrong + sum(lost), answers / per_s, {**times, "max": _seconds(latency[5], latency[6])},
        int(threads[1]),
    )  # fmt: skip


def _seconds(number: str, unit: str) -> float:
    return float(number) * _UNITS[unit]
