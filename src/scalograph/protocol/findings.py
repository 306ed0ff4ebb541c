"""What was learned from a study: the document between analysis and report (protocol/findings.md)."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from scalograph.analysis.estimate import Estimate

Level = bool | int | float | str


def _cell(x: Any) -> Any:
    """A cell that was read back; what only resembles an estimate stays as it is."""
    try:
        return _ESTIMATE.validate_python(x) if isinstance(x, dict) else x
    except ValidationError:
        return x


_ESTIMATE = TypeAdapter(Estimate)
Cell = Annotated[Any, BeforeValidator(_cell)]  # a label, a number, a text or an Estimate: `Column.kind` says which
Text = Annotated[str, StringConstraints(max_length=4096)]


class Model(BaseModel):
    """A plain value of the findings document; unknown fields of a later version are ignored."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class FactorDoc(Model):
    """A variable that was set on purpose."""

    name: str
    title: str
    unit: str = ""
    kind: str = "workload"
    control: str | None = None
    levels: list[Level]


class ResponseDoc(Model):
    """What was read from each run."""

    name: str
    title: str
    unit: str = ""
    better: Literal["lower", "higher", "none"] = "lower"


class BaselineDoc(Model):
    """The factor along which speedup is taken, and the level it is taken against."""

    factor: str
    level: Level


class StudyDoc(Model):
    """The study as the report needs it."""

    name: str
    title: str
    question: str
    work: str
    hash: str
    seed: int
    factors: list[FactorDoc]
    responses: list[ResponseDoc]
    baseline: BaselineDoc | None = None


class RunsDoc(Model):
    """How many runs there were, and what became of them."""

    n_asked: int
    n_done: int
    n_failed: int
    n_warmup: int = 0
    n_repeated: int = Field(default=0, description="further runs, made because earlier ones were disturbed")
    treatments: int
    n_empty: int = Field(default=0, description="treatments that ran and never succeeded")
    n_short: int = Field(default=0, description="treatments with fewer clean runs than asked")
    verdicts: dict[str, int] = {}
    failures: dict[str, int] = {}
    started: str | None = None
    ended: str | None = None
    end_reason: str | None = None


class Trust(Model):
    """Whether to believe the study, in one sentence, and why."""

    level: Literal["believe", "doubt", "reject"]
    sentence: Text
    causes: list[Text] = []


class PointResponse(Model):
    """One response at one point of a curve: the estimate and the run scores behind it."""

    estimate: Estimate
    scores: list[float] = []
    runs: list[str] = []
    verdicts: list[str] = []


class Point(Model):
    """One level of a curve's factor."""

    level: Level
    n_cpus: int | None = None
    responses: dict[str, PointResponse] = {}
    speedup: Estimate | None = None
    simultaneous: Estimate | None = None
    efficiency: Estimate | None = None
    serial_fraction: Estimate | None = None
    per_cpu_share: list[float] = []
    n_failed: int = 0
    flags: list[Text] = []


class LawDoc(Model):
    """The scaling law of one curve, and the lines of it: speedup over the smallest size, by sizes in order."""

    sigma: Estimate
    kappa: Estimate
    gamma: Estimate
    optimum: Estimate
    twice: Estimate = Field(description="speedup at twice the largest size, or why it is refused")
    flags: list[Text] = []
    largest: float = Field(description="largest size measured; lines beyond it are predictions")
    end: Text = Field(default="", description="why the lines end where they do")
    sizes: list[float] = Field(default=[], max_length=256)
    fitted: list[float] = []
    low: list[float | None] = []
    high: list[float | None] = []
    amdahl: list[float] = Field(default=[], description="with kappa = 0; empty where its interval does not hold 0")


class Curve(Model):
    """Responses along one factor, all other factors fixed."""

    group: dict[str, Level]
    factor: str
    points: list[Point]
    law: LawDoc | None = None


