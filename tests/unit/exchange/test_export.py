"""What runs become in other tools' forms: tables, points for models, and pages for people."""

import json
from pathlib import Path

import polars as pl
import pytest

from scalograph.cli.analyze_steps import load_findings
from scalograph.cli.main import _code
from scalograph.errors import HostError, StudyError
from scalograph.exchange.benchmark_values import scores
from scalograph.exchange.export import Columns, csv_text, extra_p, law_points, observations, polars_frame, write
from scalograph.exchange.markdown import asciidoc, literal, markdown, matrix_parts, plain, summary
from scalograph.findings import table
from scalograph.findings.sample import samples_by_configuration
from scalograph.report.screen import screen
from tests.kit.findings import CONFIGURATIONS, load_journal, table_of, write_journal
from tests.kit.records import recorded
from tests.kit.refusals import refuses
from tests.kit.studies import VALID
from tests.unit.exchange.instruments import read

TWICE = VALID.replace("runs = 3", "runs = 3\niterations = 2")


@pytest.fixture
def columns(tmp_path: Path) -> Columns:
    """A run of two iterations, and one that failed."""
    done = recorded(2.0, iterations=[(0.0, 1.0, 7), (2.0, 1.5, 7)])
    failed = recorded(status="failed", reason="x")
    return observations(load_journal(tmp_path, list(zip(CONFIGURATIONS[:2], (done, failed), strict=True)), TWICE))


def test_one_row_for_each_observation_with_all_factors(columns: Columns) -> None:
    frame = polars_frame(columns)
    names = "run block replicate warmup status verdict boot threads lock response iteration value unit"
    assert frame.columns == names.split()
    wall = frame.filter(pl.col("response") == "wall").select("value", "iteration", "unit")
    assert wall.rows() == [(0.0, 0, "s"), (2.0, 1, "s")]  # a zero was measured
    (failed,) = frame.filter(pl.col("status") == "failed").select("value", "lock", "verdict").rows()
    assert failed == (None, "cas", "failed")
    assert ",'=cmd()," in csv_text({**columns, "lock": ["=cmd()"] * len(columns["run"])})


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_both_forms_hold_the_same(tmp_path: Path, columns: Columns, ending: str) -> None:
    file = tmp_path / f"out{ending}"
    write(columns, file)
    again = pl.read_csv(file) if ending == ".csv" else pl.read_parquet(file)
    assert again.columns == list(columns) and again["value"].to_list() == columns["value"]
    assert again["warmup"].to_list() == columns["warmup"]


def test_factors_keep_their_names_and_numbers(tmp_path: Path) -> None:
    text = VALID.replace("[factors.lock]", "[factors.run]").replace("lock", "run")
    columns = observations(table_of(tmp_path, [({"threads": 1, "run": "none"}, recorded())], text))
    assert columns["factor.run"] == ["none", "none"] and columns["run"] == ["r0", "r0"]
    text = TWICE.replace('levels = ["none", "cas"]', "levels = [0.5, 2]")
    record = recorded(2.0, iterations=[(1.0, 1.0, 7)] * 2)
    locks = observations(table_of(tmp_path, [({"threads": 1, "lock": k}, record) for k in (0.5, 2)], text))["lock"]
    assert [type(level) for level in locks] == [float] * len(locks) and set(locks) == {0.5, 2.0}


def test_a_disk_that_is_read_only_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    for name in ("replace", "unlink"):
        monkeypatch.setattr(Path, name, refuse)
    refuses(HostError, r"out\.csv: cannot be written: .*Read-only file system", write, {"a": [1]}, tmp_path / "out.csv")


