"""Declared processes of a run: services, and the driver that sends them work (protocol/study.md)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from scalograph.errors import StudyError
from scalograph.study.fields import Argv, Copies, Duration, Name, ParameterValue, Scalar, StudyPart, Text
from scalograph.study.scalars import format_value, short_repr, unknown_name_error

SERVICE, DRIVER = "service", "driver"
# Commands of a run (protocol/probe.md): each copy of a service is one, and so is the driver.
MAX_COMMANDS = 64
MAX_PORTS = 64
MAX_PID = 2**31 - 1
FORMS = ("line", "port", "http")
# What every process may write into its template, and what it may if it has ports.
OWN_NAMES, COPY_NAMES, PORT_NAMES = ("state", "address", "elsewhere"), ("copy",), ("port", "ports")
# Becomes yes or no when a run starts.
ELSEWHERE = "{elsewhere}"
# Of the services that it comes after: "{server_targets}" are all copies as HOST:PORT,HOST:PORT.
ENDINGS = ("_port", "_ports", "_targets", "_address")
# A host of this machine and a port, which alone is asked for at the first of these hosts.
LOOPBACK = "127.0.0.1"
HOST = r"127(?:\.[0-9]{1,3}){3}|localhost|\[::1\]"
_ADDRESS = rf"({HOST}):([0-9]{{1,5}}|\{{[^{{}}]+\}})"
_URL, _AT = re.compile(rf"http://{_ADDRESS}(/[!-~]*)?"), re.compile(_ADDRESS)

ProcessName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*$", max_length=64)]
_MACHINE = re.compile(r"local|ssh:[A-Za-z0-9_][A-Za-z0-9_.@:%-]{0,254}", re.ASCII)


def _is_port(value: Any) -> bool:
    return type(value) is int and 1 <= value <= 65_535


def _port(value: Any) -> Any:
    is_text = isinstance(value, str) and (re.fullmatch(r"\{[^{}]+\}", value) or _AT.fullmatch(value))
    if not _is_port(value) and not is_text:
        expected = '1 to 65535, "{port}" or "[::1]:{port}"'
        raise ValueError(f"found {short_repr(value)}, expected {expected}")
    return value


def split_address(form: str, text: str) -> tuple[str, str]:
    """Return host and port of `ready`, as they are written.

    >>> split_address("http", "http://[::1]:{port}/x"), split_address("port", "80")
    (('[::1]', '{port}'), ('127.0.0.1', '80'))
    """
    address = text.removeprefix("http://").partition("/")[0] if form == "http" else text
    host, _, port = address.rpartition(":")
    return host or LOOPBACK, port


def _url(value: Any) -> Any:
    if not isinstance(value, str) or not _URL.fullmatch(value):
        raise ValueError(f'found {short_repr(value)}, expected "http://127.0.0.1:{{port}}/PATH"')
    return value


def hosts_of(value: Any) -> list[str]:
    """Return the machines that a text or a list names. Raises ValueError.

    >>> hosts_of("local"), hosts_of(["ssh:a", "ssh:me@b"])
    (['local'], ['ssh:a', 'ssh:me@b'])
    """
    listed = value if isinstance(value, list) else [value]
    if not 1 <= len(listed) <= MAX_COMMANDS or not all(isinstance(x, str) and _MACHINE.fullmatch(x) for x in listed):
        raise ValueError(f"found {short_repr(value)}, expected local or ssh:NAME")
    if len(set(listed)) < len(listed):
        raise ValueError(f"found {short_repr(value)}, expected each machine once")
    return listed


def _ports(value: Any) -> Any:
    if type(value) is int and 0 <= value <= MAX_PORTS:
        return value
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_PORTS or not all(map(_is_port, value)):
        raise ValueError(
            f"found {short_repr(value)}, expected a count from 0 to {MAX_PORTS}, or a list of port numbers"
        )
    if len(set(value)) < len(value):
        raise ValueError(f"found {short_repr(value)}, expected each port once")
    return value


def _limit(value: Any) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    if not is_number and not (isinstance(value, str) and re.fullmatch(r"\{[^{}]+\}", value)):
        raise ValueError(f'found {short_repr(value)}, expected a number such as 0.5, or "{{factor}}"')
    return float(value) if is_number else value


# Of CPU time in CPUs, of memory in MiB.
Limit = Annotated[float | Text, BeforeValidator(_limit)]


class ReadyWhen(StudyPart):
    """When a service is ready: one of three forms."""

    line: Annotated[Text, StringConstraints(min_length=1, max_length=512, pattern=r"^[^\n]*$")] | None = None
    port: Annotated[int | Text, BeforeValidator(_port)] | None = None
    http: Annotated[Text, BeforeValidator(_url)] | None = None

    @model_validator(mode="after")
    def _one_form(self) -> "ReadyWhen":
        given = [form for form in FORMS if getattr(self, form) is not None]
        if len(given) != 1:
            raise ValueError(f"found {' and '.join(given) or 'nothing'}, expected one of {', '.join(FORMS)}")
        return self

    def template_form(self) -> tuple[str, str]:
        return next((form, str(value)) for form in FORMS if (value := getattr(self, form)) is not None)


class StopBy(StudyPart):
    """How a service is stopped: a signal, then a kill after the grace time."""

    signal: Literal["TERM", "INT", "QUIT", "HUP", "USR1", "USR2", "KILL"] = "TERM"
    grace_s: Annotated[Duration, Field(le=3600)] = Field(default=5.0, alias="grace")


class DeclaredProcess(StudyPart):
    """One `[[process]]`: what is started, copies, order, and when it is ready."""

    name: ProcessName
    role: Literal["service", "driver"]
    argv: Argv | None = None
    use: Text | None = None
    parameters: dict[Name, ParameterValue] = Field(default={})
    copies: Copies = 1
    after: list[ProcessName] = Field(default=[], max_length=MAX_COMMANDS)
    when: dict[Name, Annotated[list[Scalar], Field(min_length=1)]] = Field(default={}, exclude_if=lambda when: not when)
    ready: ReadyWhen | None = None
    ready_timeout_s: Annotated[Duration, Field(gt=0, le=86_400)] = Field(default=60.0, alias="ready_timeout")
    ports: Annotated[int | list[int], BeforeValidator(_ports)] = 0
    stop: StopBy = StopBy()
    pid: Annotated[int, Field(ge=1, le=MAX_PID)] | None = Field(default=None, exclude_if=lambda pid: pid is None)
    cpus: Copies | None = Field(default=None, exclude_if=lambda count: count is None)
    quota: Limit | None = Field(default=None, exclude_if=lambda limit: limit is None)
    memory: Limit | None = Field(default=None, exclude_if=lambda limit: limit is None)
    # Names of machines are in no journal, and no part of what is measured.
    host: Annotated[list[str] | None, BeforeValidator(hosts_of)] = Field(default=None, exclude=True)

    @property
    def words(self) -> list[str]:
        """Every template text except parameters."""
        ready = (str(value) for form in FORMS if self.ready and (value := getattr(self.ready, form)) is not None)
        return [*(self.argv or ()), *ready]

    @model_validator(mode="after")
    def _one_of(self) -> "DeclaredProcess":
        given = [key for key in ("argv", "use", "pid") if getattr(self, key) is not None]
        if self.pid is None and len(given) != 1:
            raise ValueError("found both or neither of `argv` and `use`, expected exactly one")
        if len(given) > 1:
            raise ValueError(f"found {' beside '.join(given)}, expected one of them")
        return self


def value_of(written: Any, values: Mapping[str, Any]) -> Any:
    """Return a value, or that of the name that stands for it.

    >>> value_of(0.5, {}), value_of("{n}", {"n": 3})
    (0.5, 3)
    """
    return values[written[1:-1]] if isinstance(written, str) and written.startswith("{") else written


def number_of(count: int | str, values: Mapping[str, Any]) -> int:
    return int(value_of(count, values))


def sort_services(after: Mapping[str, Sequence[str]]) -> list[str] | None:
    """Sort names so that each follows those it names; None for a cycle.

    >>> sort_services({"front": ["app"], "app": ["database"], "database": []}), sort_services({"a": ["b"], "b": ["a"]})
    (['database', 'app', 'front'], None)
    """
    left, done = dict(after), list[str]()
    while left:
        free = next((name for name, others in left.items() if not any(other in left for other in others)), None)
        if free is None:
            return None
        done.append(free)
        del left[free]
    return done


def predecessors(name: str, after: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the names that a process comes after, directly or through others."""
    earlier, waiting = set[str](), list(after.get(name, ()))
    while waiting:
        other = waiting.pop()
        if other not in earlier:
            earlier.add(other)
            waiting += after.get(other, ())
    return earlier


