"""CSV: points for `fit`, figures of a paper beside a study and beside a journal, mutated or made."""

import random
from functools import cache

from inputs_cases import DONE, HOST, ROOT, STUDY, Case
from inputs_journals import bases as journals
from inputs_journals import chosen
from inputs_mutate import NUMBERS, TEXTS, data, text

POINTS = "n,throughput\n1,10\n1,10.2\n2,19\n2,19.5\n4,35\n4,34\n8,60\n16,80\n"


@cache
def studies() -> list[tuple[str, dict[str, bytes]]]:
    """Text of every study with published figures, and these."""
    found = []
    for file in sorted(ROOT.glob("studies/*/study.toml")):
        beside = {csv.name: csv.read_bytes() for csv in sorted(file.parent.glob("*.csv"))}
        if beside:
            found.append((file.read_text(encoding="utf-8"), beside))
    return found


def case(rng: random.Random) -> Case:
    """A file of figures, and a command that reads it."""
    kind = rng.random()
    if kind < 0.35:
        content = _points(rng) if rng.random() < 0.5 else broken(rng, POINTS.encode())
        more = rng.choice([(), ("--json",), ("--predict", rng.choice(["64", "1e308", "-1", "0", "nan"])), ("--x", "m")])
        more += rng.choice([(), ("--weights", "none"), ("--tables",)])
        return Case({"data.csv": content}, ("fit", "data.csv", *more))
    if kind < 0.7:
        study, beside = rng.choice(studies())
        files = {name: broken(rng, content) for name, content in beside.items()}
        return Case({"study.toml": study.encode(), **files}, ("check", "study.toml"), (DONE, STUDY, HOST))
    lines, beside = rng.choice([one for one in journals() if one[1]])
    files = {name: broken(rng, content) for name, content in beside.items()}
    return Case({"journal.jsonl": b"".join(chosen(rng, lines)), **files}, ("analyze", "."), (DONE,))


def broken(rng: random.Random, content: bytes) -> bytes:
    """The file with something wrong in it."""
    return data(rng, content) if rng.random() < 0.4 else text(rng, content.decode()).encode("utf-8", "replace")


def _points(rng: random.Random) -> bytes:
    """Points of any size."""
    cells = [*map(str, NUMBERS), *map(str, range(1, 20)), *TEXTS[:12], "nan", "inf", "1e-9", "1e9", "1e99", "1e-99"]
    numbers = [str(10 ** rng.uniform(-9, 9)) for _ in range(8)]
    wide = rng.random() < 0.5
    rows = [
        f"{rng.choice(cells if wide else numbers)},{rng.choice(cells if wide else numbers)}"
        for _ in range(rng.choice((0, 1, 2, 5, 20, 60)))
    ]
    return ("n,throughput\n" + "\n".join(rows) + "\n").encode("utf-8", "replace")
