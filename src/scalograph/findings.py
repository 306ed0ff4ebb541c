"""What was learned from a study: the document between analysis and report (protocol/findings.md)."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Level = bool | int | float | str
Cell = Any  # a label, a number, a text or an Estimate; `Column.kind` says which
Text = Annotated[str, StringConstraints(max_length=4096)]


class Model(BaseModel):
    """A plain value of the findings document; unknown fields of a later version are ignored."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class EstimateDoc(Model):
    """An estimate with its interval; the JSON form of `scalograph.analysis.Estimate`."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    confidence: float = 0.95
    n: int = 0
    method: str = ""
    warnings: list[Text] = []


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

    estimate: EstimateDoc
    scores: list[float] = []
    runs: list[str] = []
    verdicts: list[str] = []


class Point(Model):
    """One level of a curve's factor."""

    level: Level
    n_cpus: int | None = None
    responses: dict[str, PointResponse] = {}
    speedup: EstimateDoc | None = None
    simultaneous: EstimateDoc | None = None
    efficiency: EstimateDoc | None = None
    serial_fraction: EstimateDoc | None = None
    per_cpu_share: list[float] = []
    n_failed: int = 0
    flags: list[Text] = []


class Curve(Model):
    """Responses along one factor, all other factors fixed."""

    group: dict[str, Level]
    factor: str
    points: list[Point]


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


class Findings(Model):
    """The whole document."""

    protocol: Literal[1] = 1
    study: StudyDoc
    machine: dict[str, Any] = {}
    runs: RunsDoc
    trust: Trust
    answer: list[Text] = []
    curves: list[Curve] = []
    tables: list[TableDoc] = []
    timelines: list[TimelineDoc] = Field(default=[], max_length=64)
    residue: list[Text] = []
    warnings: list[Text] = []
    noise: Noise | None = None
    ceilings: dict[str, list[dict[str, Any]]] | None = Field(
        default=None, max_length=64, description="kind of work -> what the machine itself scales to, by CPUs"
    )
    noise_since: dict[str, Any] | None = Field(default=None, description="the machine's noise against its kept floor")
    degraded: list[Degraded] = []
    reproduce: list[Text] = []
