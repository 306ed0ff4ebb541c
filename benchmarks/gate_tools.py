"""Gates, each as its manual says: is the second of two builds slower than the first? As many runs of each by all."""

import ast
import json
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command_common import ENVIRONMENT, ROOT, command
from probe_common import HERE, PROBE
from verdict_common import launch
from verdict_tools import INSTALL, pyperf_mean

RUNS = 10
SECONDS = 0.1
MORE = 0.05
WORDS = ("passed", "faster", "slower", "inconclusive")
LOCK = ("--wait-lock", "10min")
# Answered; more than half of the runs disturbed; slower; inconclusive.
OUR_CODES = (0, 5, 7, 8)
# Where the imports of `ab`, `measure` and `gate` begin, and those of their answers, which are named by strings.
ASKED = (
    *(f"scalograph.cli.{name}_command" for name in ("ab", "gate", "measure")),
    "scalograph.questions.scaling",
    "scalograph.questions.versions",
)


@dataclass(frozen=True, slots=True)
class GateAnswer:
    """What a gate says.

    Attributes:
        said: one of `WORDS`; none where the tool gives a ratio and leaves the threshold to its user.
        ratio: of the second over the first, as it tells it; None where it tells none.
        names_ab: whether it names `scalograph ab`, with which two builds are compared beside others.
        ends: of the 95% interval of the ratio; None where it tells none.
    """

    said: str | None
    ratio: float | None
    names_ab: bool = False
    ends: tuple[float, float] | None = None


# Its folder, and the names of the two builds there.
GateTool = Callable[[Path, str, str], GateAnswer]


# Builds of 0.1 s: a loop that needs no cache, and one that others on its core or cache slow down; and turns of a trial.
PROGRAMS = {"loop": ("gate_work.c", 20_000_000), "mix": ("gate_mix.c", 100)}


def builds(folder: Path) -> None:
    """Compile `base` of `SECONDS` of each program, and `more` with so much more work; `same` is a copy of `base`."""
    for name, (source, trial) in PROGRAMS.items():
        if (folder / name).exists():
            continue
        compiled(folder / name / "trial", source, TURNS=trial)
        argv = [str(folder / name / "trial" / "work")]
        turns = SECONDS * trial / min(launch(argv)[1] for _ in range(7))
        compiled(folder / name / "base", source, TURNS=int(turns))
        compiled(folder / name / "more", source, TURNS=round(turns * (1 + MORE)))
        shutil.copytree(folder / name / "base", folder / name / "same")


def compiled(folder: Path, source: str, **macros: object) -> None:
    """Compile a source of this folder to `folder`/work."""
    compiler = shutil.which("cc") or sys.exit("cc: found none, expected a C compiler; install one")
    folder.mkdir(parents=True)
    defined = [f"-D{name}={value}" for name, value in macros.items()]
    subprocess.run([compiler, "-O2", "-pthread", *defined, "-o", folder / "work", HERE / source], check=True)


def ab(folder: Path, base: str, head: str) -> GateAnswer:
    """`scalograph ab`: pairs in random order."""
    return _told([run_command(argv, folder, OUR_CODES) for argv in ab_commands(base, head)])


def ab_commands(base: str, head: str) -> list[list[str]]:
    """Return its command line."""
    options = ["--a", base, "--b", head, "--pairs", str(RUNS), "--json", "-o", "results", *LOCK]
    return [command("ab", *options, "--", "./{version}/work")]


def gate(folder: Path, base: str, head: str) -> GateAnswer:
    """`scalograph measure` of the one, then of the other, and `scalograph gate`, as with a kept result."""
    return _told([run_command(argv, folder, OUR_CODES) for argv in gate_commands(base, head)])


