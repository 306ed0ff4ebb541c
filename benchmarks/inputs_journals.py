"""Journals: the first runs of those that are kept, mutated as bytes, lines and trees, packed or not."""

import gzip
import json
import random
from functools import cache
from typing import Any

from inputs_cases import DONE, ROOT, UNREADABLE, Case
from inputs_mutate import data, dumped, text, tree

# Lines that are read of each, and runs that an input has of them.
LINES, MOST_RUNS = 120, 14
COMMANDS: list[tuple[tuple[str, ...], tuple[int, ...]]] = [
    (("analyze", "."), (DONE, UNREADABLE)),
    (("analyze", "."), (DONE, UNREADABLE)),
    (("analyze", "{journal}", "--json"), (DONE, UNREADABLE)),
    (("analyze", "."), (DONE, UNREADABLE)),
    (("analyze", "."), (DONE, UNREADABLE)),
    (("analyze", "."), (DONE, UNREADABLE)),
    (("analyze", "."), (DONE, UNREADABLE)),
    (("export", ".", "--to", "x.csv"), (DONE, UNREADABLE)),
    (("report", "."), (DONE, UNREADABLE)),
    (("report", "."), (DONE, UNREADABLE)),
    (("report", ".", "--tables"), (DONE, UNREADABLE)),
    (("export", ".", "--to", "x.csv"), (DONE, UNREADABLE)),
    (("export", ".", "--to", "x.parquet"), (DONE, UNREADABLE)),
]


@cache
def bases() -> list[tuple[list[bytes], dict[str, bytes]]]:
    """Lines of every kept journal, with the small files beside it, and the golden events."""
    found = []
    for file in sorted(ROOT.glob("tests/golden/journals/*/journal.jsonl.gz")):
        with gzip.open(file, "rb") as stream:
            lines = [line for line, _ in zip(stream, range(LINES), strict=False)]
        found.append((lines, {csv.name: csv.read_bytes() for csv in sorted(file.parent.glob("*.csv"))}))
    golden = (ROOT / "protocol" / "examples" / "journal_events.jsonl").read_bytes().splitlines(keepends=True)
    return [*found, (golden, {})]


@cache
def _parsed(line: bytes) -> Any:
    return json.loads(line)


def case(rng: random.Random) -> Case:
    """A folder with a journal, and a command that reads it."""
    lines, beside = rng.choice(bases())
    content = changed(rng, chosen(rng, lines))
    name = "journal.jsonl"
    if rng.random() < 0.15:
        name, content = "journal.jsonl.gz", gzip.compress(content, compresslevel=1, mtime=0)
        content = data(rng, content) if rng.random() < 0.7 else content
    argv, codes = rng.choice(COMMANDS)
    return Case({name: content, **beside}, tuple(word.format(journal=name) for word in argv), codes)


def chosen(rng: random.Random, lines: list[bytes]) -> list[bytes]:
    """The first line, and those of some runs, in their order."""
    n = rng.randrange(1, 3 * MOST_RUNS)
    start = rng.randrange(1, max(2, len(lines) - n))
    return [lines[0], *lines[start : start + n]]


def changed(rng: random.Random, lines: list[bytes]) -> bytes:
    """One journal with something wrong in it."""
    at = 0 if rng.random() < 0.3 else rng.randrange(len(lines))
    match rng.randrange(10):
        case 0:
            return data(rng, b"".join(lines))
        case 1:
            return text(rng, b"".join(lines).decode()).encode("utf-8", "replace")
        case 2:
            return b"".join([lines[0], *rng.choices(lines, k=len(lines))])
        case _:
            for index in {at, *(rng.randrange(len(lines)) for _ in range(rng.choice((0, 0, 1))))}:
                lines[index] = dumped(_aimed(rng, _parsed(lines[index]))) + b"\n"
            return b"".join(lines)


def _aimed(rng: random.Random, event: Any) -> Any:
    """Half of the changes go where most of the meaning is: into the study, the design, the figures of a run."""
    where = {"study": ("study", "design", "machine", "uses"), "run": ("record", "configuration")}.get(
        event.get("event"), ()
    )
    parts = [part for part in where if part in event]
    if not parts or rng.random() < 0.5:
        return tree(rng, event)
    part = rng.choice(parts)
    if part == "record" and rng.random() < 0.6:
        record = event["record"]
        return {**event, "record": {**record, "run": tree(rng, record["run"])}}
    return {**event, part: tree(rng, event[part])}
