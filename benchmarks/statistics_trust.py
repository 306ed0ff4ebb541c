"""Is a healthy study believed, a slowed one doubted, and is a figure that is not marked within the stated error?

Runs of a second on a virtual machine, from which the host takes time in ticks of 10 ms. What it takes makes a run
longer by more than itself, for the host is busy then. Disturbed runs are repeated once, as a study does.
"""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from statistics_common import Case, Measure, main, share

from scalograph.findings import table
from scalograph.protocol.findings import Findings
from scalograph.questions.assemble import findings
from scalograph.study.identity import dump_study
from scalograph.study.load import parse

TICK_NS = 10_000_000
SIZES = (1, 3, 10, 46, 138)
_STUDY = 'version = 1\nname = "s"\ntitle = "S"\nwork = "total"\nseed = {seed}\n[workload]\ncommand = ["./p", "{{x}}"]\n'
_STUDY += "[factors.x]\nlevels = [{levels}]\n[protocol]\nruns = {runs}\n"


@dataclass(frozen=True)
class Machine:
    """What happens to runs.

    Attributes:
        noise: standard deviation of log times.
        stolen: mean share of a run's time that the host takes; of single runs exponential.
        costs: by how much a run is longer, over what was taken.
        slowed: share of runs that are slower by `by`, and nothing tells which.
        by: as a log.
    """

    noise: float = 0.03
    stolen: float = 0.005
    costs: float = 2.4
    slowed: float = 0.0
    by: float = 0.0


def study(rng: np.random.Generator, machine: Machine, n: int, runs: int) -> Findings:
    """The findings of a study of n configurations; the truth of each is one second."""
    head = parse(_STUDY.format(seed=int(rng.integers(1 << 30)), runs=runs, levels=str([*range(n)])[1:-1]))
    design = {"configurations": [{"x": x} for x in range(n)], "runs": [runs] * n}
    lines: list[dict[str, Any]] = [
        {"event": "study", "at": "2026-01-01T00:00:00Z", "protocol": 1, "scalograph": "0", "seed": 0,
         "study": dump_study(head), "study_hash": "h", "machine": {}, "design": design}
    ]  # fmt: skip
    for block in range(runs):
        for x in rng.permutation(n).tolist():
            for again in range(2):
                run, lost = _run(rng, machine)
                lines.append(
                    {"event": "run", "at": "2026-01-01T00:00:00Z", "run": f"b{block}-{x}-{again}", "block": block,
                     "configuration": {"x": x}, "replicate": block + runs * again, "warmup": False, "record": run}
                )  # fmt: skip
                if not lost:
                    break
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "journal.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return findings(table.load(file))


def _run(rng: np.random.Generator, machine: Machine) -> tuple[dict[str, Any], bool]:
    """A record, and whether it is sure to be judged disturbed."""
    taken = rng.exponential(machine.stolen)
    slow = machine.by * (rng.random() < machine.slowed)
    wall = int(1e9 * np.exp(machine.noise * rng.standard_normal() + slow) * (1 + machine.costs * taken))
    stolen = int(taken * wall / TICK_NS + rng.random()) * TICK_NS
    copy = {"copy": 0, "command": 0, "pid": 1, "exit_code": 0, "signal": None, "start_ns": 0, "end_ns": wall,
            "in_force": {"cpus": [0], "policy": "other", "priority": 0, "nice": 0}}  # fmt: skip
    figures = {"status": "ok", "reason": None, "wall_ns": wall, "wall_source": "kernel", "gate_ns": 0,
               "wall_outer_ns": wall, "cpu_ns": wall - stolen, "user_ns": wall - stolen, "system_ns": 0,
               "cpu_source": "records", "neighbor_ns": 0, "steal_ns": stolen, "worst_steal_ns": stolen,
               "per_cpu_ns": [wall - stolen], "degraded": []}  # fmt: skip
    header = {"protocol": 1, "probe": "0", "kind": "native", "containment": "best effort", "cgroup": None,
              "backend": "kernel", "degraded": []}  # fmt: skip
    record = {"header": header, "copies": [copy], "iterations": [], "values": [], "timeline": None, "run": figures}
    return record, stolen >= 3 * TICK_NS and stolen >= 0.02 * wall


def doubted(machine: Machine, n: int, runs: int) -> Measure:
    """Share of studies that are not believed."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        n_studies = max(20, n_cases // n)
        found = [study(rng, machine, n, runs).trust for _ in range(n_studies)]
        whys = [trust.sentence for trust in found if trust.level != "reliable"]
        return share(len(whys), n_studies, whys[0] if whys else "")

    return measure


def off(machine: Machine, n: int, runs: int) -> Measure:
    """Share of unmarked figures that are off by more than their interval and the stated error."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        wrong = every = 0
        stated = []
        for _ in range(max(20, n_cases // n)):
            found = study(rng, machine, n, runs)
            if (percent := found.trust.error_percent) is None:
                continue
            stated.append(percent)
            for point in found.curves[0].points:
                low, high = (getattr(point.responses["wall"].estimate, end) for end in ("low", "high"))
                every += not point.doubt
                wrong += not point.doubt and not low / (1 + percent / 100) <= 1 <= high * (1 + percent / 100)
        told = f"+-{np.mean(stated):.2g}% stated" if stated else "never stated"
        return share(wrong, max(every, 1), f"{told}, {every} figures")

    return measure


def cases() -> Iterator[Case]:
    """By number of configurations; then by what the host takes and what that costs."""
    for stolen in (0.005, 0.02):
        for n in SIZES:
            for runs in (3, 5, 10):
                name = f"false doubt: {100 * stolen:g}% stolen, {n} configurations, {runs} runs"
                yield Case(name, (0, 5), doubted(Machine(stolen=stolen), n, runs))
    for n in SIZES:
        slow = Machine(slowed=0.5, by=float(np.log(1.3)), noise=0.02)
        yield Case(f"doubt: half of the runs slowed by 30%, {n} configurations", (80, 100), doubted(slow, n, 10))
    for stolen in (0.002, 0.005, 0.02):
        for costs in (1.0, 2.4, 6.0):
            machine = Machine(stolen=stolen, costs=costs)
            yield Case(f"off by more: {100 * stolen:g}% stolen at {costs:g} times", (0, 5), off(machine, 20, 5))


if __name__ == "__main__":
    main("statistics_trust", list(cases()), n_long=2_000, n_quick=100)
