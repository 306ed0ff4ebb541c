"""Parse option texts: commands, responses, factors, environment variables; make the study of `measure` or `find`."""

import os
import re
import shlex
import shutil
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from scalograph.cli.command_line_study.declaration import HARNESS, OWN, CommandStudy, PrintedFigure
from scalograph.cli.options import ClusterOptions, CommandOptions, LimitOptions, SearchOptions
from scalograph.cli.sweep_options import SweepOptions
from scalograph.errors import StudyError
from scalograph.questions.asked import AskedFactors, read_factor
from scalograph.run.caller_environment import caller_variables
from scalograph.study.control_names import DRAWN
from scalograph.study.reader_names import HARNESS_UNITS
from scalograph.study.scalars import unknown_name_error
from scalograph.text.units import parse_mib

T = TypeVar("T")
_RESPONSE = re.compile(r"([a-z][a-z0-9_]*)(?:\(([^()]*)\))?(?::(higher|lower|none))?:\s*(.+)", re.DOTALL)
_NO_DIRECTION = re.compile(r"[a-z][a-z0-9_]*(?:\([^()]*\))?:([A-Za-z]\w*):")
_COUNTS = re.compile(r"(\d{1,18}|all)(:(\d{1,18}|all)(:[*+]\d{1,18})?)?|", re.ASCII)
# As other programs write one.
_RANGE = re.compile(r"(\d{1,18})(?:-|\.{2,3})(\d{1,18})", re.ASCII)
# Of a harness: times fall, rates rise.
_UNIT_OF = dict(zip(("lower", "higher"), HARNESS_UNITS, strict=True))


def argv(words: Sequence[str], shell: bool) -> tuple[str, ...]:
    if not shell:
        if re.search(r"\s", words[0].strip()) and not shutil.which(words[0]):
            fix = f"leave out the quotes: -- {words[0]} (for pipes: --shell -- {shlex.quote(words[0])})"
            raise StudyError.one("command", f'no program is called "{words[0][:80]}"', "", fix)
        return tuple(words)
    if len(words) != 1:
        raise StudyError.one("--shell", f"{len(words)} words, not one text", "", "quote it: --shell -- 'a | b'")
    return ("sh", "-c", words[0])


def split(option: str, text: str, shell: bool) -> tuple[str, ...]:
    """Split a step into an argv as a shell would, without expansion."""
    if shell:
        return ("sh", "-c", text)
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise StudyError.one(option, f"{text[:60]!r}: {error}", "", "quote words as for a shell") from error
    if not words:
        raise StudyError.one(option, "the command is empty", "", "name a program")
    return words


def steps(shell: bool, **texts: str | None) -> dict[str, tuple[str, ...]]:
    """Return the argv of each given step by name; raises as `split`."""
    return {step: split(f"--{step}", text, shell) for step, text in texts.items() if text}


def responses(texts: Iterable[str] | None) -> tuple[PrintedFigure, ...]:
    """Return the values that `--response` reads from the output."""
    printed = unique("--response", [(r.name, r) for r in map(read_response, texts or ())])
    if taken := next((name for name, *_ in OWN if name in printed), None):
        text = f'"{taken}" is measured for every command'
        raise StudyError.one("--response", text, "", f"use another name, such as printed_{taken}")
    return tuple(printed.values())


def variables(texts: Iterable[str] | None) -> dict[str, str]:
    """Return the variables that `--env` adds; raises StudyError for another form."""
    return dict(map(read_variable, texts or ()))


def unique(option: str, pairs: Iterable[tuple[str, T]]) -> dict[str, T]:
    """Return pairs as a table; raises StudyError for a name given twice."""
    table: dict[str, T] = {}
    for name, value in pairs:
        if name in table:
            raise StudyError.one(option, f'"{name}" is given twice', "", "give each name once")
        table[name] = value
    return table


def read_response(text: str) -> PrintedFigure:
    """Parse `NAME(UNIT):DIRECTION: PLACE`; unit and direction are optional, a harness has a unit by direction.

    >>> read_response("ops:higher: ([0-9.]+) ops/s")
    PrintedFigure(name='ops', unit='', better='higher', place='([0-9.]+) ops/s')
    """
    match = _RESPONSE.fullmatch(text)
    if match and not match[3] and (word := _NO_DIRECTION.match(text)):
        fix = f"use higher, lower or none; before a pattern put a space: '{match[1]}: {word[1]}:...'"
        raise StudyError.one("--response", f'no direction is called "{word[1]}"', "", fix)
    if match is None:
        fix = "such as 'ops:higher: ([0-9.]+) ops/s' or 'iops:higher: /jobs/0/iops'"
        raise StudyError.one("--response", f"{text[:80]!r}", "NAME(UNIT):DIRECTION: PLACE", fix)
    better, source = match[3] or "none", match[4].strip()
    unit = _UNIT_OF.get(better, "") if HARNESS.fullmatch(source) else ""
    return PrintedFigure(match[1], match[2] or unit, better, source)


