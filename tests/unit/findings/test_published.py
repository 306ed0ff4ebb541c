"""Published and measured values and their curves, and what is said of each."""

from pathlib import Path

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.errors import ProtocolError
from scalograph.findings.published.published_quantities import judge_reproduction
from scalograph.protocol.findings import Findings, TableDoc
from scalograph.protocol.published_claim import PublishedCurve
from scalograph.study.check_published import MAX_BYTES
from tests.kit.findings import findings_of, table_named
from tests.kit.studies import VALID
from tests.unit.findings.test_findings import of, runs

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


HEAD = "threads,sync,wall_s,factor"


def table_of(folder: Path, rows: str, more: str = "", head: str = HEAD) -> tuple[Findings, TableDoc]:
    (folder / "published.csv").write_text(f"{head}\n{rows}")
    found = of(folder, runs(), PUBLISHED + more)
    return found, table_named(found, "published")


def test_published_figures_stand_beside_the_measured_ones(tmp_path: Path) -> None:
    rows = "XP,4,none,10,4.0\nXP,4,atomic,40,0.5\nXP,8,none,9,4.4\n"
    found, shown = table_of(tmp_path, rows, head=f"os,{HEAD}")
    assert [c.name for c in shown.columns][:3] == ["os", "threads", "sync"]
    assert [row[-1] for row in shown.rows] == ["yes", "no: published higher", "not measured"]
    assert shown.rows[1][3] == 40.0 and shown.rows[1][4].value == pytest.approx(4.0, rel=1e-3)
    assert found.answer[-1] == "1 of 2 published factors reproduces, 1 higher than here."
    # Where the study is not, the copy beside the journal serves.
    (tmp_path / "published.csv").write_text(f"{HEAD}\n4,none,10,4.0\n")
    found = of(tmp_path, runs(), PUBLISHED.replace("published.csv", "data/published.csv"))
    assert found.warnings == [] and any(t.id == "published" for t in found.tables)


def test_rows_and_baselines_have_what_they_have(tmp_path: Path) -> None:
    found, shown = table_of(tmp_path, "4,none\n4,none,10,4.0,what,else\n4\n\n")
    assert [row[-1] for row in shown.rows] == ["not measured", "yes", "not measured"]
    assert shown.rows[0][2] is None and shown.rows[2][1] is None
    found.model_dump_json()
    _, shown = table_of(tmp_path, f"4,none,10,4.0,{'x' * 9000}\n", head=f"{HEAD},why")
    assert len(shown.note) < 300 and len(shown.rows[0][2]) == 9000
    found, shown = table_of(tmp_path, "1,none,40,1.0\n4,atomic,80,0.5\n1,other,1,1\n")
    assert [row[-1] for row in shown.rows] == ["baseline", "no: published higher", "not measured"]
    assert shown.note == "The lowest published scaling factor, 0.5, is that of threads 4, sync atomic."
    assert found.answer[-1].startswith("None of 1 published factor ")


def test_claims_are_counted_instead_of_factors_and_their_file_stays_in_the_folder(tmp_path: Path) -> None:
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
    assert found.answer[-1] == "The one published claim holds here."
    assert not [text for text in found.answer if "factors" in text]
    assert [table.id for table in found.tables if "published" in table.id] == ["published-claims", "published"]
    with pytest.raises(ProtocolError, match="a file inside the study's folder"):
        of(tmp_path, runs(), PUBLISHED.replace("published.csv", "../published.csv"))


@pytest.mark.parametrize(("text", "why"), [
    (None, "cannot be read: No such file"),
    ("x" * 9000, "no column"),
    ("a,b\n1,2\n", "no column threads, sync"),
    ("\0\xff", "cannot be read"),
    ("threads,sync,wall_s,factor\n" + "\n" * MAX_BYTES, "cannot be read: larger than 16 MiB"),
    ("," * 1000 + "\n1", "cannot be read: more than 1000 columns"),
], ids=["missing", "long", "other columns", "no text", "large", "wide"])  # fmt: skip
def test_published_figures_that_cannot_be_read_are_a_warning(tmp_path: Path, text: str | None, why: str) -> None:
    if text is not None:
        (tmp_path / "published.csv").write_bytes(text.encode("latin-1"))
    found = of(tmp_path, runs(), PUBLISHED)
    (warning,) = found.warnings
    assert warning.startswith("the published values are excluded: ") and why in warning
    assert all(t.id != "published" for t in found.tables)


