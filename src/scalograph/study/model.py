"""The study as values: Study, Factor, Response, Protocol (protocol/study.md)."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints, field_validator, model_validator
from pydantic_core import PydanticCustomError

from scalograph.questions.registry import QUESTIONS, SWEEP
from scalograph.study.control_names import CONTROLS, NO_RESET, ClusterLimits, Reset, control_row
from scalograph.study.fields import (
    Argv,
    Copies,
    Duration,
    FactorLevel,
    FactorLevels,
    FactorName,
    Name,
    OnlyFor,
    ParameterValue,
    Pattern,
    Percent,
    Pointer,
    Refers,
    Scalar,
    StudyPart,
    Text,
    Variable,
    WorkingFolder,
    printed_name,
)
from scalograph.study.processes import MAX_COMMANDS, SERVICE, DeclaredProcess
from scalograph.study.published_claim import PublishedClaim
from scalograph.study.reader_names import HARNESS_UNITS, READERS
from scalograph.study.shapes import ShapeText

_SOURCES = r"window\.(wall|cpu)|(run|kernel)\.[a-z_]+|process\.[a-z][a-z0-9-]*\.[a-z_]+|value\.[a-z][a-z0-9_]*|output"
From = Annotated[str, StringConstraints(pattern=rf"^({_SOURCES})$")]
# How the question for settings that matter is answered.
PlanKind = Literal["screening", "one-at-a-time", "pairs"]
SCREENING: PlanKind = "screening"
ONE_AT_A_TIME: PlanKind = "one-at-a-time"
PAIRED: PlanKind = "pairs"
# A name of a registry; a control may have a name of its own after a colon.
QuestionName = Annotated[str, BeforeValidator(lambda value: _check_choice(value, QUESTIONS))]
ControlName = Annotated[
    str, BeforeValidator(lambda v: v if isinstance(v, str) and control_row(v) else _check_choice(v, CONTROLS))
]
_PRINTING = {name: row for name, row in READERS.items() if row.to_output}
ReaderName = Annotated[str, BeforeValidator(lambda value: _check_choice(value, _PRINTING))]
# A response, or what is calculated of the primary one.
ShownResponse = Annotated[Name, Refers("shown response")]


def _is_none(value: object) -> bool:
    return value is None


def _check_choice(value: Any, rows: Mapping[str, object]) -> Any:
    """Refuse a name that a registry lacks, in pydantic's words for a choice."""
    if isinstance(value, str) and value in rows:
        return value
    *names, last = map(repr, rows)
    raise PydanticCustomError("choice", "Input should be {names}", {"names": f"{', '.join(names)} or {last}"})


class WorkloadUse(StudyPart):
    """The workload: a built-in one, a folder beside the study, a command, or several processes."""

    use: Text | None = None
    command: Argv | None = None
    process: list[DeclaredProcess] = Field(default=[], max_length=MAX_COMMANDS, exclude_if=lambda listed: not listed)
    parameters: dict[Name, ParameterValue] = {}
    env: dict[Variable, Text] = {}
    env_all: bool = Field(default=False, exclude_if=lambda passed: not passed)
    input: Text | None = Field(default=None, exclude_if=lambda named: named is None)
    stdout: Annotated[Text, Field(min_length=1)] | None = Field(default=None, exclude_if=lambda named: named is None)
    ok_exits: Annotated[list[Annotated[int, Field(ge=0, le=255)]], Field(min_length=1, max_length=256)] = Field(
        default=[0], exclude_if=lambda codes: codes == [0]
    )
    events: bool = False
    copies: Copies = 1
    cwd: WorkingFolder = "scratch"
    keep: Literal["run", "block"] = Field(default="run", exclude_if=lambda kept: kept == "run")
    setup: Argv | None = None
    prepare: Argv | None = None
    cleanup: Argv | None = None

    @property
    def given_folder(self) -> str | None:
        """Return the folder of the runs if it is a given one of the machine that makes them."""
        return self.cwd if self.cwd.startswith("/") else None

    @model_validator(mode="after")
    def _one_of(self) -> "WorkloadUse":
        given = [self.use is not None, self.command is not None, bool(self.process)]
        if given == [True, True, False] or not any(given):
            raise ValueError("found both or neither of `use` and `command`, expected exactly one")
        if sum(given) > 1:
            raise ValueError("found `use` or `command` beside [[workload.process]], expected one of them")
        if self.command is None and (self.input is not None or self.ok_exits != [0] or self.stdout is not None):
            raise ValueError("found `input`, `stdout` or `ok_exits` without `command`, expected both")
        if self.process and self.copies != 1:
            raise ValueError("found `copies` beside [[workload.process]], expected copies of each process")
        if self.keep != "run" and not any(process.role == SERVICE and process.pid is None for process in self.process):
            raise ValueError(f'found keep = "{self.keep}" of no service that is started, expected none')
        return self


