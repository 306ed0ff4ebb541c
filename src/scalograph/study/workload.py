"""A workload: a folder with workload.toml and an argv template that a configuration fills (protocol/workload.md)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from scalograph.errors import Problem, StudyError
from scalograph.protocol.facts import HostFacts
from scalograph.study import toml_text
from scalograph.study.check_processes import check_workload_processes
from scalograph.study.cross_checks import Mistake
from scalograph.study.processes import ELSEWHERE, MAX_COMMANDS, DeclaredProcess, fill
from scalograph.study.scalars import short_repr, truncate
from scalograph.study.toml_text import format_path, line_of, locate

MAX_FETCHED = 256
_PART = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*$", max_length=64)]
Text = Annotated[str, StringConstraints(max_length=1000)]
ParameterValue = bool | int | float | str


class WorkloadPart(BaseModel):
    """A table of workload.toml; every key must be known."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Fetch(WorkloadPart):
    """A file of a Maven repository, accepted only with this checksum."""

    artifact: Annotated[str, StringConstraints(pattern=rf"^{_PART}(:{_PART}){{2,4}}$", max_length=300)]
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    bytes: int = Field(gt=0, le=4 << 30)
    unpack: bool = False

    @property
    def name(self) -> str:
        return self.artifact.split(":")[1]

    @property
    def title(self) -> str:
        """Name and version, for people."""
        return " ".join(self.artifact.split(":")[1:3])

    @property
    def packaging(self) -> str:
        """The file type."""
        return (*self.artifact.split(":"), "jar")[3]

    @model_validator(mode="after")
    def _zip(self) -> "Fetch":
        if self.unpack and self.packaging != "zip":
            raise ValueError(f"found unpack of {self.packaging}, expected GROUP:NAME:VERSION:zip")
        return self


class Build(WorkloadPart):
    """A build from sources, and downloads for it or beside it; `when` names the levels that need it."""

    tool: Literal["javac", "cc", "mpicc", "cargo"] | None = None
    sources: list[Text] = []
    flags: list[Text] = []
    release: int | None = Field(default=None, ge=8)
    fetch: list[Fetch] = Field(default=[], max_length=MAX_FETCHED)
    when: dict[Name, list[ParameterValue]] = {}

    @property
    def jars(self) -> list[Fetch]:
        """Files of the class path."""
        return [file for file in self.fetch if file.packaging == "jar"]

    @model_validator(mode="after")
    def _something(self) -> "Build":
        if bool(self.tool) != bool(self.sources):
            raise ValueError("found one of `tool` and `sources`, expected both, or neither beside [[build.fetch]]")
        if not self.tool and not self.fetch:
            raise ValueError("found nothing to do, expected `tool` and `sources`, or [[build.fetch]]")
        return self


def applies(when: Mapping[str, Sequence[Any]], values: Mapping[str, Any]) -> bool:
    """Return whether values have a listed level of each name.

    >>> applies({"server": ["jetty"]}, {"server": "jetty"}), applies({}, {}), applies({"server": ["jetty"]}, {})
    (True, True, False)
    """
    return all(values.get(name) in levels for name, levels in when.items())


def select_builds(
    builds: Sequence[Build], values: Mapping[str, Any], configurations: Sequence[Mapping[str, Any]]
) -> list[Build]:
    """Return the builds that some configuration needs; its levels override values of the same name."""
    return [
        plan
        for plan in builds
        if not plan.when
        or any(applies(plan.when, {**values, **configuration}) for configuration in configurations or [{}])
    ]


def fetched_names(builds: Sequence[Build]) -> list[str]:
    """Return the names that downloads fill in templates. Raises ValueError for two files of one name."""
    artifacts: dict[str, str] = {}
    for file in (file for plan in builds for file in plan.fetch):
        if artifacts.setdefault(file.name, file.artifact) != file.artifact:
            raise ValueError(f"found {artifacts[file.name]} and {file.artifact}, expected one artifact of each name")
    return [f"fetched.{name}" for name in artifacts]


def written_names(builds: Any) -> list[str]:
    """Return the same of an unchecked document, skipping what is malformed."""
    listed = builds if isinstance(builds, list) else []
    tables = [file for plan in listed if isinstance(plan, dict) for file in _tables(plan.get("fetch"))]
    artifacts = [file.get("artifact") for file in tables]
    return [f"fetched.{text.split(':')[1]}" for text in artifacts if isinstance(text, str) and ":" in text]


def _tables(listed: Any) -> list[dict[str, Any]]:
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