def own_names(is_service: bool, has_ports: bool) -> Iterator[str]:
    """Yield the names filled for a process by itself."""
    yield from OWN_NAMES
    if is_service:
        yield from COPY_NAMES
    if has_ports:
        yield from PORT_NAMES


def service_names(services: Sequence[str]) -> Iterator[str]:
    """Yield the names filled for processes that come after these services with ports."""
    yield from (f"{service}{ending}" for service in services for ending in ENDINGS)


_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class Template(str):
    """A value that is a template itself: filled before it is inserted."""

    __slots__ = ()


def placeholders(template: Sequence[str]) -> Iterator[tuple[str | None, str]]:
    """Yield every `{name}` with its item, in order; None for a lone brace.

    >>> list(placeholders(["run", "-n{n}", "{{}}", "}"]))
    [('n', '-n{n}'), (None, '}')]
    """
    for item in template:
        for match in _PLACEHOLDER.finditer(item):
            if match[0] not in ("{{", "}}"):
                yield match[1], item


def fill(template: Sequence[str], values: Mapping[str, Any]) -> list[str]:
    """Return an argv with every `{name}` filled; `{{` and `}}` are braces. Inserted text is not expanded.

    >>> fill(["run", "-n{n}", "{more}", "{{}}"], {"n": 2, "more": ["a", "b"]})
    ['run', '-n2', 'a', 'b', '{}']
    """
    filled: list[str] = []
    for item in template:
        whole = _PLACEHOLDER.fullmatch(item)
        value = _lookup(whole[1], item, values) if whole and whole[1] is not None else None
        if isinstance(value, list | tuple):
            filled += [format_value(part) for part in value]
        else:
            filled.append(_PLACEHOLDER.sub(lambda match, item=item: _put(match, item, values), item))  # type: ignore[misc]
    return filled