class Factor(StudyPart):
    """A variable set on purpose; `levels` stays text while it needs a host to be resolved."""

    levels: FactorLevels
    control: ControlName | None = None
    declared_kind: Literal["workload", "placement", "tunable", "nuisance"] | None = Field(default=None, alias="kind")
    title: Text = ""
    unit: Text = ""
    if_granted: list[FactorLevel] = []
    role: Annotated[Literal["size", "workers", "clients"] | None, OnlyFor(("break-even",))] = None
    scale: Annotated[Literal["log", "linear"], OnlyFor(("break-even",))] = "log"
    group: Annotated[Text, OnlyFor(("tunables",))] = Field(default="", exclude_if=lambda named: not named)
    most_gib: Annotated[float, Field(gt=0)] | None = Field(default=None, exclude_if=_is_none)

    @property
    def kind(self) -> str:
        row = control_row(self.control) if self.control else None
        return self.declared_kind or (row.kind if row else "workload")


class Response(StudyPart):
    """A value read from each run; `pattern`, `pointer` or `reader` locate it in the program's output."""

    source: From = Field(alias="from")
    pattern: Pattern | None = None
    pointer: Pointer | None = None
    # What came later is left out where it is not used: a study without it is what it was before.
    reader: ReaderName | None = Field(default=None, exclude_if=_is_none)
    benchmark: Text | None = Field(default=None, exclude_if=_is_none)
    unit: Text = ""
    better: Literal["lower", "higher", "none"] = "lower"
    title: Text = ""
    limit: Annotated[Annotated[float, Field(gt=0)] | None, OnlyFor(("within-limit", "size"))] = Field(
        default=None, exclude_if=_is_none
    )

    @property
    def places(self) -> tuple[str, ...]:
        """The keys that locate it in the output."""
        return tuple(key for key in ("pattern", "pointer", "reader") if getattr(self, key) is not None)

    @property
    def is_printed(self) -> bool:
        return bool(self.places)

    @model_validator(mode="after")
    def _one_place(self) -> "Response":
        if self.source == "output" and len(self.places) != 1:
            raise ValueError("found none or several of `pattern`, `pointer` and `reader`, expected exactly one")
        if self.is_printed and not self.source.startswith(("output", "value.output_")):
            raise ValueError(f'found `{self.places[0]}` beside from = "{self.source}", expected from = "output"')
        if self.benchmark is not None and self.reader is None:
            raise ValueError("found `benchmark` without `reader`, expected both")
        if self.reader is not None and self.unit not in HARNESS_UNITS:
            raise ValueError(f'found unit "{self.unit}" of a harness, expected "s", or "1/s" for a rate')
        return self


class Protocol(ClusterLimits):
    """How runs are made; times in seconds."""

    runs: Annotated[int, Field(ge=1, le=10_000)] = 5
    iterations: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    warmup: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    warmup_runs: Annotated[int, Field(ge=0, le=1000)] = 0
    precision: Percent | None = None
    max_reruns: Annotated[int, Field(ge=0, le=10)] = 1
    think_s: Duration = Field(default=0.0, alias="think")
    timeout_s: Annotated[Duration, Field(gt=0)] = Field(default=60.0, alias="timeout")
    order: Literal["blocks", "declared"] = "blocks"
    budget_s: Annotated[Duration, Field(gt=0)] | None = Field(default=None, alias="budget")
    budget_runs: Annotated[int, Field(ge=1)] | None = None
    wait_quiet_s: Duration = Field(default=0.0, alias="wait_quiet")
    when_busy: Literal["report", "cpu-time", "stop"] = "report"
    confidence: Percent = 0.95
    vary: list[Literal["env", "hash-seed", "layout"]] = Field(
        default=[], max_length=3, exclude_if=lambda named: not named
    )
    sentinel: bool | None = Field(default=None, exclude_if=lambda asked: asked is None)

    @model_validator(mode="after")
    def _some_count(self) -> "Protocol":
        if self.warmup >= self.iterations:
            raise ValueError(f"found warmup = {self.warmup} of {self.iterations} iterations, expected fewer than all")
        return self


