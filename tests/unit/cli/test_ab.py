"""`scalograph ab`: the study that it declares, and what it refuses."""

import json
from pathlib import Path

import pytest

from scalograph.cli.ab_command import AbOptions, _print_answer, _study
from scalograph.cli.analyze_steps import load_findings
from scalograph.cli.command_line_study.declaration import study_text
from scalograph.cli.main import _code
from scalograph.cli.options import CommandOptions
from scalograph.errors import Exit, StudyError
from scalograph.protocol.results import Results
from scalograph.run.session import Session
from scalograph.study.check_question import FEWEST
from tests.kit.findings import write_journal
from tests.kit.records import recorded
from tests.unit.cli.offered import known


def declared(a: str, b: str, *words: str, threads: str | None = None) -> str:
    return study_text(_study(AbOptions(a=a, b=b, threads=threads), CommandOptions(command=list(words))))


def test_two_builds_are_levels_of_a_factor_and_the_first_is_the_reference() -> None:
    text = declared("./old", "./new", "{version}", "--size", "9")
    assert 'levels = "./old,./new"' in text and '[reference]\nversion = "./old"' in text
    assert 'precision = "1%"' in text and "runs = 40" in text and "What `scalograph ab` ran" in text
    assert "[factors.threads]" in declared("a", "b", "./{version}", "{threads}", threads="1,2")


def test_the_most_pairs_have_the_names_that_measure_gives_to_runs() -> None:
    assert {"--pairs", "--runs", "-r"} <= known("ab")


@pytest.mark.parametrize(
    ("a", "b", "command", "message"),
    [
        ("old", "new", ["./prog"], "no {version}"),
        ("old", "old", ["./{version}"], "--a, --b"),
        ("a,b", "c", ["./{version}"], "without commas"),
        ("1:3", "4", ["./{version}"], "--a, --b"),
    ],
)
def test_what_makes_no_two_versions_is_refused(a: str, b: str, command: list[str], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        declared(a, b, *command)


@pytest.mark.parametrize(
    ("new", "disturbed", "code", "words"),
    [
        (1.2, 0, Exit.SLOWER, "new.sh is slower: it takes 20"),
        (0.9, 0, Exit.DONE, "new.sh is faster: it takes 9.9"),
        (1.0, 0, Exit.DONE, "The same"),
        (1.2, 7, Exit.NOT_MEASURABLE, "Cannot be said"),
    ],
)
def test_the_answer_is_taken_from_the_pairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], new: float, disturbed: int, code: Exit, words: str
) -> None:
    """Blocks differ by half; the two versions of each are measured in it."""
    asked = AbOptions(a="./old.sh", b="./new.sh", summary=tmp_path / "told.md")
    options = CommandOptions(command=["{version}"])
    configurations = [{"version": "./old.sh", "cpus": 1}, {"version": "./new.sh", "cpus": 1}]
    text = study_text(_study(asked, options)) + '\n[factors.cpus]\nlevels = "1"\ncontrol = "cpus"\n'
    runs = [
        (configuration, recorded(block * factor, block * factor, neighbor_s=block / 2 if i < disturbed else 0.0))
        for i, block in enumerate((1.0, 1.4, 0.8, 1.2, 0.9, 1.5, 1.1, 1.3, 1.0, 1.2))
        for configuration, factor in zip(configurations, (1.0, new * (1 + i % 3 / 1000)), strict=True)
    ]
    write_journal(tmp_path / "journal.jsonl", runs, text, design={"configurations": configurations, "runs": [40, 40]})
    assert _print_answer(Session(Results(tmp_path), "complete", 0), asked, None, options) == code
    assert words in " ".join(capsys.readouterr().out.split())
    assert words in (tmp_path / "told.md").read_text()


