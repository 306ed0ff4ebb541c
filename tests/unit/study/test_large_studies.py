"""Studies of up to 1 MiB that once took minutes, gigabytes or the stack: each is read, or refused, in a moment."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.kit import ROOT
from tests.kit.studies import VALID

# Of all studies here together, imports counted; each alone took longer.
LIMIT_S, LIMIT_BYTES = 12, 1 << 30
READ = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
resource.setrlimit(resource.RLIMIT_AS, ({bytes}, {bytes}))
from pathlib import Path
from scalograph.errors import StudyError
from scalograph.study.declare import check
file = Path(sys.argv[1]) / "study.toml"
for text in json.load(sys.stdin):
    file.write_text(text)
    try:
        check(file)
        print("valid")
    except StudyError as error:
        print(len(error.problems), *error.problems[:3], sep=" | ")
"""
BASE = VALID.replace('"{threads}"', '"{threads}", "{lock}"')
WIDE = BASE.replace('levels = "1,2,4"', 'levels = "1:4096"')
LARGE = {
    BASE + "[" + " " * 900_000 + "\n": "not TOML",
    BASE + "a." * 20_000 + "a = 1\n": "a word above 256 characters",
    BASE + "a . " * 250_000 + "a = 1\n": "a key of more than 8 parts",
    BASE + "a = " + "[" * 500_000: "values nested too deeply",
    BASE + "a = [" + "[" * 12 + "1" + "]" * 12 + "]\n": 'factor "a" is not declared',
    BASE + "a = 0x" + "f" * 900_000: "a word above 256 characters",
    BASE + '"\\\n' * 49_000: "not TOML",
    BASE + "x = [" + '"""a""",' * 60_000 + "]\n": 'factor "x" is not declared',
    BASE + "\n" * 1_000_000: "lines, expected at most 50000",
    WIDE + "[[exclude]]\nthreads = [1]\n" * 20_000: "keys, tables and lists, expected at most 20000",
    WIDE + "[[exclude]]\nthreads = [1]\n" * 1000: "valid",
    WIDE + "".join(f"[[exclude]]\nthreads = [{', '.join(map(str, range(n, n + 20)))}]\n" for n in range(5000, 6000)): (
        "level 5000 is not among the levels of threads, expected 1, 2, 3,"
    ),
    BASE + "".join(f"[responses.r{n}]\nfrom = 'output'\npattern = '((x{{100}}){{10}})'\n" for n in range(200)): (
        "200 of them, expected at most 64"
    ),
    BASE + "".join(f"k{n} = 1\n" for n in range(15_000)): "15001 of them, expected at most 16",
    BASE.replace('"-t"', ", ".join(['"' + "{threads}" * 111 + '"'] * 900)): "characters, expected at most 131072",
    BASE + "".join(f"[factors.f{n}]\nlevels = '1:4096'\n" for n in range(5000)): "5002 of them, expected at most 16",
}  # fmt: skip


def test_each_is_answered_by_one_message(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", READ.format(seconds=LIMIT_S, bytes=LIMIT_BYTES), str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        argv, env=env, input=json.dumps([*LARGE]), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    told = done.stdout.splitlines()
    assert len(told) == len(LARGE)
    for line, message in zip(told, LARGE.values(), strict=True):
        assert message in line and len(line) < 2000