def counts(option: str, text: str | None) -> str | None:
    """Return levels unchanged; raises StudyError for one that is neither a count nor `all`, such as "1-8"."""
    items = [item.strip() for item in (text or "").split(",")]
    if text is None or not (wrong := next((item for item in items if not _COUNTS.fullmatch(item)), "")):
        return text
    span = _RANGE.fullmatch(wrong)
    fix = f'did you mean "{span[1]}:{span[2]}"?' if span else f"for a factor of texts: -v {option[2:]}={text[:60]}"
    raise StudyError.one(option, f"{wrong[:60]!r}", "counts such as 1,2,8 or 1:512:*2 or 1:all", fix)


def read_variable(text: str) -> tuple[str, str]:
    """Parse `NAME=VALUE`, or `NAME` of a variable set here; raises StudyError otherwise."""
    name, equals, value = text.partition("=")
    if not name:
        raise StudyError.one("--env", f"{text[:80]!r}", "NAME=VALUE, or NAME")
    here = caller_variables(os.environ)
    if not equals and name not in here:
        raise StudyError.one("--env", f'"{name[:80]}" is not set here', "", f"use {name[:80]}=VALUE, or set it")
    return name, value if equals else here[name]


def read_exits(text: str) -> list[int]:
    """Parse exit codes that count as success.

    >>> read_exits("0,1")
    [0, 1]
    """
    if not re.fullmatch(r"\s*[0-9]{1,3}\s*(,\s*[0-9]{1,3}\s*)*", text) or max(map(int, text.split(","))) > 255:
        raise StudyError.one("--ok-exit", f"{text[:80]!r}", "exit codes such as 0,1")
    return sorted(set(map(int, text.split(","))))


def sweep_study(sweep: SweepOptions, options: CommandOptions) -> CommandStudy:
    """Make the study of `measure`; raises StudyError for an option of another form or a factor named twice."""
    named = [("threads", counts("--threads", sweep.threads)), ("jobs", counts("--jobs", sweep.jobs))]
    named += [("copies", None if _is_count(sweep.copies) else sweep.copies)]
    named += [*map(read_factor, sweep.factor or ()), ("cpus", sweep.cpus)]
    runs: dict[str, int | list[str]] = {
        "runs": sweep.runs or (100 if sweep.precision else 10),
        "warmup_runs": sweep.warmup_runs,
    }
    if sweep.vary is not None:
        runs["vary"] = _read_varied(sweep.vary)
    return _study(
        options,
        AskedFactors(
            unique("--factor", [(name, levels) for name, levels in named if levels is not None]),
            per_worker=sweep.per_worker,
            precision=sweep.precision,
        ),
        runs,
        copies=int(sweep.copies) if sweep.copies and _is_count(sweep.copies) else 1,
    )


_SIZE_RANGE = re.compile(r"([^:]+):([^:]+):\*(\d{1,3})", re.ASCII)
CPU_QUOTA, MEMORY_LIMIT = "quota", "memory"
# Title and unit of each.
_LIMITS = {CPU_QUOTA: ("CPU quota", "CPUs"), MEMORY_LIMIT: ("memory limit", "MiB")}


def limit_factors(options: LimitOptions, taken: Container[str] = ()) -> AskedFactors:
    """Return the factors of --quota (CPUs), --memory (MiB) and --placement, but those that are `taken`.

    Raises StudyError for other levels.
    """
    texts = {CPU_QUOTA: options.quota, MEMORY_LIMIT: options.memory, "placement": options.placement}
    given = {name: text for name, text in texts.items() if text is not None and name not in taken}
    given |= {name: mib_levels(given[name]) for name in (MEMORY_LIMIT,) if name in given}
    limited = [name for name in _LIMITS if name in given]
    return AskedFactors(
        given, controls={name: name for name in given}, titles={name: _LIMITS[name][0] for name in limited},
        units={name: _LIMITS[name][1] for name in limited},
    )  # fmt: skip


# Options of a cluster, each a factor of that name.
CLUSTER = ("nodes", "tasks_per_node", "cpus_per_task", "launcher")


def cluster_factors(options: ClusterOptions) -> AskedFactors:
    """Return the factors of --nodes, --tasks-per-node, --cpus-per-task and --launcher."""
    given = {name: text for name in CLUSTER if (text := getattr(options, name)) is not None}
    titles = {name: name.replace("_", " ").replace("cpus", "CPUs") for name in given if "_" in name}
    return AskedFactors(given, controls={name: f"cluster:{name.replace('_', '-')}" for name in given}, titles=titles)


def limit_keys(name: str) -> dict[str, str]:
    """Return title and unit of the factor of a limit."""
    return dict(zip(("title", "unit"), _LIMITS[name], strict=True))


