"""Gates, each as its manual says: is the second of two builds slower than the first? As many runs of each by all."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command_common import ENVIRONMENT, command
from probe_common import HERE, PROBE
from verdict_tools import INSTALL, pyperf_mean

RUNS = 10
SECONDS = 0.1
MORE = 0.05
WORDS = ("passed", "faster", "slower", "refused")
SAYS = {"equivalent": "passed", "faster": "faster", "slower": "slower", "inconclusive": "refused"}
LOCK = ("--wait-lock", "10min")


@dataclass(frozen=True, slots=True)
class GateAnswer:
    """What a gate says.

    Attributes:
        said: one of `WORDS`; none where the tool gives a ratio and leaves the threshold to its user.
        ratio: of the second over the first, as it tells it; None where it tells none.
    """

    said: str | None
    ratio: float | None


# Its folder, and the names of the two builds there.
GateTool = Callable[[Path, str, str], GateAnswer]


def builds(folder: Path, per_second: float) -> None:
    """Compile `base` of `SECONDS`, and `more` with so much more work; `same` is a copy of `base`. Once in a folder."""
    compiler = shutil.which("cc") or sys.exit("cc: found none, expected a C compiler; install one")
    turns = int(per_second * SECONDS)
    for name, work in (("base", turns), ("more", round(turns * (1 + MORE)))):
        (folder / name).mkdir(exist_ok=True)
        if not (program := folder / name / "work").exists():
            subprocess.run([compiler, "-O2", f"-DTURNS={work}", "-o", program, HERE / "gate_work.c"], check=True)
    (folder / "same").mkdir(exist_ok=True)
    shutil.copy(folder / "base" / "work", folder / "same" / "work")


def ab(folder: Path, base: str, head: str) -> GateAnswer:
    """`scalograph ab`: pairs in random order."""
    options = ["--a", base, "--b", head, "--pairs", str(RUNS), "--json", "-o", "results", *LOCK]
    return _told(_run(command("ab", *options, "--", "./{version}/work"), folder, (0, 7, 8)))


def gate(folder: Path, base: str, head: str) -> GateAnswer:
    """`scalograph measure` of the one, then of the other, and `scalograph gate`, as with a kept result."""
    for name in (base, head):
        options = ["--runs", str(RUNS), "-o", f"results/{name}", *LOCK]
        _run(command("measure", *options, "--", f"./{name}/work"), folder, (0, 5))
    options = [f"results/{head}", "--against", f"results/{base}", "--format", "json"]
    return _told(_run(command("gate", *options), folder, (0, 7, 8)))


def hyperfine(folder: Path, base: str, head: str) -> GateAnswer:
    """Ratio of the means; which of them fails a build is its user's threshold."""
    asked = ["hyperfine", "-N", "--style", "none", "--runs", str(RUNS), "--export-json", "hyperfine.json"]
    _run([*asked, f"./{base}/work", f"./{head}/work"], folder, (0,))
    first, second = (one["mean"] for one in json.loads((folder / "hyperfine.json").read_text())["results"])
    return GateAnswer(None, second / first)


def pyperf(folder: Path, base: str, head: str) -> GateAnswer:
    """`pyperf command` of each, a process for each run, and `pyperf compare_to`: a t test."""
    means = []
    for name in (base, head):
        (folder / f"{name}.json").unlink(missing_ok=True)
        asked = ["pyperf", "command", "--processes", str(RUNS), "--values", "1", "--warmups", "0", "--loops", "1"]
        _run([*asked, "--output", f"{name}.json", "--", f"./{name}/work"], folder, (0,))
        means.append(pyperf_mean((folder / f"{name}.json").read_text()))
    told = _run(["pyperf", "compare_to", f"{base}.json", f"{head}.json"], folder, (0,))
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


def _told(text: str) -> GateAnswer:
    document: dict[str, Any] = json.loads(text)
    # `ab` has one comparison, `gate` a list of them.
    made = document if "configurations" in document else document["results"][0]
    ratios = [one["ratio"]["value"] for one in made["configurations"]]
    return GateAnswer(SAYS[document["answer"]], ratios[0] if ratios else None)


def _run(argv: list[str], folder: Path, codes: tuple[int, ...]) -> str:
    """Output of a command that must end with one of these exit codes."""
    env = {**ENVIRONMENT, "SCALOGRAPH_PROBE": str(Path(PROBE).resolve())}
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        sys.exit(f"{' '.join(argv)}: exit code {done.returncode}, expected one of {codes}\n{done.stderr}")
    return done.stdout
