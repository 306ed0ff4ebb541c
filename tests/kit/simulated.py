"""A study that is searched, from its file to its findings, on a machine that is a function of the run."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scalograph.cli import analyze_steps
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.findings import Findings
from scalograph.protocol.record import Record
from scalograph.questions.break_even.document import BreakEven
from scalograph.questions.cliff.document import Cliffs
from scalograph.questions.effective_cpus.document import EffectiveCpus, EffectiveGroups
from scalograph.run.session import Session, begin, run_session
from scalograph.study.levels import Run
from scalograph.verdict.judge import Judgment
from tests.kit.studies import plan_of


def cliffs_of(found: Findings) -> Cliffs:
    part = found.document("cliff", Cliffs)
    assert part is not None
    return part


def break_even_of(found: Findings) -> BreakEven:
    part = found.document("break-even", BreakEven)
    assert part is not None
    return part


def effective_cpus_of(found: Findings) -> list[EffectiveCpus]:
    part = found.document("effective-cpus", EffectiveGroups)
    return part.groups if part else []


@dataclass(kw_only=True)
class Simulated:
    """Progress that shows nothing, and the runs that were made; what measures is added."""

    made: list[Run] = field(default_factory=list)

    def run_started(self, run: Run, n_left: int) -> None: ...

    def run_finished(self, run: Run, found: Mapping[str, Any], judgment: Judgment) -> None: ...

    def run_warned(self, text: str, about: str = "") -> None: ...

    def measure(self, run: Run) -> Record:
        raise NotImplementedError


def run(folder: Path, machine: Simulated, text: str, facts: HostFacts | int = 1) -> tuple[Session, Findings]:
    """Run a study on a machine that is a function of the run, and analyze its journal."""
    planned = plan_of(folder / "study", text, facts)
    session = begin(planned, folder / "results")
    done = run_session(planned, session, machine, "probe", lambda *_: nullcontext(machine), None)
    return done, analyze_steps.analyze(session.folder)[0]
