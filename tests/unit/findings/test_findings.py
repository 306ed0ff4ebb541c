from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from scalograph.analysis.estimate import Estimate
from scalograph.errors import StudyError
from scalograph.findings import table
from scalograph.findings.published import reproduces
from scalograph.protocol.findings import Findings
from scalograph.questions.assemble import findings

from ..flags import texts
from ..records import recorded
from ..study.example import VALID
from .made import ONE_FACTOR, loaded
from .test_table import TREATMENTS, write

# Seconds by (threads, lock): `none` scales, `cas` collapses.
TRUTH = {(1, "none"): 1.0, (2, "none"): 0.5, (4, "none"): 0.25, (1, "cas"): 1.0, (2, "cas"): 2.0, (4, "cas"): 4.0}
JITTER = (0.99, 1.0, 1.01)


def runs(**changes: Any) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [
        (t, recorded(j * TRUTH[t["threads"], t["lock"]], cpus=(0, 1, 2, 3), **changes))
        for j in JITTER
        for t in TREATMENTS
    ]


def of(tmp_path: Path, made: list[tuple[dict[str, Any], dict[str, Any]]], text: str = VALID) -> Findings:
    return findings(table.load(write(tmp_path / "journal.jsonl", made, text)), tmp_path)


def point(found: Findings, lock: str, threads: int) -> Any:
    (curve,) = [c for c in found.curves if c.group == {"lock": lock}]
    (chosen,) = [p for p in curve.points if p.level == threads]
    return chosen


def test_speedups_are_the_declared_truth(tmp_path: Path) -> None:
    found = of(tmp_path, runs())
    assert point(found, "none", 4).speedup.value == pytest.approx(4.0)
    assert point(found, "cas", 4).speedup.value == pytest.approx(0.25)
    assert point(found, "none", 4).efficiency.value == pytest.approx(1.0)
    assert point(found, "none", 1).speedup.value == 1.0
    assert found.trust.level == "believe"


def test_the_answer_says_what_scales_and_what_collapses(tmp_path: Path) -> None:
    first, *_ = of(tmp_path, runs()).answer
    assert "4 threads are 4" in first and "unless lock cas" in first and "only make it slower" in first


def test_contaminated_runs_leave_by_cause_and_stay_in_sight(tmp_path: Path) -> None:
    made = runs()
    slow = (TREATMENTS[0], recorded(9.0, neighbor_s=4.0))
    shown = point(of(tmp_path, [*made, slow]), "none", 1)
    assert shown.responses["wall"].estimate.value == pytest.approx(1.0, rel=0.01)
    assert shown.responses["wall"].verdicts.count("contaminated") == 1
    assert 9.0 in shown.responses["wall"].scores
    assert texts(shown.flags) == ["1 of 4 runs disturbed, left out"]


def test_where_too_few_clean_runs_remain_all_count_under_a_flag(tmp_path: Path) -> None:
    found = of(tmp_path, runs(neighbor_s=1.0))
    assert found.trust.level == "reject"
    assert "18 of 18 runs were disturbed" in found.trust.sentence
    shown = point(found, "none", 1)
    assert shown.responses["wall"].estimate.n == 3
    assert texts(shown.flags) == ["rests on disturbed runs: 3 of 3"]


def test_failed_runs_are_counted_and_a_treatment_without_success_is_empty(tmp_path: Path) -> None:
    made = [(t, recorded(status="failed", reason="exit code 3") if t == TREATMENTS[0] else r) for t, r in runs()]
    found = of(tmp_path, made)
    assert (found.runs.n_failed, found.runs.n_empty, found.runs.failures) == (3, 1, {"exit code 3": 3})
    assert found.trust.level == "doubt"
    assert point(found, "none", 2).speedup.value is None
    assert any("need runs of the baseline" in w for w in point(found, "none", 2).speedup.warnings)


def test_no_run_at_all_is_an_answer(tmp_path: Path) -> None:
    found = of(tmp_path, [])
    assert found.trust.level == "reject"
    assert found.runs.n_short == 6
    assert found.answer == ["Cannot be said: no run was made."]


def test_undecided_runs_make_one_careful(tmp_path: Path) -> None:
    assert of(tmp_path, runs(neighbor_s=None)).trust.level == "doubt"


