"""The studies that the campaign starts and kills: one for each kind of planner, with runs of a few milliseconds."""

import sys
from dataclasses import dataclass
from pathlib import Path

from kills_places import Place, native_probe

from scalograph.control.capacity import find_quota_refusal

# A tree: a child that would outlive its run by far, and that the run itself ends.
WORK = """\
#!/bin/sh
sleep 60 &
long=$!
sleep "0.$(printf %03d "$1")"
kill "$long"
wait "$long" 2> /dev/null
exit 0
"""
DEGRADED = '#!/bin/sh\nexec "{python}" -m scalograph.run.hosts.python_probe "$@"\n'
HEAD = """\
version = 1
name = "{name}"
title = "A study that is killed"
seed = 5
"""
COMMAND = """\
[workload]
command = ["./work", "{n}"]
"""
WORKLOAD = """\
name = "made"
title = "Fetched and compiled before it runs"
argv = ["{build}/main", "{prepared}/{tree}/ms", "{n}"]

[build]
tool = "cc"
sources = ["main.c"]
flags = ["-O1"]

[prepare]
argv = ["sh", "{here}/fetch.sh", "{into}"]
folder = "{tree}"
sources = ["fetch.sh"]

[parameters]
n = { type = "int", default = 1 }
tree = { type = "text", default = "small" }
"""
MAIN = """\
#include <stdlib.h>
#include <time.h>
int main(int n, char **given) {
    struct timespec rest = {0, 1000000L * atoi(given[n - 1])};
    return nanosleep(&rest, 0);
}
"""
FETCH = '#!/bin/sh\nsleep 0.05\necho 1 > "$1/ms"\nsleep 0.05\necho "small 1.0"\n'


@dataclass(frozen=True)
class Planner:
    """A kind of planner.

    Attributes:
        body: of the study, below its name.
        runs: how a finished one is known: "all" that were planned, "some" of them in their order, or a "search",
            within its budget.
        argv: of the first start, where that is no `run`.
        native: whether the probe of this machine measures, or the one in Python.
        granted: whether an ordinary user may start it.
    """

    body: str
    runs: str = "all"
    argv: tuple[str, ...] = ()
    native: bool = True
    granted: bool = True


BUDGET = 16
_SEARCH = f'[protocol]\nbudget_runs = {BUDGET}\nmax_reruns = 0\nwait_quiet = "1ms"\ntimeout = "10s"\n'
PLANNERS = {
    "grid": Planner(
        f'work = "total"\n{COMMAND}[factors.n]\nlevels = [1, 4]\n[factors.policy]\ncontrol = "policy"\n'
        'levels = ["other", "batch"]\n[baseline]\nn = 1\n[protocol]\nruns = 6\nwarmup_runs = 1\ntimeout = "10s"\n'
    ),
    "masks": Planner(
        f'work = "per-worker"\n{COMMAND}[factors.n]\nlevels = [2]\n[factors.cpus]\ncontrol = "cpus"\nlevels = "1:all"\n'
        '[protocol]\nruns = 9\norder = "declared"\nmax_reruns = 2\ntimeout = "10s"\n'
    ),
    "quota": Planner(
        f'work = "total"\n{COMMAND}[factors.n]\nlevels = [3]\n[factors.quota]\ncontrol = "quota"\n'
        'levels = [0.5, "none"]\n[protocol]\nruns = 9\ntimeout = "10s"\n',
        granted=False,
    ),
    "copies": Planner(
        f'work = "per-worker"\n{COMMAND}copies = "{{n}}"\n[factors.n]\nlevels = [1, 3]\n'
        '[protocol]\nruns = 8\ntimeout = "10s"\n'
    ),
    "steps": Planner(
        f'work = "total"\n{COMMAND}setup = ["sleep", "0.05"]\nprepare = ["touch", "made"]\ncleanup = ["rm", "made"]\n'
        '[factors.n]\nlevels = [1, 4]\n[protocol]\nruns = 8\ntimeout = "10s"\n'
    ),
    "precision": Planner(
        f'work = "total"\n{COMMAND}[factors.n]\nlevels = [4, 8]\n'
        '[protocol]\nruns = 12\nprecision = "5%"\ntimeout = "10s"\n',
        runs="some",
    ),
    "effective-cpus": Planner(
        f'question = "effective-cpus"\nwork = "total"\n{COMMAND}[factors.n]\nlevels = [4]\n[factors.cpus]\n'
        f'control = "cpus"\nlevels = "1:all"\n{_SEARCH}',
        runs="search",
    ),
    "cliff": Planner(
        f'question = "cliff"\nwork = "total"\n{COMMAND}[factors.n]\nlevels = "1:24"\n{_SEARCH}', runs="search"
    ),
    "break-even": Planner(
        f'question = "break-even"\nwork = "total"\n[workload]\ncommand = ["./work", "{{n}}", "{{version}}"]\n'
        '[factors.version]\nlevels = ["one", "other"]\n[factors.n]\nlevels = "1:8"\nrole = "size"\n'
        f'[baseline]\nversion = "one"\n{_SEARCH}',
        runs="search",
    ),
    "build": Planner(
        'work = "total"\n[workload]\nuse = "made"\n[factors.n]\nlevels = [1, 4]\n'
        '[protocol]\nruns = 8\ntimeout = "10s"\n'
    ),
    "measure": Planner(
        "", argv=("measure", "--threads", "1,4", "--runs", "8", "-o", "{results}", "--", "./work", "{{threads}}")
    ),
    "python probe": Planner(
        f'work = "total"\n{COMMAND}[factors.n]\nlevels = [1, 4]\n[protocol]\nruns = 4\ntimeout = "10s"\n', native=False
    ),
}


def granted(nobody: bool) -> list[str]:
    """Names of those that a user may start here."""
    quotas = not nobody and find_quota_refusal() is None
    return [name for name, planner in PLANNERS.items() if planner.granted or quotas]


def write(name: str, place: Place) -> str:
    """Write the study and what it starts into the home of a case; the program that measures for it."""
    planner = PLANNERS[name]
    files = {"work": WORK, "degraded/python_probe": DEGRADED.format(python=sys.executable)}
    files |= {"made/workload.toml": WORKLOAD, "made/main.c": MAIN, "made/fetch.sh": FETCH}
    files["study.toml"] = HEAD.format(name=name.replace(" ", "-")) + planner.body
    for path, text in files.items():
        file = place.home / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
    native = native_probe() if planner.native else None
    return native or str(place.home / "degraded" / "python_probe")


def argv(name: str, results: Path, begun: bool) -> list[str]:
    """The command of a start: the first one, or one that goes on."""
    first = PLANNERS[name].argv
    if first and not begun:
        return [word.format(results=results) for word in first]
    study = str(results / "study.toml") if first else "study.toml"
    return ["run", study, "-o", str(results), *(["--resume"] if begun else [])]
