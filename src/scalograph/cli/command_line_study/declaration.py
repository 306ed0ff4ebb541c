"""Write the study of a command line as TOML that `check` accepts and `run` repeats."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import astuple

from scalograph.cli.command_line_study.command_study import HARNESS, OWN, WORKERS, CommandStudy, PrintedFigure
from scalograph.errors import HostError, Problem, ScalographError, StudyError
from scalograph.questions.registry import is_search
from scalograph.study.levels import LevelsError, parse_levels
from scalograph.study.scalars import Level, format_value

MAX_TITLE, MAX_COMMAND = 60, 28
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
_WHERE = re.compile(r"^study\.toml(:\d+)?(: )?")
_KEY = re.compile(r"workload\.(\w+)")
_OPTIONS = {"protocol": "--{}", "factors": "--factor {}", "responses": "--response {}", "workload": "--{}"}


def study_text(study: CommandStudy) -> str:
    """Return the study as TOML: factors, responses, protocol."""
    along = study.worker_factor
    per_worker = study.per_worker or (along is not None and along[0] == "copies")
    head = [
        f"# What `scalograph {study.subcommand}` ran. Repeat it from the folder where that was: scalograph run study.toml",
        "version = 1",
        f"name = {quote(study_name(study.command, study.subcommand.rpartition(' ')[2]))}",
        f"title = {quote(_title(study))}",
        f"question = {quote(study.question)}",
        f"work = {quote('per-worker' if per_worker else 'total')}",
        "seed = 1",
        *([f"plan = {quote(study.plan)}"] if study.plan else []),
    ]
    # A search measures levels as often as it needs: no speedup is paired with a baseline.
    baseline = ["", "[baseline]", f"{along[0]} = {along[1]}"] if along and not is_search(study.question) else []
    if study.baseline:
        factor, level = study.baseline
        # As the text of the levels reads it: 1 is a number.
        baseline = ["", "[baseline]", f"{factor} = {_level(level)}"]
    if study.reference:
        version, first = study.reference
        baseline += ["", "[reference]", f"{version} = {_scalar(first)}"]
    protocol = ["", "[protocol]", *(f"{key} = {_value(value)}" for key, value in study.protocol.items())]
    return "\n".join([*head, *_workload(study), *_factors(study), *_responses(study), *baseline, *protocol]) + "\n"


def study_name(command: Sequence[str], asked: str = "measure") -> str:
    """Return the name of the study and its folder.

    >>> study_name(["./Prog_2", "-t"]), study_name(["make"], "effective-cpus")
    ('measure-prog-2', 'effective-cpus-make')
    """
    program = re.sub(r"[^a-z0-9]+", "-", command[0].rpartition("/")[2].lower()).strip("-")
    return f"{asked}-{program}"[:64].rstrip("-")


def map_error(error: ScalographError) -> ScalographError:
    """Map errors in the generated study to the options that caused them."""
    problems = [_map_problem(problem) for problem in error.problems]
    return HostError(*astuple(problems[0])) if isinstance(error, HostError) else StudyError(problems)


def quote(text: str) -> str:
    """Quote text for TOML.

    Raises:
        StudyError: it holds bytes that are no UTF-8.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise StudyError.one("command", f"{text[:60]!r} is not UTF-8", "UTF-8 text") from error
    plain = (_ESCAPES.get(c) or (c if c >= " " and c != "\x7f" else f"\\u{ord(c):04X}") for c in text)
    return f'"{"".join(plain)}"'


def _workload(study: CommandStudy) -> Iterator[str]:
    yield from ("", "[workload]", f"command = {argv_text(study.command)}")
    yield 'cwd = "caller"'
    if "copies" in study.factors:
        yield 'copies = "{copies}"'
    elif study.copies != 1:
        yield f"copies = {study.copies}"
    yield from (f"{step} = {argv_text(argv)}" for step, argv in study.steps.items())
    if study.env_all:
        yield "env_all = true"
    if study.input:
        yield f"input = {quote(study.input)}"
    if study.ok_exits != (0,):
        yield f"ok_exits = {list(study.ok_exits)}"
    if study.env:
        yield f"env = {{ {', '.join(f'{quote(key)} = {quote(value)}' for key, value in study.env.items())} }}"