def test_work_is_compared_as_numbers(tmp_path: Path) -> None:
    made = [({**TREATMENTS[0]}, recorded(1.0, iterations=[(1.0, 1.0, work)])) for work in (9, 100, 20)]
    found = of(tmp_path, [*made, (TREATMENTS[0], recorded(1.0))])
    assert texts(point(found, "none", 1).flags) == [
        "the work differs between runs: 9 .. 100", "1 of 4 runs did not count their work",
    ]  # fmt: skip


def test_the_detectable_effect_grows_with_the_confidence(tmp_path: Path) -> None:
    sure = of(tmp_path, runs(), VALID.replace("runs = 3", 'runs = 3\nconfidence = "99%"')).noise
    usual = of(tmp_path, runs()).noise
    assert sure and usual and sure.sd_log_percent == usual.sd_log_percent
    assert sure.minimum_detectable_percent > 1.3 * usual.minimum_detectable_percent


def test_work_that_differs_is_residue(tmp_path: Path) -> None:
    made = [(t, recorded(1.0, iterations=[(1.0, 1.0, 100 * t["threads"])])) for _ in JITTER for t in TREATMENTS]
    assert of(tmp_path, made).residue == [
        "work: 100 to 400 units counted, though the study declares it the same in all treatments"
    ]


def test_two_instruments_are_residue(tmp_path: Path) -> None:
    made = runs()
    made[0] = (made[0][0], recorded(1.0, kind="degraded"))
    (text,) = of(tmp_path, made).residue
    assert text.startswith("probe: degraded 0.1.0, native 0.1.0 in one study")


PUBLISHED = (
    VALID
    + """
[published]
file = "published.csv"
match = { threads = "threads", sync = "lock" }
levels = { sync = { atomic = "cas" } }
values = { wall_s = "wall", factor = "speedup" }
"""
)


def test_published_figures_stand_beside_the_measured_ones(tmp_path: Path) -> None:
    rows = "os,threads,sync,wall_s,factor\nXP,4,none,10,4.0\nXP,4,atomic,40,0.5\nXP,8,none,9,4.4\n"
    (tmp_path / "published.csv").write_text(rows)
    found = of(tmp_path, runs(), PUBLISHED)
    (shown,) = [t for t in found.tables if t.id == "published"]
    assert [c.name for c in shown.columns][:3] == ["os", "threads", "sync"]
    assert [row[-1] for row in shown.rows] == ["yes", "no: published higher", "not measured"]
    assert shown.rows[1][3] == 40.0 and shown.rows[1][4].value == pytest.approx(4.0, rel=1e-3)
    assert found.answer[-1] == "1 of 2 published factors reproduce, 1 higher."


def test_claims_are_counted_instead_of_factors(tmp_path: Path) -> None:
    (tmp_path / "published.csv").write_text("threads,sync,wall_s,factor\n4,none,10,4.0\n")
    claim = """
[[published.claims]]
id = "A-1"
sentence = "Four threads are four times as fast."
kind = "ratio"
where = { lock = "none" }
of = { threads = 1 }
over = { threads = 4 }
published = 4.0
holds = [3, 5]
"""
    found = of(tmp_path, runs(), PUBLISHED + claim)
    assert [one.decision for one in found.published_claims] == ["holds"]
    assert found.answer[-1] == "1 of 1 published claim holds here."
    assert not [text for text in found.answer if "factors" in text]
    assert [table.id for table in found.tables if "published" in table.id] == ["published-claims", "published"]


def test_a_published_file_stays_in_the_folder(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="a file inside the study's folder"):
        of(tmp_path, runs(), PUBLISHED.replace("published.csv", "../published.csv"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "cannot be read: No such file"),
        ("x" * 9000, "no column"),
        ("a,b\n1,2\n", "no column threads, sync"),
        ("\0\xff", "cannot be read"),
    ],
    ids=["missing", "long", "other columns", "no text"],
)
def test_published_figures_that_cannot_be_read_are_a_warning(tmp_path: Path, text: str | None, why: str) -> None:
    if text is not None:
        (tmp_path / "published.csv").write_bytes(text.encode("latin-1"))
    found = of(tmp_path, runs(), PUBLISHED)
    (warning,) = found.warnings
    assert warning.startswith("the published figures are left out: ") and why in warning
    assert all(t.id != "published" for t in found.tables)


