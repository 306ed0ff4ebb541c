"""Lines of the probe's protocol: the golden events, records, specifications and what workloads write, each mutated."""

import json
import random
from functools import cache
from typing import Any

from inputs_cases import DONE, ROOT, UNREADABLE, Case
from inputs_mutate import data, dumped, text, tree

from scalograph.errors import ProtocolError
from scalograph.protocol.events import convert_document, parse_events
from scalograph.protocol.record import Record
from scalograph.run.hosts.python_probe import lines as workload_lines
from scalograph.run.hosts.python_probe import spec as specification

EXAMPLES = ROOT / "protocol" / "examples"


@cache
def rows(name: str) -> list[bytes]:
    """Lines of a golden file."""
    return (EXAMPLES / name).read_bytes().splitlines(keepends=True)


def case(rng: random.Random) -> Case:
    """Lines, and the reader that they are for."""
    return rng.choice((_events, _events, _events, _record, _specification, _workload))(rng)


def _called(content: bytes, call: Any) -> Case:
    return Case({"lines": content}, codes=(DONE, UNREADABLE), call=call)


def _run(rng: random.Random) -> list[bytes]:
    """All events of one golden run."""
    every = rows("probe_events.jsonl")
    name = rng.choice([run for run in ("r1", "r2") if any(f'"{run}"'.encode() in row for row in every)])
    return [row for row in every if json.loads(row).get("run") == name]


def _broken(rng: random.Random, lines: list[bytes]) -> list[bytes]:
    at = rng.randrange(len(lines))
    match rng.randrange(8):
        case 0:
            return data(rng, b"".join(lines)).splitlines()
        case 1:
            return text(rng, b"".join(lines).decode()).encode("utf-8", "replace").splitlines()
        case 2:
            return rng.choices(lines, k=len(lines))
        case _:
            return [*lines[:at], dumped(tree(rng, json.loads(lines[at]))), *lines[at + 1 :]]


def _events(rng: random.Random) -> Case:
    lines = _broken(rng, _run(rng))
    return _called(b"\n".join(lines), lambda: parse_events(lines))


def _record(rng: random.Random) -> Case:
    import msgspec

    record = tree(rng, msgspec.to_builtins(parse_events(_run(rng))))
    return _called(dumped(record), lambda: convert_document(record, Record, "record"))


def _specification(rng: random.Random) -> Case:
    import io

    line = rng.choice(rows("probe_spec.jsonl"))
    content = data(rng, line) if rng.random() < 0.3 else dumped(tree(rng, json.loads(line))) + b"\n"

    def read() -> None:
        try:
            specification.parse(specification.read(io.BytesIO(content)))
        except specification.RefusalError as error:
            raise ProtocolError("probe", str(error.fields)) from error

    return _called(content, read)


def _workload(rng: random.Random) -> Case:
    content = b"".join(rows("workload_lines.txt"))
    content = data(rng, content) if rng.random() < 0.5 else text(rng, content.decode()).encode("utf-8", "replace")

    def read() -> None:
        speech = workload_lines.Speech()
        try:
            for at in range(0, len(content), 37):
                speech.feed(content[at : at + 37], workload_lines.Limits())
            speech.finish()
        except workload_lines.BrokenLineError as error:
            raise ProtocolError("workload", str(error)) from error

    return _called(content, read)