def test_reproduction_is_by_interval_and_never_without_one() -> None:
    here = Estimate(value=1.0, low=0.98, high=1.02)
    assert [judge_reproduction(x, here) for x in (0.9, 0.95, 1.0, 1.05, 1.2, None)] == [
        "no: published lower", "yes", "yes", "yes", "no: published higher", "not measured",
    ]  # fmt: skip
    assert judge_reproduction(1.0, Estimate(value=1.0)) == "inconclusive"
    assert judge_reproduction(1.0, Estimate(value=1.0, low=0.76, high=1.24)) == "yes"
    assert judge_reproduction(1.0, Estimate(value=1.0, low=0.7, high=1.3)) == "inconclusive"


def test_rows_that_overlap_were_built_otherwise_or_have_a_cause_are_told_apart(tmp_path: Path) -> None:
    rows = "4,none,10,3.5,3.0,4.2\n4,none,10,3.5,3.0,3.6\n4,none,10,4.0,3.9,9\n4,none,10,3.5,,\n"
    _, shown = table_of(tmp_path, rows, 'ranges = { factor = ["low", "high"] }\n', f"{HEAD},low,high")
    assert [row[-1] for row in shown.rows] == ["inconclusive", "no: published lower", "yes", "no: published lower"]
    assert [column.name for column in shown.columns][:3] == ["threads", "sync", "wall time published"]
    published = shown.rows[0][4]
    assert isinstance(published, Estimate) and (published.low, published.value, published.high) == (3.0, 3.5, 4.2)
    more = '[[published.unlike]]\nwhere = { sync = "atomic" }\nwhy = "it spins there"\n'
    found, shown = table_of(tmp_path, "4,atomic,10,4.0\n4,atomic,10,0.25\n4,none,10,4.0\n8,atomic,9,9\n", more)
    assert [row[-1] for row in shown.rows] == ["not comparable", "not comparable", "yes", "not measured"]
    assert shown.note.endswith("Not comparable: it spins there.")
    assert found.answer[-1] == "1 of 1 published factor reproduces; 2 more are not comparable."
    _, shown = table_of(tmp_path, "4,none,10,9.0\n4,none,10,2.0\n", "machine_cpus = 32\n")
    assert [row[-1] for row in shown.rows] == ["no: another number of CPUs"] * 2
    _, here = table_of(tmp_path, "4,none,10,2.0\n", "machine_cpus = 2\n")
    assert [row[-1] for row in here.rows] == ["no: published lower"]


def test_a_factor_that_was_impossible_as_published_is_told_as_such(tmp_path: Path) -> None:
    one = '[factors.cpus]\ncontrol = "cpus"\nlevels = [1]'
    text = PUBLISHED.replace('[factors.lock]\nlevels = ["none", "cas"]', one).replace('sync = "lock"', 'cpus = "cpus"')
    text = text.replace('levels = { sync = { atomic = "cas" } }\n', "")
    (tmp_path / "published.csv").write_text("threads,cpus,wall_s,factor\n1,1,9,1\n4,1,1,9.0\n")
    made = [({"threads": t["threads"], "cpus": 1}, record) for t, record in runs() if t["lock"] == "none"]
    (table,) = [t for t in findings_of(tmp_path, made, text).tables if t.id == "published"]
    assert [row[-1] for row in table.rows] == ["baseline", "no: impossible as published"]


def curves(folder: Path, rows: str, text: str = PUBLISHED) -> list[PublishedCurve]:
    (folder / "published.csv").write_text(rows)
    return of(folder, runs(), text).published_curves


def test_published_curves_are_speedups_and_survive_the_round_trip(tmp_path: Path) -> None:
    # Where there is no file, nothing is drawn.
    found = of(tmp_path, runs(), PUBLISHED)
    assert found.published_curves == [] and len(found.warnings) == 1
    assert of(tmp_path, runs(), VALID).published_curves == []
    (one,) = curves(tmp_path, "threads,sync,wall_s,factor\n1,none,40,1.0\n4,none,10,3.9\n")
    assert one.factor == "threads" and one.group == {"lock": "none"}
    assert [(point.level, point.values) for point in one.points] == [(1, {"speedup": 1.0}), (4, {"speedup": 3.9})]
    rows = "os,error,threads,sync,wall_s,factor\nXP,1,1,none,40,1.0\nXP,2,4,none,10,3.9\nOS X,3,4,none,10,3.1\n"
    assert [(one.label, len(one.points)) for one in curves(tmp_path, rows)] == [("XP", 2), ("OS X", 1)]
    assert curves(tmp_path, "threads,sync,wall_s,factor\n8,none,9,4.4\n4,other,9,4.4\n4,none,9,\n") == []
    (tmp_path / "published.csv").write_text("threads,sync,wall_s,factor\n4,atomic,40,0.5\n")
    found = of(tmp_path, runs(), PUBLISHED)
    assert Findings.model_validate_json(found.model_dump_json()).published_curves == found.published_curves != []
