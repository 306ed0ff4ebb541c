"""A workload: a folder with workload.toml and an argv template that a configuration fills (protocol/workload.md)."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from scalograph.errors import Problem, StudyError
from scalograph.protocol.bounded import read_whole
from scalograph.protocol.facts import HostFacts
from scalograph.study import toml_text
from scalograph.study.build_plan import Build, Name, ParameterValue, Text, WorkloadPart, fetched_names, written_names
from scalograph.study.check_processes import check_workload_processes
from scalograph.study.cross_checks import Mistake
from scalograph.study.processes import MAX_COMMANDS, DeclaredProcess, fill
from scalograph.study.scalars import short_repr, truncate
from scalograph.study.toml_lines import format_path, line_of, locate

# Mistakes that are told.
MOST_REPORTED = 100
# Names that the host fills, and that a study's protocol fills unless the workload has a parameter of that name.
BY_HOST = ("build", "classpath", "here", "into", "java", "jvm_options", "prepared", "python")
BY_PROTOCOL = ("iterations", "warmup", "think_ns")

ValuesRefusal = Callable[[Mapping[str, Any]], str | None]
_TYPES: Mapping[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "text": (str,), "list": (list, tuple)}


class Parameter(WorkloadPart):
    """A parameter of the template."""

    type: Literal["int", "float", "text", "list"]
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
            return {"int": "an integer", "float": "a number", "text": "text", "list": "a list"}[self.type]
        if self.choices is not None and value not in self.choices:
            return "one of " + ", ".join(map(str, self.choices))
        if not isinstance(value, int | float):
            return None
        if self.min is not None and value < self.min:
            return f"at least {self.min}"
        return f"at most {self.max}" if self.max is not None and value > self.max else None


def _several(tables: Any) -> Any:
    """Return a single `[build]` as a list."""
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
    """Load the workload in a folder.

    Raises:
        StudyError: with every mistake in its workload.toml.
    """
    file = folder / "workload.toml"
    where = f"{folder.name}/workload.toml"
    try:
        text = read_whole(file, toml_text.MAX_BYTES)
    except OSError as error:
        fix = "choose a folder that has one"
        raise StudyError.one(where, f"cannot be read: {error.strerror}", "a workload's declaration", fix) from error
    try:
        written = text.decode()
    except UnicodeDecodeError as error:
        raise StudyError.one(where, f"byte {error.start} is not UTF-8", "UTF-8 text") from error
    raw = toml_text.parse(written, where)
    try:
        workload, wrong = Workload.model_validate(raw), list[Problem]()
    except ValidationError as error:
        workload, wrong = None, [_problem(where, detail) for detail in error.errors(include_url=False)[:MOST_REPORTED]]
    wrong += [_mistake_problem(where, written, mistake) for mistake in islice(_check_processes(raw), MOST_REPORTED)]
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


def _mistake_problem(where: str, text: str, mistake: Mistake) -> Problem:
    path, what, expected, fix = mistake
    return Problem(f"{where}:{line_of(locate(text), path)}: {format_path(path)}", what, expected, fix)


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

    Args:
        workload: with its `requires`.
        values: parameters that no factor sets.
        facts: with the JVMs; the first is the default.

    Returns:
        The function; `java` in its configuration, a name that no factor may have, is the JVM that runs it, by name or
        path.

    Raises:
        StudyError: the workload does not take a value; the returned function raises it too.
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
