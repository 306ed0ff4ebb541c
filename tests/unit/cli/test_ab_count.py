"""`ab --count`: its answer from counts that a fake valgrind writes, its exit codes, and a live count."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scalograph.errors import Exit
from scalograph.profile.instruction_counts import CountedConfiguration, read_count
from tests.kit.command import degraded, in_process, machine

# Writes the counts of a table, `BUILD=COUNT[+COUNT of a child],...` a run, where cachegrind would; runs nothing.
VALGRIND = """\
#!{python}
import os, pathlib, sys, time
if sys.argv[1:] == ["--version"]:
    sys.exit(print("valgrind-3.19.0"))
(template,) = [word.partition("=")[2] for word in sys.argv if word.startswith("--cachegrind-out-file=")]
assert {{"--tool=cachegrind", "--cache-sim=no", "--trace-children=yes"}} <= {{*sys.argv}}
build = " ".join(sys.argv[sys.argv.index("--") + 2:])
past = pathlib.Path("runs").read_text().splitlines() if os.path.exists("runs") else []
table = dict(line.split("=") for line in pathlib.Path("table").read_text().splitlines())
counts = table[build].split(",")
count = counts[past.count(build) % len(counts)]
pathlib.Path("runs").write_text("\\n".join([*past, build]))
if count == "fail":
    sys.exit("no such input")
if count == "sleep":
    time.sleep(300)
for i, n in enumerate(count.split("+") if count != "none" else ()):
    pathlib.Path(template.replace("%p", str(i))).write_text(f"events: Ir\\nfn=x\\n1 {{n}}\\nsummary: {{n}}\\n")
"""


@pytest.fixture
def fake(tmp_path: Path) -> dict[str, str]:
    """An environment in which valgrind is the fake one, and the degraded probe starts it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "valgrind").write_text(VALGRIND.format(python=sys.executable))
    (folder / "valgrind").chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}", **degraded(tmp_path)}


def count(folder: Path, env: dict[str, str], table: str, *words: str) -> tuple[Exit, Any, list[str]]:
    """Return exit code, document and the builds in the order of their runs."""
    (folder / "table").write_text(table)
    command = ("-- ", "true", "{version}", *(["{threads}"] if "--threads" in words else []))
    arguments = ("ab", "--count", "--a", "old", "--b", "new", "--json", *words, *command)
    done = in_process(*(word.strip() for word in arguments), cwd=folder, env=env)
    runs = (folder / "runs").read_text().splitlines() if (folder / "runs").exists() else []
    return Exit(done.returncode), json.loads(done.stdout or "{}"), runs


@pytest.mark.parametrize(
    ("table", "words", "code", "answer", "case"),
    [
        ("old=1000000\nnew=1010000", (), Exit.MORE_WORK, "more", "more"),
        ("old=900000+100000\nnew=900000+110000", (), Exit.MORE_WORK, "more", "more"),
        ("old=1010000\nnew=1000000", (), Exit.DONE, "fewer", "fewer"),
        ("old=1000000\nnew=1000200", (), Exit.DONE, "equivalent", "equivalent"),
        ("old=1000000\nnew=1000200", ("--margin", "0.01%"), Exit.MORE_WORK, "more", "more"),
        ("old=1000000\nnew=1010000", ("--margin", "2%"), Exit.DONE, "equivalent", "equivalent"),
        ("old=1000000,1004000\nnew=1012000", (), Exit.MORE_WORK, "more", "more"),
        ("old=1000000,1008000\nnew=1012000", (), Exit.INCONCLUSIVE, "inconclusive", "inconclusive"),
        ("old=1000000\nnew=1000000,fail", (), Exit.CONFIGURATION_FAILED, "inconclusive", "failed"),
        ("old=1000000\nnew=sleep", ("--timeout", "3s"), Exit.CONFIGURATION_FAILED, "inconclusive", "failed"),
        ("old=1000000\nnew=none", (), Exit.CONFIGURATION_FAILED, "inconclusive", "failed"),
    ],
)
def test_the_work_grew_only_where_counts_of_one_build_differ_by_less(
    tmp_path: Path, fake: dict[str, str], table: str, words: tuple[str, ...], code: Exit, answer: str, case: str
) -> None:
    ended, shown, runs = count(tmp_path, fake, table, *words)
    (row,) = shown["configurations"]
    assert (ended, shown["answer"], shown["claim"]["cases"][0]["case"]) == (code, answer, case)
    if code == Exit.CONFIGURATION_FAILED:
        assert "version = new" in row["reason"] and row["ratio"] is None
    else:
        assert runs == ["old", "new", "new", "old"] and row["ratio"] == pytest.approx(
            sum(row["other"]) / sum(row["reference"])
        )
    text = json.dumps(shown["claim"])
    assert "slower" not in text and "faster" not in text
    assert ("nothing about time" in text) == (answer in ("more", "fewer", "equivalent"))


