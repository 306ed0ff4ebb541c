"""The examples that are kept: their journals still read, and their reports are what they show."""

from pathlib import Path

import pytest

from scalograph.protocol import saved_documents
from scalograph.protocol.findings import Findings
from scalograph.protocol.journal import read
from scalograph.questions.break_even.document import BreakEven
from scalograph.questions.cliff.document import Cliffs
from scalograph.questions.registry import has_curves, is_search
from scalograph.questions.surface.document import Surfaces
from scalograph.text.reproduced import headline
from tests.golden.conftest import Told
from tests.golden.kept import MADE, kept_findings, kept_journals
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


# What is said of a journal that stays what it is holds of its golden findings, which its analysis still makes.


def golden(name: str) -> Findings:
    return Findings.model_validate(kept_findings(name))


def test_a_journal_of_a_cliff_knows_its_place() -> None:
    found = golden("descriptor-cliff")
    cliffs = found.document("cliff", Cliffs)
    # Of 3 of its 32 runs nothing could tell: a search rests on all of them together.
    assert (found.runs.verdicts["unverified"], found.trust.level) == (3, "reliable")
    assert cliffs is not None and cliffs.decided
    assert [(cliff.low, cliff.high) for cliff in cliffs.cliffs] == [(58, 59)]


def test_a_journal_of_break_even_has_its_line_and_judges_what_was_published() -> None:
    found = golden("break-even")
    even = found.document("break-even", BreakEven)
    assert even is not None and even.n == 37 and even.shares["undecided"] < 0.02 and even.formula is not None
    dear = next(one for one in even.maps if one.group == {"q": 58})
    kinds = {line.level: line.kind for line in dear.lines}
    assert kinds.pop(1) == "undecided" and set(kinds.values()) == {"from"}
    places = [line.location or 0 for line in dear.lines[1:]]
    assert places == sorted(places) and 4000 < places[0] < 8000
    (published,) = (doc for doc in found.tables if doc.id == "published")
    answers = [str(row[-1]) for row in published.rows if row[0] == "stream"]
    assert len(answers) == 8 and answers.count("undecided") <= 1
    assert found.traces


def test_a_journal_of_a_surface_is_whole() -> None:
    part = golden("cpu-surface").document("surface", Surfaces)
    assert part is not None
    (found,) = part.surfaces
    assert found.x_levels == list(range(1, 25)) and len(found.y_levels) > 1
    assert all(cell and cell.estimate.value for row in found.cells for cell in row)
    assert all(slope.value for slope in found.slopes)
