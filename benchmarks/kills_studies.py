"""The studies that the campaign starts and kills: one for each kind of planner, with runs of a few milliseconds."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from kills_places import SOURCES, Place, native_probe

from scalograph.control.capacity import find_quota_refusal
from scalograph.run.build import build
from scalograph.study.workload import load_workload
from scalograph.system.platform_facts import find_jvms

# How long a run takes, about.
RUN_S = 0.012
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
# Answers two clients, each in a thread.
SERVER = """\
import socket, sys, threading

def answer(client):
    while client.recv(4096):
        client.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")

server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    threading.Thread(target=answer, args=server.accept()[:1], daemon=True).start()
"""
CATALOGUE = """\
version = 1
[[studies]]
id = "P0"
name = "made"
title = "How long does it work?"
year = 1999
parts = [{ study = "part" }]
[studies.claims]
P0-1 = "table 1"
[[studies.open]]
id = "P0-1"
sentence = "It works for longer on two machines."
decision = "not testable here"
why = "it compares two machines"
"""
FETCH = '#!/bin/sh\nsleep 0.05\necho 1 > "$1/ms"\nsleep 0.05\necho "small 1.0"\n'


@dataclass(frozen=True)
class Planner:
    """A kind of planner.

    Attributes:
        body: of the study, below its name.
        runs: how a finished one is known: "all" that were planned, "some" of them in their order, "pairs", which may
            be more than planned, or a "search", within its budget.
        argv: of the first start, where that is no `run`.
        again: of one that goes on, where that is no `run --resume`.
        run_s: how long a run takes, about.
        native: whether the probe of this machine measures, or the one in Python.
        granted: whether an ordinary user may start it.
        n_commits: of a repository in its home, where it searches one.
    """

    body: str
    runs: str = "all"
    argv: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    run_s: float = RUN_S
    native: bool = True
    granted: bool = True
    n_commits: int = 0


BUDGET, COMMITS = 16, 6
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
    "best": Planner(
        f'question = "best"\nwork = "total"\n{COMMAND}[factors.n]\nlevels = "1:24"\n{_SEARCH}', runs="search"
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
    "load": Planner(
        "",
        argv=(
            "load",
            "--serve",
            "python3 server.py {{port}}",
            "--get",
            "http://127.0.0.1:{{port}}/",
            "--clients",
            "1,2",
            "--ramp",
            "20ms",
            "--steady",
            "80ms",
            "--warmup",
            "1",
            "--runs",
            "3",
            "-o",
            "{results}",
        ),
        run_s=0.25,
    ),
    "ab": Planner(
        "",
        runs="pairs",
        argv=("ab", "--a", "1", "--b", "4", "--pairs", "10", "-o", "{results}", "--", "./work", "{{version}}"),
    ),
    "find": Planner(
        "",
        runs="search",
        argv=(
            "find",
            "cliff",
            "--factor",
            "n",
            "--range",
            "1:24",
            "--max-runs",
            f"{BUDGET}",
            "--max-reruns",
            "0",
            "-o",
            "{results}",
            "--",
            "./work",
            "{{n}}",
        ),
    ),
    "commit": Planner(
        "",
        runs="search",
        argv=(
            *("find", "commit", "--good", f"HEAD~{COMMITS - 1}", "--build", "sleep 0.05", "--max-runs", f"{BUDGET}"),
            *("--max-reruns", "0", "-o", "{results}", "--", "{{version}}/work", "3"),
        ),
        n_commits=COMMITS,
    ),
    "reproduce": Planner(
        f'work = "total"\n{COMMAND}[factors.n]\nlevels = [1, 4]\n[protocol]\nruns = 6\ntimeout = "10s"\n',
        argv=("reproduce", "--catalogue", "catalogue.toml", "-o", "{results}"),
        again=("reproduce", "--resume", "-o", "{results}"),
    ),
    "python probe": Planner(
        f'work = "total"\n{COMMAND}[factors.n]\nlevels = [1, 4]\n[protocol]\nruns = 4\ntimeout = "10s"\n', native=False
    ),
}


def granted(nobody: bool) -> list[str]:
    """Names of those that a user may start here."""
    quotas = not nobody and find_quota_refusal() is None
    compiled = shutil.which("cargo") is not None
    return [name for name, planner in PLANNERS.items() if (planner.granted or quotas) and (compiled or name != "load")]


def fill_cache(cache: Path) -> None:
    """Make what all cases have in their caches: JVMs, and the compiled driver, with a compiler of this version."""
    find_jvms(cache=cache / "jvms")
    cargo = shutil.which("cargo")
    folder = SOURCES.parent / "workloads" / "load"
    if cargo and (built := build(folder, load_workload(folder))):
        shutil.copytree(built, cache / "builds" / built.name)
        version = subprocess.run([cargo, "--version"], capture_output=True, text=True, check=True).stdout.strip()
        (cache / "bin").mkdir()
        (cache / "bin" / "cargo").write_text(f"#!/bin/sh\necho '{version}'\n")
        (cache / "bin" / "cargo").chmod(0o755)


def write(name: str, place: Place) -> str:
    """Write the study and what it starts into the home of a case; the program that measures for it."""
    planner = PLANNERS[name]
    files = {"work": WORK, "degraded/python_probe": DEGRADED.format(python=sys.executable)}
    files |= {"made/workload.toml": WORKLOAD, "made/main.c": MAIN, "made/fetch.sh": FETCH}
    files |= {"server.py": SERVER, "catalogue.toml": CATALOGUE, "part/work": WORK}
    files["part/study.toml" if planner.again else "study.toml"] = (
        HEAD.format(name="part" if planner.again else name.replace(" ", "-")) + planner.body
    )
    for path, text in files.items():
        file = place.home / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
    for number in range(planner.n_commits):
        _commit(place.home, number)
    native = native_probe() if planner.native else None
    return native or str(place.home / "degraded" / "python_probe")


def _commit(home: Path, number: int) -> None:
    """Commit the program, each time another one; the first time into a new repository."""
    (home / "work").write_text(f"{WORK}# {number}\n")
    identity = ("-c", "user.name=made", "-c", "user.email=made")
    begun = [("init", "-q")] if not number else []
    for words in (*begun, ("add", "work"), ("commit", "-q", "-m", f"Change {number}")):
        subprocess.run(["git", "-C", home, *identity, *words], check=True)


def argv(name: str, results: Path, begun: bool) -> list[str]:
    """The command of a start: the first one, or one that goes on."""
    planner = PLANNERS[name]
    if words := planner.again if begun else planner.argv:
        return [word.format(results=results) for word in words]
    study = str(results / "study.toml") if planner.argv else "study.toml"
    return ["run", study, "-o", str(results), *(["--resume"] if begun else [])]


def folder_of(name: str, results: Path) -> Path:
    """The folder with the journal: of a reproduction, that of its part."""
    return results / "part" if PLANNERS[name].again else results