def test_the_worst_number_of_threads_decides_and_a_spent_budget_leaves_the_others_open(
    tmp_path: Path, fake: dict[str, str]
) -> None:
    table = "old 1=1000\nnew 1=1000\nold 2=1000\nnew 2=1100\nold 4=1000\nnew 4=900"
    code, shown, _ = count(tmp_path, fake, table, "--threads", "1,2,4", "--summary", "summary.md")
    assert code == Exit.MORE_WORK and [row["answer"] for row in shown["configurations"]] == [
        "equivalent", "more", "fewer",
    ]  # fmt: skip
    first, beside = shown["claim"]["cases"]
    assert first["values"]["level"] == "threads=2" and beside["values"] == {"n": 1, "all": 3, "fewer": 1, "left": None}
    assert "10.0% more instructions" in (tmp_path / "summary.md").read_text()
    code, shown, runs = count(tmp_path, fake, table, "--threads", "1,4", "--budget", "1ms")
    assert (code, shown["claim"]["cases"][0]["case"]) == (Exit.INCONCLUSIVE, "budget") and "new 4" not in runs[12:]


def test_a_missing_valgrind_is_one_message_with_the_command_that_installs_it(tmp_path: Path) -> None:
    words = ["ab", "--count", "--a", "x", "--b", "y", "--", "true"]
    done = in_process(*words, "{version}", cwd=tmp_path, env={"PATH": str(tmp_path)})
    assert done.returncode == Exit.HOST and done.stderr.count("error: ") == 1
    assert "valgrind is not on PATH" in done.stderr and "apt install valgrind" in done.stderr


def test_a_count_that_was_cut_is_none_and_the_first_number_of_the_last_line_counts(tmp_path: Path) -> None:
    file = tmp_path / "counts"
    texts = {"events: Ir Bc\n" + "1 2\n" * 2000 + "summary: 4711 12\n": 4711, "events: Ir\nfn=x\n1 2\n": None, "": None}
    for text, n in texts.items():
        file.write_text(text)
        assert read_count(file) == n


def test_the_range_of_single_runs_is_shown_where_they_differ() -> None:
    counted = CountedConfiguration({}, (1000, 1002), (1010, 1012))
    assert counted.ends() == (1010 / 1002, 1012 / 1000) and counted.answer(0.001) == "more"


@machine
@pytest.mark.skipif(not (shutil.which("valgrind") and shutil.which("cc")), reason="needs valgrind and a C compiler")
def test_one_percent_more_turns_of_a_loop_are_one_percent_more_instructions(tmp_path: Path) -> None:
    source = "#include <stdlib.h>\nint main(int c, char **v) { volatile long x = 0; long n = atol(v[1]);"
    (tmp_path / "loop.c").write_text(f"{source} for (long i = 0; i < n; i++) x += i; return 0; }}\n")
    subprocess.run(["cc", "-O1", "loop.c", "-o", "loop"], cwd=tmp_path, check=True)
    words = ["ab", "--count", "--json", "--a", "5000000", "--b", "5050000", "--shell", "--"]
    done = in_process(*words, "./loop {version}; true", cwd=tmp_path, env=degraded(tmp_path))
    (row,) = json.loads(done.stdout)["configurations"]
    assert done.returncode == Exit.MORE_WORK and 1.0099 <= row["ratio"] <= 1.0101
    assert list(tmp_path.glob("*cachegrind*")) == []
