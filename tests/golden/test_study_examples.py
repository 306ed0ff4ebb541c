"""The examples that are kept: their journals still read, and their reports are what they show."""

import json
import os
import shutil
from pathlib import Path

import pytest

from scalograph.protocol import saved_documents
from scalograph.protocol.findings import Findings
from scalograph.protocol.journal import read
from scalograph.questions.registry import has_curves, is_search
from scalograph.text.reproduced import headline
from tests.golden.command import scalograph
from tests.golden.conftest import Told
from tests.golden.kept import MADE, kept_journals
from tests.kit import ROOT

pytestmark = kept_journals
STUDIES = ROOT / "studies"
EXAMPLES = sorted(STUDIES.glob("*/example/journal.jsonl.gz"))


@pytest.mark.parametrize("journal", EXAMPLES, ids=lambda path: path.parents[1].name)
def test_a_kept_journal_reads_and_its_report_is_of_it(journal: Path, told: Told) -> None:
    kept = {file.name for file in journal.parent.iterdir()} - {*MADE}
    assert kept <= {"journal.jsonl.gz", "published.csv", "study.toml", "profile.json"}
    folder = told(journal.parent, journal.parents[1].name).folder
    found = Findings.model_validate_json((folder / "findings.json").read_text())
    page = (folder / "report.html").read_text()
    assert (folder / "report.html").stat().st_size < 3 << 20
    begun, *others = read(journal)
    made = [event for event in others if event["event"] == "run" and not event["warmup"]]
    assert found.runs.n_done + found.runs.n_repeated == len(made) > 0
    assert all(point.responses for curve in found.curves for point in curve.points)
    assert found.study.hash in page
    assert found.trust.sentence.split(":")[0] in page
    if not has_curves(found.study.question):
        assert not found.curves
        return
    levels = {point.level for curve in found.curves for point in curve.points}
    planned = {configuration[found.curves[0].factor] for configuration in begun["design"]["configurations"]}
    assert levels < planned if is_search(found.study.question) else levels == planned


@pytest.mark.parametrize("kept", [*STUDIES.glob("reproduced/reproduction.json")])
def test_the_kept_page_of_published_studies_is_of_its_document(kept: Path) -> None:
    made, page = saved_documents.read_reproduction(kept.parent), kept.with_name(saved_documents.PAGE).read_text()
    assert len(page) < 3 << 20 and headline(made) in page
    assert all(f'id="claim-{claim.id}"' in page for study in made.studies for claim in study.claims)
    assert "/report.html" not in page and not [part for part in made.parts if part.state in ("begun", "not run")]


def test_there_is_an_example_of_each_study_that_stands_for_a_published_one() -> None:
    names = {path.parents[1].name for path in EXAMPLES}
    assert {"break-even", "cpu-surface", "parallel-build", "thread-scaling"} <= names


def test_a_site_of_all_kept_examples_has_a_series_of_each(told: Told, tmp_path: Path) -> None:
    for journal in EXAMPLES:
        name = journal.parents[1].name
        shutil.copytree(told(journal.parent, name).folder, tmp_path / "kept" / name, copy_function=os.link)
    done = scalograph(["site", "kept", "--to", "public", "--json"], tmp_path)
    document = json.loads(done.printed)
    levels = {series["study"]: series for series in document["series"] if series["is_level"]}
    assert done.code == 0 and document["lost"] == [] and document["n_results"] == len(EXAMPLES)
    assert document["pages"] == 1 + len(levels) == len([*(tmp_path / "public").glob("*.html")])
    figures = {levels[name]["figure"] for name in ("break-even", "descriptor-cliff", "order-to-build-limit")}
    assert figures == {"break-even size", "descriptors at the cliff", "rate at the limit"}
    assert all(levels[name]["points"][0]["value"] for name in ("break-even", "descriptor-cliff", "thread-scaling"))
    reports = [*(tmp_path / "public" / "results").rglob("report.html")]
    assert len(reports) == len(EXAMPLES) and levels["kernels"]["points"][0]["excluded"].startswith('"cpus" is neither')
