"""The examples that are kept: their journals still read, and their reports are what they show."""

import shutil
from pathlib import Path

import pytest

from scalograph.cli.last_stops import report as make_report
from scalograph.findings import table
from scalograph.protocol import reproduction_file
from scalograph.protocol.journal import read
from scalograph.questions.assemble import findings
from scalograph.questions.break_even.document import BreakEven
from scalograph.questions.cliff.document import Cliffs
from scalograph.questions.registry import is_search
from scalograph.questions.surface.document import Surfaces
from scalograph.text.reproduction_words import headline

STUDIES = Path(__file__).parents[2] / "studies"
EXAMPLES = sorted(STUDIES.glob("*/example/journal.jsonl.gz"))
# Journals that stay what they are: what is said of one holds of it alone.
JOURNALS = Path(__file__).parents[1] / "golden" / "journals"
# A page and findings are made by a command, and git ignores them.
MADE = {"report.html", "findings.json"}


@pytest.mark.parametrize("journal", EXAMPLES, ids=lambda path: path.parents[1].name)
def test_a_kept_journal_reads_and_its_report_is_of_it(journal: Path, tmp_path: Path) -> None:
    kept = {file.name for file in journal.parent.iterdir()} - MADE
    assert kept <= {"journal.jsonl.gz", "published.csv", "study.toml", "profile.json"}
    shutil.copytree(journal.parent, tmp_path / "example", ignore=shutil.ignore_patterns(*MADE))
    found, report = make_report(tmp_path / "example")
    assert report.stat().st_size < 3 << 20
    made = [event for event in read(journal) if event["event"] == "run" and not event["warmup"]]
    assert found.runs.n_done + found.runs.n_repeated == len(made) > 0
    assert all(point.responses for curve in found.curves for point in curve.points)
    page = report.read_text()
    assert found.study.hash in page
    assert found.trust.sentence.split(":")[0] in page
    if found.study.question == "break-even":  # pairs have no curve
        return
    levels = {point.level for curve in found.curves for point in curve.points}
    planned = {treatment[found.curves[0].factor] for treatment in table.load(journal).treatments}
    assert levels < planned if is_search(found.study.question) else levels == planned


@pytest.mark.parametrize(
    "kept", sorted(STUDIES.glob("reproduced/reproduction.json")), ids=lambda path: path.parent.name
)
def test_the_kept_page_of_published_studies_is_of_its_document(kept: Path) -> None:
    made, page = reproduction_file.read(kept.parent), kept.with_name(reproduction_file.PAGE).read_text()
    assert len(page) < 3 << 20 and headline(made) in page
    assert all(f'id="claim-{claim.id}"' in page for study in made.studies for claim in study.claims)
    assert "/report.html" not in page and not [part for part in made.parts if part.state in ("begun", "not run")]


def test_there_is_an_example_of_each_study_that_stands_for_a_published_one() -> None:
    assert {"break-even", "cpu-surface", "parallel-build", "thread-scaling"} <= {
        path.parents[1].name for path in EXAMPLES
    }


def test_a_journal_of_a_cliff_knows_its_place() -> None:
    journal = JOURNALS / "descriptor-cliff" / "journal.jsonl.gz"
    found = findings(table.load(journal))
    cliffs = found.document("cliff", Cliffs)
    # Of 3 of its 32 runs nothing could tell: a search rests on all of them together.
    assert (found.runs.verdicts["undecided"], found.trust.level) == (3, "believe")
    assert cliffs is not None and cliffs.decided
    assert [(cliff.low, cliff.high) for cliff in cliffs.cliffs] == [(58, 59)]


def test_a_journal_of_break_even_has_its_line_and_judges_what_was_published(tmp_path: Path) -> None:
    journal = JOURNALS / "break-even" / "journal.jsonl.gz"
    shutil.copy(journal.parent / "published.csv", tmp_path)
    found = findings(table.load(journal), tmp_path)
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
    journal = JOURNALS / "cpu-surface" / "journal.jsonl.gz"
    part = findings(table.load(journal)).document("surface", Surfaces)
    assert part is not None
    (found,) = part.surfaces
    assert found.x_levels == list(range(1, 25)) and len(found.y_levels) > 1
    assert all(cell and cell.estimate.value for row in found.cells for cell in row)
    assert all(slope.value for slope in found.slopes)
