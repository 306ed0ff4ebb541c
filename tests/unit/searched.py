"""A study that is searched, from its file to its findings, on a machine that is a function of the run."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scalograph.cli import last_stops
from scalograph.design.planner import Run
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.findings import Findings
from scalograph.run import session
from scalograph.run.session import Conducted, Plan
from scalograph.study.declare import declare
from scalograph.verdict.judge import Judgment


@dataclass(kw_only=True)
class Simulated:
    """Progress that shows nothing, and the runs that were made; what measures is added."""

    made: list[Run] = field(default_factory=list)

    def asked(self, run: Run, n_left: int) -> None: ...

    def told(self, run: Run, found: Mapping[str, Any], judgment: Judgment) -> None: ...

    def noted(self, text: str) -> None: ...

    def measure(self, run: Run) -> Mapping[str, Any]:
        raise NotImplementedError


def planned(folder: Path, text: str, facts: HostFacts) -> Plan:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.toml").write_text(text)
    return session.plan(declare(folder), facts)


def run(folder: Path, machine: Simulated, text: str, facts: HostFacts) -> tuple[Conducted, Findings]:
    plan = planned(folder / "study", text, facts)
    made = session.begin(plan, folder / "results")
    done = session.conduct(plan, made, machine, "probe", lambda n, planner: nullcontext(machine), None)
    return done, last_stops.analyze(made.folder)[0]