def _factors(study: CommandStudy) -> Iterator[str]:
    # A command by itself is measured on all CPUs there are.
    for factor, levels in (study.factors or {"cpus": "all"}).items():
        listed = study.lists.get(factor)
        text = quote(levels) if listed is None else f"[{', '.join(map(_scalar, listed))}]"
        yield from ("", f"[factors.{factor}]", f"levels = {text}")
        if factor in study.controls:
            yield f"control = {quote(study.controls[factor])}"
        if factor in study.titles:
            yield f"title = {quote(study.titles[factor])}"
        if factor == "cpus":
            yield from ('control = "cpus"', 'title = "CPUs"')
        if factor in study.roles:
            yield f"role = {quote(study.roles[factor])}"


def _responses(study: CommandStudy) -> Iterator[str]:
    """List what the command prints first where it has a direction: the study is about the first response."""
    directed = [printed for printed in study.responses if printed.better != "none"]
    for printed in directed:
        yield from _output_response(printed)
    for own, first, later, unit, better, title in OWN:
        yield from ("", f"[responses.{own}]", f"from = {quote(later if directed else first)}")
        yield from (f"unit = {quote(unit)}", f"better = {quote(better)}", f"title = {quote(title)}")
    for printed in study.responses:
        if printed not in directed:
            yield from _output_response(printed)


def _output_response(printed: PrintedFigure) -> Iterator[str]:
    source = {"pointer" if printed.place.startswith("/") else "pattern": printed.place}
    if harness := HARNESS.fullmatch(printed.place):
        reader, benchmark = harness.groups("")
        source = {"reader": reader, **({"benchmark": benchmark.strip()} if benchmark else {})}
    yield from ("", f"[responses.{printed.name}]", 'from = "output"')
    yield from (f"{key} = {quote(value)}" for key, value in source.items())
    yield from (f"unit = {quote(printed.unit)}", f"better = {quote(printed.better)}")


def argv_text(argv: Sequence[str]) -> str:
    """Return an argv as a TOML list."""
    return f"[{', '.join(map(quote, argv))}]"


def _value(value: str | int) -> str:
    return quote(value) if isinstance(value, str) else str(value)


def _level(text: str) -> str:
    try:
        (level,) = parse_levels(text)
    except LevelsError:
        return quote(text)  # told where the study is checked
    return _scalar(level)


def _scalar(level: Level) -> str:
    return quote(level) if isinstance(level, str) else format_value(level)


def _title(study: CommandStudy) -> str:
    """Return the question in short form."""
    text = study.command[2] if study.command[:2] == ("sh", "-c") else " ".join(study.command)
    if len(text) > MAX_COMMAND or not text.isprintable():
        text = text.split()[0].rpartition("/")[2][:MAX_COMMAND]
    if study.title:
        return study.title.format(f"`{text}`")
    shown, names = f"`{text}`", [name for name, levels in study.factors.items() if re.search("[,:]|all", levels)]
    if study.reference and len(names) == 1 and isinstance(study.reference[1], str):
        *first, last = study.factors[names[0]].split(",")
        if first and len(title := f"{shown}: {', '.join(map(str.strip, first))} or {last.strip()}?") <= MAX_TITLE:
            return title
    along = " and ".join("CPUs" if name == "cpus" else name for name in names)
    return f"{shown} over {along}"[:MAX_TITLE] if names else f"How long does {shown} take?"


def _map_problem(problem: Problem) -> Problem:
    key = _WHERE.sub("", problem.where)
    room, _, rest = key.partition(".")
    part = re.split(r"[.\[]", rest)[0].replace("_", "-")
    where = _OPTIONS.get(room, key).format(part)
    if room == "factors" and part in (*WORKERS, "cpus"):
        where = f"--{part}"
    if room == "workload" and part in ("command", ""):
        where = "command"
    fix = _KEY.sub(lambda key: "the command" if key[1] == "command" else f"--{key[1]}", problem.fix)
    return Problem(where, problem.found, problem.expected, fix)
