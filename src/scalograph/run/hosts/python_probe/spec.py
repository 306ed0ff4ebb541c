"""The specification line: read once, checked wholly, then trusted."""

import json
from collections.abc import Mapping, Sequence
from typing import IO, Any, NamedTuple, NoReturn

from scalograph.run.hosts.python_probe.service_spec import check_services, role_of, running_of

_MAX_LINE = 1 << 20
_MAX_COPIES = 4096
_MAX_CPUS = 8192
_MAX_STDOUT = 8 << 20
_MAX_STDERR = 64 << 10
_INT64 = 2**63 - 1


class RefusalError(Exception):
    """Why a run was not carried out; `code` is the exit code of the probe."""

    def __init__(self, code: int, where: str, found: str, expected: str, fix: str) -> None:
        super().__init__(f"{where}: {found}, expected {expected}; {fix}")
        self.code = code
        self.fields = {"where": where, "found": found, "expected": expected, "fix": fix}


class CopyLostError(Exception):
    """Why no copy left the gate, although the host refused nothing: a failed run."""


class Command(NamedTuple):
    """A checked command; `masks` holds one mask or None for each copy."""

    argv: Sequence[str]
    copies: int
    cwd: str
    env: Mapping[str, str]
    masks: Sequence[tuple[int, ...] | None]
    policy: str | None
    priority: int
    nice: int | None
    name: str
    ports: Sequence[int] | None  # of a service; None: a driver
    cgroup: str | None
    stdin: str | None = None  # what every copy reads from its beginning; None: /dev/null
    ok_exits: Sequence[int] = (0,)  # exit codes that are no failure


class Spec(NamedTuple):
    """A checked specification."""

    run: str
    commands: Sequence[Command]
    events: bool
    capture: bool
    stdout_limit: int
    stderr_limit: int
    timeout_ns: int
    ready_timeout_ns: int
    user: str | None
    running: Sequence[str]


