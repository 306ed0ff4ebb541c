"""What was learned from a study: the document between analysis and report (protocol/findings.md)."""

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError, field_validator, model_validator

from scalograph.analysis.estimate import Estimate
from scalograph.errors import ProtocolError
from scalograph.protocol.old_names import rename_in_document, rename_outcomes
from scalograph.protocol.plain import AnswerCase, FlagField, Level, M, Model, Text
from scalograph.protocol.published_claim import DecidedClaim, PublishedCurve


class MatrixCell(Model):
    """One number of the matrix."""

    estimate: Estimate | None = None
    text: Text = Field(default="", description='in place of the estimate, such as "never"')
    doubt: Text = Field(default="", description="why it is marked; empty where it is not")


class MatrixRow(Model):
    """One setting, or a few whose intervals overlap."""

    label: Text
    cells: list[MatrixCell] = Field(max_length=12)


class Matrix(Model):
    """The numbers that carry the claim: a row for each setting, a column for each level that tells something."""

    title: Text = Field(description="the quantity and what it is over, such as `speedup over 1 thread`")
    unit: str = ""
    better: Literal["lower", "higher", "none"] = "none"
    rows_are: Text = Field(default="", description="heading of the labels")
    columns: list[Text] = Field(max_length=12)
    rows: list[MatrixRow] = Field(max_length=24)
    note: Text = ""


class Claim(Model):
    """What a study says: one claim, one exception, one limit.

    Attributes:
        cases: of the sentences; empty where they come by no form.
        sentences: one to three; the first answers the title, or says why not; `answered` whether it does.
        matrix: None where the sentences hold all there is.
        figure: id of the figure that shows it; empty for the first one.
        published: what a paper has of the ratios; `about`, which is not saved, names the configurations of these.
    """

    sentences: list[Text] = Field(min_length=1, max_length=3)
    cases: list[AnswerCase] = []
    answered: bool = True
    matrix: Matrix | None = None
    figure: str = ""
    published: Text = Field(default="", exclude_if=lambda text: not text)
    about: list[dict[str, Level]] = Field(default=[], exclude=True)


def _cell(x: Any) -> Any:
    """A cell that was read back; what only resembles an estimate stays as it is."""
    try:
        return _ESTIMATE.validate_python(x) if isinstance(x, dict) else x
    except ValidationError:
        return x


_ESTIMATE = TypeAdapter(Estimate)
Cell = Annotated[Any, BeforeValidator(_cell)]  # a label, a number, a text or an Estimate: `Column.kind` says which


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
    primary: str = Field(default="", description="the response that the study is about")
    varied: list[str] = Field(default=[], exclude_if=lambda names: not names, description="of `protocol.vary`")
    corrects: str = Field(
        default="", exclude_if=lambda name: not name, description="response that `undisturbed` replaces"
    )


class RunsDoc(Model):
    """How many runs there were, and what became of them."""

    n_asked: int
    n_done: int
    n_failed: int
    n_warmup: int = 0
    n_repeated: int = Field(default=0, description="further runs, made because earlier ones were disturbed")
    configurations: int
    n_empty: int = Field(default=0, description="configurations that ran and never succeeded")
    n_short: int = Field(default=0, description="configurations with fewer clean runs than asked")
    verdicts: dict[str, int] = {}
    failures: dict[str, int] = {}
    started: str | None = None
    ended: str | None = None
    paused_s: float = Field(default=0.0, description="seconds between two starts, in which it was not under way")
    end_reason: str | None = None
    partners: list[Text] = Field(default=[], exclude_if=lambda texts: not texts, description="who worked for the runs")


_VERDICTS = ("Believe it: ", "Be careful: ", "Do not believe it: ")


class Trust(Model):
    """Whether to believe the study, in one sentence, and why."""

    level: Literal["reliable", "caution", "unusable"]
    sentence: Text
    points: list[Text] = Field(default=[], max_length=3, description="what it does to the result, worst first")
    error_percent: float | None = Field(default=None, description="error of unmarked values beyond their intervals")
    responses: dict[str, Literal["reliable", "caution", "unusable"]] = Field(
        default={}, description="response -> whether to believe it, where that differs from the level"
    )
    causes: list[Text] = []
    codes: list[Text] = Field(default=[], description="of the warnings, those that the sentence states first")

    @field_validator("sentence")
    @classmethod
    def _drop_verdict(cls, sentence: str) -> str:
        """Earlier versions began the sentence with the verdict, which now stands before it."""
        text = sentence.removeprefix(next((head for head in _VERDICTS if sentence.startswith(head)), ""))
        return f"{text[:1].upper()}{text[1:]}"


