"""How much of the CPU time of a make -j tree is counted, compilers, shells and a daemon that leaves the tree?

The truth is what the jobs say themselves: each burns until the kernel has charged it with so much CPU time, and writes
what that was. Shells and make are no part of it, so that the share may exceed 100%; a counter that loses the daemon
stays at the share of the others. GNU time and Python count what was waited for.
"""

import resource
import subprocess
import sys
import time
from pathlib import Path

from probe_common import Figure, build, median, peers, probe
from probe_rounds import Round, main

FOUND = peers("time")
JOBS, COMPILERS, BURN_MS = 4, 8, 150
DAEMON_MS = 400
# Without what a site adds to the interpreter: its end, which no process can time itself, is then short.
BURN = (
    "import sys, time\n"
    "while time.process_time() < float(sys.argv[1]) / 1e3: pass\n"
    "open(sys.argv[2], 'w').write(f'{time.process_time_ns()}\\n')\n"
)
PROBE, PYTHON, TIME = "probe", "Python, wait4", "GNU time"


def one_round(folder: Path, number: int) -> Round:
    """One build by each tool, each in a fresh folder."""
    built = folder / "probe_tree"
    tool = str(built) if built.exists() else build("probe_tree", folder)
    found: dict[str, list[float]] = {}
    for name, measure in (("probe", by_probe), ("python", by_python), *((("time", by_time),) if FOUND else ())):
        place = folder / f"{name}-{number}"
        place.mkdir()
        (place / "burn.py").write_text(BURN)
        (place / "Makefile").write_text(makefile(tool))
        seen = measure(["make", "-s", "-C", str(place), f"-j{JOBS}"])
        if seen is not None:
            found[{"probe": PROBE, "python": PYTHON, "time": TIME}[name]] = [seen * 1e9 / truth(place)]
    return found


def makefile(tool: str) -> str:
    """Jobs that burn side by side, and one that leaves a daemon behind."""
    targets = " ".join(f"job{i}" for i in range(COMPILERS))
    return (
        f"all: {targets} helper\n"
        f"job%:\n\t@{sys.executable} -I -S burn.py {BURN_MS} $@.ns\n"
        f"helper:\n\t@{tool} daemon {DAEMON_MS} helper.ns\n"
    )


def by_probe(argv: list[str]) -> float | None:
    """Seconds; None where the daemon outlived the second that it is given."""
    run = probe(argv)
    return None if run["n_survivors"] else run["cpu_ns"] / 1e9


def by_python(argv: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def by_time(argv: list[str]) -> float:
    done = subprocess.run([FOUND["time"], "-f", "%U %S", *argv], capture_output=True, text=True, check=True)
    return sum(map(float, done.stderr.split()[-2:]))


def truth(place: Path) -> float:
    """Nanoseconds that the jobs and the daemon say they used."""
    files = [place / f"job{i}.ns" for i in range(COMPILERS)] + [place / "helper.ns"]
    end = time.monotonic() + 30
    while not all(file.exists() and file.read_text().endswith("\n") for file in files):
        if time.monotonic() > end:
            sys.exit("probe_tree: found no figure of a job after 30 s, expected one of each; look for errors above")
        time.sleep(0.01)
    return sum(float(file.read_text()) for file in files)


def figures(found: Round) -> list[Figure]:
    """Share of the CPU time that each tool saw."""
    table = []
    for name in (PROBE, TIME, PYTHON):
        if values := found.get(name):
            target = (">=", 99.0) if name == PROBE else None
            note = f"lowest {100 * min(values):.1f}%"
            share = 100 * (median(values) or 0)
            table.append(
                Figure(f"CPU time of a make -j{JOBS} tree seen by {name}", share, "%", target, note, len(values))
            )
    return table


if __name__ == "__main__":
    main("probe_build_tree", one_round, figures, rounds=(50, 3))
