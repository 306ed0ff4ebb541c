"""Write the study of a command line as TOML that `check` accepts and `run` repeats."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from scalograph.errors import HostError, Problem, ScalographError, StudyError
from scalograph.questions.asked import COUNTED, WORKERS, AskedFactors
from scalograph.questions.registry import is_search
from scalograph.study.levels import SOME_HOST, LevelsError, needs_host, parse_levels
from scalograph.study.scalars import Level, format_value

LIMITS = ("quota", "memory", "placement", "nodes", "tasks-per-node", "cpus-per-task", "launcher")
# What is read of every command: response, where it is read where it is the first and where it is not, unit, direction,
# title.
OWN = (
    ("wall", "window.wall", "run.wall", "s", "lower", "wall time"),
    ("cpu", "window.cpu", "run.cpu", "s", "lower", "CPU time"),
    ("cpu_percent", "run.cpu_percent", "run.cpu_percent", "%", "none", "CPU usage"),
    ("memory", "run.max_rss", "run.max_rss", "bytes", "none", "peak memory"),
)
# Of a place in the output: the name of a harness, and behind a blank which of its benchmarks.
HARNESS = re.compile(r"@([a-z0-9-]+)(?: +(.*))?", re.DOTALL)


@dataclass(frozen=True)
class PrintedFigure:
    """A value to read from the output.

    `place` is a pattern; a JSON pointer where it begins with /; where it is one of `HARNESS`, the harness that
    printed it, and which of its benchmarks.
    """

    name: str
    unit: str
    better: str
    place: str


@dataclass(frozen=True)
class CommandStudy:
    """A command and what is to vary.

    `copies` is a count; levels of copies stand among the factors. Texts with units are as people write them.
    `subcommand` is the command that asked, and `question` the one that the study answers.
    """

    command: tuple[str, ...]
    asked: AskedFactors = field(default_factory=lambda: AskedFactors({}))
    copies: int = 1
    responses: tuple[PrintedFigure, ...] = ()
    steps: dict[str, tuple[str, ...]] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    env_all: bool = False
    input: str = ""
    stdout: str | None = None
    cwd: str = "caller"
    events: bool = False
    ok_exits: tuple[int, ...] = (0,)
    protocol: dict[str, str | float | list[str]] = field(default_factory=dict)
    question: str = "sweep"
    subcommand: str = "measure"

    @property
    def worker_factor(self) -> tuple[str, int] | None:
        """Return the factor that counts workers (else CPUs) in several levels, and its smallest count."""
        for name in sorted(self.asked.levels, key=lambda name: name == "cpus"):
            counts = count_levels(self.asked.levels[name]) if name in (*COUNTED, "cpus") else []
            if len(counts) > 1:
                return name, min(counts)
        return None

    @property
    def reference(self) -> tuple[str, Level] | None:
        """Return the factor whose versions are compared, and the first of them.

        Texts are versions; numbers are where they count no workers and nothing else varies.
        """
        if self.question != "sweep":
            return None
        several = {name: levels for name, text in self.asked.levels.items() if len(levels := _levels(text)) > 1}
        for name, levels in several.items():
            if all(isinstance(level, str) for level in levels) or (len(several) == 1 and self.worker_factor is None):
                return name, levels[0]
        return None


def count_levels(text: str) -> list[int]:
    """Return levels if all are counts, for some host where they need one."""
    levels = _levels(text)
    return [n for n in levels if type(n) is int] if all(type(n) is int and n >= 1 for n in levels) else []


def _levels(text: str) -> list[Level]:
    try:
        return parse_levels(text, SOME_HOST if needs_host(text) else None)
    except LevelsError:
        return []  # told where the study is checked


MAX_TITLE, MAX_COMMAND = 60, 28
HEAD = "# What `scalograph {}` ran. Repeat it from the folder where that was: scalograph run study.toml"
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
_WHERE = re.compile(r"^study\.toml(:\d+)?(: )?")
_KEY = re.compile(r"workload\.(\w+)")
_OPTIONS = {
    "shape": "--shape",
    "baseline": "--default",
    "protocol": "--{}",
    "factors": "--factor {}",
    "responses": "--response {}",
    "workload": "--{}",
}


def toml_value(value: Any) -> str:
    """Return a value as TOML; a tuple is a list, a mapping an inline table with its keys as written."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, Mapping):
        return f"{{ {', '.join(key_lines(value))} }}"
    return f"[{', '.join(map(toml_value, value))}]" if isinstance(value, list | tuple) else format_value(value)