class PointResponse(Model):
    """One response at one point of a curve: the estimate and the run scores behind it."""

    estimate: Estimate
    scores: list[float] = []
    runs: list[str] = []
    verdicts: list[str] = []
    left_out: list[str] = Field(default=[], description="runs that the estimate does not rest on")
    open_log: float = Field(
        default=0.0, exclude_if=lambda half: not half, description="half of the distance of undisturbed ends, as a log"
    )
    loop_logs: list[float | None] = Field(
        default=[], exclude_if=lambda logs: not logs, description="log of the sentinel's loop time in ns of each run"
    )
    falls_back: bool = Field(default=False, exclude_if=lambda rests: not rests, description="includes corrected runs")


class Point(Model):
    """One level of a curve's factor."""

    level: Level
    n_cpus: int | None = None
    responses: dict[str, PointResponse] = {}
    speedup: Estimate | None = None
    simultaneous: Estimate | None = None
    efficiency: Estimate | None = None
    serial_fraction: Estimate | None = None
    cpus_used: Estimate | None = Field(default=None, description="CPU seconds in a second; null where runs are short")
    gain: Estimate | None = Field(default=None, description="throughput over that of the level before, less one")
    per_cpu_share: list[float] = []
    n_failed: int = 0
    doubt: Text = Field(default="", description="why this configuration is marked; empty where it is not")
    flags: list[FlagField] = []


class LawDoc(Model):
    """The scaling law of one curve, and the lines of it: speedup over the smallest size, by sizes in order."""

    sigma: Estimate
    kappa: Estimate
    gamma: Estimate
    optimum: Estimate
    twice: Estimate = Field(description="speedup at twice the largest size, or why it is refused")
    flags: list[FlagField] = []
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
    serial: Estimate | None = Field(default=None, description="the law's, or by Karp and Flatt")
    next_size: int | None = Field(default=None, description="the size after the largest that was measured")
    next: Estimate | None = Field(default=None, description="what that size would gain over the largest")


ColumnKind = Literal["label", "number", "estimate", "text"]


class Column(Model):
    """A column of a table."""

    name: str
    unit: str = ""
    kind: ColumnKind = "number"


class TableDoc(Model):
    """A table for people: the terminal and the page show the same ones."""

    id: str
    title: str
    question: str = Field(default="", description="whose part it shows; empty for what every study is asked")
    note: str = ""
    columns: list[Column]
    rows: list[list[Cell]]


class TimelineDoc(Model):
    """The timeline of one run that stands for its configuration."""

    run: str
    configuration: dict[str, Level]
    timeline: dict[str, Any]
    window_ns: tuple[int, int] | None = Field(default=None, description="the measured window, as times of the timeline")


class TaskTrace(Model):
    """Which worker did which subtask when, in one shot of a run that stands for its configuration."""

    run: str
    configuration: dict[str, Level]
    start_us: list[float] = Field(max_length=512, description="since the shot began")
    end_us: list[float] = Field(max_length=512)
    worker: list[int] = Field(max_length=512)


class StudyNoise(Model):
    """Run-to-run noise of this study, and the smallest effect it can detect at 80% power."""

    sd_log_percent: float
    minimum_detectable_percent: float
    n: int


class RunLog(Model):
    """All runs but warm-ups, in the order in which they were made: a column for each figure, a place for each run."""

    configurations: list[dict[str, Level]] = []
    run: list[str] = []
    configuration: list[int] = Field(default=[], description="place in `configurations`")
    start_s: list[float | None] = Field(default=[], description="since the study started")
    status: list[str] = []
    verdict: list[str] = []
    cause: list[Text] = Field(default=[], description="of the verdict, the gravest; empty where there is none")
    amount: list[float | None] = Field(default=[], description="of that cause, in its unit")
    counted: list[bool] = Field(default=[], description="whether the estimates rest on it")
    relative: list[float | None] = Field(default=[], description="primary response over its configuration's median")

    @model_validator(mode="after")
    def _check_lengths(self) -> "RunLog":
        columns = (getattr(self, name) for name in type(self).model_fields if name != "configurations")
        if any(len(column) != len(self.run) for column in columns):
            raise ValueError("columns of a list of runs differ in length")
        if any(not 0 <= index < len(self.configurations) for index in self.configuration):
            raise ValueError("a run of a configuration that is not in the list")
        return self


