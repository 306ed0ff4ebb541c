"""The document `explanation.json` beside a journal: the CPU time that scaling loses between two levels, by cause."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from scalograph.protocol.facts import Value
from scalograph.protocol.plain import Level, Text
from scalograph.protocol.saved_documents import read_beside

FILE = "explanation.json"
PART = "explanation"  # of the findings
MAX_BYTES = 1 << 20
MAX_PARTS = 40
MAX_STACKS, MAX_FRAMES = 200, 32
# Below this share of a level's CPU time nothing is lost that anybody would look for.
LEAST_LOSS = 0.05
MOST_OPEN = 0.25  # of the CPUs: a loss that may be larger is not excluded
# A part below this share of the loss is omitted.
LEAST_SHARE = 0.01
MARGIN = 0.03  # of the speed, within which a change makes no difference

Name = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class Share(Value):
    """A share of the loss with its interval over runs."""

    value: float
    low: float | None = None
    high: float | None = None


class LossPart(Value):
    """A cause of lost CPU time.

    Attributes:
        kind: what was waited for, as `profile.wait_kinds` names it; `inflation`: CPU time of the program itself.
        what: the function, empty if none is known; `caller` calls it. `on` is the class of a Java monitor.
        service: the process of the study that it is in; `waiter` is the one that waits for it.
        before_s: CPU seconds per unit of work at the first level; `after_s` at the second.
    """

    kind: Name
    what: Annotated[str, StringConstraints(max_length=256)] = ""
    caller: Annotated[str, StringConstraints(max_length=256)] = ""
    on: Annotated[str, StringConstraints(max_length=256)] = ""
    service: Annotated[str, StringConstraints(max_length=64)] = ""
    waiter: Annotated[str, StringConstraints(max_length=64)] = ""
    share: Share
    before_s: float
    after_s: float


class StackLoss(Value):
    """CPU seconds per unit of work of one stack at both levels; `frames` begin with the outermost function."""

    kind: Name
    service: Annotated[str, StringConstraints(max_length=64)] = ""
    frames: tuple[Annotated[str, StringConstraints(max_length=256)], ...] = Field(max_length=MAX_FRAMES)
    before_s: float
    after_s: float


class Efficiency(Value):
    """The factors of efficiency of a level, as the POP project of HPC centers multiplies them; each is 1 at best.

    Attributes:
        load_balance: mean CPU time of the busiest tasks, one for each CPU, over that of the busiest one.
        communication: CPU time of the busiest task over the time of the run: serialization and transfer.
        computation: CPU time per unit of work at the first level over that at this one.
    """

    load_balance: float
    communication: float
    computation: float


class Trial(Value):
    """One change of the second level's command, compared in pairs; `speed` is above 1 where it helps."""

    name: Text
    change: Text
    speed: Share
    n_pairs: int = Field(ge=0)
    outcome: Literal["confirmed", "not the cause", "slower", "inconclusive"]


class Explanation(Value):
    """The document.

    Attributes:
        cpus: that each of the two levels may use.
        capacity_s: CPU seconds per unit of work at each level: CPUs times time.
        lost_cpus: of those of the second level, how many do not do what they did at the first.
        overhead: time per unit of work with the recorder over that without it, at each level.
    """

    protocol: Literal[2] = 2
    study: Name
    study_hash: Annotated[str, StringConstraints(min_length=1, max_length=128)]
    at: Annotated[str, StringConstraints(max_length=64)] = Field(description="UTC, RFC 3339")
    factor: Name
    levels: tuple[Level, Level]
    configuration: dict[Name, Level] = Field(default={}, max_length=16)
    cpus: tuple[float, float]
    n_runs: tuple[int, int]
    capacity_s: tuple[float, float]
    gain: float = Field(ge=0, description="work per time at the second level over that at the first")
    lost_cpus: Share
    parts: tuple[LossPart, ...] = Field(default=(), max_length=MAX_PARTS)
    unexplained: Share | None = None
    stacks: tuple[StackLoss, ...] = Field(default=(), max_length=MAX_STACKS, description="the largest first")
    ruled_out: tuple[Name, ...] = ()
    not_visible: tuple[Text, ...] = ()
    trials: tuple[Trial, ...] = Field(default=(), max_length=16)
    overhead: tuple[float, float] = (1.0, 1.0)
    efficiency: tuple[Efficiency, Efficiency] | None = None
    warnings: tuple[Text, ...] = Field(default=(), max_length=64)

    @property
    def scales(self) -> bool:
        """Return whether nothing worth naming is lost between the levels: runs that differ much do not show that."""
        is_known = self.lost_cpus.high is None or self.lost_cpus.high < MOST_OPEN * self.cpus[1]
        return self.lost_cpus.value < LEAST_LOSS * self.cpus[1] and is_known

    @property
    def is_inconclusive(self) -> bool:
        """Return whether the runs differ too much to show a loss."""
        return not self.scales and self.lost_cpus.low is not None and self.lost_cpus.low <= 0


def read_explanation(folder: Path, study_hash: str) -> Explanation | None:
    """Read the explanation in a results folder; None if there is none.

    Raises ProtocolError: it cannot be read, is too large, none, or that of another study.
    """
    return read_beside(Explanation, folder / FILE, MAX_BYTES, "explain", study_hash)