def _put(match: re.Match[str], item: str, values: Mapping[str, Any]) -> str:
    if match[0] in ("{{", "}}"):
        return match[0][0]
    if match[1] is None:
        raise StudyError.one("argv", f'a lone "{match[0]}" in "{item}"', "{name}", "write {{ or }} for a brace")
    value = _lookup(match[1], item, values)
    if isinstance(value, list | tuple):
        fix = f'make "{{{match[1]}}}" an item of its own'
        raise StudyError.one("argv", f'the list {match[1]} inside "{item}"', "a single value", fix)
    return format_value(value)


def _lookup(name: str, item: str, values: Mapping[str, Any]) -> Any:
    if name not in values:
        text = f'unknown name {{{name}}} in "{item}"'
        raise unknown_name_error("argv", text, name, sorted(values), "or {{ for a brace", "no name at all")
    return values[name]


def spell(word: str, levels: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a word with each level of the factors that it names; other names stay.

    >>> spell("{here}/{version}", {"version": ["old", "new"], "n": ["1"]})
    ['{here}/old', '{here}/new']
    """
    spelled = [word]
    for name in (name for name in levels if f"{{{name}}}" in word):
        filled = (each.replace(f"{{{name}}}", text) for each in spelled for text in levels[name])
        spelled = [*islice(filled, 10_000)]
    return spelled
