"""`scalograph import jmh` as it is called: what it prints, and how it refuses."""

import json
from pathlib import Path

import pytest

from scalograph.cli.main import _code
from scalograph.errors import Exit
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded
from tests.unit.exchange.instruments import FILES, exported, given, result, timed, written


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert _code(["import", "jmh", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def results(folder: Path) -> Path:
    runs = [(configuration, recorded(0.5 + r / 100)) for configuration in CONFIGURATIONS for r in range(3)]
    write_journal(folder / "journal.jsonl", runs)
    return folder


def test_alone_it_tells_a_row_for_each_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    assert "jmh" in said(capsys, "--help")
    shown = said(capsys, FILES["jmh"], "--tables")
    assert "is the fastest" in " ".join(shown.split()) and "\nForkJoinBench.shot n=3000" in shown
    assert "ForkJoinBench.shot" in shown and "version=pool" in shown and "p99" in shown
    told = json.loads(said(capsys, FILES["jmh"], "--json"))
    assert [one["n_forks"] for one in told["benchmarks"]] == [5, 5]
    assert told["benchmarks"][0]["estimate"]["low"] < told["benchmarks"][0]["p50"] < 1e-3


def test_beside_a_study_it_says_whether_both_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, result([[500.0], [510.0], [520.0]], params={"threads": "2"}))
    shown = said(capsys, file, "--beside", results(tmp_path), "--where", "lock=cas")
    assert "Sum.run threads=2: JMH agrees with the study within " in shown
    told = json.loads(said(capsys, file, "--beside", tmp_path, "--where", "lock=cas", "--json"))
    (one,) = told["benchmarks"]
    assert (told["study"], told["response"], one["label"]) == ("hello", "wall", "agree")
    assert one["ratio"]["value"] == pytest.approx(1.0) and one["sentence"] in shown


def test_a_name_cannot_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    params = {"threads": "2", "lock": "cas", "x": "\x1b[31m[red]"}
    file = written(tmp_path, {**result([[500.0]] * 3, params=params), "benchmark": "a.\x1b]0;title\x07"})
    shown = said(capsys, file, "--beside", results(tmp_path)) + said(capsys, file)
    assert "\x1b" not in shown and "\x07" not in shown and "[red]" in shown


def test_a_command_that_failed_is_named_first_and_is_no_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = timed("broken", [0.001] * 3, exit_codes=[127] * 3)
    file = exported(tmp_path, broken, timed("b", [0.5, 0.51, 0.52], exit_codes=[0] * 3))
    assert _code(["import", "hyperfine", str(file)]) == Exit.DONE
    told = " ".join(" ".join(capsys.readouterr().out.splitlines()[:5]).split())
    assert "b takes 510" in told and "Failed, without a value: broken (3 of 3 runs)." in told
    assert _code(["import", "hyperfine", str(exported(tmp_path, broken)), "--json"]) == Exit.CONFIGURATION_FAILED
    (one,) = json.loads(capsys.readouterr().out)["benchmarks"]
    assert (one["n_failed"], one["n_forks"], one["p50"], one["estimate"]["value"]) == (3, 0, None, None)


def test_a_benchmark_that_failed_agrees_with_no_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{i},{'ok' if n == 1 else 'failed'},{n},{'0.51' if n == 1 else ''},s" for n in (1, 2) for i in range(3)]
    file = given(tmp_path, "\n".join(["run,status,threads,value,unit", *rows]))
    asked = ["import", "csv", file, "--beside", results(tmp_path), "--where", "lock=cas"]
    assert _code([*map(str, asked)]) == Exit.DONE
    told = " ".join(capsys.readouterr().out.split())
    assert "threads=2 is not compared: failed in 3 of 3 runs." in told
