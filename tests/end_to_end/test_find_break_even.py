"""`find break-even` as a user has it, on a machine whose times are made up."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.kit.command import in_process, simulated

SIZES = range(1, 201)
# The one takes as many milliseconds as its size, the other always 40.
WALLS = {f"true {version} {size}": size / 1000 for version in ("plain", "1") for size in SIZES}
WALLS |= {f"true {version} {size}": 0.04 for version in ("other", "2") for size in SIZES}
VERSIONS = ("--max-reruns", 0, "--versions", "plain,other")
COMMAND = ("--", "true", "{version}", "{size}")


def find(folder: Path, *arguments: object, expect: tuple[int, ...] = (0, 5)) -> "subprocess.CompletedProcess[str]":
    done = in_process("find", "break-even", *arguments, cwd=folder, env=simulated(folder, WALLS))
    assert done.returncode in expect, done.stderr
    return done


def test_the_line_as_one_document(tmp_path: Path) -> None:
    done = find(tmp_path, *VERSIONS, "--json", "--size", "8:200", "-o", "results", *COMMAND)
    found: dict[str, Any] = json.loads(done.stdout)
    assert (found["factor"], found["baseline"], found["other"]) == ("version", "plain", "other")
    (line,) = found["lines"]
    assert found["decided"] and found["n"] <= 24
    assert line["kind"] == "from" and line["low"] <= line["location"] <= line["high"]
    assert 30 < line["location"] < 55
    study = (tmp_path / "results" / "study.toml").read_text()
    assert 'question = "break-even"' in study and 'role = "size"' in study and 'version = "plain"' in study


def test_the_answer_on_the_terminal_and_its_report(tmp_path: Path) -> None:
    wish = ("--size", "n=20,30,60,90", "--max-runs", 14, "--tables", "-o", "results", "--", "true", "{version}", "{n}")
    done = find(tmp_path, *VERSIONS, *wish)
    assert "Pairs that were measured" in done.stdout
    assert done.stdout.splitlines()[-1] == "again   scalograph run results/study.toml"
    report = in_process("report", "results", "--tables", cwd=tmp_path)
    assert report.returncode in (0, 5) and "Pairs that were measured" in report.stdout
    plan = in_process("plan", "results/study.toml", cwd=tmp_path)
    assert "a pair at a time where it tells most" in plan.stdout


def test_versions_may_be_numbers(tmp_path: Path) -> None:
    wish = ("--max-reruns", 0, "--versions", "1,2", "--size", "20,30,60,90", "--max-runs", 6, "--json", *COMMAND)
    found = json.loads(find(tmp_path, *wish).stdout)
    # Too few pairs: nothing is known, and that is said.
    assert (found["decided"], found["n"], found["lines"]) == (False, 0, [])
    assert "too few pairs" in found["answer"][0]
    assert "version = 1\n" in next((tmp_path / "scalograph-results").glob("*/latest/study.toml")).read_text()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--", "true", "{version}"), "break-even: 0 factors, expected one to 4 of --size"),
        (("--size", "9:3", "--", "true", "{version}", "{size}"), "--size: '9:3', expected LOW:HIGH"),
        (("--size", "1:9", "--size", "1:9", "--", "true"), "break-even: factor size twice"),
        (("--factor", "1:9", "--", "true"), "--factor: '1:9', expected NAME=LEVELS"),
        (("--versions", "a", "--size", "1:9", "--", "true", "{version}", "{size}"), "--versions: 'a', expected two"),
        (("--size", "1:9", "--", "true", "{size}"), "--factor version: a factor that nothing uses"),
        (("--size", "1:9", "--even", "ten", "--", "true", "{version}", "{size}"), "--even: "),
        (("--size", "1:9", "--even", "200%", "--", "true", "{version}", "{size}"), "--even: '200%', expected above 0"),
        (("--size", "abc", "--", "true", "{version}", "{size}"), "--size: 'abc', expected two numbers above 0 or more"),
        (("--workers", "7", "--", "true", "{version}", "{workers}"), "--workers: '7', expected two numbers above 0"),
    ],
)
def test_bad_input_is_one_message_and_nothing_is_left(arguments: tuple[str, ...], told: str, tmp_path: Path) -> None:
    done = find(tmp_path, *arguments, expect=(2,))
    assert told in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "scalograph-results").exists()
