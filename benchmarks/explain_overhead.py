"""How much slower is a run that `explain` records? By kind of program: time per unit of work with and without it.

Of each level as many runs are recorded as not, in turn; the overhead is what `explain` itself reports. A round is one
program, so that little is lost where it is stopped.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import probe_rounds
from explain_truth import SOURCES, STRENGTHS, planted_command
from gate_tools import imported_sources
from probe_common import Figure
from probe_rounds import Round

# Of the planted programs: the first kind computes, the others wait as well.
PLANTED = {
    "C, no waits": "scales", "C, a mutex": "mutex", "Java, no waits": "java:scales", "Java, monitors": "java:monitor",
    "Java, ReentrantLock": "java:lock", "Python, processes": "python:serial", "Python, threads": "python:gil",
}  # fmt: skip
SERVICE, BUILD = "a service in Python", "a build of 16 files of C"
KINDS = (*PLANTED, SERVICE, BUILD)
N_FILES, N_FUNCTIONS, MOST = 16, 400, 1.2


def one_round(folder: Path, number: int) -> Round:
    """Explain one program, and read how much slower recording made it."""
    kind = KINDS[number % len(KINDS)]
    results = folder / f"results-{number}"
    options = ["--wait-lock", "10min", "-o", str(results)]
    if kind == SERVICE:
        serve = [sys.executable, "-m", "http.server", "{port}", "--bind", "127.0.0.1", "--directory", str(SOURCES)]
        load = ["--serve", " ".join(serve), "--get", "http://127.0.0.1:{port}/README.md", "--clients", "1,2"]
        _scalograph(["load", *load, "--steady", "2s", "--runs", "2", "--explain", *options], folder)
    elif kind == BUILD:
        _write_build(folder)
        _scalograph(["explain", "--jobs", "1,2", "--runs", "2", *options, "--", "make", "-Bsj{jobs}"], folder)
    else:
        command = planted_command(folder, PLANTED[kind], STRENGTHS[0])
        _scalograph(["explain", "--threads", "1,2", "--runs", "2", *options, "--", *command], folder)
    file = results / "explanation.json"
    over = json.loads(file.read_text())["overhead"] if file.is_file() else []
    return {f"{kind} {level}": [value] for level, value in zip(("first", "second"), over, strict=False)}


def _write_build(folder: Path) -> None:
    body = "\n".join(f"int f{i}(int x) {{ return x * {i} + x % {i + 1}; }}" for i in range(N_FUNCTIONS))
    names = [f"part{i}" for i in range(N_FILES)]
    for name in names:
        (folder / f"{name}.c").write_text(body, encoding="utf-8")
    rules = [f"{name}.o: {name}.c\n\tcc -O2 -c -o $@ $<" for name in names]
    objects = " ".join(f"{name}.o" for name in names)
    (folder / "Makefile").write_text("\n".join([f"all: {objects}", *rules, ""]), encoding="utf-8")


def _scalograph(arguments: Sequence[str], folder: Path) -> None:
    argv = [sys.executable, "-m", "scalograph", *arguments]
    subprocess.run(
        argv, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(os.environ), check=False
    )


def figures(found: Round) -> list[Figure]:
    """Of each kind and level: time per unit of work under the recorder over that without it."""
    listed = []
    for kind in KINDS:
        for level in ("first", "second"):
            values = found.get(f"{kind} {level}", [])
            value, note = (median(values), f"{min(values):.2f} to {max(values):.2f}") if values else (None, "")
            listed.append(Figure(f"{kind}, {level} level", value, "x", ("<=", MOST), note, len(values)))
    return listed


if __name__ == "__main__":
    probe_rounds.DEPENDS += [imported_sources, lambda: SOURCES.glob("*.*")]
    probe_rounds.main("explain_overhead", one_round, figures, rounds=(5 * len(KINDS), len(KINDS)))
