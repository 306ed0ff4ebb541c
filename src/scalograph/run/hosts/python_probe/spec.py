"""The specification line: read once, checked wholly, then trusted."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

MAX_LINE = 1 << 20
MAX_COPIES = 4096
MAX_CPUS = 8192
MAX_STDOUT = 8 << 20
MAX_STDERR = 64 << 10
_INT64 = 2**63 - 1


class RefusalError(Exception):
    """Why a run was not carried out; `code` is the exit code of the probe."""

    def __init__(self, code: int, where: str, found: str, expected: str, fix: str) -> None:
        super().__init__(f"{where}: {found}, expected {expected}; {fix}")
        self.code = code
        self.fields = {"where": where, "found": found, "expected": expected, "fix": fix}


def wrong(where: str, found: object, expected: str) -> RefusalError:
    """A mistake in the specification."""
    text = "nothing" if found is None else json.dumps(found, ensure_ascii=True, default=str)
    shown = text if len(text) <= 80 else text[:80] + "..."
    return RefusalError(2, where, shown, expected, "correct the specification (protocol/probe.md)")


@dataclass(frozen=True)
class Command:
    """A checked command; `masks` holds one mask or None for each copy."""

    argv: tuple[str, ...]
    copies: int
    cwd: str
    env: Mapping[str, str]
    masks: Sequence[tuple[int, ...] | None]
    policy: str | None
    priority: int
    nice: int | None


@dataclass(frozen=True)
class Spec:
    """A checked specification."""

    run: str
    commands: tuple[Command, ...]
    events: bool
    capture: bool
    stdout_limit: int
    stderr_limit: int
    timeout_ns: int
    ready_timeout_ns: int
    user: str | None


def read(stream: IO[bytes]) -> dict[str, Any]:
    """The first line as an object; nothing after it is looked at."""
    line = stream.readline(MAX_LINE + 1)
    fix = "send one specification line on standard input"
    if len(line) > MAX_LINE:
        raise RefusalError(2, "spec", "a longer line", f"one line of at most {MAX_LINE} bytes", fix)
    try:
        value = json.loads(line.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise RefusalError(2, "spec", str(error)[:200] if line.strip() else "nothing", "one JSON object", fix) from None
    if not isinstance(value, dict):
        raise wrong("spec", value, "one JSON object")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def parse(value: dict[str, Any]) -> Spec:
    """The whole line, or the first mistake as a RefusalError."""
    top = _Fields(value, "")
    top.integer("protocol", None, 1, 1)
    run = top.text("run", 128)
    if run is None:
        raise wrong("run", None, "a text of 1 to 128 bytes")
    commands = _commands(value.get("commands"))
    spec = Spec(
        run=run,
        commands=commands,
        events=top.flag("events", False),
        capture=top.choice("stdout", ("null", "capture")) == "capture",
        stdout_limit=top.integer("stdout_limit_bytes", MAX_STDOUT, 0, MAX_STDOUT),
        stderr_limit=top.integer("stderr_limit_bytes", MAX_STDERR, 0, MAX_STDERR),
        timeout_ns=top.integer("timeout_ns", None, 1, _INT64),
        ready_timeout_ns=top.integer("ready_timeout_ns", 60_000_000_000, 1, _INT64),
        user=top.text("user", 256),
    )
    # Checked although nothing here depends on them: the same line must be right for every probe.
    top.flag("timeline", True)
    top.integer("timeline_bins", 512, 8, 512)
    top.integer("timeline_tasks", 64, 0, 64)
    top.choice("backend", ("auto", "plain"))
    return spec


def _commands(value: object) -> tuple[Command, ...]:
    if not isinstance(value, list) or not 1 <= len(value) <= 64:
        raise wrong("commands", value, "a list of 1 to 64 commands")
    commands: list[Command] = []
    for index, item in enumerate(value):
        left = MAX_COPIES - sum(command.copies for command in commands)
        commands.append(_command(f"commands[{index}]", item, left))
    return tuple(commands)


def _command(place: str, value: object, left: int) -> Command:
    if not isinstance(value, dict):
        raise wrong(place, value, "an object")
    of = _Fields(value, place + ".")
    argv = of.get("argv")
    if not isinstance(argv, list) or not argv or not all(map(_plain, argv)) or not argv[0]:
        raise of.wrong("argv", "a list of texts without NUL: program and arguments")
    copies = of.integer("copies", 1, 1, left)
    cwd = of.text("cwd", 4096)
    if cwd is None or not cwd.startswith("/"):
        raise of.wrong("cwd", "an absolute path")
    env = of.get("env")
    if not isinstance(env, dict) or not all(_plain(k) and k and "=" not in k and _plain(v) for k, v in env.items()):
        raise of.wrong("env", "an object from name to text: the whole environment")
    policy = of.choice("policy", ("other", "batch", "idle", "fifo", "rr", "ext"))
    low, high = (1, 99) if policy in ("fifo", "rr") else (0, 0)
    priority = of.integer("priority", 0, low, high)
    nice = None if of.get("nice") is None else of.integer("nice", None, -20, 19)
    return Command(tuple(argv), copies, cwd, env, of.masks(copies), policy, priority, nice)


def _plain(value: object) -> bool:
    """A text that can be handed to exec: no NUL, no half of a surrogate pair."""
    return isinstance(value, str) and "\0" not in value and not any("\ud800" <= c <= "\udfff" for c in value)


def _mask(value: object) -> tuple[int, ...] | None:
    if not isinstance(value, list) or not value:
        return None
    right = all(type(cpu) is int and 0 <= cpu < MAX_CPUS for cpu in value)
    return tuple(sorted(set(value))) if right else None


class _Fields:
    """One object of the specification, and where it stands. null counts as absent."""

    def __init__(self, fields: dict[str, Any], prefix: str) -> None:
        self.get: Callable[[str], Any] = fields.get
        self.prefix = prefix

    def wrong(self, name: str, expected: str) -> RefusalError:
        return wrong(self.prefix + name, self.get(name), expected)

    def integer(self, name: str, default: int | None, low: int, high: int) -> int:
        found = self.get(name)
        found = default if found is None else found
        if type(found) is not int or not low <= found <= high:
            limit = f"an integer of at least {low}" if high == _INT64 else f"an integer, {low} to {high}"
            raise self.wrong(name, f"{low}" if low == high else limit)
        return found

    def text(self, name: str, limit: int) -> str | None:
        found = self.get(name)
        if found is not None and not (_plain(found) and 1 <= len(found.encode()) <= limit):
            raise self.wrong(name, f"a text of 1 to {limit} bytes without NUL")
        return None if found is None else str(found)

    def flag(self, name: str, default: bool) -> bool:
        found = self.get(name)
        if not isinstance(found, bool | None):
            raise self.wrong(name, "true or false")
        return default if found is None else found

    def choice(self, name: str, choices: tuple[str, ...]) -> str | None:
        found = self.get(name)
        if found is not None and found not in choices:
            raise self.wrong(name, "one of " + ", ".join(choices))
        return None if found is None else str(found)

    def masks(self, copies: int) -> Sequence[tuple[int, ...] | None]:
        found = self.get("cpus")
        if found is None:
            return [None] * copies
        if same := _mask(found):
            return [same] * copies
        each = [_mask(item) for item in found] if isinstance(found, list) else []
        if len(each) != copies or None in each:
            raise self.wrong("cpus", f"a list of CPU numbers, or {copies} such lists, one for each copy")
        return each
