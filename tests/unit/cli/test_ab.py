"""`scalograph ab`: the study that it declares, the answer of its pairs, and what it refuses."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.versus import pairs_needed
from scalograph.cli.ab_command import AbOptions, _ab, _print_answer, _study
from scalograph.cli.analyze_steps import load_findings
from scalograph.cli.command_line_study.declaration import study_text
from scalograph.cli.options import CommandOptions
from scalograph.errors import Exit, StudyError
from scalograph.protocol.results import Results
from scalograph.run.session import Session
from scalograph.study.load import parse
from tests.kit.findings import write_journal
from tests.kit.records import recorded
from tests.kit.refusals import refuses
from tests.unit.cli.offered import known

FAILED = recorded(status="failed", reason="exit code 1")
ASKED = AbOptions(a="./old.sh", b="./new.sh")
VERSIONS: list[dict[str, Any]] = [{"version": name, "cpus": 1} for name in (ASKED.a, ASKED.b)]
Pair = tuple[dict[str, Any], dict[str, Any]]


def test_two_versions_are_named_or_a_base_is() -> None:
    options = CommandOptions(command=["{version}/prog"])
    for asked in (AbOptions(), AbOptions(a="x"), AbOptions(base="main"), AbOptions(a="x", build="make")):
        refuses(StudyError, "no two versions", _ab, asked, options)


def declared(a: str, b: str, *words: str, threads: str | None = None) -> str:
    return study_text(_study(AbOptions(a=a, b=b, threads=threads), CommandOptions(command=list(words))))


@pytest.mark.parametrize("asked", [None, True, False])
def test_the_sentinel_may_be_switched_off(asked: bool | None) -> None:
    options = CommandOptions(command=["{version}"], sentinel=asked)
    study = parse(study_text(_study(AbOptions(a="./old", b="./new"), options)))
    assert (study.protocol.sentinel, study.watches_speed) == (asked, asked is not False)


def write_pairs(folder: Path, pairs: Iterable[Pair], n_asked: int, protocol: str = "") -> Path:
    """Write the journal of pairs: the records of both versions in one block after the other."""
    text = declared(ASKED.a, ASKED.b, "{version}").replace("[protocol]", f"[protocol]\n{protocol}")
    text += '\n[factors.cpus]\nlevels = "1"\ncontrol = "cpus"\n'
    runs = [run for pair in pairs for run in zip(VERSIONS, pair, strict=True)]
    design = {"configurations": VERSIONS, "runs": [n_asked] * 2}
    return write_journal(folder / "journal.jsonl", runs, text, design=design)


def answer(folder: Path, asked: AbOptions = ASKED, json: bool = False) -> Exit:
    """Print the answer of a journal."""
    options = CommandOptions(command=["{version}"], json=json)
    return Exit(_print_answer(Session(Results(folder), "complete", 0), asked, None, options))


def document(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[Exit, Any]:
    code = answer(folder, json=True)
    return code, json.loads(capsys.readouterr().out)


def test_two_builds_are_levels_of_a_factor_and_the_first_is_the_reference() -> None:
    text = declared("./old", "./new", "{version}", "--size", "9")
    assert 'levels = "./old,./new"' in text and '[reference]\nversion = "./old"' in text
    assert 'precision = "1%"' in text and "runs = 40" in text and "What `scalograph ab` ran" in text
    assert "[factors.threads]" in declared("a", "b", "./{version}", "{threads}", threads="1,2")
    assert {"--pairs", "--runs", "-r", "--sentinel"} <= known("ab")


@pytest.mark.parametrize(
    ("new", "disturbed", "code", "words"),
    [
        (1.2, 0, Exit.SLOWER, "new.sh is slower than old.sh: 20"),
        (0.9, 0, Exit.DONE, "new.sh is faster than old.sh: 9.9"),
        (1.0, 0, Exit.DONE, "new.sh is equivalent to old.sh"),
        (1.2, 7, Exit.INCONCLUSIVE, "14 of 20 runs were disturbed by other processes."),
    ],
)
def test_the_answer_is_taken_from_the_pairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], new: float, disturbed: int, code: Exit, words: str
) -> None:
    """Blocks differ by half; the two versions of each are measured in it."""

    def took(i: int, block: float, factor: float) -> dict[str, Any]:
        return recorded(block * factor, block * factor, neighbor_s=block / 2 if i < disturbed else 0.0)

    blocks = enumerate((1.0, 1.4, 0.8, 1.2, 0.9, 1.5, 1.1, 1.3, 1.0, 1.2))
    pairs = [(took(i, block, 1.0), took(i, block, new * (1 + i % 3 / 1000))) for i, block in blocks]
    write_pairs(tmp_path, pairs, n_asked=40)
    asked = AbOptions(a=ASKED.a, b=ASKED.b, summary=tmp_path / "summary.md")
    assert answer(tmp_path, asked) == code
    assert words in " ".join(capsys.readouterr().out.split())
    assert words in (tmp_path / "summary.md").read_text()


@pytest.mark.parametrize(("spread", "short"), [(0.001, 0), (0.2, 2)])
def test_versions_whose_ratio_is_precise_are_not_short_of_runs(tmp_path: Path, spread: float, short: int) -> None:
    blocks = [(1.0 + 0.3 * (i % 4), 1.1 + spread * (i % 3)) for i in range(24)]
    pairs = [(recorded(old, old), recorded(old * ratio, old * ratio)) for old, ratio in blocks]
    file = write_pairs(tmp_path, pairs, n_asked=40)
    head, *lines = map(json.loads, file.read_text().splitlines())
    lines = [{**line, "block": i // 2} for i, line in enumerate(lines)]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in (head, *lines)))
    assert load_findings(tmp_path).runs.n_short == short


def test_pairs_beyond_the_plan_are_no_repeats_and_none_is_short(tmp_path: Path) -> None:
    pairs = [(recorded(1.0 + 0.3 * (i % 4)), recorded(1.1 + 0.2 * (i % 3))) for i in range(60)]
    file = write_pairs(tmp_path, pairs, n_asked=40)
    head, *lines = map(json.loads, file.read_text().splitlines())
    for i, line in enumerate(lines):
        line |= {"run": f"b{i // 2:04d}-{i % 2:04d}", "block": i // 2, "replicate": i // 2 + 40 * (i >= 80)}
    lines[90] |= {"run": "b0040-0000r1", "replicate": 120}
    file.write_text("".join(f"{json.dumps(line)}\n" for line in (head, *lines)))
    runs = load_findings(tmp_path).runs
    assert (runs.n_done, runs.n_asked, runs.n_repeated, runs.n_short) == (119, 119, 1, 0)


@pytest.mark.parametrize(
    ("pair", "words"),
    [((recorded(), FAILED), "new.sh has no run"), ((FAILED, FAILED), "old.sh and new.sh have no run")],
    ids=["one", "both"],
)
def test_a_version_that_never_succeeds_is_told_and_ends_in_4(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], pair: Pair, words: str
) -> None:
    write_pairs(tmp_path, [pair] * 4, n_asked=4)
    code, shown = document(tmp_path, capsys)
    assert (code, shown["answer"]) == (Exit.CONFIGURATION_FAILED, "inconclusive")
    assert words in shown["why"] and shown["claim"]["sentences"][0].count(words)


def test_a_version_that_failed_with_some_threads_differs_and_one_document_has_the_ratios(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_pairs(tmp_path, [(recorded(1 + i % 3 / 100),) * 2 for i in range(6)], n_asked=6)
    _, shown = document(tmp_path, capsys)
    assert (shown["answer"], len(shown["configurations"]), shown["results"]) == ("equivalent", 1, str(tmp_path))
    every = [{"threads": n, "version": name} for n in (1, 2) for name in (ASKED.a, ASKED.b)]
    runs = [(t, FAILED if t == every[3] else recorded(1.0 + i % 3 / 1000)) for i in range(10) for t in every]
    text = declared(ASKED.a, ASKED.b, "{version}", "{threads}", threads="1,2")
    write_journal(tmp_path / "journal.jsonl", runs, text, design={"configurations": every, "runs": [10] * 4})
    assert answer(tmp_path, AbOptions(a=ASKED.a, b=ASKED.b, threads="1,2")) == Exit.CONFIGURATION_FAILED
    shown = " ".join(capsys.readouterr().out.split())
    assert "failed in 10 of 10 runs" in shown and "is equivalent" not in shown


@pytest.mark.parametrize("by", [1.1, 1.0, 0.9])
def test_on_a_busy_machine_cpu_times_are_compared_and_say_nothing_of_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], by: float
) -> None:
    """A version that waits longer needs no more CPU time, and one that needs more may wait less."""

    def busy(i: int, factor: float) -> dict[str, Any]:
        return recorded(2.0 + 0.3 * (i % 3), factor * (1 + i % 3 / 1000), neighbor_s=1.0)

    write_pairs(tmp_path, [(busy(i, 1.0), busy(i, by)) for i in range(12)], 12, 'when_busy = "cpu-time"')
    ended, shown = document(tmp_path, capsys)
    claim = shown["claim"]
    assert (ended, shown["answer"], claim["answered"]) == (Exit.INCONCLUSIVE, "inconclusive", False)
    assert [case["case"] for case in claim["cases"]] == ["CPU time", "time unknown"]
    assert " CPU time" in claim["cases"][0]["values"]["first"] and "disturbed" in claim["cases"][0]["values"]["reason"]


def test_what_was_drawn_anew_for_each_pair_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = [(recorded(1 + i % 3 / 100), recorded(1.2 + i % 3 / 100)) for i in range(9)]
    write_pairs(tmp_path, pairs, n_asked=9, protocol='vary = ["env", "hash-seed"]')
    code, shown = document(tmp_path, capsys)
    assert code == Exit.SLOWER and shown["varied"] == ["env", "hash-seed"]
    assert shown["claim"]["sentences"][-1] == "Drawn anew for each pair: environment size and hash seed."
    options = CommandOptions(command=["{version}"])
    assert 'vary = ["env", "layout"]' in study_text(_study(AbOptions(a="x", b="y", vary="env, layout"), options))


def test_an_inconclusive_answer_names_the_pairs_that_decide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = [(1.0, 1.0 + 0.06 * (i % 3 - 1)) for i in range(12)]
    write_pairs(tmp_path, [(recorded(old), recorded(new)) for old, new in blocks], n_asked=12)
    code, shown = document(tmp_path, capsys)
    assert (code, shown["case"]) == (Exit.INCONCLUSIVE, "open")
    (case,) = shown["claim"]["cases"]
    n = pairs_needed(Estimate(**shown["configurations"][0]["ratio"]), 0.02)
    assert case["values"]["remedy"] == f"Add pairs: --pairs {n}" and n is not None and n > 100


def test_versions_of_which_no_run_counts_are_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # One run of the old version can be corrected, the others of both cannot.
    replay = {"low_ns": 10**9, "high_ns": 10**9, "overlap_ns": 0, "sleep_ns": 0, "n_wakes": 0}
    corrected = recorded(2.0, 1.0, neighbor_s=1.0, replay=replay)
    disturbed = recorded(2.0, 1.0, neighbor_s=1.0)
    write_pairs(tmp_path, [(corrected, disturbed), *[(disturbed, disturbed)] * 4], 5)
    code, found = document(tmp_path, capsys)
    assert code == Exit.INCONCLUSIVE and found["answer"] == "inconclusive"
    assert found["why"] == "new.sh has no run that counts"
