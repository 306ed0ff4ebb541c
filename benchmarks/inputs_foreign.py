"""Files of other tools as `import`, `compare`, `gate`, `fit` get them: mutated, packed, torn, large, and no files."""

import gzip
import json
import random
from functools import cache

from inputs_cases import DONE, ROOT, STUDY, UNREADABLE, Case
from inputs_mutate import data, dumped, text, tree

# Of `gate`: a slower or missing benchmark, or one of which nothing can be said.
REGRESSED, UNDECIDED, MISSING, CHANGED = 7, 8, 4, 9
RECORDED = ("instruments", "field")
MOST_BYTES = 200_000
LARGE, LARGEST = 10**5, 10**6
# Instead of a file: `inputs_worker` makes these.
NODES = ("fifo", "socket", "folder", "link:/dev/zero", "link:/dev/null", "link:/dev/full", "link:/dev/tty", "link:self",
         "link:other", "link:missing", "link:/proc/self/mem", "link:/dev/stdin")  # fmt: skip
HOSTILE = ("\x1b[2J", "\x1b]0;title\x07", "\u202egnp", "<script>alert(1)</script>", "=cmd()|x", "](http://a)", "`x`")
_HEADS = {
    "gobench": ("goos: linux\npkg: a\n", "Benchmark{i}-2 \t 100 \t {v} ns/op\n"),
    "csv": ("n,throughput\n", "{i},{v}\n"),
    "hyperfine": ('{"results": [', '{{"command": "c{i}", "times": [0.{v}, 0.{i}]}},\n'),
    "one command": ('{"results": [{"command": "c", "times": [', "0.{v},\n"),
    "google-benchmark": ('{"benchmarks": [', '{{"name": "BM/{i}", "real_time": {v}, "time_unit": "ns"}},\n'),
    "redis-benchmark": ('"test","rps","avg_latency_ms"\n', '"T{i}","{v}","0.5"\n'),
    "wide": ("n,throughput", ",{i}"),
}


@cache
def bases() -> list[tuple[str, bytes]]:
    """Files that other tools wrote, with their names."""
    files = [file for folder in RECORDED for file in sorted((ROOT / "tests" / "recorded" / folder).iterdir())]
    contents = [(file.name, file.read_bytes()) for file in files if file.is_file()]
    return [(name, content) for name, content in contents if len(content) <= MOST_BYTES]


def case(rng: random.Random) -> Case:
    """One or two files, and a command that reads them."""
    name, content = rng.choice(bases())
    lot = rng.random()
    if lot < 0.1:
        return _command(rng, name, {}, {name: rng.choice(NODES)})
    if lot < 0.13:
        kind = rng.choice([*_HEADS])
        file = "large.json" if _HEADS[kind][0].startswith("{") else "large.csv"
        return _command(rng, file, {file: _packed(rng, _large(rng, kind), 0.2)})
    return _command(rng, name, {name: _packed(rng, _broken(rng, content), 0.4), f"old-{name}": content})


def _command(rng: random.Random, name: str, files: dict[str, bytes], nodes: dict[str, str] | None = None) -> Case:
    other = f"old-{name}" if f"old-{name}" in files else name
    codes = (DONE, STUDY, UNREADABLE, MISSING, REGRESSED, UNDECIDED, CHANGED)
    argv = rng.choice([
        ("import", name), ("import", name, "--json"), ("import", name, "--strict"), ("import", name, other, "--tables"),
        ("import", name, "--over", "threads"), ("compare", other, name), ("compare", name, name, "--json"),
        ("gate", name, "--against", other, "--summary", "gate.md", "--junit", "gate.xml"),
        ("compare", other, name, "--page", "page.html"), ("fit", name), ("fit", name, "--law", "complexity", "--times"),
    ])  # fmt: skip
    return Case(files, argv, codes, nodes=nodes or {})


def _broken(rng: random.Random, content: bytes) -> bytes:
    lot = rng.random()
    if lot < 0.1:
        return content
    if lot < 0.3:
        return data(rng, content)
    words = content.decode("utf-8", "replace")
    if content[:1] in b"{[" and lot < 0.8:
        try:
            document = json.loads(words)
        except ValueError:
            return data(rng, content)
        return dumped(tree(rng, document))
    if lot < 0.9:
        return text(rng, words).encode("utf-8", "replace")
    at = rng.randrange(len(words))  # where a name may be
    return (words[:at] + rng.choice(HOSTILE) + words[at:]).encode()


def _packed(rng: random.Random, content: bytes, share: float) -> bytes:
    """The content in another encoding, or in gzip, whole, cut off or a bomb."""
    if rng.random() > share:
        return content
    words = content.decode("utf-8", "replace")
    match rng.randrange(12):
        case 0:
            return gzip.compress(content, 1)
        case 1:
            packed = gzip.compress(content, 1)
            return packed[: rng.randrange(len(packed))]
        case 2:
            return _bomb()
        case 3:
            return gzip.compress(gzip.compress(content, 1), 1)
        case 4:
            return gzip.compress(content, 1) + rng.choice((content[:100], gzip.compress(content, 1)))
        case 5:
            return data(rng, gzip.compress(content, 1))
        case 6:
            return words.encode("utf-16", "replace")
        case 7:
            return words.encode(rng.choice(("utf-16-le", "utf-16-be")), "replace")
        case 8:
            return words.encode("utf-16", "replace")[: rng.choice((1, 2, 3, -1))]
        case 9:
            return b"\xef\xbb\xbf" + content
        case 10:
            return words.replace("\n", rng.choice(("\r\n", "\r", "\0", "\u2028"))).encode()
        case _:
            return words.encode(rng.choice(("utf-32", "utf-7", "cp037")), "replace")


@cache
def _bomb() -> bytes:
    """A gigabyte in one megabyte, as lines of numbers."""
    return gzip.compress(b"1,2\n" * (1 << 20), 9) * 256


def _large(rng: random.Random, kind: str) -> bytes:
    head, row = _HEADS[kind]
    n = LARGEST if rng.random() < 0.2 else LARGE
    numbers = [str(rng.randint(100, 10**6)) for _ in range(97)]
    rows = "".join(row.format(i=i, v=numbers[i % 97]) for i in range(1, n + 1))
    if not head.startswith("{"):
        return (head + rows).encode()
    return (head + rows.rstrip(",\n") + ("]}]}" if kind == "one command" else "]}")).encode()