@dataclass(frozen=True)
class ClassPath:
    """Folders and jars in order, each with the levels under which it belongs to `{classpath}`."""

    entries: tuple[tuple[Mapping[str, Sequence[Any]], str], ...]

    def text_for(self, values: Mapping[str, Any]) -> str:
        """Return the class path for these values, joined by colons.

        >>> path = ClassPath((({}, "/build"), ({"server": ["jetty"]}, "/jetty.jar")))
        >>> path.text_for({"server": "jdk"}), path.text_for({"server": "jetty"})
        ('/build', '/build:/jetty.jar')
        """
        return ":".join(entry for when, entry in self.entries if applies(when, values))


# Mistakes that are told.
MOST_REPORTED = 100
# Names that the host fills, and that a study's protocol fills unless the workload has a parameter of that name.
BY_HOST = ("build", "classpath", "here", "into", "java", "jvm_options", "prepared", "python")
BY_PROTOCOL = ("iterations", "warmup", "think_ns")

ValuesRefusal = Callable[[Mapping[str, Any]], str | None]
_TYPES: Mapping[str, tuple[type, ...]] = {
    "int": (int,), "float": (int, float), "text": (str,), "file": (str,),
    "list": (list, tuple),
}  # fmt: skip


class Parameter(WorkloadPart):
    """A parameter of the template."""

    type: Literal["int", "float", "text", "file", "list"]
    default: ParameterValue | list[ParameterValue]
    choices: list[ParameterValue] | None = Field(default=None, min_length=1)
    min: int | float | None = None
    max: int | float | None = None
    help: Text = ""

    @model_validator(mode="after")
    def _own_default(self) -> "Parameter":
        if wrong := self.refuse(self.default):
            raise ValueError(f"default: found {self.default!r}, expected {wrong}")
        return self

    def refuse(self, value: Any) -> str | None:
        """Return what was expected of an invalid value; None for a valid one."""
        if isinstance(value, bool) or not isinstance(value, _TYPES[self.type]):
            kinds = {"int": "an integer", "float": "a number", "text": "text", "file": "a path", "list": "a list"}
            return kinds[self.type]
        if self.choices is not None and value not in (*self.choices, ELSEWHERE):
            return "one of " + ", ".join(map(str, self.choices))
        if not isinstance(value, int | float):
            return None
        if self.min is not None and value < self.min:
            return f"at least {self.min}"
        return f"at most {self.max}" if self.max is not None and value > self.max else None


def _several(tables: Any) -> Any:
    return [tables] if isinstance(tables, dict) else tables


class Prepare(WorkloadPart):
    """A step before the first run: a program fills a folder of the cache."""

    argv: list[Text] = Field(min_length=1)
    folder: Text
    sources: list[Text] = Field(min_length=1)


class Requirement(WorkloadPart):
    """A combination that needs more of the host than others, or that the program cannot do: `refuse` says why.

    It is one where all parameters of `when` have one of these values, and any of `given` another one than its default.
    """

    when: dict[Name, list[ParameterValue]]
    given: list[Name] = []
    java_release: int | None = None
    refuse: Text = ""

    @model_validator(mode="after")
    def _one(self) -> "Requirement":
        if (self.java_release is None) == (not self.refuse):
            raise ValueError("found both or neither of `java_release` and `refuse`, expected exactly one")
        return self


class Workload(WorkloadPart):
    """workload.toml."""

    name: Name
    title: Text
    argv: list[Text] = []
    process: list[DeclaredProcess] = Field(default=[], max_length=MAX_COMMANDS)
    events: bool = False
    build: Annotated[list[Build], BeforeValidator(_several)] = []
    prepare: Prepare | None = None
    parameters: dict[Name, Parameter] = {}
    requires: list[Requirement] = []

    @property
    def words(self) -> list[str]:
        """Every word of its templates."""
        return [*self.argv, *(word for process in self.process for word in process.words)]

    @model_validator(mode="after")
    def _names(self) -> "Workload":
        if bool(self.argv) == bool(self.process):
            raise ValueError("found both or neither of `argv` and [[process]], expected exactly one")
        if hiding := [name for name in self.parameters if name in BY_HOST]:
            raise ValueError(f"parameters: found {hiding[0]}, expected a name that the host does not fill itself")
        named = [("requires.when", name) for each in self.requires for name in each.when]
        named += [("requires.given", name) for each in self.requires for name in each.given]
        named += [("build.when", name) for each in self.build for name in each.when]
        for key, name in named:
            if name not in self.parameters:
                raise ValueError(f"{key}: found {name}, expected one of {', '.join(self.parameters)}")
        defaults = {name: parameter.default for name, parameter in self.parameters.items()}
        filled = [*BY_HOST, *BY_PROTOCOL, *fetched_names(self.build)]
        steps = [*self.prepare.argv, self.prepare.folder] if self.prepare else []
        try:
            fill([*self.argv, *steps], {**dict.fromkeys(filled, ""), **defaults})
        except StudyError as error:
            raise ValueError(str(error)) from error
        return self


