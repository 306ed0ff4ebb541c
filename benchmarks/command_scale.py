"""How do `analyze` and `report` grow with the journal? Runs of 10 iterations, one in four with a timeline.

Long: 1k, 10k, 30k and 100k runs of 100 configurations. Wide: 10 runs each of more and more configurations. The exponent
is the slope of log time (user and system, which neighbors disturb least) over log runs from 10k on, where start-up no
longer
counts: 1 is linear. Memory beyond the smallest journal's is given for each further run.
"""

import json
import math
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import command_journal
from command_common import ROOT, Child, Figure, command, main, run

LONG = {"1k": 1_000, "10k": 10_000, "30k": 30_000, "100k": 100_000}
WIDE = {"1k": 1_000, "3k": 3_000, "10k": 10_000, "30k": 30_000}
EXPONENT, PAGE_MB, KB_A_RUN = 1.1, 3.0, 5.0
# Of 100,000 runs: seconds of CPU time, and megabytes.
CPU_S, PEAK_MB = {"analyze": 5.0, "report": 4.0}, 500.0
RESUME = ROOT / "scalograph-results" / "benchmarks" / "command_scale.jsonl"
Measured = dict[int, dict[str, Child]]


def figures(quick: bool) -> Iterator[Figure]:
    """Both families; --quick stops at 10k and keeps no journal of its own."""
    for family, sizes in (("long", LONG), ("wide", WIDE)):
        measured: Measured = {}
        for label, n_runs in sizes.items():
            if quick and n_runs > 10_000:
                continue
            measured[n_runs], page_bytes = _known(family, n_runs) if not quick else _measure(family, n_runs)
            yield from _figures(f"{family}, {label} runs", measured[n_runs], page_bytes)
            if n_runs == max(LONG.values()):
                yield from _limits(f"{family}, {label} runs", measured[n_runs])
        yield from _growth(family, measured)


def _figures(name: str, children: dict[str, Child], page_bytes: int) -> Iterator[Figure]:
    for stop, child in children.items():
        note = f"{child.cpu_s:.1f} s of CPU time, peak {child.peak_bytes / 1e6:.0f} MB"
        yield Figure(f"{name}: {stop}", child.wall_s, "s", note=note)
    yield Figure(f"{name}: report.html", page_bytes / 1e6, "MB", PAGE_MB)


def _limits(name: str, children: dict[str, Child]) -> Iterator[Figure]:
    for stop, child in children.items():
        yield Figure(f"{name}: CPU time of {stop}", child.cpu_s, "s", CPU_S[stop])
        yield Figure(f"{name}: peak of {stop}", child.peak_bytes / 1e6, "MB", PEAK_MB)


def _growth(family: str, measured: Measured) -> Iterator[Figure]:
    sizes = sorted(measured)
    first, last = sizes[0], sizes[-1]
    for stop in ("analyze", "report"):
        start = max(first, min(10_000, sizes[-2]))
        times = [measured[n][stop].cpu_s for n in (start, last)]
        slope = math.log(times[1] / times[0]) / math.log(last / start)
        yield Figure(f"{family}: exponent of {stop}", slope, "", EXPONENT, f"{start} to {last} runs")
        grown = measured[last][stop].peak_bytes - measured[first][stop].peak_bytes
        yield Figure(f"{family}: memory of {stop} for each run", grown / (last - first) / 1e3, "kB", KB_A_RUN)


def _measure(family: str, n_runs: int) -> tuple[dict[str, Child], int]:
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal.jsonl"
        command_journal.write(journal, n_runs, n_levels=10 if family == "long" else n_runs // 100)
        children = {stop: run(command(stop, folder)) for stop in ("analyze", "report")}
        return children, (Path(folder) / "report.html").stat().st_size


def _known(family: str, n_runs: int) -> tuple[dict[str, Child], int]:
    """From the benchmark's own journal where the same code was measured before, else measured now and kept."""
    key = f"{family} {n_runs} {_code()}"
    lines = RESUME.read_text(encoding="utf-8").splitlines() if RESUME.exists() else []
    for entry in map(_entry, lines):
        if entry.get("key") == key:
            return {stop: Child(*figures) for stop, figures in entry["children"].items()}, entry["page_bytes"]
    children, page_bytes = _measure(family, n_runs)
    kept = {stop: (child.wall_s, child.cpu_s, child.peak_bytes) for stop, child in children.items()}
    RESUME.parent.mkdir(parents=True, exist_ok=True)
    with RESUME.open("a", encoding="utf-8") as out:
        out.write(json.dumps({"key": key, "children": kept, "page_bytes": page_bytes}) + "\n")
    return children, page_bytes


def _entry(line: str) -> dict[str, dict[str, list[float]]]:
    try:
        return json.loads(line)
    except json.JSONDecodeError:  # a torn last line of a stopped benchmark
        return {}


def _code() -> str:
    """Of all sources: a figure of other code is not resumed from."""
    digest = 0
    sources = (path for kind in ("py", "html", "css", "js") for path in ROOT.glob(f"src/**/*.{kind}"))
    for path in sorted([*sources, *ROOT.glob("benchmarks/command_*.py")]):
        digest = zlib.crc32(path.read_bytes(), digest)
    return f"{digest:08x}"


if __name__ == "__main__":
    main(figures, "up to 10k runs, and nothing is resumed")
