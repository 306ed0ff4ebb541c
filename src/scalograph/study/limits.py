"""How much a study may name, counted before anything is spelled out, and how much is said about its mistakes."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from scalograph.study.cross_checks import Found, table
from scalograph.study.processes import MAX_COMMANDS
from scalograph.study.scalars import brief

COMMANDS = (("workload", "command"), ("workload", "setup"), ("workload", "prepare"), ("workload", "cleanup"))
# Lists and tables of a study that are walked through with everything else that they name.
MOST: dict[tuple[str, ...], int] = {
    **dict.fromkeys(COMMANDS, 1000),
    ("workload", "process"): MAX_COMMANDS,
    ("workload", "parameters"): 256,
    ("workload", "env"): 256,
    ("baseline",): 16,
    ("reference",): 16,
    ("factors",): 16,
    ("exclude",): 1000,
    ("responses",): 64,
    ("tables",): 64,
    ("published", "match"): 64,
    ("published", "values"): 64,
    ("published", "ranges"): 64,
    ("published", "levels"): 64,
    ("published", "claims"): 64,
    ("quick", "factors"): 16,
    ("quick", "exclude"): 1000,
}
# Levels that all exclusions of one list name together, and characters of all words of a command.
MAX_EXCLUDED, MAX_COMMAND = 20_000, 1 << 17
# Mistakes of one kind that are told.
MOST_TOLD = 100


def too_many(raw: dict[str, Any]) -> Iterator[Found]:
    """Find lists and tables beyond `MOST`; with any of them nothing else of the study is looked at."""
    for path, most in MOST.items():
        parent = raw
        for part in path[:-1]:
            parent = table(parent, part)
        value = parent.get(path[-1])
        if isinstance(value, list | dict) and len(value) > most:
            yield path, f"{len(value)} of them", f"at most {most}", "use fewer"
        elif path[-1] == "exclude" and isinstance(value, list) and (n := _n_levels(value)) > MAX_EXCLUDED:
            yield path, f"{n} levels", f"at most {MAX_EXCLUDED}", "leave them out of the factors"
        elif path in COMMANDS and isinstance(value, list) and (n := _n_characters(value)) > MAX_COMMAND:
            yield path, f"{n} characters", f"at most {MAX_COMMAND}", "put them into a file"
    yield from _of_processes(raw)


def _of_processes(raw: dict[str, Any]) -> Iterator[Found]:
    processes = table(raw, "workload").get("process")
    for i, process in enumerate(processes if isinstance(processes, list) else []):
        for key, value in process.items() if isinstance(process, dict) else ():
            path = ("workload", "process", i, key)
            if isinstance(value, list | dict) and len(value) > 1000:
                yield path, f"{len(value)} of them", "at most 1000", "use fewer"
            elif key == "argv" and isinstance(value, list) and (n := _n_characters(value)) > MAX_COMMAND:
                yield path, f"{n} characters", f"at most {MAX_COMMAND}", "put them into a file"


def _n_levels(exclusions: list[Any]) -> int:
    tables = (item for item in exclusions if isinstance(item, dict))
    return sum(len(levels) for item in tables for levels in item.values() if isinstance(levels, list))


def _n_characters(words: list[Any]) -> int:
    return sum(len(word) for word in words if isinstance(word, str))


def told(found: Iterable[Found]) -> list[Found]:
    """Take the first mistakes of one kind, in messages of a readable length."""
    first = islice(found, MOST_TOLD)
    return [(path, brief(what), brief(expected), brief(fix)) for path, what, expected, fix in first]
