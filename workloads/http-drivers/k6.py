"""k6: a closed loop, or an open one at a constant rate; the summary that k6.js has it write, of k6 0.30 to 2."""

import json
from pathlib import Path
from typing import Any

from asked import Asked
from told import Told

INSTALL = "go install go.k6.io/k6@latest"
VERSION = "version"
# Its names of times, in ms, and those of a driver.
_TIMES = {"avg": "mean", "med": "p50", "p(90)": "p90", "p(99)": "p99", "max": "max"}


def refusal(asked: Asked) -> str:
    """Say what k6 cannot do of it; empty where it can."""
    if asked.threads > 1:
        return f"threads: found {asked.threads}, expected 1: k6 chooses their number itself"
    if asked.is_open and asked.rate != round(asked.rate):
        return f"rate: found {asked.rate:g}, expected a whole number: k6 takes no other"
    return ""


def argv(program: str, asked: Asked, seconds: float) -> list[str]:
    """Return the command of one load."""
    said = {
        "URL": asked.url, "LOOP": "open" if asked.is_open else "closed", "RATE": f"{asked.rate:.0f}",
        "CLIENTS": asked.at_once, "DURATION": f"{round(seconds * 1000)}ms",
        "TIMEOUT": f"{round(asked.timeout_s * 1000)}ms",
    }  # fmt: skip
    how = ["run", "--quiet", "--no-color", "--no-usage-report", "--summary-trend-stats", ",".join(_TIMES)]
    script = str(Path(__file__).parent / "k6.js")
    return [program, *how, *(word for name, value in said.items() for word in ("-e", f"{name}={value}")), script]


def read(text: str) -> Told:
    """Read the object that k6 hands to handleSummary, with its metrics by name, or, if 1.5 is told so, in a list.

    Raises:
        ValueError: it is something else, or tells of no answer.
    """
    found = json.loads(text[max(text.find("{"), 0) :])
    try:
        values = _metrics(found)
        requests, failed = int(values["http_reqs"]["count"]), values["http_req_failed"]
        # Of this rate what "passes" are requests that failed.
        wrong = int(failed["matches"] if "matches" in failed else failed["passes"])
        never = int(values.get("dropped_iterations", {}).get("count", 0))
        took = values["http_req_duration"]
        window_s = found["config"]["duration"] if "config" in found else found["state"]["testRunDurationMs"] / 1000
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no {error} where its summary has it") from error
    if requests <= wrong or window_s <= 0:
        raise ValueError(f"no right answer to {requests} requests")
    # In a list "p(90)" is called "p90".
    told = {ours: took.get(theirs, took.get(ours)) for theirs, ours in _TIMES.items()}
    times = {name: ms / 1000 for name, ms in told.items() if ms is not None}
    return Told(requests + never, wrong + never, float(window_s), times)


def _metrics(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    if "results" in found:
        return {one["name"]: one["values"] for one in found["results"]["metrics"]}
    return {name: one["values"] for name, one in found["metrics"].items()}
