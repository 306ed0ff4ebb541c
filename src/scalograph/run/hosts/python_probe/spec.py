"""The specification line: read once, checked wholly, then trusted.

Each field of `Spec` and `Command` declares what it may be, under its name in protocol/probe.md; null counts as absent.
Fields that this probe does not use are checked too: the same line must be right for every probe.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Annotated, Any, NamedTuple, get_type_hints

_MAX_LINE = 1 << 20
_MAX_COPIES = 4096
_MAX_STDOUT = 8 << 20
_MAX_STDERR = 64 << 10
_INT64 = 2**63 - 1
_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
_HTTP_PATH, _HOST = re.compile(r"/[!-~]{0,511}"), re.compile(r"[A-Za-z0-9._:-]+")
_OF_A_SERVICE = ("ready", "ready_timeout_ns", "ports", "stop_signal", "stop_grace_ns")
_FIX = "correct the specification (protocol/probe.md)"


class RefusalError(Exception):
    """Why a run was not carried out; `code` is the exit code of the probe."""

    def __init__(self, code: int, where: str, actual: str, expected: str, fix: str) -> None:
        super().__init__(f"{where}: {actual}, expected {expected}; {fix}")
        self.code = code
        self.fields = {"where": where, "found": actual, "expected": expected, "fix": fix}


class CopyLostError(Exception):
    """Why no copy left the gate, although the host refused nothing: a failed run."""


class Rule(NamedTuple):
    """What a field may be; the annotation of a field holds one."""

    accepts: Callable[[Any], object]
    expected: str


def integer(low: int, high: int = _INT64) -> Rule:
    """Return the rule of an integer within these limits."""
    expected = f"an integer of at least {low}" if high == _INT64 else f"an integer, {low} to {high}"
    return Rule(lambda value: type(value) is int and low <= value <= high, expected)


def _text(limit: int) -> Rule:
    expected = f"a text of 1 to {limit} bytes without NUL"
    return Rule(lambda value: _is_plain(value) and 1 <= len(value.encode()) <= limit, expected)


def _choice(*choices: str) -> Rule:
    return Rule(lambda value: value in choices, "one of " + ", ".join(choices))


def _list(item: Rule, low: int, high: int = _MAX_LINE) -> Rule:
    length = f"at least {low}" if high == _MAX_LINE else f"{low} to {high}"
    return Rule(
        lambda value: isinstance(value, list) and low <= len(value) <= high and all(map(item.accepts, value)),
        f"a list of {length}: {item.expected}",
    )


def _is_plain(value: object) -> bool:
    """Whether exec takes it: a text without NUL, and without half of a surrogate pair."""
    return isinstance(value, str) and "\0" not in value and not any("\ud800" <= c <= "\udfff" for c in value)


def _is_environment(value: object) -> bool:
    pairs = value.items() if isinstance(value, dict) else [(None, None)]
    return all(_is_plain(name) and name and "=" not in name and _is_plain(text) for name, text in pairs)


def _is_ready(value: object) -> object:
    match value:
        case {"line": text, **rest}:
            return not rest and _text(512).accepts(text) and "\n" not in text
        case {"http": {"port": port, "path": str(path), **more}, **rest}:
            return not rest and _PORT.accepts(port) and _is_host(more) and _HTTP_PATH.fullmatch(path)
        case {"port": port, **rest}:
            return _PORT.accepts(port) and _is_host(rest)
    return False


def _is_host(rest: Mapping[Any, object]) -> object:
    """Whether nothing is left, or the host of a port."""
    return not rest or (rest.keys() == {"host"} and _is_plain(rest["host"]) and _HOST.fullmatch(str(rest["host"])))


def _is_running(value: object) -> object:
    match value:
        case {"name": name, "pid": pid}:
            return name and _SERVICE_NAME.accepts(name) and integer(1, 2**31 - 1).accepts(pid)
    return False


_FLAG = Rule(lambda value: isinstance(value, bool), "true or false")
_PATH = Rule(lambda value: _text(4096).accepts(value) and value.startswith("/"), "an absolute path")
_CGROUPS = Rule(
    lambda value: _PATH.accepts(value) or _list(_PATH, 1, 2).accepts(value), "an absolute path, or a list of 1 or 2"
)
_STDOUT = Rule(
    lambda value: value in ("null", "capture", "pipe", "tty") or _PATH.accepts(value),
    "null, capture, pipe, tty, or an absolute path",
)
_PORT = integer(1, 65535)
_MASK = _list(integer(0, 8191), 1)
_MASKS = Rule(lambda value: _MASK.accepts(value) or _list(_MASK, 1).accepts(value), f"{_MASK.expected}, or such lists")
_TEXTS = _list(Rule(_is_plain, "program and arguments without NUL"), 1)
_ARGV = Rule(lambda value: _TEXTS.accepts(value) and value[0], _TEXTS.expected)
_PORTS = Rule(lambda value: _list(_PORT, 0, 64).accepts(value) and len(set(value)) == len(value), "64 different ports")
_READY = Rule(_is_ready, '{"line": TEXT}, {"port": N} or {"http": {"port": N, "path": "/..."}}, beside N "host" if any')
_SERVICE_NAME = Rule(
    lambda value: isinstance(value, str) and (not value or _NAME.fullmatch(value)),
    "a-z, then a-z, 0-9 and -, at most 64 bytes",
)


class Command(NamedTuple):
    """A checked command."""

    argv: Annotated[Sequence[str], _ARGV]
    cwd: Annotated[str, _PATH]
    env: Annotated[Mapping[str, str], Rule(_is_environment, "an object from name to text: the whole environment")]
    copies: Annotated[int, integer(1, _MAX_COPIES)] = 1
    stdin: Annotated[str | None, _PATH] = None
    ok_exits: Annotated[Sequence[int], _list(integer(0, 255), 1, 256)] = (0,)
    cpus: Annotated[Sequence[Any] | None, _MASKS] = None
    policy: Annotated[str | None, _choice("other", "batch", "idle", "fifo", "rr", "ext")] = None
    priority: Annotated[int, integer(0, 99)] = 0
    nice: Annotated[int | None, integer(-20, 19)] = None
    cgroup: Annotated[str | Sequence[str] | None, _CGROUPS] = None
    name: Annotated[str, _SERVICE_NAME] = ""
    role: Annotated[str, _choice("driver", "service")] = "driver"
    ready: Annotated[Mapping[str, Any] | None, _READY] = None
    ready_timeout_ns: Annotated[int | None, integer(1)] = None
    ports: Annotated[Sequence[int] | None, _PORTS] = None  # once checked: that of `ready` too; None of a driver
    stop_signal: Annotated[str | None, _choice("TERM", "INT", "QUIT", "HUP", "USR1", "USR2", "WINCH", "KILL")] = None
    stop_grace_ns: Annotated[int | None, integer(0)] = None

    @property
    def masks(self) -> list[tuple[int, ...] | None]:
        """One CPU mask, or None, for each copy."""
        if self.cpus is None:
            return [None] * self.copies
        each = self.cpus if isinstance(self.cpus[0], list) else [self.cpus] * self.copies
        return [tuple(sorted(set(mask))) for mask in each]


class Spec(NamedTuple):
    """A checked specification."""

    protocol: Annotated[int, integer(1, 2)]
    run: Annotated[str, _text(128)]
    commands: Annotated[Sequence[Command], _list(Rule(lambda _: True, "commands"), 1, 64)]
    timeout_ns: Annotated[int, integer(1)]
    running: Annotated[Sequence[Mapping[str, Any]], _list(Rule(_is_running, "`name` and `pid`"), 0, 64)] = ()
    events: Annotated[bool, _FLAG] = False
    stdout: Annotated[str, _STDOUT] = "null"
    stdout_limit_bytes: Annotated[int, integer(0, _MAX_STDOUT)] = _MAX_STDOUT
    echo: Annotated[bool, _FLAG] = False
    stderr_limit_bytes: Annotated[int, integer(0, _MAX_STDERR)] = _MAX_STDERR
    ready_timeout_ns: Annotated[int, integer(1)] = 60_000_000_000
    user: Annotated[str | None, _text(256)] = None
    timeline: Annotated[bool, _FLAG] = True
    timeline_bins: Annotated[int, integer(8, 512)] = 512
    timeline_tasks: Annotated[int, integer(0, 64)] = 64
    sentinel: Annotated[bool, _FLAG] = False
    backend: Annotated[str, _choice("auto", "plain")] = "auto"
    namespace: Annotated[bool, _FLAG] = True


def read(stream: IO[bytes]) -> dict[str, Any]:
    """Read the first line as an object; nothing after it is looked at."""
    line = stream.readline(_MAX_LINE + 1)
    fix = "send one specification line on standard input"
    if len(line) > _MAX_LINE:
        raise RefusalError(2, "spec", "a longer line", f"one line of at most {_MAX_LINE} bytes", fix)
    try:
        fields = json.loads(line.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RefusalError(2, "spec", str(error)[:200] if line.strip() else "nothing", "one JSON object", fix) from None
    if not isinstance(fields, dict):
        raise refusal("spec", fields, "one JSON object")
    return fields


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def parse(fields: Mapping[str, Any]) -> Spec:
    """Check the whole line; the first mistake is a RefusalError."""
    spec = Spec(**check(Spec, fields, ""))
    commands = [_command(f"commands[{index}]", item) for index, item in enumerate(spec.commands)]
    for index, name, expected in _contradictions(commands, bool(spec.running)):
        raise refusal(f"commands[{index}].{name}", fields["commands"][index].get(name), expected)
    if all(command.role == "service" for command in commands):
        raise refusal("commands", fields["commands"], "a driver after the services")
    return spec._replace(commands=commands)


def check(model: Any, fields: Mapping[str, Any], prefix: str, fix: str = _FIX) -> dict[str, Any]:
    """Return those fields of a NamedTuple that are given; the first that breaks its rule is a RefusalError."""
    given: dict[str, Any] = {}
    for name, hint in get_type_hints(model, include_extras=True).items():
        value, (rule,) = fields.get(name), hint.__metadata__
        if value is not None or name not in model._field_defaults:
            if not rule.accepts(value):
                raise refusal(prefix + name, value, rule.expected, fix)
            given[name] = value
    return given


def refusal(where: str, value: object, expected: str, fix: str = _FIX) -> RefusalError:
    """Return the refusal of a value, shown in at most 80 characters."""
    text = "nothing" if value is None else json.dumps(value, default=str)
    return RefusalError(2, where, text if len(text) <= 80 else text[:80] + "...", expected, fix)


def _command(where: str, fields: Any) -> Command:
    if not isinstance(fields, dict):
        raise refusal(where, fields, "one JSON object")
    command = Command(**check(Command, fields, f"{where}."))
    if command.role == "service":
        ready = command.ready or {}
        port = ready.get("http", ready).get("port")
        return command._replace(ports=sorted({*(command.ports or ()), *([port] if port else [])}))
    for name in _OF_A_SERVICE:
        if fields.get(name) not in (None, []):
            raise refusal(f"{where}.{name}", fields[name], "nothing: only a service has it")
    return command._replace(ports=None)


def _contradictions(commands: Sequence[Command], needs_names: bool) -> Iterator[tuple[int, str, str]]:
    """Yield command, field and what was expected, of each mistake that fields make together."""
    needs_names |= any(command.role == "service" for command in commands)
    n_copies, ports, is_late = 0, set[int](), False
    for index, command in enumerate(commands):
        is_driver, is_real_time = command.role == "driver", command.policy in ("fifo", "rr")
        n_copies += command.copies
        rules = (
            ("copies", n_copies <= _MAX_COPIES, f"at most {_MAX_COPIES} over all commands"),
            ("copies", is_driver or command.copies == 1, "1: each copy of a service is a command of its own"),
            ("priority", is_real_time == (command.priority > 0), "1 to 99 for fifo and rr, else 0"),
            ("cpus", len(command.masks) == command.copies, f"CPU numbers, or {command.copies} lists of them"),
            ("name", command.name or not needs_names, "a name: one of the commands is a service"),
            ("role", is_driver or not is_late, "driver: services come before drivers"),
            ("ports", ports.isdisjoint(command.ports or ()), "ports that no other service has"),
        )
        yield from ((index, name, expected) for name, holds, expected in rules if not holds)
        ports.update(command.ports or ())
        is_late |= is_driver
