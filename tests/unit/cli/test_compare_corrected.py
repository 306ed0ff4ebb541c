"""`compare`, `gate` and `history` of results that go by undisturbed time, and of others: never a ratio of the two."""

import json
from pathlib import Path

import pytest

from scalograph.errors import Exit
from scalograph.study.responses import UNDISTURBED
from tests.golden.command import scalograph
from tests.kit.findings import ONE_FACTOR, write_journal
from tests.unit.findings.test_corrected_study import SPEEDUP, run

QUIET, BUSY = (0.0, 0.001, 0.0, 0.002, 0.0, 0.0), (0.5, 0.9, 0.2, 1.5, 0.7, 0.6)
MIXED = (0.5, 0.0, 0.9, 0.0, 0.2, 0.0)
WIDE = ("--margin", "5%")
TAKEN = {"quiet": QUIET, "busy": BUSY, "mixed": MIXED}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Results of each kind, and of two of them the findings alone."""
    for name, shares in TAKEN.items():
        each = [(n, s * (1 + i % 3 / 500), share * s) for i, share in enumerate(shares) for n, s in SPEEDUP.items()]
        runs = [({"threads": n}, run(work_s, taken_s)) for n, work_s, taken_s in each]
        design = {"configurations": [{"threads": n} for n in SPEEDUP], "runs": [len(shares)] * 3}
        (tmp_path / name).mkdir()
        write_journal(tmp_path / name / "journal.jsonl", runs, ONE_FACTOR, design=design)
        assert scalograph(["analyze", name], tmp_path).code == Exit.DONE
        (tmp_path / f"{name}.json").write_bytes((tmp_path / name / "findings.json").read_bytes())
    return tmp_path


@pytest.mark.parametrize(("asked", "code", "words"), [
    (["quiet", "busy", *WIDE], Exit.DONE, "undisturbed time differs by at most"),
    (["quiet", "busy.json", *WIDE], Exit.DONE, "undisturbed time differs by at most"),
    (["quiet", "busy", "--response", UNDISTURBED, *WIDE], Exit.DONE, "undisturbed time differs by at most"),
    # Beside others a program takes longer, and the others differ between two times.
    (["quiet", "busy"], Exit.INCONCLUSIVE, "compare both in pairs (scalograph ab)"),
    # Of findings alone no undisturbed time can be read, and others are in the wall time of the other result.
    (["quiet.json", "busy"], Exit.INCONCLUSIVE, "busy: 18 of 18 runs were disturbed"),
    (["quiet.json", "busy.json"], Exit.INCONCLUSIVE, "busy.json: 18 of 18 runs were disturbed"),
    (["quiet", "busy", "--response", "wall"], Exit.INCONCLUSIVE, "busy: 18 of 18 runs were disturbed"),
    (["busy", "quiet", "--response", "wall"], Exit.INCONCLUSIVE, "busy: 18 of 18 runs were disturbed"),
    (["quiet", "mixed", "--response", "wall"], Exit.DONE, "mixed is equivalent to quiet: time differs"),
    (["quiet", "busy", "--response", "cpu", *WIDE], Exit.DONE, "CPU time differs by at most"),
])  # fmt: skip
def test_a_ratio_is_of_one_kind_of_time(results: Path, asked: list[str], code: Exit, words: str) -> None:
    said = scalograph(["compare", *asked], results)
    assert (said.code, words in " ".join(said.printed.split())) == (code, True), said.printed


def test_a_series_is_of_one_kind_of_time_too(results: Path) -> None:
    every = results / "every"
    every.mkdir()
    for name in TAKEN:
        (results / name).rename(every / name)
    said = " ".join(scalograph(["history", "every"], results).printed.split())
    assert "3 results" in said and "undisturbed time (lower is better)" in said
    levels = json.loads(scalograph(["history", "every", "--json"], results).printed)["results"]
    assert [result["level"]["value"] for result in levels] == pytest.approx([1.0, 1.0, 1.0], abs=1e-6)
    (every / "quiet" / "journal.jsonl").unlink()
    said = " ".join(scalograph(["history", "every"], results).printed.split())
    assert "2 results, 1 excluded" in said and "wall time (lower is better)" in said