def mib_levels(text: str) -> str:
    """Return sizes as levels in MiB.

    >>> mib_levels("512K,64M"), mib_levels("256M:2G:*2"), mib_levels("1G,none")
    ('0.5,64', '256,512,1024,2048', '1024,none')
    """
    return ",".join(level for item in text.split(",") for level in _sizes(item.strip()))


def _sizes(item: str) -> list[str]:
    span = _SIZE_RANGE.fullmatch(item)
    if span is None:
        return [item if item == "none" else f"{read_mib(item):.10g}"]
    low, high, by = read_mib(span[1]), read_mib(span[2]), int(span[3])
    if by < 2 or not 0 < low <= high:
        raise StudyError.one("--memory", f"{item[:60]!r}", "a range that rises, by a factor from 2", _SIZE_EXAMPLE)
    return [f"{low * by**k:.10g}" for k in range(64) if low * by**k <= high]


def read_mib(text: str) -> float:
    """Read a size with its unit, in MiB. Raises StudyError for another form."""
    try:
        return parse_mib(text)
    except ValueError as error:
        raise StudyError.one("--memory", f"{text[:60]!r}", "a size with K, M or G", _SIZE_EXAMPLE) from error


_SIZE_EXAMPLE = "such as 256M, or 256M:2G:*2"


def _merge_factors(asked: AskedFactors, limits: AskedFactors) -> AskedFactors:
    """Return the factors of a command with those of its limits; one that it varies itself stays as it is."""
    if twice := next((name for name in limits.levels if name in asked.levels and not asked.controls.get(name)), None):
        raise StudyError.one("", f"--{twice} and a factor {twice} are both given", "", "rename that factor")
    return replace(
        asked, levels={**limits.levels, **asked.levels}, controls={**limits.controls, **asked.controls},
        titles={**limits.titles, **asked.titles}, units={**limits.units, **asked.units},
    )  # fmt: skip


def _read_varied(text: str) -> list[str]:
    names = [*dict.fromkeys(name.strip() for name in text.split(","))]
    if other := next((name for name in names if name not in DRAWN), None):
        raise unknown_name_error("--vary", f'"{other}"', other, DRAWN)
    return names


def search_study(question: str, factors: AskedFactors, options: SearchOptions) -> CommandStudy:
    """Make the study of `find QUESTION`; raises StudyError for an option of another form."""
    runs: dict[str, int | list[str]] = {"budget_runs": options.max_runs} if options.max_runs else {}
    runs |= {"runs": factors.runs} if factors.runs else {}
    runs |= {"vary": [*factors.vary]} if factors.vary else {}
    return _study(options, factors, runs, question=question, subcommand=f"find {question}")


def _study(
    options: CommandOptions,
    factors: AskedFactors,
    runs: Mapping[str, int | list[str]],
    question: str = "sweep",
    subcommand: str = "measure",
    copies: int = 1,
) -> CommandStudy:
    factors = _merge_factors(factors, limit_factors(options, factors.controls))
    factors = _merge_factors(factors, cluster_factors(options))
    precision = {"precision": factors.precision} if factors.precision else {}
    limits: dict[str, str | float | list[str]] = {
        "max_reruns": options.max_reruns,
        "budget": options.budget,
        "timeout": options.timeout,
        **({} if options.sentinel is None else {"sentinel": options.sentinel}),
        **({} if options.max_idle is None else {"max_idle": options.max_idle}),
        **({} if options.max_node_hours is None else {"max_node_hours": options.max_node_hours}),
    }
    return CommandStudy(
        command=_insert_placeholder(argv(options.command, options.shell), factors.fills),
        asked=factors,
        copies=copies,
        responses=responses(options.response),
        steps=steps(options.shell, setup=options.setup, prepare=options.prepare, cleanup=options.cleanup),
        env={k: v for k, v in variables(options.env).items() if f"env:{k}" not in factors.controls.values()},
        env_all=options.env_all,
        input="" if options.input is None else str(options.input),
        stdout=options.stdout,
        cwd=folder_text(options.cwd),
        events=options.events,
        ok_exits=tuple(read_exits(options.ok_exit)),
        protocol={**runs, **precision, **limits},
        question=question,
        subcommand=subcommand,
    )


def folder_text(folder: str | None) -> str:
    """Return the folder of the runs as a study has it. Raises StudyError for a relative one."""
    if folder is not None and not folder.startswith("/"):
        raise StudyError.one("--cwd", f"{folder[:60]!r}", "an absolute path", "such as /srv/data")
    return folder or "caller"


def _insert_placeholder(command: tuple[str, ...], name: str | None) -> tuple[str, ...]:
    """Insert the placeholder behind the program where the command lacks it."""
    placeholder = f"{{{name}}}"
    return command if name is None or placeholder in command else (command[0], placeholder, *command[1:])


def _is_count(text: str | None) -> bool:
    return bool(text) and str(text).isascii() and str(text).isdecimal()
