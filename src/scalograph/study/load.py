"""Load study.toml as a `Study`, or report every mistake at once with its line."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from scalograph.errors import Problem, StudyError
from scalograph.study import toml_text
from scalograph.study.check_processes import (
    COUNTS,
    LIMITS,
    check_process_order,
    count_factor,
    processes_of,
    too_many_copies,
)
from scalograph.study.check_published import check_claims
from scalograph.study.control_names import (
    CONDITIONS,
    DRAWN,
    STDOUT,
    control_row,
    environment_variable,
    expected_control_name,
    refuse_condition,
)
from scalograph.study.cross_checks import (
    Mistake,
    check_question_rules,
    check_references,
    has_level,
    table,
    unknown_name,
)
from scalograph.study.fields import MAX_COPIES
from scalograph.study.levels import SOME_HOST, LevelsError, parse_levels
from scalograph.study.model import Study
from scalograph.study.processes import MAX_COMMANDS
from scalograph.study.scalars import short_repr, suggest, truncate
from scalograph.study.toml_text import KeyPath, format_path, line_of, locate


def quick_form(study: Study) -> Study:
    changed: dict[str, Any] = {
        "protocol": {**_dump(study.protocol), **study.quick.protocol},
        "factors": {
            name: {**_dump(factor), **({"levels": study.quick.factors[name]} if name in study.quick.factors else {})}
            for name, factor in study.factors.items()
        },
        "exclude": [*study.exclude, *study.quick.exclude],
    }
    try:
        # The journal's context: values that were parsed already carry plain numbers.
        return Study.model_validate({**_dump(study), **changed}, context={"journal": True})
    except ValidationError as error:
        first = error.errors()[0]
        raise StudyError.one("quick", ".".join(map(str, first["loc"])), first["msg"]) from error


def check_quick_baseline(raw: dict[str, Any]) -> Iterator[Mistake]:
    """Check that the quick form keeps the baseline."""
    factors, shorter = table(raw, "factors"), table(table(raw, "quick"), "factors")
    for name, level in table(raw, "baseline").items():
        if name not in shorter or not isinstance(factors.get(name), dict) or not has_level(factors[name], level):
            continue
        if not has_level({**factors[name], "levels": shorter[name]}, level):
            text = f"without level {level!r}, the baseline"
            yield ("quick", "factors", name), text, "levels that hold it", "add it: speedups are taken from it"


def shorter_factors(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the raw document with the quick form's levels, without a protocol."""
    factors, shorter = table(raw, "factors"), table(table(raw, "quick"), "factors")
    changed = {
        name: {**factors[name], "levels": shorter[name]} for name in shorter if isinstance(factors.get(name), dict)
    }
    return {**{key: raw[key] for key in raw if key != "protocol"}, "factors": {**factors, **changed}}