def test_the_copy_beside_the_journal_serves_where_the_study_is_not(tmp_path: Path) -> None:
    (tmp_path / "published.csv").write_text("threads,sync,wall_s,factor\n4,none,10,4.0\n")
    found = of(tmp_path, runs(), PUBLISHED.replace("published.csv", "data/published.csv"))
    assert found.warnings == [] and any(t.id == "published" for t in found.tables)


def test_short_and_long_rows_have_what_they_have(tmp_path: Path) -> None:
    (tmp_path / "published.csv").write_text("threads,sync,wall_s,factor\n4,none\n4,none,10,4.0,what,else\n4\n\n")
    found = of(tmp_path, runs(), PUBLISHED)
    (shown,) = [t for t in found.tables if t.id == "published"]
    assert [row[-1] for row in shown.rows] == ["not measured", "yes", "not measured"]
    assert shown.rows[0][2] is None and shown.rows[2][1] is None
    found.model_dump_json()


def test_long_cells_are_cut_in_sentences_only(tmp_path: Path) -> None:
    (tmp_path / "published.csv").write_text(f"threads,sync,wall_s,factor,why\n4,none,10,4.0,{'x' * 9000}\n")
    (shown,) = [t for t in of(tmp_path, runs(), PUBLISHED).tables if t.id == "published"]
    assert len(shown.note) < 300 and len(shown.rows[0][2]) == 9000


def test_published_baselines_say_nothing_and_the_lowest_factor_says_where(tmp_path: Path) -> None:
    (tmp_path / "published.csv").write_text("threads,sync,wall_s,factor\n1,none,40,1.0\n4,atomic,80,0.5\n1,other,1,1\n")
    found = of(tmp_path, runs(), PUBLISHED)
    (shown,) = [t for t in found.tables if t.id == "published"]
    assert [row[-1] for row in shown.rows] == ["baseline", "no: published higher", "not measured"]
    assert shown.note == "The lowest published scaling factor, 0.5, is that of threads 4, sync atomic."
    assert found.answer[-1].startswith("0 of 1 published factors")


def test_reproduction_is_by_interval_and_never_without_one() -> None:
    here = Estimate(value=1.0, low=0.98, high=1.02)
    assert [reproduces(x, here) for x in (0.9, 0.95, 1.0, 1.05, 1.2, None)] == [
        "no: published lower", "yes", "yes", "yes", "no: published higher", "not measured",
    ]  # fmt: skip
    assert reproduces(1.0, Estimate(value=1.0)) == "not resolved"
    assert reproduces(1.0, Estimate(value=1.0, low=0.76, high=1.24)) == "yes"
    assert reproduces(1.0, Estimate(value=1.0, low=0.7, high=1.3)) == "not resolved"


def test_baselines_are_compared_across_cpu_counts(tmp_path: Path) -> None:
    text = VALID.replace(
        '[factors.lock]\nlevels = ["none", "cas"]', '[factors.cpus]\ncontrol = "cpus"\nlevels = [1, 2]'
    )
    grid = [{"threads": n, "cpus": m} for n in (1, 2, 4) for m in (1, 2)]
    made = [
        (t, recorded(j * (1.5 if t["cpus"] == 2 else 1.0), cpus=tuple(range(t["cpus"])))) for j in JITTER for t in grid
    ]
    file = write(tmp_path / "journal.jsonl", made, text, design={"treatments": grid, "runs": [3] * 6})
    (shown,) = [t for t in findings(table.load(file)).tables if t.id == "baseline-across-cpus"]
    assert shown.rows[0][:2] == [2, 1]
    assert shown.rows[0][2].value == pytest.approx(1.5)
    assert shown.rows[0][3] == "slower on more CPUs"


def test_repeated_runs_are_counted_apart(tmp_path: Path) -> None:
    read = loaded(tmp_path, [({"threads": 1}, recorded(1.0)) for _ in range(4)], ONE_FACTOR)
    read.n_asked[:] = [3]
    read.rows[:] = [structs.replace(row, replicate=index) for index, row in enumerate(read.rows)]
    runs = findings(read).runs
    assert (runs.n_asked, runs.n_done, runs.n_repeated) == (3, 3, 1)