class ReportTable(StudyPart):
    """A table of the report: one response, rows by columns; or several, one column each."""

    title: Text
    rows: FactorName
    columns: FactorName | None = None
    response: ShownResponse | list[ShownResponse]
    where: dict[FactorName, FactorLevel] = {}

    @property
    def responses(self) -> list[str]:
        return self.response if isinstance(self.response, list) else [self.response]

    @model_validator(mode="after")
    def _one_head(self) -> "ReportTable":
        if self.columns is not None and isinstance(self.response, list):
            raise ValueError("found `columns` beside several responses, expected one of both")
        return self


class DeclaredComparison(StudyPart):
    """Levels whose response, over that of others, answers the title; without others, the response itself does."""

    of: Annotated[dict[FactorName, FactorLevel], Field(min_length=1)]
    over: dict[FactorName, FactorLevel] = {}
    where: dict[FactorName, FactorLevel] = {}
    response: Annotated[Name, Refers("response")] | None = None

    @model_validator(mode="after")
    def _complete(self) -> "DeclaredComparison":
        if self.over and self.over.keys() != self.of.keys():
            raise ValueError("found `over` of other factors than `of`, expected the same")
        if self.of == self.over or self.of.keys() & self.where.keys():
            raise ValueError("found levels twice in `of`, `over` and `where`, expected different ones")
        return self


class UnlikeRows(StudyPart):
    """Published rows built otherwise than what is measured: column -> cell."""

    where: dict[str, Scalar] = Field(min_length=1)
    why: Annotated[Text, StringConstraints(min_length=1)]


class Published(StudyPart):
    """Values of a paper to show beside measured ones, and its claims."""

    file: Text = ""
    match: dict[str, FactorName] = {}
    levels: dict[Annotated[str, Refers("column")], dict[str, Scalar]] = {}
    values: dict[str, ShownResponse] = {}
    ranges: dict[str, Annotated[list[str], Field(min_length=2, max_length=2)]] = {}
    unlike: list[UnlikeRows] = Field(default=[], max_length=64)
    machine_cpus: Annotated[int, Field(ge=1)] | None = None
    note: Text = ""
    claims: list[PublishedClaim] = Field(default=[], max_length=64)


class Quick(StudyPart):
    """What `--quick` changes."""

    protocol: dict[str, Any] = {}
    factors: dict[FactorName, FactorLevels] = {}
    exclude: list[dict[FactorName, list[FactorLevel]]] = []