def test_what_is_written_is_read_again_as_the_study_tells_it(tmp_path: Path) -> None:
    """Peak memory is no time, one run in four was disturbed, and a level begins as a formula would."""
    text = VALID.replace('levels = ["none", "cas"]', 'levels = ["+XX", "cas"]').replace("lock", "run")
    text += '\n[responses.wall]\nfrom = "window.wall"\nunit = "s"\n'
    text += '\n[responses.kept]\nfrom = "value.kept"\nunit = "bytes"\nbetter = "none"\n'
    configurations = [{"threads": n, "run": lock} for n in (1, 2) for lock in ("+XX", "cas")]
    runs = [
        (configuration, recorded(2.0 + i / 10, neighbor_s=1.5 if i == 3 else 0.0, values={"kept": [1000 + i]}))
        for i in range(4)
        for configuration in configurations
    ]
    loaded = table_of(tmp_path, runs, text)
    write(observations(loaded), tmp_path / "out.csv")
    imported = read("csv", tmp_path / "out.csv")
    walls = [one for one in imported if one.name == "wall"]
    assert [dict(one.params) for one in walls] == [{k: str(x) for k, x in t.items()} for t in configurations]
    samples = samples_by_configuration(loaded).values()
    assert [scores(one) for one in walls] == [sample.scores("wall") for sample in samples]
    assert imported[0].notes == ("1 of 4 runs disturbed, excluded", "neither times nor rates, excluded: kept (bytes)")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    runs = [(t, recorded(2.0 / int(t["threads"]) + r / 100)) for r in range(3) for t in CONFIGURATIONS]
    return write_journal(tmp_path / "journal.jsonl", runs).parent


def test_numbers_are_parameters_of_extra_p_and_texts_its_call_path(results: Path) -> None:
    lines = [json.loads(line) for line in extra_p(table.load(results / "journal.jsonl")).splitlines()]
    assert {line["callpath"] for line in lines} == {f"lock={t['lock']}" for t in CONFIGURATIONS}
    assert {line["metric"] for line in lines} == {"wall", "cpu"} and set(lines[0]["params"]) == {"threads"}
    assert lines[0]["value"] == pytest.approx(2.0)
    loaded = table.load(results / "journal.jsonl")
    loaded.configurations = [{"threads": "one", "lock": "cas"}, {"threads": True, "lock": "cas"}]
    refuses(StudyError, "no factor with numbers", extra_p, loaded)


def test_points_are_what_fit_reads(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    points = law_points(load_findings(results))
    assert list(points) == ["n", "throughput", "lock"]
    assert points["n"][0] == 1 and points["throughput"][0] == pytest.approx(0.5)
    assert _code(["export", str(results), "--as", "points", "--to", str(results / "points.csv")]) == 0
    assert _code(["fit", str(results / "points.csv")]) == 0
    assert "Throughput still grows at n = 4, the largest size measured." in capsys.readouterr().out


def test_pages_hold_the_same_escaped_and_a_matrix_is_written_alike_in_a_summary(results: Path) -> None:
    found = load_findings(results)
    text = markdown(found)
    assert found.claim and plain(found.claim.sentences[0]) in text and plain(found.trust.sentence) in text
    assert text.count("\n## ") == len(found.tables) and "| --: |" in text
    assert plain("<b>[x](y) | `z`") == r"\<b\>\[x\](y) \| \`z\`"
    found = load_findings(results)
    text = asciidoc(found)
    assert found.claim and literal(found.claim.sentences[0]) in text and text.startswith("= ")
    assert text.count("\n== ") == len(found.tables) and text.count("|===") == 2 * (len(found.tables) + 1)
    assert _code(["export", str(results), "--to", str(results / "x.adoc")]) == 0
    assert (results / "x.adoc").read_text() == text
    found = load_findings(results)
    assert found.claim and found.claim.matrix
    row = found.claim.matrix.rows[0]
    cells = [row.cells[0].model_copy(update={"doubt": "includes disturbed runs"}), *row.cells[1:]]
    matrix = found.claim.matrix.model_copy(update={"rows": [row.model_copy(update={"cells": cells})]})
    marked = found.model_copy(update={"claim": found.claim.model_copy(update={"matrix": matrix})})
    parts = matrix_parts(matrix)
    for text in (markdown(marked), summary(screen(marked))):
        assert "\n\n".join(parts) in text and " ! |" in parts[1] and "includes disturbed runs" in parts[2]