class DegradedRuns(Model):
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
    flags: list[FlagField] = []


class Part(Model):
    """What a question, or a reading, says of a study."""

    decided: bool | None = Field(default=None, description="whether a search came to its answer; null: it is none")
    applies: Text = Field(default="", description="why it says nothing of this study; empty where it does")
    data: dict[str, Any] | None = Field(default=None, description="`document` of the question's folder")


class Findings(Model):
    """The whole document."""

    protocol: Literal[1, 2, 3, 4] = 4
    study: StudyDoc
    machine: dict[str, Any] = {}
    runs: RunsDoc
    trust: Trust
    claim: Claim | None = Field(default=None, description="the answer to the title; null before protocol 2 had one")
    published_claims: list[DecidedClaim] = Field(default=[], max_length=64, description="claims of a paper, decided")
    published_curves: list[PublishedCurve] = Field(default=[], max_length=256, description="a paper's figures")
    answer: list[Text] = []
    curves: list[Curve] = []
    parts: dict[str, Part] = Field(default={}, max_length=64, description="question or reading -> what it says")
    tables: list[TableDoc] = []
    timelines: list[TimelineDoc] = Field(default=[], max_length=64)
    traces: list[TaskTrace] = Field(default=[], max_length=8)
    residue: list[Text] = []
    warnings: list[Text] = []
    noise: StudyNoise | None = None
    ceilings: dict[str, list[CeilingPoint]] | None = Field(default=None, max_length=64, description="by kind of work")
    noise_since: dict[str, Any] | None = Field(default=None, description="the machine's noise against its kept floor")
    degraded: list[DegradedRuns] = []
    reproduce: list[Text] = []
    log: RunLog | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_earlier_protocol(cls, raw: Any) -> Any:
        """Rename what protocols 1 to 3, and outcomes of 4, called otherwise; give the questions of protocol 1 parts."""
        if not isinstance(raw, dict) or raw.get("protocol") not in (1, 2, 3):
            return rename_outcomes(raw)
        if raw["protocol"] == 1 and "parts" not in raw:
            raw = {**raw, "parts": {name: part for name, part in map(partial(_part_1, raw), _PROTOCOL_1) if part}}
        return rename_in_document(raw)

    def document(self, name: str, kind: type[M]) -> M | None:
        """Read the part of a question, or of a reading, as its own document; None where it says nothing of this study.

        Raises ProtocolError: the part is broken.
        """
        part = self.parts.get(name)
        if part is None or part.data is None:
            return None
        try:
            return kind.model_validate(part.data)
        except ValidationError as error:
            where = ".".join(map(str, ("findings: parts", name, "data", *error.errors()[0]["loc"])))
            raise ProtocolError(where, error.errors()[0]["msg"], "protocol/findings.md", "analyze again") from error


# Question, or reading -> its field in protocol 1, and what its parts are called since, where they were a list.
_PROTOCOL_1 = {
    "effective-cpus": ("effective_cpus", "groups"), "cliff": ("cliffs", ""), "break-even": ("break_even", ""),
    "surface": ("surfaces", "surfaces"),
}  # fmt: skip


def _part_1(raw: dict[str, Any], name: str) -> tuple[str, dict[str, Any] | None]:
    """The part of a question as protocol 1 has it; a search without any had not come to its answer."""
    field, several = _PROTOCOL_1[name]
    data, asked = raw.get(field), raw.get("study")
    if not data:
        return name, {"decided": False} if isinstance(asked, dict) and asked.get("question") == name else None
    parts = data if isinstance(data, list) else [data]
    decided = [part.get("decided") for part in parts if isinstance(part, dict)]
    shown = {several: data} if several else data
    return name, {"decided": all(decided) if None not in decided else None, "data": shown}