@pytest.mark.parametrize(("spread", "short"), [(0.001, 0), (0.2, 2)])
def test_versions_whose_ratio_is_precise_are_not_short_of_runs(tmp_path: Path, spread: float, short: int) -> None:
    configurations = [{"version": "./old.sh", "cpus": 1}, {"version": "./new.sh", "cpus": 1}]
    asked, options = AbOptions(a="./old.sh", b="./new.sh"), CommandOptions(command=["{version}"])
    text = study_text(_study(asked, options)) + '\n[factors.cpus]\nlevels = "1"\ncontrol = "cpus"\n'
    runs = [
        (configuration, recorded(block * factor, block * factor))
        for i in range(24)
        for block in (1.0 + 0.3 * (i % 4),)
        for configuration, factor in zip(configurations, (1.0, 1.1 + spread * (i % 3)), strict=True)
    ]
    file = write_journal(
        tmp_path / "journal.jsonl", runs, text, design={"configurations": configurations, "runs": [40, 40]}
    )
    head, *lines = map(json.loads, file.read_text().splitlines())
    lines = [{**line, "block": i // 2} for i, line in enumerate(lines)]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in (head, *lines)))
    assert load_findings(tmp_path).runs.n_short == short


@pytest.mark.parametrize(("failed", "words"), [((1,), "new.sh has no run"), ((0, 1), "old.sh and new.sh have no run")])
def test_a_version_that_never_succeeds_is_told_and_ends_in_4(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], failed: tuple[int, ...], words: str
) -> None:
    configurations = [{"version": "./old.sh", "cpus": 1}, {"version": "./new.sh", "cpus": 1}]
    asked, options = AbOptions(a="./old.sh", b="./new.sh"), CommandOptions(command=["{version}"], json=True)
    text = study_text(_study(asked, options)) + '\n[factors.cpus]\nlevels = "1"\ncontrol = "cpus"\n'
    broken = recorded(status="failed", reason="exit code 1")
    runs = [(t, broken if i in failed else recorded()) for _ in range(4) for i, t in enumerate(configurations)]
    write_journal(tmp_path / "journal.jsonl", runs, text, design={"configurations": configurations, "runs": [4, 4]})
    assert _print_answer(Session(Results(tmp_path), "complete", 0), asked, None, options) == Exit.CONFIGURATION_FAILED
    told = json.loads(capsys.readouterr().out)
    assert told["answer"] == "not measurable" and words in told["why"] and told["claim"]["sentences"][0].count(words)


def test_one_document_has_the_ratios_and_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configurations = [{"version": "./old.sh", "cpus": 1}, {"version": "./new.sh", "cpus": 1}]
    asked, options = AbOptions(a="./old.sh", b="./new.sh"), CommandOptions(command=["{version}"], json=True)
    text = study_text(_study(asked, options)) + '\n[factors.cpus]\nlevels = "1"\ncontrol = "cpus"\n'
    runs = [(t, recorded(1 + i % 3 / 100)) for i in range(6) for t in configurations]
    write_journal(tmp_path / "journal.jsonl", runs, text, design={"configurations": configurations, "runs": [6, 6]})
    _print_answer(Session(Results(tmp_path), "complete", 0), asked, None, options)
    told = json.loads(capsys.readouterr().out)
    assert told["answer"] == "same" and len(told["configurations"]) == 1 and told["results"] == str(tmp_path)


@pytest.mark.parametrize(
    ("by", "code", "answer", "told"),
    [
        (1.1, Exit.SLOWER, "slower", "more CPU time than old.sh"),
        (1.0, Exit.NOT_MEASURABLE, "not measurable", "the CPU time of old.sh within"),
        (0.9, Exit.NOT_MEASURABLE, "not measurable", "less CPU time than old.sh"),
    ],
)
def test_on_a_busy_machine_cpu_times_are_compared_and_say_nothing_of_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], by: float, code: Exit, answer: str, told: str
) -> None:
    """A version that waits longer needs no more CPU time: only where it needs more is it slower."""
    configurations = [{"version": "./old.sh", "cpus": 1}, {"version": "./new.sh", "cpus": 1}]
    asked, options = AbOptions(a="./old.sh", b="./new.sh"), CommandOptions(command=["{version}"], json=True)
    text = study_text(_study(asked, options)).replace("[protocol]", '[protocol]\nwhen_busy = "cpu-time"')
    runs = [
        (configuration, recorded(2.0 + 0.3 * (i % 3), factor * (1 + i % 3 / 1000), neighbor_s=1.0))
        for i in range(12)
        for configuration, factor in zip(configurations, (1.0, by), strict=True)
    ]
    text += '\n[factors.cpus]\nlevels = "1"\ncontrol = "cpus"\n'
    write_journal(tmp_path / "journal.jsonl", runs, text, design={"configurations": configurations, "runs": [12, 12]})
    assert _print_answer(Session(Results(tmp_path), "complete", 0), asked, None, options) == code
    document = json.loads(capsys.readouterr().out)
    sentences = document["claim"]["sentences"]
    assert document["answer"] == answer and sentences[0].startswith("Of CPU time alone: ") and told in sentences[0]
    assert sentences[1].startswith("Of time nothing can be said: ")


def test_a_version_that_failed_with_some_threads_is_not_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = AbOptions(a="./old.sh", b="./new.sh", threads="1,2")
    options = CommandOptions(command=["{version}", "{threads}"])
    configurations = [{"threads": n, "version": v} for n in (1, 2) for v in ("./old.sh", "./new.sh")]
    text = study_text(_study(asked, options))
    runs = [
        (t, recorded(status="failed", reason="exit code 1") if t == configurations[3] else recorded(1.0 + i % 3 / 1000))
        for i in range(10)
        for t in configurations
    ]
    write_journal(tmp_path / "journal.jsonl", runs, text, design={"configurations": configurations, "runs": [10] * 4})
    assert _print_answer(Session(Results(tmp_path), "complete", 0), asked, None, options) == Exit.CONFIGURATION_FAILED
    told = " ".join(capsys.readouterr().out.split())
    assert "failed in 10 of 10 runs" in told and "The same" not in told


@pytest.mark.parametrize("n", [FEWEST - 1, FEWEST])
def test_pairs_that_a_precision_cannot_end_are_refused_by_the_name_of_their_option(
    n: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _code(["ab", "--a", "x", "--b", "y", "--pairs", str(n), "--precision", "0", "--", "./{version}"]) == 2
    told = capsys.readouterr().err
    assert "'--pairs'" in told if n < FEWEST else told.startswith("--precision: ")
