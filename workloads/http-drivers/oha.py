"""oha 1: a closed loop, or an open one at a constant rate; what it writes as JSON (its schema.json)."""

import json
from typing import Any

from asked import Asked
from told import Told

INSTALL = "cargo install --locked oha"
VERSION = "--version"
# What was under way when the time was over, and is no fault of the server.
_CUT = "aborted due to deadline"
_QUANTILES = ("p50", "p90", "p99")


def refusal(asked: Asked) -> str:
    """Say what oha cannot do of it; empty where it can."""
    return f"threads: found {asked.threads}, expected 1: oha chooses their number itself" if asked.threads > 1 else ""


def argv(program: str, asked: Asked, seconds: float) -> list[str]:
    """Return the command of one load; in an open loop times count from when a request was meant to start."""
    how = ["--no-tui", "--output-format", "json", "--redirect", "0", "-z", f"{round(seconds * 1000)}ms"]
    rate = ["-q", f"{asked.rate:g}", "--latency-correction"] if asked.is_open else []
    return [program, *how, "-t", f"{round(asked.timeout_s * 1000)}ms", "-c", str(asked.at_once), *rate, asked.url]


def read(text: str) -> Told:
    """Read what `oha --output-format json` writes.

    Raises:
        ValueError: it is something else, or tells of no answer.
    """
    found = json.loads(text)
    try:
        by_status, lost = found["statusCodeDistribution"], found["errorDistribution"]
        answers, window_s = sum(by_status.values()), float(found["summary"]["total"])
        wrong = sum(n for status, n in by_status.items() if int(status) >= 400)
        n_lost = sum(n for kind, n in lost.items() if kind != _CUT)
        if not answers or window_s <= 0:
            raise ValueError(f"{answers} answers, and {n_lost} requests without one")
        return Told(answers + n_lost, wrong + n_lost, window_s, _times(found))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no {error} where its schema has it") from error


def _times(found: dict[str, Any]) -> dict[str, float]:
    quantiles = {name: found["latencyPercentiles"][name] for name in _QUANTILES}
    times = {"mean": found["summary"]["average"], **quantiles, "max": found["summary"]["slowest"]}
    return {name: float(seconds) for name, seconds in times.items() if seconds is not None}
