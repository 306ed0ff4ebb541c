"""Command lines: those of every command, with words dropped, doubled, exchanged, and in place of each other."""

import random

from inputs_cases import DONE, HOST, STUDY, UNREADABLE, Case
from inputs_journals import bases as journals
from inputs_mutate import NUMBERS, TEXTS
from inputs_studies import bases as studies
from inputs_tables import POINTS

LINES = [
    "check study.toml --json", "check --schema", "plan study.toml --no-host --cpus 8 --json",
    "plan study.toml --quick --no-host", "plan study.toml --no-host --earlier results -o planned",
    "analyze results --json --gate", "report results --tables", "report results --table runs",
    "export results --to x.csv", "export results --to x.parquet",
    "fit data.csv --x n --y throughput --predict 64 --weights relative --json",
    "import jmh data.csv --beside results --where n=1", "study --list", "study thread-scaling --show",
    "study thread-scaling --quick --budget 10min --max-runs 5 -o out", "reproduce --list",
    "reproduce --quick --study S0 -o out", "run study.toml --quick -o out --resume --budget 1s --pilot",
    "run study.toml --accept-difference kernel --wait-quiet 10m --when-busy stop --host local --ceiling",
    "measure --cpus 1,2 --runs 3 --precision 1% --target 80% --cost 2 -o out -- true",
    "measure --threads 1:4 --jobs 1,2 -v a=1,2 --per-worker --env A=B --setup x -- true {threads} {jobs} {a}",
    "measure --shell --copies 1:2 -- true",
    "measure --response ops:higher:([0-9.]+) --timeout 1s --budget 1min --max-reruns 2 -- true",
    "find effective-cpus --max-runs 20 -o out -- true", "find cliff --range 1:512 -- true {threads}",
    "find break-even --size 16:65536 -- true {version} {size}", "doctor --noise --quick --json", "doctor --sanity",
    "profile results --only n=1", "--version", "--help", "measure --help", "find --help",
]  # fmt: skip
NAMES = [
    "study.toml",
    "results",
    "data.csv",
    ".",
    "/",
    "/dev/null",
    "/dev/full",
    "none",
    "\udcff",
    "results/journal.jsonl",
]
OPTIONS = sorted({word for line in LINES for word in line.split() if word.startswith("-")})


def case(rng: random.Random) -> Case:
    """A command line in a folder with a study, results and a table."""
    words = rng.choice(LINES).split()
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        words = _changed(rng, words)
    study, beside = rng.choice(studies())
    lines, _ = rng.choice(journals())
    files = {"study.toml": study.encode(), **beside, "results/journal.jsonl": b"".join(lines[:12])}
    argv = tuple(word.replace("\0", "") for word in words)
    return Case({**files, "data.csv": POINTS.encode()}, argv, (DONE, STUDY, HOST, 4, 5, UNREADABLE))


def _changed(rng: random.Random, words: list[str]) -> list[str]:
    at = rng.randrange(len(words)) if words else 0
    new = rng.choice([rng.choice(TEXTS), str(rng.choice(NUMBERS)), rng.choice(NAMES), rng.choice(OPTIONS)])
    match rng.randrange(7):
        case 0:
            return words[:at] + words[at + 1 :]
        case 1:
            return [*words[: at + 1], *words[at:]]
        case 2 | 3:
            return [*words[:at], new, *words[at + 1 :]]
        case 4:
            return [*words[:at], new, *words[at:]]
        case 5:
            return [*words, rng.choice(OPTIONS), new]
        case _:
            return rng.sample(words, len(words))