def read(stream: IO[bytes]) -> dict[str, Any]:
    """Read the first line as an object; nothing after it is looked at."""
    line = stream.readline(_MAX_LINE + 1)
    fix = "send one specification line on standard input"
    if len(line) > _MAX_LINE:
        raise RefusalError(2, "spec", "a longer line", f"one line of at most {_MAX_LINE} bytes", fix)
    try:
        value = json.loads(line.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise RefusalError(2, "spec", str(error)[:200] if line.strip() else "nothing", "one JSON object", fix) from None
    return _object("spec", value)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def parse(value: dict[str, Any]) -> Spec:
    """Check the whole line; the first mistake is a RefusalError."""
    top = _Fields(value, "")
    top.integer("protocol", None, 1, 2)
    # Checked although nothing here depends on them: the same line must be right for every probe.
    top.flag("timeline", True)
    top.flag("namespace", True)
    top.integer("timeline_bins", 512, 8, 512)
    top.integer("timeline_tasks", 64, 0, 64)
    top.choice("backend", "auto", "plain")
    running = running_of(top)
    return Spec(
        run=top.text("run", 128) or top.refuse("run", "a text of 1 to 128 bytes"),
        commands=_commands(value.get("commands"), bool(running)),
        events=top.flag("events", False),
        capture=top.choice("stdout", "null", "capture") == "capture",
        stdout_limit=top.integer("stdout_limit_bytes", _MAX_STDOUT, 0, _MAX_STDOUT),
        stderr_limit=top.integer("stderr_limit_bytes", _MAX_STDERR, 0, _MAX_STDERR),
        timeout_ns=top.integer("timeout_ns", None, 1, _INT64),
        ready_timeout_ns=top.integer("ready_timeout_ns", 60_000_000_000, 1, _INT64),
        user=top.text("user", 256),
        running=running,
    )


def _commands(value: object, beside_running: bool) -> Sequence[Command]:
    if not isinstance(value, list) or not 1 <= len(value) <= 64:
        raise _wrong("commands", value, "a list of 1 to 64 commands")
    commands: list[Command] = []
    for index, item in enumerate(value):
        place, left = f"commands[{index}]", _MAX_COPIES - sum(command.copies for command in commands)
        commands.append(_command(_Fields(_object(place, item), f"{place}."), left))
    if mistake := check_services(commands, beside_running):
        number, field, expected = mistake
        if number is None:
            raise _wrong("commands", value, expected)
        raise _wrong(f"commands[{number}].{field}", value[number].get(field), expected)
    return commands


def _command(of: "_Fields", left: int) -> Command:
    argv, cwd, env = of.get("argv"), of.text("cwd", 4096), of.get("env")
    cgroup = of.text("cgroup", 4096)
    if not isinstance(argv, list) or not argv or not all(map(_plain, argv)) or not argv[0]:
        of.refuse("argv", "a list of texts without NUL: program and arguments")
    if cgroup is not None and not cgroup.startswith("/"):
        of.refuse("cgroup", "an absolute path")
    if cwd is None or not cwd.startswith("/"):
        of.refuse("cwd", "an absolute path")
    if not isinstance(env, dict) or not all(_plain(k) and k and "=" not in k and _plain(v) for k, v in env.items()):
        of.refuse("env", "an object from name to text: the whole environment")
    copies = of.integer("copies", 1, 1, left)
    name, ports = role_of(of, copies)
    policy = of.choice("policy", "other", "batch", "idle", "fifo", "rr", "ext")
    priority = of.integer("priority", 0, *((1, 99) if policy in ("fifo", "rr") else (0, 0)))
    nice = None if of.get("nice") is None else of.integer("nice", None, -20, 19)
    masks = of.masks(copies)
    return Command(
        argv, copies, cwd, env, masks, policy, priority, nice, name, ports, cgroup, _stdin(of), _ok_exits(of)
    )


def _stdin(of: "_Fields") -> str | None:
    stdin = of.text("stdin", 4096)
    if stdin is not None and not stdin.startswith("/"):
        of.refuse("stdin", "an absolute path")
    return stdin


def _ok_exits(of: "_Fields") -> Sequence[int]:
    codes = of.get("ok_exits")
    if codes is None:
        return (0,)
    is_list = isinstance(codes, list) and 1 <= len(codes) <= 256
    if not is_list or not all(type(code) is int and 0 <= code <= 255 for code in codes):
        of.refuse("ok_exits", "a list of 1 to 256 exit codes, 0..255")
    return tuple(codes)


def _object(where: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(where, value, "one JSON object")
    return value


def _wrong(where: str, found: object, expected: str) -> RefusalError:
    text = "nothing" if found is None else json.dumps(found, default=str)
    shown = text if len(text) <= 80 else text[:80] + "..."
    return RefusalError(2, where, shown, expected, "correct the specification (protocol/probe.md)")


def _plain(value: object) -> bool:
    """A text that can be handed to exec: no NUL, no half of a surrogate pair."""
    return isinstance(value, str) and "\0" not in value and not any("\ud800" <= c <= "\udfff" for c in value)


def _mask(value: object) -> tuple[int, ...] | None:
    if not isinstance(value, list) or not value:
        return None
    right = all(type(cpu) is int and 0 <= cpu < _MAX_CPUS for cpu in value)
    return tuple(sorted(set(value))) if right else None


class _Fields:
    """One object of the specification, and where it stands. null counts as absent."""

    def __init__(self, fields: dict[str, Any], prefix: str) -> None:
        self.get, self._prefix = fields.get, prefix

    def refuse(self, name: str, expected: str) -> NoReturn:
        raise _wrong(self._prefix + name, self.get(name), expected)

    def integer(self, name: str, default: int | None, low: int, high: int) -> int:
        found = default if self.get(name) is None else self.get(name)
        if type(found) is not int or not low <= found <= high:
            self.refuse(name, f"an integer of at least {low}" if high == _INT64 else f"an integer, {low} to {high}")
        return found

    def text(self, name: str, limit: int) -> str | None:
        found: str | None = self.get(name)
        if found is not None and not (_plain(found) and 1 <= len(found.encode()) <= limit):
            self.refuse(name, f"a text of 1 to {limit} bytes without NUL")
        return found

    def flag(self, name: str, default: bool) -> bool:
        found = default if self.get(name) is None else self.get(name)
        return found if isinstance(found, bool) else self.refuse(name, "true or false")

    def choice(self, name: str, *choices: str) -> str | None:
        found: str | None = self.get(name)
        return found if found is None or found in choices else self.refuse(name, "one of " + ", ".join(choices))

    def masks(self, copies: int) -> Sequence[tuple[int, ...] | None]:
        cpus = self.get("cpus")
        if cpus is None or (same := _mask(cpus)):
            return [None if cpus is None else same] * copies
        each = [_mask(item) for item in cpus] if isinstance(cpus, list) else []
        if len(each) != copies or None in each:
            self.refuse("cpus", f"a list of CPU numbers, or {copies} such lists, one for each copy")
        return each