def key_lines(keys: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each key; one without a value has none."""
    yield from (f"{key} = {toml_value(value)}" for key, value in keys.items() if value is not None)


def toml_table(header: str, keys: Mapping[str, Any]) -> list[str]:
    """Return the lines of a table, after an empty one."""
    return ["", header, *key_lines(keys)]


def quote_keys(variables: Mapping[str, str]) -> dict[str, str] | None:
    """Return a table with quoted keys; None for an empty one."""
    return {quote(name): value for name, value in variables.items()} or None


def study_text(study: CommandStudy) -> str:
    """Return the study as TOML: factors, responses, protocol."""
    along = study.worker_factor
    per_worker = study.asked.per_worker or (along is not None and along[0] == "copies")
    head = {
        "version": 1, "name": study_name(study.command, study.subcommand.rpartition(" ")[2]), "title": _title(study),
        "question": study.question, "work": "per-worker" if per_worker else "total", "seed": 1,
        "plan": study.asked.plan or None, "shape": [*study.asked.shapes] or None,
    }  # fmt: skip
    lines = [HEAD.format(study.subcommand), *key_lines(head), *_workload(study), *_factors(study), *_responses(study)]
    if study.asked.baseline:
        lines += toml_table("[baseline]", {factor: _level(level) for factor, level in study.asked.baseline.items()})
    elif along and not is_search(study.question):
        # A search measures levels as often as it needs: no speedup is paired with a baseline.
        lines += toml_table("[baseline]", {along[0]: along[1]})
    if study.reference:
        lines += toml_table("[reference]", dict([study.reference]))
    return "\n".join([*lines, *toml_table("[protocol]", study.protocol)]) + "\n"


def study_name(command: Sequence[str], asked: str = "measure") -> str:
    """Return the name of the study and its folder.

    >>> study_name(["./Prog_2", "-t"]), study_name(["make"], "effective-cpus")
    ('measure-prog-2', 'effective-cpus-make')
    """
    program = re.sub(r"[^a-z0-9]+", "-", command[0].rpartition("/")[2].lower()).strip("-")
    return f"{asked}-{program}"[:64].rstrip("-")


def map_error(error: ScalographError, map_problem: Callable[[Problem], Problem] | None = None) -> ScalographError:
    """Map errors in the generated study, or of this host, to the options that caused them."""
    problems = list(map(map_problem or _map_problem, error.problems))
    return HostError.join_problems(problems) if isinstance(error, HostError) else StudyError(problems)


def quote(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise StudyError.one("command", f"{text[:60]!r} is not UTF-8", "UTF-8 text") from error
    plain = (_ESCAPES.get(c) or (c if c >= " " and c != "\x7f" else f"\\u{ord(c):04X}") for c in text)
    return f'"{"".join(plain)}"'


def _workload(study: CommandStudy) -> list[str]:
    keys = {
        "command": study.command,
        "cwd": study.cwd,
        "copies": "{copies}" if "copies" in study.asked.levels else study.copies if study.copies != 1 else None,
        **study.steps,
        "env_all": study.env_all or None,
        "input": study.input or None,
        "stdout": study.stdout,
        "events": study.events or None,
        "ok_exits": study.ok_exits if study.ok_exits != (0,) else None,
        "env": quote_keys(study.env),
    }
    return toml_table("[workload]", keys)


def _factors(study: CommandStudy) -> Iterator[str]:
    # A command by itself is measured on all CPUs there are.
    for factor, levels in (study.asked.levels or {"cpus": "all"}).items():
        is_cpus, listed = factor == "cpus", study.asked.lists.get(factor)
        keys = {
            "levels": levels if listed is None else [*listed],
            "control": "cpus" if is_cpus else study.asked.controls.get(factor),
            "title": "CPUs" if is_cpus else study.asked.titles.get(factor),
            "unit": study.asked.units.get(factor),
            "role": study.asked.roles.get(factor),
        }
        yield from toml_table(f"[factors.{factor}]", keys)


def _responses(study: CommandStudy) -> Iterator[str]:
    """List what the command prints first where it has a direction: the study is about the first response."""
    directed = [printed for printed in study.responses if printed.better != "none"]
    for printed in directed:
        yield from _output_response(printed)
    for own, first, later, unit, better, title in OWN:
        keys = {"from": later if directed else first, "unit": unit, "better": better, "title": title}
        yield from toml_table(f"[responses.{own}]", {**keys, "limit": study.asked.limits.get(own)})
    for printed in study.responses:
        if printed not in directed:
            yield from _output_response(printed)


def _output_response(printed: PrintedFigure) -> list[str]:
    source: dict[str, str | None] = {"pointer" if printed.place.startswith("/") else "pattern": printed.place}
    if harness := HARNESS.fullmatch(printed.place):
        reader, benchmark = harness.groups("")
        source = {"reader": reader, "benchmark": benchmark.strip() if benchmark else None}
    keys = {"from": "output", **source, "unit": printed.unit, "better": printed.better}
    return toml_table(f"[responses.{printed.name}]", keys)


def _level(text: str) -> Level:
    """Return a level as the text of levels reads it: 1 is a number."""
    try:
        (level,) = parse_levels(text)
    except LevelsError:
        return text  # told where the study is checked
    return level


def _title(study: CommandStudy) -> str:
    """Return the question in short form."""
    text = study.command[2] if study.command[:2] == ("sh", "-c") else " ".join(study.command)
    if len(text) > MAX_COMMAND or not text.isprintable():
        text = _shorten_command(text)
    if study.asked.title:
        return study.asked.title.format(f"`{text}`")
    shown, names = f"`{text}`", [name for name, levels in study.asked.levels.items() if re.search("[,:]|all", levels)]
    if study.reference and len(names) == 1 and isinstance(study.reference[1], str):
        levels = [level.strip() for level in study.asked.levels[names[0]].split(",")]
        own = "" if names[0] == "version" else f"{names[0]}="
        named = [own + level for level in levels] if len(levels) == 2 else [own + ", ".join(levels)]
        if len(title := f"{shown}: {' vs. '.join(named)}") <= MAX_TITLE:
            return title
    along = " and ".join("CPUs" if name == "cpus" else name for name in names)
    return f"How does {shown} depend on {along}?"[:MAX_TITLE] if names else f"How long does {shown} take?"


def _shorten_command(text: str) -> str:
    """Return the first words of a command without folders, as many as fit.

    >>> _shorten_command("env PYTHONPATH=a-folder/of-mine python3 -I /home/me/parse.py {version} --size 1000")
    'python3 -I parse.py'
    >>> _shorten_command("/usr/bin/pgbench -h localhost -p 5432 --select-only")
    'pgbench -h localhost -p 5432'
    """
    words = [word for word in text.split() if word.isprintable()]
    while words[:1] == ["env"] or (len(words) > 1 and re.match(r"\w+=", words[0])):
        words = words[1:]
    names = [word.rpartition("/")[2] for word in words]
    names = [*accumulate(names, "{} {}".format)] or ["?"]
    whole = [text for text in names if len(text) <= MAX_COMMAND and not text.rpartition(" ")[2].startswith("-")]
    return whole[-1] if whole else names[0][:MAX_COMMAND]


def _map_problem(problem: Problem) -> Problem:
    key = _WHERE.sub("", problem.where)
    room, _, rest = key.partition(".")
    room = room.partition("[")[0]
    part = re.split(r"[.\[]", rest)[0].replace("_", "-")
    where = _OPTIONS.get(room, key).format(part)
    if room == "factors" and part in (*WORKERS, "cpus", *LIMITS):
        where = f"--{part}"
    if room == "workload" and part in ("command", ""):
        where = "command"
    fix = _KEY.sub(lambda key: "the command" if key[1] == "command" else f"--{key[1]}", problem.fix)
    return Problem(where, problem.found, problem.expected, fix)