def load_workload(folder: Path) -> Workload:
    where = f"{folder.name}/workload.toml"
    fix = "choose a folder that has one"
    text = toml_text.read(folder / "workload.toml", "a workload's declaration", where, fix)
    raw = toml_text.parse(text, where)
    try:
        workload, wrong = Workload.model_validate(raw), list[Problem]()
    except ValidationError as error:
        workload, wrong = None, [_problem(where, detail) for detail in error.errors(include_url=False)[:MOST_REPORTED]]
    for path, mistake, expected, remedy in islice(_check_processes(raw), MOST_REPORTED):
        at = f"{where}:{line_of(locate(text), path)}: {format_path(path)}"
        wrong.append(Problem(at, mistake, expected, remedy))
    if workload is None or wrong:
        raise StudyError(wrong)
    return workload


def _check_processes(raw: Mapping[str, Any]) -> Iterator[Mistake]:
    parameters = raw.get("parameters")
    parameters = parameters if isinstance(parameters, dict) else {}
    most = {name: table.get("max", 1) for name, table in parameters.items() if isinstance(table, dict)}
    yield from check_workload_processes(
        raw, ("process",), {*BY_HOST, *BY_PROTOCOL, *written_names(_several(raw.get("build"))), *parameters}, most
    )


def _problem(where: str, detail: Any) -> Problem:
    key = ".".join(map(str, detail["loc"])).replace("build.0", "build")
    at = f"{where}: {key}" if key else where
    if detail["type"] == "extra_forbidden":
        return Problem(at, "an unknown key", "a key of protocol/workload.md", "remove it or correct its spelling")
    if detail["type"] == "missing":
        return Problem(at, "nothing", "a value", "add it; protocol/workload.md lists the keys")
    text = "" if detail["type"] == "value_error" else f"{short_repr(detail['input'])}: "
    return Problem(at, text + truncate(detail["msg"].removeprefix("Value error, ")), "", "see protocol/workload.md")


def refusals(workload: Workload, values: Mapping[str, Any], facts: HostFacts) -> ValuesRefusal:
    """Return a function that explains why this host cannot run a configuration, or returns None.

    `values` are parameters that no factor sets; of the JVMs in `facts` the first is the default. `java` in a
    configuration, a name that no factor may have, is the JVM that runs it, by name or path.
    """
    _refuse_values(workload, values, "workload.parameters")
    jvms = {name: jvm for jvm in reversed(facts.jvms) for name in (jvm.java, jvm.name)}
    jvms |= {"default": facts.jvms[0]} if facts.jvms else {}

    def refusal(configuration: Mapping[str, Any]) -> str | None:
        _refuse_values(workload, configuration, "factors")
        together = {**values, **configuration}
        asked = [r for r in workload.requires if _applies(r, workload, together)]
        if reason := next((r.refuse for r in asked if r.refuse), ""):
            return reason
        jvm = jvms.get(str(configuration.get("java", "default"))) if asked else None
        needed = max((r.java_release or 0 for r in asked), default=0)
        if jvm is None or jvm.release >= needed:
            return None
        what = ", ".join(f"{n} = {together[n]}" for r in asked for n in r.when)
        return f"{what} needs Java {needed} or later, the JVM {jvm.name} is {jvm.release}"

    return refusal


def _applies(requirement: Requirement, workload: Workload, values: Mapping[str, Any]) -> bool:
    if not all(values.get(name) in levels for name, levels in requirement.when.items()):
        return False
    defaults = {name: workload.parameters[name].default for name in requirement.given}
    return not defaults or any(values.get(name, default) != default for name, default in defaults.items())


def _refuse_values(workload: Workload, values: Mapping[str, Any], where: str) -> None:
    problems = [
        Problem(f"{where}.{name}", repr(values[name]), wrong, f"see the parameters of {workload.name}")
        for name, parameter in workload.parameters.items()
        if name in values and (wrong := parameter.refuse(values[name]))
    ]
    if problems:
        raise StudyError(problems)