def _dump(part: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = part.model_dump(by_alias=True)
    return dumped


def check_counts(raw: dict[str, Any]) -> Iterator[Mistake]:
    """Check `copies = "{factor}"` and `cpus = "{factor}"`, also in the quick form."""
    workload, factors = table(raw, "workload"), table(raw, "factors")
    processes, at = processes_of(workload), ("workload", "process")
    counters: list[tuple[KeyPath, str | None]] = [(("workload", "copies"), count_factor(workload))]
    counters += [((*at, i, key), count_factor(process, key)) for i, process in enumerate(processes) for key in COUNTS]
    names = {name: path for path, name in reversed(counters) if name is not None}
    most, counts = {}, f"an integer from 1 to {MAX_COPIES}"
    for name, path in names.items():
        if name not in factors:
            yield unknown_name(path, "factor", name, factors)
            continue
        for level_path, level in _levels(raw, name):
            if type(level) is not int or not 1 <= level <= MAX_COPIES:
                yield level_path, f"level {short_repr(level)} counts copies or CPUs", counts, ""
        most[name] = max((level for _, level in _levels(raw, name) if type(level) is int), default=1)
    yield from too_many_copies(processes, most, at)
    for i, process in enumerate(processes):
        for key, expected in LIMITS.items():
            if granted := count_factor(process, key):
                yield from _no_limits(raw, granted, (*at, i, key), expected)


def _no_limits(raw: dict[str, Any], name: str, path: KeyPath, expected: str) -> Iterator[Mistake]:
    if name not in table(raw, "factors"):
        yield unknown_name(path, "factor", name, table(raw, "factors"))
        return
    for level_path, level in _levels(raw, name):
        is_number = isinstance(level, int | float) and not isinstance(level, bool) and level > 0
        if not is_number and level != "none":
            yield level_path, f"level {short_repr(level)} is no {path[-1]}", expected, ""


def _levels(raw: dict[str, Any], name: str) -> Iterator[tuple[KeyPath, Any]]:
    factor = table(table(raw, "factors"), name)
    shorter = table(table(raw, "quick"), "factors").get(name)
    places: list[tuple[KeyPath, Any]] = [(("factors", name, "levels"), factor.get("levels"))]
    for path, levels in [*places, (("quick", "factors", name), shorter)]:
        # On a known host, the control of CPUs replaces "all" by a count.
        yield from (
            (path, level) for level in _spelled_out(levels) if (level, factor.get("control")) != ("all", "cpus")
        )


def _spelled_out(levels: Any) -> list[Any]:
    if not isinstance(levels, str):
        return levels if isinstance(levels, list) else []
    try:
        return list(parse_levels(levels, SOME_HOST))
    except LevelsError:
        return []


def check_drawn(raw: dict[str, Any]) -> Iterator[Mistake]:
    """Check that no variable is both drawn for each block and set by the study."""
    listed = table(raw, "protocol").get("vary")
    factors = [factor for factor in table(raw, "factors").values() if isinstance(factor, dict)]
    controls = [environment_variable(str(factor.get("control"))) or "" for factor in factors]
    given = {*table(table(raw, "workload"), "env"), *controls}
    for name in listed if isinstance(listed, list) else ():
        if taken := given.intersection(DRAWN.get(str(name), ())):
            text = f'"{name}" draws {min(taken)}, which is set, too'
            yield ("protocol", "vary"), text, "one of the two", "remove one"


def check_output(raw: dict[str, Any]) -> Iterator[Mistake]:
    """Check that responses can be read from what a command writes."""
    stdout, responses = table(raw, "workload").get("stdout"), table(raw, "responses").values()
    printed = any({"pattern", "pointer", "reader"} & {*each} for each in responses if isinstance(each, dict))
    if printed and isinstance(stdout, str) and stdout not in STDOUT:
        yield (
            ("workload", "stdout"),
            f'the file "{stdout}" beside responses that are read of the output',
            '"pipe" or "tty"',
            "",
        )


def check_settings(raw: dict[str, Any]) -> Iterator[Mistake]:
    """Check settings: names, set by one factor only, not a condition too."""
    setters: dict[str, str] = {}
    for name, factor in table(raw, "factors").items():
        written = factor.get("control") if isinstance(factor, dict) else None
        control = written if isinstance(written, str) else ""
        where = ("factors", name, "control")
        if expected := expected_control_name(control):
            yield where, f"found {control.partition(':')[2]!r}", expected, "correct it"
        elif not environment_variable(control) and (row := control_row(control)) and row.machine_wide:
            if (other := setters.setdefault(_limit(control), name)) != name:
                text = f"the factor {other} sets the same setting, in this or another unit"
                yield where, text, "one factor for each setting", "remove one of them"
            if control in table(raw, "conditions"):
                yield where, f"{control} is a condition already", "one of the two", "remove the condition"
    for name, value in table(raw, "conditions").items():
        if wrong := refuse_condition(name, value):
            text, expected = wrong
            yield ("conditions", name), f"found {text}", expected, suggest(name, CONDITIONS) or "correct it"


def _limit(control: str) -> str:
    """Return the limit of a setting: some have two, in bytes and as a share, and each sets the other to 0."""
    for unit in ("_bytes", "_kbytes", "_ratio"):
        if control.startswith(("sysctl:vm.dirty_", "sysctl:vm.overcommit_")) and control.endswith(unit):
            return control.removesuffix(unit)
    return control


COMMANDS = (("workload", "command"), ("workload", "setup"), ("workload", "prepare"), ("workload", "cleanup"))
# Lists and tables of a study that are walked through with everything else that they name.
MOST: dict[tuple[str, ...], int] = {
    **dict.fromkeys(COMMANDS, 1000), ("workload", "process"): MAX_COMMANDS, ("workload", "parameters"): 256,
    ("workload", "env"): 256, ("baseline",): 16, ("reference",): 16, ("factors",): 16, ("exclude",): 1000,
    ("responses",): 64, ("tables",): 64, ("published", "match"): 64, ("published", "values"): 64,
    ("published", "ranges"): 64, ("published", "levels"): 64, ("published", "claims"): 64, ("quick", "factors"): 16,
    ("quick", "exclude"): 1000,
}  # fmt: skip
# Levels that all exclusions of one list name together, and characters of all words of a command.
MAX_EXCLUDED, MAX_COMMAND = 20_000, 1 << 17
# Mistakes of one kind that are told.
MOST_REPORTED = 100


def check_sizes(raw: dict[str, Any]) -> Iterator[Mistake]:
    """Check lists and tables against `MOST`; beyond it nothing else is checked."""
    for path, most in MOST.items():
        parent = raw
        for part in path[:-1]:
            parent = table(parent, part)
        value = parent.get(path[-1])
        if isinstance(value, list | dict) and len(value) > most:
            yield path, f"{len(value)} of them", f"at most {most}", "use fewer"
        elif path[-1] == "exclude" and isinstance(value, list):
            excluded = [levels for item in value if isinstance(item, dict) for levels in item.values()]
            if (n := sum(len(levels) for levels in excluded if isinstance(levels, list))) > MAX_EXCLUDED:
                yield path, f"{n} levels", f"at most {MAX_EXCLUDED}", "leave them out of the factors"
        elif path in COMMANDS and isinstance(value, list) and (n := _n_characters(value)) > MAX_COMMAND:
            yield path, f"{n} characters", f"at most {MAX_COMMAND}", "put them into a file"
    yield from _check_process_sizes(raw)


def _check_process_sizes(raw: dict[str, Any]) -> Iterator[Mistake]:
    processes = table(raw, "workload").get("process")
    for i, process in enumerate(processes if isinstance(processes, list) else []):
        for key, value in process.items() if isinstance(process, dict) else ():
            path = ("workload", "process", i, key)
            if isinstance(value, list | dict) and len(value) > 1000:
                yield path, f"{len(value)} of them", "at most 1000", "use fewer"
            elif key == "argv" and isinstance(value, list) and (n := _n_characters(value)) > MAX_COMMAND:
                yield path, f"{n} characters", f"at most {MAX_COMMAND}", "put them into a file"


def _n_characters(words: list[Any]) -> int:
    return sum(len(word) for word in words if isinstance(word, str))


def limit_mistakes(mistakes: Iterable[Mistake]) -> list[Mistake]:
    """Return the first mistakes of one kind, with texts of readable length."""
    first = islice(mistakes, MOST_REPORTED)
    return [(path, truncate(what), truncate(expected), truncate(fix)) for path, what, expected, fix in first]


Raw = dict[str, Any]
# Checks the document for what this room does not know: a workload, files beside the study.
ExtraCheck = Callable[[Raw], Iterable[Mistake]]


def load(file: Path, look: ExtraCheck = lambda raw: ()) -> Study:
    """Load a study; `look` checks further. Raises StudyError with every mistake, in order of lines."""
    return parse(toml_text.read(file, "a study file", str(file)), file.name, look)


def parse(text: str, name: str = "study.toml", look: ExtraCheck = lambda raw: ()) -> Study:
    """Parse a study from its text; `name` is used in messages."""
    raw = toml_text.parse(text, name)
    study, mistakes = None, list(check_sizes(raw))
    if not mistakes:
        study, mistakes = _validate(raw)
        for check in (
            check_references,
            check_claims,
            check_counts,
            check_question_rules,
            check_settings,
            check_drawn,
            check_output,
        ):
            mistakes += limit_mistakes(check(raw))
        mistakes += limit_mistakes(check_process_order(processes_of(table(raw, "workload")), ("workload", "process")))
        mistakes += limit_mistakes(_quick(raw, mistakes))
        mistakes += limit_mistakes(look(raw))
    if mistakes or study is None:
        raise StudyError(_make_problems(mistakes, locate(text), name))
    return study


def _validate(raw: Raw) -> tuple[Study | None, list[Mistake]]:
    try:
        return Study.model_validate(raw), []
    except ValidationError as error:
        return None, limit_mistakes(map(_explain, error.errors(include_url=False)))


def _quick(raw: Raw, full: list[Mistake]) -> list[Mistake]:
    _, mistakes = _validate({**raw, "protocol": {**table(raw, "protocol"), **table(table(raw, "quick"), "protocol")}})
    changed = [mistake for mistake in mistakes if mistake[0][:1] == ("protocol",) and mistake not in full]
    changed += [
        mistake for mistake in limit_mistakes(check_question_rules(shorter_factors(raw))) if mistake not in full
    ]
    return [
        *((("quick", *path), what, expected, fix) for path, what, expected, fix in changed),
        *check_quick_baseline(raw),
    ]


def _make_problems(mistakes: list[Mistake], lines: dict[KeyPath, int], name: str) -> list[Problem]:
    placed = []
    for path, what, expected, fix in mistakes:
        line = line_of(lines, path)
        where = f"{name}:{line}" if line else name
        where_in_file = f"{where}: {truncate(format_path(path))}" if path else where
        placed.append((line or 0, Problem(where_in_file, what, expected, fix)))
    problems = list(dict.fromkeys(problem for _, problem in sorted(placed, key=lambda item: item[0])))
    more = [Problem(name, "more mistakes", "", "correct these first")] if len(problems) > MOST_REPORTED else []
    return [*problems[:MOST_REPORTED], *more]


# pydantic puts the names of union members into its paths; the file does not have them.
_MEMBERS = ("bool", "int", "float", "str", "[key]")
# A choice among texts, as pydantic tells it.
_QUOTED = re.compile(r"'([^']*)'")
_UNIONS = ("list[", "union[", "function-", "nullable[", "constrained-", "literal[")


def _explain(detail: Any) -> Mistake:
    path = tuple(p for p in detail["loc"] if isinstance(p, int) or (p not in _MEMBERS and not p.startswith(_UNIONS)))
    kind, context, value = detail["type"], detail.get("ctx", {}), detail.get("input")
    if kind == "missing":
        return path, "missing", f"a value for `{path[-1]}`", "add it (protocol/study.md lists the keys)"
    if kind == "extra_forbidden":
        return path, "unknown key", *_known_keys(path)
    if kind == "value_error":
        text = str(context["error"])
        return path, text, "", ""
    expected = str(detail["msg"]).removeprefix("Input should be ")
    expected = expected.replace("String should match pattern", "text that matches")
    expected = re.sub(r"\w+ should have (.+) after validation, not .+", r"\1", expected)
    names = _QUOTED.findall(expected) if kind in ("choice", "literal_error") and isinstance(value, str) else ()
    return path, f"found {short_repr(value)}", expected, suggest(value, names)


_schema: Callable[[], Any] = cache(Study.model_json_schema)


def _known_keys(path: KeyPath) -> tuple[str, str]:
    schema = _schema()
    definitions, node = schema["$defs"], schema
    for part in path[:-1]:
        node = _step(node, part, definitions)
    keys = sorted(node.get("properties", {}))
    return "one of " + ", ".join(keys), suggest(path[-1], keys)


def _step(node: Any, part: str | int, definitions: Any) -> Any:
    node = (
        node.get("items")
        if isinstance(part, int)
        else node.get("properties", {}).get(part, node.get("additionalProperties"))
    )
    for option in [node, *(node or {}).get("anyOf", [])]:
        if isinstance(option, dict) and "$ref" in option:
            return definitions[option["$ref"].rsplit("/", 1)[-1]]
    return node or {}
