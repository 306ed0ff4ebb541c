"""`scalograph compare` and `gate` from results to their exit codes, and what they write for people."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from scalograph.cli.analyze_steps import load_findings
from scalograph.cli.comparing import compare_sources
from scalograph.errors import Exit
from scalograph.protocol.noise_floor import SavedNoise, save_noise
from tests.golden.command import Said, scalograph
from tests.kit import ROOT
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded
from tests.unit.exchange.instruments import exported, timed


def journal(folder: Path, name: str, slower: float = 1.0, disturbed: int = 0) -> str:
    """Six configurations of six runs; `disturbed` of each had a neighbor."""
    runs = [
        (levels, recorded(wall, wall, neighbor_s=wall / 2 if run < disturbed else 0.0))
        for levels in CONFIGURATIONS
        for run in range(6)
        for wall in (slower * (1 + run % 3 / 200) / int(levels["threads"]),)
    ]
    (folder / name).mkdir()
    write_journal(folder / name / "journal.jsonl", runs)
    return name


@pytest.mark.parametrize(("other", "code", "word"), [
    ({"slower": 1.2}, Exit.SLOWER, "b is slower than a: 20"),
    ({"slower": 0.8}, Exit.DONE, "b is faster"),
    ({}, Exit.DONE, "is equivalent to"),
    ({"slower": 1.2, "disturbed": 4}, Exit.INCONCLUSIVE, "Inconclusive"),
])  # fmt: skip
def test_each_answer_has_its_exit_code(tmp_path: Path, other: dict[str, Any], code: Exit, word: str) -> None:
    sources = [journal(tmp_path, "a"), journal(tmp_path, "b", **other)]
    said = scalograph(["compare", *sources], tmp_path)
    assert said.code == code, said.printed
    assert word in " ".join(said.printed.split()) and len(said.printed.splitlines()) <= 25
    assert not (tmp_path / "a" / "findings.json").exists()


def test_a_gate_says_what_was_drawn_anew_in_both_results_or_that_they_differ_in_it(tmp_path: Path) -> None:
    for name, varied in {"a": ["env", "layout"], "b": ["env"], "c": []}.items():
        file = tmp_path / journal(tmp_path, name) / "journal.jsonl"
        head, *lines = file.read_text().splitlines()
        event = json.loads(head)
        event["study"]["protocol"] |= {"vary": varied} if varied else {}
        file.write_text("\n".join([json.dumps(event), *lines, ""]))
    both, one = (" ".join(scalograph(["gate", name, "--against", "a"], tmp_path).printed.split()) for name in "bc")
    assert "Drawn anew for each block: environment size." in both and "drawn anew env, layout \u2192 env" in both
    assert "Drawn anew" not in one and "drawn anew env, layout \u2192 nothing" in one


def test_one_document_for_machines_in_which_laws_of_another_response_are_not_compared(tmp_path: Path) -> None:
    sources = [journal(tmp_path, "a"), journal(tmp_path, "b", slower=1.2)]
    document = json.loads(scalograph(["compare", *sources, "--json"], tmp_path).printed)
    (found,) = document["results"]
    assert document["answer"] == found["answer"] == "slower" and len(found["configurations"]) == len(CONFIGURATIONS)
    assert found["shift"]["value"] == pytest.approx(1.2)
    # The law of a study is of its wall times; CPU times have none of their own.
    (own,) = compare_sources([str(tmp_path / name) for name in sources]).results
    (other,) = compare_sources([str(tmp_path / name) for name in sources], response="cpu").results
    assert not own.laws_left_out and other.laws_left_out and other.laws == []


@pytest.mark.parametrize(("model", "asked", "margin", "warning"), [
    (None, [], 0.02, "differ by up to 4% on this machine"),
    ("another", [], 0.02, "keep a noise floor (scalograph doctor --noise)"),
    (None, ["--margin", "1%"], 0.01, "differ by up to 4% on this machine"),
    ("another", ["--margin", "1%"], 0.01, ""),
], ids=["saved here", "saved on another machine", "asked here", "asked on another machine"])  # fmt: skip
def test_the_noise_floor_warns_and_never_widens_the_margin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str | None, asked: list[str], margin: float, warning: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    about = {"study": "noise-floor", "at": "2026-01-02T03:04:05Z", "n": 10, "cpu_model": model, "n_cpus": 2}
    save_noise(SavedNoise(sd_log_percent=3, minimum_detectable_percent=4, **about))
    sources = [journal(tmp_path, "a"), journal(tmp_path, "b", slower=1.03)]
    shown = scalograph(["compare", *sources, *asked], tmp_path)
    printed = " ".join(shown.printed.split())
    assert shown.code == Exit.SLOWER and f"margin {100 * margin:g}%" in printed and warning in printed
    assert ("different times differ" in printed) is bool(warning)
    (result,) = json.loads(scalograph(["compare", *sources, *asked, "--json"], tmp_path).printed)["results"]
    assert result["margin"] == margin


def compare_with_changed(folder: Path, change: Callable[[dict[str, Any]], object]) -> Said:
    """Compare results with findings of the same that are changed."""
    journal(folder, "a")
    document = load_findings(folder / "a").model_dump(mode="json")
    change(document)
    (folder / "odd.json").write_text(json.dumps(document))
    return scalograph(["compare", "a", "odd.json"], folder)


def test_findings_whose_points_lack_a_factor_are_refused(tmp_path: Path) -> None:
    said = compare_with_changed(tmp_path, lambda document: document["curves"][0]["group"].pop("lock"))
    assert said.code == Exit.UNREADABLE and 'odd.json: a point of a curve without a level of "lock"' in said.printed


@pytest.mark.parametrize(("question", "reason"), [
    ("break-even", "its runs were compared in pairs, expected results with curves"),
    ("sweep", "no configuration with a run that counts"),
])  # fmt: skip
def test_results_without_curves_are_refused_with_the_reason(tmp_path: Path, question: str, reason: str) -> None:
    def change(document: dict[str, Any]) -> None:
        document["curves"], document["study"]["question"] = [], question

    said = compare_with_changed(tmp_path, change)
    assert said.code == Exit.STUDY and reason in " ".join(said.printed.split())


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    for name, slower, disturbed in (("kept", 1.0, 0), ("slow", 1.2, 0), ("busy", 1.0, 4)):
        journal(tmp_path, name, slower, disturbed)
    return tmp_path


def test_a_slower_result_fails_the_build_and_what_is_not_measurable_may_be_let_pass(kept: Path) -> None:
    (kept / "summary.md").write_text("before\n")
    said = scalograph(["gate", "slow", "--against", "kept", "--summary", "summary.md"], kept)
    assert said.code == Exit.SLOWER
    written = (kept / "summary.md").read_text()
    assert written.startswith("before\n### slower: ") and "**slow is slower than kept: 20" in written
    assert "| ratio |" in written or "| :-- |" in written
    assert scalograph(["gate", "kept", "--against", "kept", "--format", "md"], kept).code == Exit.DONE
    asked = ["gate", "busy", "--against", "kept", "--format", "json"]
    assert scalograph(asked, kept).code == Exit.INCONCLUSIVE
    assert scalograph([*asked, "--allow-inconclusive"], kept).code == Exit.DONE


@pytest.mark.parametrize(("source", "more", "ending"), [
    ("slow", (), "gate    FAIL: slower (exit code 7)"),
    ("busy", (), "gate    FAIL: inconclusive (exit code 8)"),
    ("busy", ("--allow-inconclusive",), "gate    PASS: inconclusive"),
    ("kept", (), "gate    PASS: equivalent"),
])  # fmt: skip
def test_the_last_line_tells_the_builds_end(kept: Path, source: str, more: tuple[str, ...], ending: str) -> None:
    said = scalograph(["gate", source, "--against", "kept", "--margin", "5%", *more], kept)
    assert said.printed.rstrip().splitlines()[-1] == ending


def write_timed(folder: Path, name: str, **commands: tuple[float, int]) -> None:
    """Write a file of hyperfine: seconds and exit code of ten runs of each command."""
    every = [
        timed(command, [seconds * (1 + i % 3 / 1000) for i in range(10)], exit_codes=[code] * 10)
        for command, (seconds, code) in commands.items()
    ]
    exported(folder, *every, name=name)


GOOD, BROKEN = (0.02, 0), (0.0006, 127)


@pytest.mark.parametrize(("new", "more", "code", "told"), [
    ({"prog": BROKEN}, (), Exit.CONFIGURATION_FAILED, "prog failed in 10 of 10 runs, other is missing."),
    ({"prog": BROKEN, "other": GOOD}, (), Exit.CONFIGURATION_FAILED, "prog failed in 10 of 10 runs."),
    ({"other": GOOD}, (), Exit.CONFIGURATION_FAILED, "Inconclusive: in new.json, prog is missing."),
    ({"other": (0.01, 0)}, (), Exit.CONFIGURATION_FAILED, "Inconclusive: in new.json, prog is missing."),
    ({"other": (0.04, 0)}, (), Exit.CONFIGURATION_FAILED, "In new.json, prog is missing."),
    ({"other": GOOD}, ("--allow-inconclusive",), Exit.CONFIGURATION_FAILED, "prog is missing."),
    ({"other": GOOD}, ("--allow-missing", "prog"), Exit.DONE, "As allowed, prog failed or is missing."),
    ({"other": (0.04, 0)}, ("--allow-missing", "prog"), Exit.SLOWER, "new.json is slower"),
    ({"prog": GOOD, "other": GOOD}, (), Exit.DONE, "is equivalent to"),
    ({"other": GOOD}, ("--allow-missing", "prg"), Exit.STUDY, 'did you mean "prog"?'),
])  # fmt: skip
def test_what_failed_or_is_missing_fails_the_build(
    tmp_path: Path, new: dict[str, tuple[float, int]], more: tuple[str, ...], code: Exit, told: str
) -> None:
    write_timed(tmp_path, "old.json", prog=GOOD, other=GOOD)
    write_timed(tmp_path, "new.json", **new)
    said = scalograph(["gate", "new.json", "--against", "old.json", "--summary", "s.md", *more], tmp_path)
    assert said.code == code, said.printed
    assert told in " ".join(" ".join(said.printed.splitlines()[:6]).split())
    if code == Exit.CONFIGURATION_FAILED:
        assert said.printed.splitlines()[-1] == "gate    FAIL: failed or missing (exit code 4)"
        assert (tmp_path / "s.md").read_text().startswith("### failed or missing: ")


def test_a_configuration_of_ours_that_failed_or_was_not_run_fails_the_build(tmp_path: Path) -> None:
    failed = [(CONFIGURATIONS[3], recorded(status="failed", reason="exit code 1"))] * 6
    others = [(t, recorded(1 + i / 100)) for t in CONFIGURATIONS if t != CONFIGURATIONS[3] for i in range(6)]
    kept = [(CONFIGURATIONS[3], recorded(1 + i / 100)) for i in range(6)]
    for name, runs in (("kept", [*others, *kept]), ("failed", [*others, *failed]), ("fewer", others)):
        (tmp_path / name).mkdir()
        write_journal(tmp_path / name / "journal.jsonl", runs)
    for name, told in (("failed", "failed in 6 of 6 runs."), ("fewer", "is missing.")):
        asked = ["gate", name, "--against", "kept", "--margin", "50%"]
        said = scalograph(asked, tmp_path)
        assert said.code == Exit.CONFIGURATION_FAILED
        assert f"Inconclusive: in {name}, threads=2 lock=cas {told}" in " ".join(said.printed.split())
        assert scalograph([*asked, "--allow-missing", "threads=2 lock=cas"], tmp_path).code == Exit.DONE
        compared = scalograph(["compare", "kept", name, "--margin", "50%"], tmp_path)
        assert compared.code == (Exit.CONFIGURATION_FAILED if name == "failed" else Exit.INCONCLUSIVE)
        assert "is equivalent" not in compared.printed


USUAL = [1.0, 1.01, 0.99, 1.005, 0.995, 1.002]
FAILED = [1] * 6


def both(*times: list[float], codes: list[int] | None = None) -> str:
    """Return a hyperfine file: `a` as ever, `b` with these times, if any."""
    later = [timed("b", each, **({"exit_codes": codes} if codes else {})) for each in times]
    return json.dumps({"results": [timed("a", USUAL), *later]})


def of_one(text: str) -> str:
    return json.dumps({"results": [timed("a", [1.0]), timed("b", [float(text)])]})


# What the new result has, by the row of the page: the new file, the baseline, and options.
GATED: dict[str, tuple[str, str, list[str]]] = {
    "the same time, within the margin": (both(USUAL), both(USUAL), []),
    "less time": (both([t * 0.8 for t in USUAL]), both(USUAL), []),
    "a benchmark that the baseline lacks": (both(USUAL), both(), []),
    "a missing benchmark that `--allow-missing` names": (both(), both(USUAL), ["--allow-missing", "b"]),
    "a benchmark that failed in the baseline, too": (both(USUAL, codes=FAILED), both(USUAL, codes=FAILED), []),
    "more time than the margin allows": (both([t * 1.2 for t in USUAL]), both(USUAL), []),
    "a benchmark that failed in most of its runs": (both(USUAL, codes=FAILED), both(USUAL), []),
    "a missing benchmark": (both(), both(USUAL), []),
    "a benchmark that cannot be read": (
        both(USUAL).replace('"b", "times": [1.0', '"b", "times": ["1.0"'), both(USUAL), [],
    ),
    "one of several files that cannot be read": (both(USUAL), both(USUAL), ["bad.json"]),
    "all benchmarks, where a file of the baseline cannot be read": (both(USUAL), both(USUAL), ["bad.json"]),
    "an unreadable file that `--allow-missing` names": (
        both(USUAL), both(USUAL), ["bad.json", "--allow-missing", "bad.json"],
    ),
    "an interval that holds the margin": (both([0.7, 1.6, 0.8, 1.4, 0.9, 1.3]), both(USUAL), []),
    "one run of each benchmark": (of_one("1.5"), of_one("1.0"), []),
    "one and the same value in all runs": (
        json.dumps({"results": [timed("a", [1.0] * 6)]}), json.dumps({"results": [timed("a", [1.0] * 6)]}), [],
    ),
    "no benchmark of the baseline": (json.dumps({"results": [timed("z", USUAL)]}), both(USUAL), []),
    "another unit": ("value,unit\n1,1/s\n2,1/s\n3,1/s\n", "value,unit\n1,s\n2,s\n3,s\n", []),
    "no file that can be read": ("{", both(USUAL), []),
}  # fmt: skip
DISTURBED = "mostly disturbed runs"


def page_rows() -> dict[str, tuple[str, int]]:
    """Return decision and exit code of each row of the page of `gate`."""
    lines = (ROOT / "docs/howto/gate.md").read_text().partition("| What the new result has |")[2].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in takewhile(str.strip, lines)]
    return {row[0]: (row[1], int(row[2])) for row in cells}


def test_the_page_of_gate_has_a_row_for_each_case() -> None:
    assert page_rows().keys() == {*GATED, DISTURBED}


@pytest.mark.parametrize("row", GATED)
def test_gate_decides_as_its_page_says(tmp_path: Path, row: str) -> None:
    new, old, options = GATED[row]
    suffix = "csv" if new.startswith("value") else "json"
    for name, text in (("new", new), ("old", old)):
        (tmp_path / f"{name}.{suffix}").write_text(text)
    (tmp_path / "bad.json").write_text("{")
    sources, more = [f"new.{suffix}", f"old.{suffix}"], options
    if bad := options[:1] == ["bad.json"]:
        at, more = int("baseline" in row), options[1:]
        sources[at] = f"hyperfine:{sources[at]},bad.json"
    asked = ["gate", sources[0], "--against", sources[1], "--junit", "j.xml", "--summary", "s.md", *more]
    decision, code = page_rows()[row]
    said = scalograph(asked, tmp_path)
    assert said.code == code, said
    if decision.startswith("refused"):
        return
    sign = decision.partition(": ")[2] or said.printed.rpartition("gate ")[2]
    assert sign in said.printed and (tmp_path / "s.md").stat().st_size > 0
    whole = ET.parse(tmp_path / "j.xml").getroot().find("testsuite/testcase[@name='gate']")
    assert whole is not None and (whole.find("failure") is None) == (code == 0)
    if code == Exit.CONFIGURATION_FAILED:
        name = "bad.json" if bad else "b"
        (lost,) = ET.parse(tmp_path / "j.xml").getroot().iterfind(f"testsuite/testcase[@name='{name}']/error")
        assert lost.get("message") in ("missing", "failed in 6 of 6 runs", "cannot be read")
    if bad:
        assert "bad.json" in said.printed


def test_mostly_disturbed_runs_decide_nothing(tmp_path: Path) -> None:
    sources = [journal(tmp_path, "a"), journal(tmp_path, "b", 1.2, disturbed=4)]
    assert scalograph(["gate", sources[1], "--against", sources[0]], tmp_path).code == page_rows()[DISTURBED][1]