def gate_commands(base: str, head: str) -> list[list[str]]:
    """Return the three command lines."""
    measured = [
        command("measure", "--runs", str(RUNS), "-o", f"results/{name}", *LOCK, "--", f"./{name}/work")
        for name in (base, head)
    ]
    options = [f"results/{head}", "--against", f"results/{base}", "--format", "json"]
    return [*measured, command("gate", *options)]


def hyperfine(folder: Path, base: str, head: str) -> GateAnswer:
    """Ratio of the means; which of them fails a build is its user's threshold."""
    asked = ["hyperfine", "-N", "--style", "none", "--runs", str(RUNS), "--export-json", "hyperfine.json"]
    run_command([*asked, f"./{base}/work", f"./{head}/work"], folder, (0,))
    first, second = (one["mean"] for one in json.loads((folder / "hyperfine.json").read_text())["results"])
    return GateAnswer(None, second / first)


def pyperf(folder: Path, base: str, head: str) -> GateAnswer:
    """`pyperf command` of each, a process for each run, and `pyperf compare_to`: a t test."""
    means = []
    for name in (base, head):
        (folder / f"{name}.json").unlink(missing_ok=True)
        asked = ["pyperf", "command", "--processes", str(RUNS), "--values", "1", "--warmups", "0", "--loops", "1"]
        run_command([*asked, "--output", f"{name}.json", "--", f"./{name}/work"], folder, (0,))
        means.append(pyperf_mean((folder / f"{name}.json").read_text()))
    told = run_command(["pyperf", "compare_to", f"{base}.json", f"{head}.json"], folder, (0,))
    return GateAnswer(pyperf_said(told), means[1] / means[0])


def pyperf_said(told: str) -> str:
    """What `pyperf compare_to` prints, in one of our words; a difference that is not significant passes."""
    return next((word for word in ("slower", "faster") if f"x {word}" in told), "passed")


TOOLS: Mapping[str, GateTool] = {"ab": ab, "gate": gate, "hyperfine": hyperfine, "pyperf": pyperf}


def missing() -> list[str]:
    """Tools that are not on PATH, in words, with the command that installs each."""
    wanted = [name for name in TOOLS if name in INSTALL and not shutil.which(name)]
    return [f"{name} is left out, it is not on PATH: {INSTALL[name]}" for name in wanted]


def at_hand() -> dict[str, GateTool]:
    """Those of `TOOLS` that can be run here."""
    return {name: tool for name, tool in TOOLS.items() if name not in INSTALL or shutil.which(name)}


def imported_sources() -> set[Path]:
    """Return the files of the package that the commands may import, by their text: the same ones each time."""
    house = runpy.run_path(str(ROOT / "scripts" / "house.py"))
    files = house["modules"](ROOT / "src")
    trees = {name: ast.parse(file.read_bytes()) for name, file in files.items()}
    found: set[str] = set()
    left = [name for name in files if name.startswith(ASKED)]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += house["imports"](trees[name], trees.keys()) | house["by_string"](name, trees)
    return {files[name] for name in found}


def _told(printed: list[str]) -> GateAnswer:
    document: dict[str, Any] = json.loads(printed[-1])
    # `ab` has one comparison, `gate` a list of them.
    made = document if "configurations" in document else document["results"][0]
    ratio = made["configurations"][0]["ratio"] if made["configurations"] else {"value": None, "low": None}
    names_ab = re.search(r"scalograph ab\b", printed[-1]) is not None
    said = "passed" if document["answer"] == "equivalent" else document["answer"]
    return GateAnswer(said, ratio["value"], names_ab, None if ratio["low"] is None else (ratio["low"], ratio["high"]))


def run_command(argv: list[str], folder: Path, codes: tuple[int, ...]) -> str:
    """Return the output of a command that must end with one of these exit codes."""
    env = {**ENVIRONMENT, "SCALOGRAPH_PROBE": str(Path(PROBE).resolve())}
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        sys.exit(f"{' '.join(argv)}: exit code {done.returncode}, expected one of {codes}\n{done.stderr}")
    return done.stdout
