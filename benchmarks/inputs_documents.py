"""JSON documents: findings, reproductions, profiles beside a journal, results of JMH, each mutated."""

import gzip
import json
import random
from functools import cache
from typing import Any

from inputs_cases import DONE, ROOT, STUDY, UNREADABLE, Case
from inputs_journals import bases as journals
from inputs_mutate import data, dumped, tree

EXAMPLES = ROOT / "protocol" / "examples"
# A document above it is left to the benchmarks of sizes.
MOST_BYTES = 200_000


@cache
def golden(name: str) -> list[bytes]:
    """Golden lines that are a document each."""
    lines = (EXAMPLES / name).read_bytes().splitlines()
    return [line for line in lines if line.startswith(b"{")]


@cache
def recorded(name: str) -> Any:
    """A document that an instrument wrote."""
    content = (ROOT / "tests" / "recorded" / name).read_bytes()
    return json.loads(gzip.decompress(content) if name.endswith(".gz") else content)


def case(rng: random.Random) -> Case:
    """A document, and a command that reads it."""
    return rng.choice((_findings, _findings, _reproduction, _jmh, _jmh, _jmh_beside))(rng)


def _broken(rng: random.Random, document: Any) -> bytes:
    return data(rng, dumped(document)) if rng.random() < 0.2 else dumped(tree(rng, document))


def _findings(rng: random.Random) -> Case:
    lines = golden("findings.jsonl") + golden("findings_1.jsonl")
    content = _broken(rng, json.loads(rng.choice(lines)))
    return Case({"findings.json": content}, ("report", "."), (DONE, UNREADABLE))


def _reproduction(rng: random.Random) -> Case:
    content = _broken(rng, json.loads(rng.choice(golden("reproduction.jsonl"))))
    return Case({"reproduction.json": content}, ("report", "."), (DONE, UNREADABLE))


def _jmh(rng: random.Random) -> Case:
    content = _broken(rng, recorded("jmh-fork-join.json")[: rng.choice((1, 2, 5))])
    more = rng.choice([(), ("--json",), ("--tables",)])
    return Case({"jmh.json": content}, ("import", "jmh", "jmh.json", *more))


def _jmh_beside(rng: random.Random) -> Case:
    lines, _ = rng.choice(journals())
    content = dumped(recorded("jmh-fork-join.json")[:3])
    content = data(rng, content) if rng.random() < 0.3 else content
    where = rng.choice([(), ("--where", rng.choice(["n=1", "n", "=", "threads=2", "n=1e400"]))])
    argv = ("import", "jmh", "jmh.json", "--beside", "journal.jsonl", *where)
    return Case({"jmh.json": content, "journal.jsonl": b"".join(lines[:20])}, argv, (DONE, STUDY, UNREADABLE))
