"""What a shipped study decides of its paper's claims when its runs come out as given: neither machine nor clock.

The figures of a configuration are given by the names of the study's responses, in their units. Where a configuration
has none, it was not run.

    def figures(configuration):
        return {"wall": 43.0 / min(configuration["threads"], configuration["cpus"])}

    assert decisions("thread-scaling-paper", figures)["S0-2"] == "holds"
"""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from scalograph.design.resolve import assumed_host
from scalograph.findings.table import load
from scalograph.protocol.findings import Findings
from scalograph.protocol.published_claim import DecidedClaim, Decision
from scalograph.protocol.record import RunFigures
from scalograph.questions.assemble import findings
from scalograph.run.plan import Plan, plan
from scalograph.study.declare import declare, declare_shipped
from scalograph.study.model import Study
from scalograph.study.scalars import Level
from scalograph.study.shipped import shipped_study
from tests.kit.records import read, recorded

# A configuration to what its runs show: the name of a response -> its figure. None: it was not run.
Figures = Callable[[Mapping[str, Level]], Mapping[str, float] | None]
MOST_RUNS = 4000


@cache
def printed_rows(study: str) -> list[dict[str, str]]:
    """The rows that a paper printed, as the study that ships has them."""
    with (shipped_study(study) / "published.csv").open(newline="") as stream:
        return [*csv.DictReader(stream)]


def decisions(name: str | Path, figures: Figures, **options: Any) -> dict[str, Decision]:
    """The decision on each claim of a study, by its identifier; options as for `decided`."""
    return {name: claim.decision for name, claim in decided(name, figures, **options).items()}


def holding(shown: Mapping[str, Decision], decision: Decision = "holds") -> set[str]:
    """The claims with a decision."""
    return {name for name, one in shown.items() if one == decision}


def decided(name: str | Path, figures: Figures, **options: Any) -> dict[str, DecidedClaim]:
    """The claims of a study, by identifier; options as for `found`."""
    return {claim.id: claim for claim in found(name, figures, **options).published_claims}


def found(
    name: str | Path, figures: Figures, n_cpus: int = 2, quick: bool = False, noise: float = 0.002, **machine: Any
) -> Findings:
    """The findings of a study whose runs came out as given.

    Args:
        name: of a study that ships, or the folder of another.
        figures: what the runs of a configuration show.
        n_cpus: of the assumed machine, which grants everything.
        quick: its short form.
        noise: standard deviation between runs, as a share.
        machine: further facts of it.
    """
    declared = declare(name, quick) if isinstance(name, Path) else declare_shipped(name, quick)
    planned = plan(declared, assumed_host(declared.study, n_cpus), starts=False)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "journal.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in _lines(planned, figures, n_cpus, noise)))
        table = load(file, keep_observations=False)
        table.machine = {**table.machine, "architecture": "x86_64", **machine}
        return findings(table)


def _lines(planned: Plan, figures: Figures, n_cpus: int, noise: float) -> Iterator[dict[str, Any]]:
    """The journal of a session on a machine that is quiet."""
    planner, rng = planned.runs.planner(), np.random.default_rng(1)
    yield {"event": "study", "at": "2026-01-01T00:00:00.000Z", **planned.first_event("0.1.0")}
    for _ in range(MOST_RUNS):
        if (run := planner.ask()) is None:
            return
        shown = figures(run.configuration)
        factor = float(np.exp(noise * rng.standard_normal()))
        made = _record(planned.design.study, {name: factor * value for name, value in (shown or {}).items()}, n_cpus)
        if shown is None:
            made = recorded(status="failed", reason="exit code 69")
        yield {
            "event": "run", "at": "2026-01-01T00:00:00.000Z", "run": run.run, "block": run.block,
            "configuration": dict(run.configuration), "replicate": run.replicate, "warmup": run.warmup, "record": made,
        }  # fmt: skip
        planner.tell(run, read(made), "clean" if shown else "failed")
    raise AssertionError(f"the study asks for more than {MOST_RUNS} runs")


def _record(study: Study, shown: Mapping[str, float], n_cpus: int) -> dict[str, Any]:
    """What the probe would have written of a run that shows these figures."""
    unknown = shown.keys() - study.responses
    assert not unknown, f"no response of the study: {sorted(unknown)}"
    of = {study.responses[name].source: value for name, value in shown.items()}
    wall = of.get("window.wall", of.get("run.wall", 1.0))
    cpu = of.get("window.cpu", of.get("run.cpu", of.get("run.cpu_percent", 100.0) / 100 * wall))
    n = study.protocol.iterations
    values = {source.removeprefix("value."): [value] for source, value in of.items() if source.startswith("value.")}
    windows = [(wall, cpu, 1)] * n if any(r.source.startswith("window.") for r in study.responses.values()) else []
    share = min(of.get("run.busiest_cpu_share", 1.0), 1.0)
    made = recorded(
        n * wall, n * cpu, cpus=tuple(range(n_cpus)), iterations=windows, values=values,
        per_cpu_s=(n * cpu * share, n * cpu * (1 - share))[:n_cpus],
    )  # fmt: skip
    for source, value in of.items():
        made["run"] |= _figure(source, value)
    return made


def _figure(source: str, value: float) -> dict[str, Any]:
    """A figure of the whole run as its record has it; nothing for those that are made of others."""
    room, _, name = source.partition(".")
    if room != "run" or name in ("wall", "cpu"):
        return {}
    fields = {f"{name}_ns": 1e9, f"{name}_bytes": 1.0, name: 1.0}
    return {field: round(value * scale) for field, scale in fields.items() if field in RunFigures.__struct_fields__}
