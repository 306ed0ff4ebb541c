"""Studies: those that ship and the golden ones, mutated as text, as tree and as bytes; others made by a grammar."""

import json
import random
import tomllib
from functools import cache
from typing import Any

from inputs_cases import DONE, HOST, ROOT, STUDY, Case
from inputs_mutate import NUMBERS, TEXTS, data, text, tree

# Large ones, each of which once took minutes, gigabytes or the stack.
LARGE = {
    "[": 300_000, "a.": 20_000, "[[exclude]]\nn = [1]\n": 20_000, "x = 1\n": 100_000, '"\\""': 100_000, "[ ": 300_000,
    "{": 50_000, "n = [[[[": 20_000, "\n": 500_000, '"""': 100_000, "'''": 100_000, "# x\n": 200_000, "[a]\n": 100_000,
    "a = 0x" + "f" * 9: 1, "levels = '1:4096'\n": 30_000,
}  # fmt: skip


@cache
def bases() -> list[tuple[str, dict[str, bytes]]]:
    """Text of every study that ships, with the small files beside it, and the golden ones."""
    golden = [*ROOT.glob("protocol/examples/study_*/*.toml")]
    found = [(file.read_text(encoding="utf-8"), dict[str, bytes]()) for file in sorted(golden)]
    for file in sorted(ROOT.glob("studies/*/study.toml")):
        beside = {csv.name: csv.read_bytes() for csv in sorted(file.parent.glob("*.csv"))}
        found.append((file.read_text(encoding="utf-8"), beside))
    return found


def case(rng: random.Random) -> Case:
    """A study and a command that reads it."""
    if rng.random() < 0.15:
        content, beside = toml(_made(rng)).encode("utf-8", "replace"), dict[str, bytes]()
    else:
        base, beside = rng.choice(bases())
        content = _mutated(rng, base)
    return Case({"study.toml": content, **beside}, _argv(rng), (DONE, STUDY, HOST))


def _argv(rng: random.Random) -> tuple[str, ...]:
    if rng.random() < 0.5:
        return ("check", "study.toml", *(["--json"] if rng.random() < 0.3 else []))
    cpus = str(rng.choice((1, 2, 8, 64, 96)))
    more = [word for word in ("--quick", "--json") if rng.random() < 0.3]
    written = ["-o", "planned"] if rng.random() < 0.1 else []
    return ("plan", "study.toml", "--no-host", "--cpus", cpus, *more, *written)


def _mutated(rng: random.Random, base: str) -> bytes:
    match rng.randrange(10):
        case 0 | 1 | 2 | 3:
            return text(rng, base).encode("utf-8", "replace")
        case 4 | 5 | 6 | 7:
            try:
                return toml(tree(rng, tomllib.loads(base))).encode("utf-8", "replace")
            except (ValueError, RecursionError):  # a golden mistake is no TOML
                return text(rng, base).encode("utf-8", "replace")
        case 8:
            return data(rng, base.encode())
        case _:
            part, most = rng.choice(list(LARGE.items()))
            large = part * rng.choice((10, 1000, most))
            return rng.choice([base + large, large + base, base.replace("\n[", f"\n{large}\n[", 1), large]).encode()


def toml(document: Any) -> str:
    """TOML of a tree, as well as it can be written: tables of the first two levels, the others inline."""
    if not isinstance(document, dict):
        return f"x = {_value(document)}\n"
    plain = [f"{_key(k)} = {_value(v)}" for k, v in document.items() if not isinstance(v, dict)]
    tables = []
    for name, table in document.items():
        if isinstance(table, dict):
            tables += [f"[{_key(name)}]", *(f"{_key(k)} = {_value(v)}" for k, v in table.items())]
    return "\n".join([*plain, *tables]) + "\n"


def _key(key: object) -> str:
    return json.dumps(str(key), ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, str) and value.startswith("@@raw:"):
        return value.removeprefix("@@raw:")
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return '""' if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _made(rng: random.Random) -> dict[str, Any]:
    """A study by its grammar: most of its words are right, few of its sentences."""
    names = rng.sample(["n", "m", "cpus", "threads", "lock", "jvm", "place", "quota"], rng.randrange(1, 5))
    factors = {name: _factor(rng) for name in names}
    study: dict[str, Any] = {
        "version": 1, "name": "made", "title": "Made", "work": rng.choice(["total", "per-worker"]), "seed": 1,
        "question": rng.choice(["sweep", "sweep", "effective-cpus", "cliff", "break-even"]),
        "workload": {"command": ["./prog", *(f"{{{name}}}" for name in names)]},
        "factors": factors,
        "protocol": {"runs": rng.choice([1, 3, 10, 10_000]), "timeout": rng.choice(["10s", "1h", "0s"])},
    }  # fmt: skip
    if rng.random() < 0.6:
        study["baseline"] = {rng.choice(names): rng.choice([1, 2, "a", "compact", 0.5])}
    if rng.random() < 0.4:
        study["exclude"] = [{rng.choice(names): [rng.choice([1, 2, "a", 0.5])]} for _ in range(rng.choice((1, 3, 500)))]
    if rng.random() < 0.3:
        study["quick"] = {"protocol": {"runs": 1}, "factors": {rng.choice(names): rng.choice(["1,2", [1], "1:all"])}}
    if rng.random() < 0.3:
        tables = {
            "title": "t",
            "rows": rng.choice(names),
            "response": rng.choice(["wall", "speedup", "x", ["wall", "cpu"]]),
        }
        study["tables"] = [tables]
    return study if rng.random() < 0.5 else tree(rng, study)


def _factor(rng: random.Random) -> dict[str, Any]:
    controls = ["cpus", "placement", "isolation", "quota", "policy", "nice", "jvm", "jvm-options", "env:X", "x"]
    texts = ["1:all", "1:8", "1,2,4", "1:512:*2", "1:all:*2", "0:100:+10", "1:4096", "all", "a,b", "1:4,8:64:*2"]
    lists = [
        [1, 2],
        ["a", "b"],
        ["compact", "scatter"],
        [0.5, "none"],
        ["shared", "exclusive"],
        [0, 5, 19],
        [True, False],
    ]
    factor: dict[str, Any] = {"levels": rng.choice([*texts, *lists, rng.sample(TEXTS, 3), rng.sample(NUMBERS, 3)])}
    if rng.random() < 0.6:
        factor["control"] = rng.choice(controls)
    if rng.random() < 0.2:
        factor |= rng.choice([{"role": "size"}, {"scale": "linear"}, {"kind": "nuisance"}, {"if_granted": [1, "a"]}])
    return factor