class SurfaceCell(Model):
    """One treatment of a surface: its time, what the CPUs need for it, and how its workers shared them."""

    estimate: Estimate
    expected: float | None = Field(default=None, description="T(1) max(1, N/M), in the response's unit")
    deviation: Estimate | None = Field(default=None, description="time over the expected one")
    fairness: Estimate | None = Field(default=None, description="Jain's index of the workers' finish times")
    busy: list[float] = Field(default=[], description="share of the time for which each CPU ran the workers")
    flag: Text = ""


class Surface(Model):
    """A response over two counts: workers (x) and the CPUs that they may use (y), all other factors fixed."""

    group: dict[str, Level]
    x: str
    y: str
    x_levels: list[int]
    y_levels: list[int]
    response: str
    cells: list[list[SurfaceCell | None]] = Field(description="one row for each of y_levels")
    slopes: list[Estimate] = Field(description="for each of y_levels, time that each worker beyond the CPUs adds")


class EffectiveCpus(Model):
    """How many CPUs, or workers at once, a program really uses: figures that answer different questions."""

    group: dict[str, Level]
    factor: str
    k_eff: int | None = Field(default=None, description="the least level beyond which all others gain less than 2 %")
    decided: bool = False
    posterior: dict[int, float] = Field(default={}, description="level -> probability; empty without a model")
    with_model: bool = True
    n: int = Field(default=0, description="runs that the answer rests on")
    serial: tuple[float, float] | None = Field(default=None, description="serial share, 95 % credible range")
    gain: tuple[float, float] | None = Field(default=None, description="what the next level gains over k_eff")
    used: Estimate | None = Field(default=None, description="CPU seconds over wall seconds, at the highest level")
    at_once: list[float] = Field(default=[], description="share of the time with 0, 1, 2, ... tasks on a CPU")
    exact: float = Field(default=0.0, description="share of the time for which `at_once` is no estimate")
    mask: int | None = None
    quota: float | None = None
    believed: int | None = None
    workers: int | None = None
    limit: Text = ""
    sentence: Text = ""


class CliffDoc(Model):
    """A place where the time jumps; `low` and `high` hold it with 99 %, the range of `factor` with 95 %."""

    location: float = Field(description="level at which half of the jump has happened")
    low: float = Field(description="the jump begins at this level or later")
    high: float = Field(description="it is over at this level")
    factor: tuple[float, float, float] = Field(description="time above over time below: low end, value, high end")
    probability: float
    gradual: float = Field(description="probability that it takes a tenth of the level or more to happen")


class Cliffs(Model):
    """Where the time jumps along a factor, if it does at all."""

    factor: str
    decided: bool = Field(description="whether all cliffs are found, none being an answer too")
    cliffs: list[CliffDoc] = Field(description="by location")
    probability: float = Field(description="that there is one at all")
    another: float | None = Field(default=None, description="probability of a further one, where some are found")
    likely: float | None = Field(default=None, description="where the one that is open would most probably be")
    n_more: int | None = Field(default=None, description="about how many more runs it would take, where undecided")
    wanders: tuple[float, float] | None = Field(
        default=None, description="levels between which the place of the jump is another one from run to run"
    )
    jump: float | None = Field(default=None, description="time above over time below, where the place moves")
    n: int = Field(description="runs that the answer rests on")
    least: float = Field(description="what counts as a jump: time above over time below, or its inverse")


class EvenLine(Model):
    """Where one version begins or ends to win along `x`, at one level of `y`."""

    level: float | None = Field(description="of y; null where one factor varies alone")
    kind: Literal["from", "until", "always", "never", "several", "undecided", "unmeasured"] = Field(
        description="of the other version: it wins from `location` on, or until there, or ..."
    )
    location: float | None = None
    low: float | None = Field(default=None, description="the line lies above, with 95 %")
    high: float | None = Field(default=None, description="the line lies below, with 95 %")
    sure_from: float | None = Field(default=None, description="where the rest is not decided: it wins from here on")
    sure_to: float | None = Field(default=None, description="it wins for sure up to here (of `until`: down to here)")


class EvenPair(Model):
    """Pairs that were measured at one point."""

    x: float
    y: float | None
    ratio: float = Field(description="time of the other version over the baseline's; of several pairs the typical one")
    n: int


