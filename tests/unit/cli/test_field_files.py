"""Files as people have them, whole commands: the exit code, and the figures and reasons that must be printed."""

import gzip
import re
from pathlib import Path

import pytest

from scalograph.cli.main import _code
from tests.kit import RECORDED

FIELD = RECORDED / "field"
OLD, NEW = (",".join(f"gbench-{age}-{i}.json" for i in (1, 2, 3, 4)) for age in ("old", "new"))
# Command, exit code, what must be printed without --tables, and what must not be; blanks stand for any.
ROWS = [
    ("import sysbench sysbench-1.1.txt --over threads", 0, ("900", "1,750", "1,780"), ("failed",)),
    ("import sysbench sysbench-crlf.txt --over threads", 0, ("900", "1,750", "1,780"), ("failed",)),
    ("import sysbench sysbench-two-settings.txt", 0, ("1,040", "150", "=10000", "=40000"), ("395",)),
    ("import wrk wrk-mostly-read-errors.txt", 0, ("254/s", "3,268 read errors", "2,606 answers"), ()),
    ("import wrk wrk-one-without-answers.txt", 0, ("4,000/s", "0.2.1:80/b", "236 read errors"), ()),
    ("import wrk wrk-all-wrong.txt", 2, ("735 answers", "late or wrong"), ("1/s",)),
    ("import wrk wrk-clock.txt", 2, ("35,951 requests", "impossible time"), ("1/s",)),
    ("import wrk wrk-1.txt", 0, ("13,762/s", "connections=256", "threads=4"), ()),
    ("import gobench go-slower-with-more.txt --over gomaxprocs", 0,
        ("highest at gomaxprocs = 1. ", "26 times lower"), ("Inconclusive", "Cannot")),
    ("import gobench go-name-ends-in-number.txt --over gomaxprocs", 0, ("1,221,598 1,284,852 1,282,216",), ()),
    ("import gobench go-name-ends-in-number.txt --json", 0, ('"Store/Add-1"', '"gomaxprocs": "4"'), ("Store/Add\"",)),
    ("import gobench go-own-units.txt", 0, ("A gomaxprocs=8 5 ", "C gomaxprocs=8 7 "), ()),
    ("import gobench go-own-units.txt --tables", 0, ("12.34", "B "), ()),
    ("import gobench go-torn-lines.txt", 0, ("A gomaxprocs=8 5 ", "C gomaxprocs=8 7 "), ()),
    ("import gobench go-params-by-comma.txt --over num_pages", 0, ("1,000 2,000 5,000", "9.18 4.61 1.85"), ()),
    ("import gobench go-params-by-comma.txt --json", 0,
        ('"num_root_sections": "5"', '"tags_per_page": "1"', '"gomaxprocs": "4"'), ()),
    ("import hyperfine hyperfine-failed-is-fastest.json", 0,
        ("git_tag=v0.4 takes 41.2 s", "git_tag=v0.5 (3 of 3 runs"), ("v0.5 is the fastest", "133")),
    ("compare hyperfine-before.json hyperfine-after-fails.json", 4,
        ("failed in 6 of 6 runs", "machine and settings are not recorded"), ("is faster", "no difference of machine")),
    ("import hyperfine hyperfine-summary.csv", 2, ("summary", "--export-json", "--y mean --times"), ("Invalid JSON",)),
    ("import csv hyperfine-summary.csv", 2, ("summary", "--export-json", "--y mean --times"), ()),
    ("import google-benchmark gbench-one-failed.json", 0, ("BM_S/8 takes 10 ns", "BM_T/8", "cannot open"), ()),
    ("import google-benchmark gbench-aggregates-only.json", 0, ("BM_S/8 takes 10 ns", "aggregates only"), ()),
    ("import google-benchmark gbench-1.4.json", 0, ("BM_S/8 takes 10.2 ns",), ("BigO", "RMS", "_mean", "_stddev")),
    ("import google-benchmark gbench-arguments.json --over n", 2, ("of the size of an input: --law complexity",), ()),
    ("import google-benchmark gbench-arguments.json --over n --law complexity", 0,
        ("grows as n. ", "10 100 1,000 100,000 1,000,000"), ()),
    (f"compare google-benchmark:{OLD} google-benchmark:{NEW}", 7,
        ("one \N{RIGHTWARDS ARROW} two", "CPUs 8 \N{RIGHTWARDS ARROW} 64", "release \N{RIGHTWARDS ARROW} debug"),
        ("no difference",)),
    ("import jmh jmh-sample-without-histogram.json", 0, ("96.7 \N{MICRO SIGN}s", "241 ns", "mean"), ("Histogram",)),
    ("import pyperf pyperf-with-bytes.json", 0, ("alloc takes 1.706 \N{MICRO SIGN}s", "mem", "byte"), ()),
    ("import pyperf PACKED/pyperf-with-bytes.json.gz", 0, ("alloc takes 1.706 \N{MICRO SIGN}s", "mem", "byte"), ()),
    ("import k6 k6-without-http.json", 0, ("300/s", "no HTTP", "iterations"), ()),
    ("import k6 k6-checks-failed.json", 0, ("300/s", "8,100 of 9,000 checks failed", "threshold"), ()),
    ("import pgbench pgbench-aborted.txt", 2, ("5,423 of 16,000", "512 transactions failed"), ("1,290",)),
    ("import pgbench pgbench-fixed-threads.txt --over clients", 0, ("300 570 990 1,500", "1 2 4 8"), ()),
    ("fit fit-collapse.csv --x threads --y seconds --times --tables", 0,
        ("highest at threads = 16 or 32. ", "256 it is 6 times lower than at threads = 1.", "No scaling law fits"),
        ("sigma", "kappa", "model ")),
    ("fit fit-slower-with-more.csv", 0, ("highest at n = 1. ", "3.8 times lower"), ("Inconclusive", "serial", "%")),
    *((f"fit fit-three-points.csv --y ms --times{more}", 0,
        ("no prediction at n = 6", "model 0.00503 0.00979 0.0139 \N{EN DASH}"), ()) for more in ("", " --predict 6")),
]  # fmt: skip


@pytest.mark.parametrize(("command", "code", "shown", "never"), ROWS, ids=[row[0][:60] for row in ROWS])
def test_a_file_of_the_field_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    command: str, code: int, shown: tuple[str, ...], never: tuple[str, ...],
) -> None:  # fmt: skip
    (tmp_path / "pyperf-with-bytes.json.gz").write_bytes(gzip.compress((FIELD / "pyperf-with-bytes.json").read_bytes()))
    monkeypatch.chdir(FIELD)
    assert _code(command.replace("PACKED", str(tmp_path)).split()) == code
    printed = " ".join("".join(capsys.readouterr()).split())
    assert [text for text in shown if " ".join(text.split()) not in printed] == [], printed
    assert [text for text in never if text in printed] == [], printed


def test_every_file_of_the_field_is_read() -> None:
    named = {name for command, *_ in ROWS for name in re.split("[ :,/]", command.replace(".gz", ""))}
    assert {file.name for file in FIELD.iterdir()} <= named
