"""How near `load --limit` comes to the highest rate within a limit, of a server whose queue is known, also over TLS.

One server with exponential times of 2 ms, requests that arrive as a Poisson process, and a limit of p90: the rate at
which it is reached is computed from the same times, request by request. Beside it a binary search with one run a step,
as it is done by hand, with runs of our load generator, and with those of k6 where it is on PATH.
"""

import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import quantiles
from typing import Any

from command_common import ENVIRONMENT, Figure, command, main
from queueing_server import times

SERVER = Path(__file__).with_name("queueing_server.py")
MEAN_S, LIMIT_S, LOW, HIGH = 0.002, 0.015, 50, 490
MOST_RUNS, NEAR = 15, 0.02
# Between the driver and the server, which no queue has part in: what a request takes that does not wait.
REST_S = 0.0003


def p90(rate: float, n: int = 200_000) -> float:
    """Return the p90 of the response times at a rate, s: each begins when it came or the one before it has ended."""
    rng, end, now = random.Random(1), 0.0, 0.0
    service, took = times("exponential", MEAN_S, random.Random(2)), []
    for _ in range(n):
        now += rng.expovariate(rate)
        end = max(now, end) + next(service)
        took.append(end - now)
    return quantiles(took, n=10)[-1]


def truth() -> float:
    """Return the rate at which p90 reaches the limit."""
    low, high = float(LOW), float(HIGH)
    while high - low > 0.5:
        middle = (low + high) / 2
        low, high = (middle, high) if p90(middle) + REST_S <= LIMIT_S else (low, middle)
    return low


def asked(folder: Path, name: str, *more: str, pem: Path | None = None) -> Mapping[str, Any]:
    """Return the document of one `load`."""
    serve = f"{sys.executable} {SERVER} {{port}} exponential 1:{1e3 * MEAN_S:g}" + (f" tls={pem}" if pem else "")
    url = f"{'https' if pem else 'http'}://127.0.0.1:{{port}}/"
    trust = ("--ca", str(pem)) if pem else ()
    waits = ("--ramp", "1s", "--steady", "4s", "--warmup", "20", "--connections", "64", "--wait-lock", "10m")
    argv = command("load", "--serve", serve, "--get", url, *trust, *more, *waits, "--json", "-o", str(folder / name))
    done = subprocess.run(argv, env=ENVIRONMENT, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 5):
        raise SystemExit(f"{name}: exit code {done.returncode}: {done.stderr[-500:]}")
    document: Mapping[str, Any] = json.loads(done.stdout)
    return document


def search(folder: Path, name: str, pem: Path | None) -> tuple[float, int, str]:
    """Return the rate that `load --limit` names, its runs, and what is saturated beyond it."""
    what = ("--rate", f"{LOW}:{HIGH}", "--limit", f"p90<{1e3 * LIMIT_S:g}ms")
    part = asked(folder, name, *what, pem=pem)["parts"]["within-limit"]["data"]
    return part["crossing"]["value"] or 0.0, len(part["runs"]), (part["beyond"] or {}).get("ends", "")


def bisect(folder: Path, driver: str) -> tuple[int, int]:
    """Search by hand: one run a step of a load generator, whose side of the limit is believed."""
    low, high, n = LOW, HIGH, 0
    while high - low > max(1, NEAR * low) and n < MOST_RUNS:
        middle, n = (low + high) // 2, n + 1
        step = ("--rate", str(middle), "--runs", "1", "--driver", driver)
        point = asked(folder, f"{driver}-{n}", *step)["curves"][0]["points"][0]
        took = point["responses"]["p90"]["estimate"]["value"] / 1e9
        low, high = (middle, high) if took <= LIMIT_S else (low, middle)
    return low, n


def certificate(folder: Path) -> Path:
    """Make a key and its certificate for this machine, in one file."""
    key, pem = folder / "key", folder / "pem"
    name = ("-subj", "/CN=here", "-addext", "subjectAltName=IP:127.0.0.1")
    kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    subprocess.run(
        ["openssl", "req", "-x509", *kind, *name, "-keyout", key, "-out", pem], check=True, capture_output=True
    )
    pem.write_text(key.read_text() + pem.read_text())
    return pem


def figures(quick: bool) -> Iterator[Figure]:
    """How far each search is from the truth, and how many runs it made."""
    rate = truth()
    yield Figure("rate at which p90 reaches 15 ms", rate, "1/s")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, pem in (("plain", None), ("over TLS", certificate(folder))):
            for i in range(1 if quick else 3):
                value, n, ends = search(folder, f"{kind.split()[-1]}-{i}", pem)
                note = f"{value:.0f}/s; {ends}"
                yield Figure(f"load --limit off, {kind}, search {i + 1}", 100 * abs(value / rate - 1), "%", 5, note)
                yield Figure(f"its runs, {kind}, search {i + 1}", n, "runs", MOST_RUNS)
        for driver in ("load", *(["k6"] if shutil.which("k6") else [])):
            level, n = bisect(folder, driver)
            text = f"a binary search, one run of {driver} a step, off"
            yield Figure(text, 100 * abs(level / rate - 1), "%", None, f"{level}/s, {n} runs")


if __name__ == "__main__":
    if shutil.which("k6") is None:
        print("without k6; with it: go install go.k6.io/k6@latest, and its folder on PATH", file=sys.stderr)
    main(figures, "one search of each kind")
