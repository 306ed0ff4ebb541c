"""`scalograph compare` from results to its exit code, in this process."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scalograph.cli.analyze_steps import load_findings
from scalograph.cli.comparing import compare_sources
from scalograph.errors import Exit
from scalograph.protocol.noise_floor import SavedNoise, save_noise
from tests.golden.command import Said, scalograph
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded


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


@pytest.mark.parametrize(
    ("other", "code", "word"),
    [
        ({"slower": 1.2}, Exit.SLOWER, "b is slower than a: 20"),
        ({"slower": 0.8}, Exit.DONE, "b is faster"),
        ({}, Exit.DONE, "is equivalent to"),
        ({"slower": 1.2, "disturbed": 4}, Exit.INCONCLUSIVE, "Inconclusive"),
    ],
)
def test_each_answer_has_its_exit_code(tmp_path: Path, other: dict[str, Any], code: Exit, word: str) -> None:
    sources = [journal(tmp_path, "a"), journal(tmp_path, "b", **other)]
    said = scalograph(["compare", *sources], tmp_path)
    assert said.code == code, said.printed
    assert word in " ".join(said.printed.split())
    assert len(said.printed.splitlines()) <= 25
    assert not (tmp_path / "a" / "findings.json").exists()


def test_one_document_for_machines(tmp_path: Path) -> None:
    sources = [journal(tmp_path, "a"), journal(tmp_path, "b", slower=1.2)]
    document = json.loads(scalograph(["compare", *sources, "--json"], tmp_path).printed)
    (found,) = document["results"]
    assert document["answer"] == found["answer"] == "slower" and len(found["configurations"]) == len(CONFIGURATIONS)
    assert found["shift"]["value"] == pytest.approx(1.2)


@pytest.mark.parametrize(
    ("model", "asked", "margin", "warning"),
    [
        (None, [], 0.02, "differ by up to 4% on this machine"),
        ("another", [], 0.02, "keep a noise floor (scalograph doctor --noise)"),
        (None, ["--margin", "1%"], 0.01, "differ by up to 4% on this machine"),
        ("another", ["--margin", "1%"], 0.01, ""),
    ],
    ids=["saved here", "saved on another machine", "asked here", "asked on another machine"],
)
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


def test_laws_of_another_response_are_not_compared(tmp_path: Path) -> None:
    """The law of a study is of its wall times; CPU times have none of their own."""
    sources = [journal(tmp_path, "a"), journal(tmp_path, "b", slower=1.2)]
    (own,) = compare_sources([str(tmp_path / name) for name in sources]).results
    (other,) = compare_sources([str(tmp_path / name) for name in sources], response="cpu").results
    assert not own.laws_left_out and other.laws_left_out and other.laws == []


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


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("break-even", "its runs were compared in pairs, expected results with curves"),
        ("sweep", "no configuration with a run that counts"),
    ],
)
def test_results_without_curves_are_refused_with_the_reason(tmp_path: Path, question: str, reason: str) -> None:
    def change(document: dict[str, Any]) -> None:
        document["curves"], document["study"]["question"] = [], question

    said = compare_with_changed(tmp_path, change)
    assert said.code == Exit.STUDY and reason in " ".join(said.printed.split())
