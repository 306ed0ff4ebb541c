"""Points for models, and pages for people: what runs that count become in other tools' forms."""

import json
from pathlib import Path

import pytest

from scalograph.cli.analyze_steps import load_findings
from scalograph.cli.main import _code
from scalograph.errors import StudyError
from scalograph.exchange.export import extra_p, law_points
from scalograph.exchange.markdown import asciidoc, literal, markdown, matrix_parts, plain, summary
from scalograph.findings import table
from scalograph.report.screen import screen
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded


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
    with pytest.raises(StudyError, match="no factor with numbers"):
        extra_p(loaded)


def test_points_are_what_fit_reads(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    points = law_points(load_findings(results))
    assert list(points) == ["n", "throughput", "lock"]
    assert points["n"][0] == 1 and points["throughput"][0] == pytest.approx(0.5)
    assert _code(["export", str(results), "--as", "points", "--to", str(results / "points.csv")]) == 0
    assert _code(["fit", str(results / "points.csv")]) == 0
    assert "Throughput still grows at 4" in capsys.readouterr().out


def test_pages_hold_the_same_escaped(results: Path) -> None:
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


def test_a_matrix_is_written_alike_in_a_page_and_in_a_summary(results: Path) -> None:
    found = load_findings(results)
    assert found.claim and found.claim.matrix
    row = found.claim.matrix.rows[0]
    cells = [row.cells[0].model_copy(update={"doubt": "rests on disturbed runs"}), *row.cells[1:]]
    matrix = found.claim.matrix.model_copy(update={"rows": [row.model_copy(update={"cells": cells})]})
    marked = found.model_copy(update={"claim": found.claim.model_copy(update={"matrix": matrix})})
    parts = matrix_parts(matrix)
    for text in (markdown(marked), summary(screen(marked))):
        assert "\n\n".join(parts) in text and " ! |" in parts[1] and "rests on disturbed runs" in parts[2]