class Study(StudyPart):
    """A study: all of study.toml."""

    version: Literal[1]
    name: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*$", max_length=64)]
    title: Text
    question: QuestionName = SWEEP
    work: Literal["total", "per-worker"]
    seed: Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)]
    workload: WorkloadUse
    factors: dict[Name, Factor] = Field(min_length=1, max_length=16)
    exclude: list[dict[FactorName, list[FactorLevel]]] = []
    responses: dict[Name, Response] = {
        "wall": Response(source="window.wall", unit="s", title="wall time"),
        "cpu": Response(source="window.cpu", unit="s", title="CPU time"),
    }
    protocol: Protocol = Protocol()
    reset: Reset = Field(default=NO_RESET, exclude_if=lambda reset: reset == NO_RESET)
    conditions: dict[str, Scalar] = Field(default={}, max_length=64, exclude_if=lambda listed: not listed)
    plan: Annotated[PlanKind | None, OnlyFor(("tunables",), "the question has one plan")] = Field(
        default=None, exclude_if=lambda plan: plan is None
    )
    shape: Annotated[list[ShapeText], OnlyFor("best", "configurations are excluded")] = Field(
        default=[], max_length=8, exclude_if=lambda listed: not listed
    )
    baseline: dict[FactorName, FactorLevel] = Field(default={}, max_length=16)
    reference: dict[FactorName, FactorLevel] = {}
    tables: list[ReportTable] = []
    compare: Annotated[list[DeclaredComparison], OnlyFor((SWEEP,))] = Field(
        default=[], max_length=8, exclude_if=lambda listed: not listed
    )
    published: Published | None = None
    quick: Quick = Quick()

    @property
    def is_driven(self) -> bool:
        """Whether a load generator drives services: it waits for them, and is no worker on their CPUs."""
        return any(process.role == "driver" for process in self.workload.process)

    @property
    def is_counted(self) -> bool:
        """Whether kernel counters are saved with each run: a factor may move them, or a response reads one."""
        rows = (control_row(factor.control) for factor in self.factors.values() if factor.control)
        reads = any(response.source.startswith("kernel.") for response in self.responses.values())
        return reads or any(row.machine_wide for row in rows if row)

    @property
    def watches_speed(self) -> bool:
        """Whether runs measure the speed of the CPUs: as declared, else if versions are compared."""
        return bool(self.reference) if self.protocol.sentinel is None else self.protocol.sentinel

    @field_validator("responses")
    @classmethod
    def _name_sources(cls, responses: dict[str, Response]) -> dict[str, Response]:
        sources = {name: f"value.{printed_name(name)}" for name, r in responses.items() if r.source == "output"}
        return {
            name: r.model_copy(update={"source": sources[name]}) if name in sources else r
            for name, r in responses.items()
        }


def replace_claims(study: Study, claims: list[PublishedClaim]) -> Study:
    """Return a study with these published claims in place of its own."""
    published = (study.published or Published()).model_copy(update={"claims": claims})
    return study.model_copy(update={"published": published})


def add_responses(study: Study, responses: Mapping[str, Response]) -> Study:
    """Return a study that reads these responses, too; its own stay as they are."""
    missing = {name: response for name, response in responses.items() if name not in study.responses}
    return study.model_copy(update={"responses": {**study.responses, **missing}}) if missing else study


# In the installed package, else in the repository around it.
_HERE = Path(__file__).resolve().parents[1]
_PAGES = (_HERE / "data" / "protocol" / "study.md", _HERE.parents[1] / "protocol" / "study.md")
_ROW = re.compile(r"^\| (`[^|]+`) \|[^|]*\|[^|]*\| (.*) \|$", re.MULTILINE)
_KEY = re.compile(r"`(?:\[\[)?([A-Za-z_.]+)(?:\]\])?`")
# What stands for any name in a key of the page: `factors.NAME.levels`.
_ANY = "NAME"


def study_schema() -> dict[str, Any]:
    """Return the JSON Schema; without descriptions where the page was not installed."""
    schema = Study.model_json_schema()
    schema |= {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "study.toml"}
    page = next((file for file in _PAGES if file.is_file()), None)
    for path, text in _documented_keys(page.read_text(encoding="utf-8")) if page else ():
        if (part := _find_part(schema, schema, path)) is not None:
            part["description"] = text
    return schema


def _documented_keys(page: str) -> Iterator[tuple[list[str], str]]:
    """Yield keys with their descriptions: `prepare`, `.cleanup` of one row share theirs."""
    for keys, meaning in _ROW.findall(page):
        first: list[str] = []
        for key in _KEY.findall(keys):
            path = [*first[:-1], key[1:]] if key.startswith(".") else key.split(".")
            first = first or path
            if meaning:
                yield path, meaning.replace("`", "")


def _find_part(schema: Mapping[str, Any], part: dict[str, Any], path: list[str]) -> dict[str, Any] | None:
    for name in path:
        table = _table(schema, part)
        any_name = next(iter(table.get("patternProperties", {}).values()), None)
        value = any_name if name == _ANY else table.get("properties", {}).get(name)
        if not isinstance(value, dict):
            return None
        part = value
    return part


def _table(schema: Mapping[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Return the table that a part refers to, alone or beside others such as null."""
    for option in (part, *part.get("anyOf", ())):
        if "$ref" in option:
            definition: dict[str, Any] = schema["$defs"][option["$ref"].rpartition("/")[2]]
            return definition
    return part
