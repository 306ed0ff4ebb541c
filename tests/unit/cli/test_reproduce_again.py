"""Which of two results of a part stays, and what a start finds where the exchange was cut short."""

from pathlib import Path

import pytest

from scalograph.cli.reproduce import reproduce_plan
from scalograph.cli.reproduce.reproduce_plan import disturbed_share, run_again, settle


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A part half of whose runs were disturbed; `share` stands for the findings."""
    monkeypatch.setattr(reproduce_plan, "disturbed_share", lambda folder: float((folder / "share").read_text()))
    monkeypatch.setattr(reproduce_plan.analyze_steps, "analyze", lambda folder: None)
    made(tmp_path / "part", "0.5")
    return tmp_path


def made(folder: Path, share: str) -> None:
    folder.mkdir()
    (folder / "share").write_text(share)


@pytest.mark.parametrize(("share", "stays"), [("0.4", True), ("0.5", False), ("0.9", False)])
def test_the_quieter_result_stays(parts: Path, share: str, stays: bool) -> None:
    said = run_again(parts / "part", lambda new: made(new, share), lambda new: True)
    assert said.startswith(f"the {'new' if stays else 'earlier'} result stays")
    assert (parts / "part" / "share").read_text() == (share if stays else "0.5")
    assert [folder.name for folder in parts.iterdir()] == ["part"]


def test_a_few_quiet_runs_do_not_replace_a_whole_result(parts: Path) -> None:
    said = run_again(parts / "part", lambda new: made(new, "0.0"), lambda new: False)
    assert said.startswith("the earlier result stays")
    assert (parts / "part" / "share").read_text() == "0.5"
    assert (parts / "part.again").is_dir()  # --resume --again goes on there


@pytest.mark.guarantee
def test_one_result_is_whole_after_a_kill_at_any_moment(parts: Path) -> None:
    (parts / "part").rename(parts / "part.old")
    settle(parts / "part")
    assert (parts / "part" / "share").read_text() == "0.5"
    made(parts / "part.old", "0.9")
    settle(parts / "part")
    assert (parts / "part" / "share").read_text() == "0.5" and not (parts / "part.old").exists()


def test_results_that_cannot_be_read_are_worst(tmp_path: Path) -> None:
    assert disturbed_share(tmp_path) == 1.0
