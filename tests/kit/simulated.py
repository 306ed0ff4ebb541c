"""A study that is searched, from its file to its findings, on a machine that is a function of the run."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scalograph.cli import analyze_steps
from scalograph.protocol import journal
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.findings import Findings
from scalograph.protocol.record import Record
from scalograph.protocol.results import Results
from scalograph.questions.break_even.document import BreakEven
from scalograph.questions.cliff.document import Cliffs
from scalograph.questions.effective_cpus.document import EffectiveCpus, EffectiveGroups
from scalograph.run.plan import Plan
from scalograph.run.session import Session, begin, run_session
from scalograph.study.levels import Configuration, Run
from scalograph.verdict.judge import Judgment
from tests.kit import records
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

    def phase_began(self, name: str) -> None: ...

    def run_started(self, run: Run, n_left: int) -> None: ...

    def run_finished(self, run: Run, found: Mapping[str, Any], judgment: Judgment) -> None: ...

    def run_warned(self, text: str, about: str = "") -> None: ...

    def measure(self, run: Run) -> Record:
        raise NotImplementedError


@dataclass
class Machine(Simulated):
    """A machine on which the levels of a run decide how long it takes, but for a little noise.

    seconds: of a configuration. fails: whether its runs do. disturbed: numbers of runs, from 1, of whose CPU time a
    neighbor takes half. A subclass whose records tell more overrides `record`.
    """

    seconds: Callable[[Configuration], float]
    fails: Callable[[Configuration], bool] = lambda levels: False
    noise: float = 0.02
    disturbed: Collection[int] = ()

    def measure(self, run: Run) -> Record:
        self.made.append(run)
        n, status = len(self.made), "failed" if self.fails(run.configuration) else "ok"
        wall = self.seconds(run.configuration) * math.exp(self.noise * math.sin(12.9898 * n))
        return self.record(run.configuration, wall, status=status, neighbor_s=0.5 * wall * (n in self.disturbed))

    def record(self, levels: Configuration, wall: float, **figures: Any) -> Record:
        return records.record(wall, wall, cpus=(0, 1), **figures)


def run(folder: Path, machine: Simulated, text: str, facts: HostFacts | int = 1) -> tuple[Session, Findings]:
    """Run a study on a machine that is a function of the run, and analyze its journal."""
    planned = plan_of(folder / "study", text, facts)
    return _analyzed(planned, begin(planned, folder / "results"), machine, None)


def resume(
    before: Session, machine: Simulated, text: str, facts: HostFacts | int = 1, accepted: Sequence[str] = ()
) -> tuple[Session, Findings]:
    """Go on with a session that ended early; `accepted` are differences of the study that may be."""
    planned = plan_of(before.results.folder.parent / "study", text, facts)
    return _analyzed(planned, before.results, machine, [*accepted])


def _analyzed(
    planned: Plan, results: Results, machine: Simulated, accepted: list[str] | None
) -> tuple[Session, Findings]:
    done = run_session(planned, results, machine, "probe", lambda *_: nullcontext(machine), accepted)
    return done, analyze_steps.analyze(results.folder)[0]


def notes_of(done: Session) -> list[str]:
    """Return the notes of a journal, in order."""
    return [event["text"] for event in journal.read(done.results.journal) if event["event"] == "note"]