class EvenMap(Model):
    """Break-even over one factor, or two, all others fixed."""

    group: dict[str, Level]
    x: str
    y: str = ""
    x_levels: list[float] = Field(max_length=256, description="where the surface is told, along x")
    y_levels: list[float] = Field(max_length=4096, description="declared levels of y; empty where there is none")
    ratio: list[list[float]] = Field(description="one row for each of y_levels: time over the baseline's")
    low: list[list[float]]
    high: list[list[float]]
    lines: list[EvenLine]
    pairs: list[EvenPair]


class EvenFormula(Model):
    """The line where the version wins: the product of all sizes, each to its power, above `work`."""

    powers: dict[str, float]
    work: list[tuple[dict[str, float], float | None]] = Field(
        max_length=4096, description="levels of the other factors -> the product; null where it never wins"
    )
    off: float = Field(description="share by which the line of the formula is typically off the surface's")


class BreakEven(Model):
    """Where a version is as fast as the baseline."""

    factor: str
    baseline: Level
    other: Level
    decided: bool
    even: float = Field(description="difference that counts as even, as a share")
    shares: dict[str, float] = Field(description="of the points: wins, loses, even, undecided")
    n: int = Field(description="pairs that the answer rests on")
    n_more: int | None = Field(default=None, description="about how many more pairs it would take, where undecided")
    noise_percent: float = Field(description="standard deviation of a pair")
    n_off: int = Field(default=0, description="pairs that lie off the surface by 3.5 times as much or more")
    maps: list[EvenMap] = Field(max_length=64)
    formula: EvenFormula | None = None


class Column(Model):
    """A column of a table."""

    name: str
    unit: str = ""
    kind: Literal["label", "number", "estimate", "text"] = "number"


class TableDoc(Model):
    """A table for people: the terminal and the page show the same ones."""

    id: str
    title: str
    note: str = ""
    columns: list[Column]
    rows: list[list[Cell]]


class TimelineDoc(Model):
    """The timeline of one run that stands for its treatment."""

    run: str
    treatment: dict[str, Level]
    timeline: dict[str, Any]


class TaskTrace(Model):
    """Which worker did which subtask when, in one shot of a run that stands for its treatment."""

    run: str
    treatment: dict[str, Level]
    start_us: list[float] = Field(max_length=512, description="since the shot began")
    end_us: list[float] = Field(max_length=512)
    worker: list[int] = Field(max_length=512)


class Noise(Model):
    """Run-to-run noise of this study, and the smallest effect it can detect at 80 % power."""

    sd_log_percent: float
    minimum_detectable_percent: float
    n: int


class Degraded(Model):
    """Something the kernel did not grant, with what would help."""

    what: str
    why: str
    fix: str = ""
    n_runs: int = 0


class CeilingPoint(Model):
    """What the machine itself scales to on so many CPUs, in one kind of work."""

    n_cpus: int
    speedup: Estimate | None
    n: int
    n_disturbed: int
    n_failed: int
    flags: list[Text] = []


class Findings(Model):
    """The whole document."""

    protocol: Literal[1] = 1
    study: StudyDoc
    machine: dict[str, Any] = {}
    runs: RunsDoc
    trust: Trust
    answer: list[Text] = []
    curves: list[Curve] = []
    surfaces: list[Surface] = Field(default=[], max_length=16)
    effective_cpus: list[EffectiveCpus] = Field(default=[], max_length=16)
    cliffs: Cliffs | None = None
    break_even: BreakEven | None = None
    tables: list[TableDoc] = []
    timelines: list[TimelineDoc] = Field(default=[], max_length=64)
    traces: list[TaskTrace] = Field(default=[], max_length=8)
    residue: list[Text] = []
    warnings: list[Text] = []
    noise: Noise | None = None
    ceilings: dict[str, list[CeilingPoint]] | None = Field(
        default=None, max_length=64, description="kind of work -> what the machine itself scales to, by CPUs"
    )
    noise_since: dict[str, Any] | None = Field(default=None, description="the machine's noise against its kept floor")
    degraded: list[Degraded] = []
    reproduce: list[Text] = []
