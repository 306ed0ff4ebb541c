"""Published figures beside measured curves: what another machine's speed does not change."""

from pathlib import Path

from scalograph.protocol.findings import Findings
from scalograph.protocol.published_claim import PublishedCurve
from tests.kit.studies import VALID
from tests.unit.findings.test_findings import of, runs
from tests.unit.findings.test_published import PUBLISHED


def curves(folder: Path, rows: str, text: str = PUBLISHED) -> list[PublishedCurve]:
    (folder / "published.csv").write_text(rows)
    return of(folder, runs(), text).published_curves


def test_speedups_stand_beside_the_measured_curve_and_times_do_not(tmp_path: Path) -> None:
    (one,) = curves(tmp_path, "threads,sync,wall_s,factor\n1,none,40,1.0\n4,none,10,3.9\n")
    assert one.factor == "threads" and one.group == {"lock": "none"}
    assert [(point.level, point.values) for point in one.points] == [(1, {"speedup": 1.0}), (4, {"speedup": 3.9})]
    rows = "os,error,threads,sync,wall_s,factor\nXP,1,1,none,40,1.0\nXP,2,4,none,10,3.9\nOS X,3,4,none,10,3.1\n"
    assert [(one.label, len(one.points)) for one in curves(tmp_path, rows)] == [("XP", 2), ("OS X", 1)]
    assert curves(tmp_path, "threads,sync,wall_s,factor\n8,none,9,4.4\n4,other,9,4.4\n4,none,9,\n") == []


def test_a_file_that_cannot_be_read_draws_nothing_and_one_that_can_survives_the_round_trip(tmp_path: Path) -> None:
    found = of(tmp_path, runs(), PUBLISHED)
    assert found.published_curves == [] and len(found.warnings) == 1
    assert of(tmp_path, runs(), VALID).published_curves == []
    (tmp_path / "published.csv").write_text("threads,sync,wall_s,factor\n4,atomic,40,0.5\n")
    found = of(tmp_path, runs(), PUBLISHED)
    assert Findings.model_validate_json(found.model_dump_json()).published_curves == found.published_curves != []
