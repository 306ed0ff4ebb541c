"""The golden pages of protocol/examples: documents, studies and journals, one a line, as we read or refuse them."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from scalograph.analysis.estimate import Flag
from scalograph.errors import ProtocolError
from scalograph.findings import table
from scalograph.protocol import saved_documents
from scalograph.protocol.findings import Findings, Part
from scalograph.protocol.journal import read
from scalograph.protocol.reproduction import OUTCOMES, ReproducedClaim, ReproducedPart, Reproduction
from scalograph.protocol.result_summary import ResultSummary, decode_note, encode_note
from scalograph.questions.cliff.document import Cliffs
from scalograph.questions.surface.document import Surfaces
from scalograph.verdict.judge import judge, requirements
from tests.golden.command import scalograph
from tests.kit import EXAMPLES, ROOT
from tests.kit.records import read as read_record
from tests.kit.refusals import refuses

MODELS: dict[str, type[BaseModel]] = {"findings": Findings, "reproduction": Reproduction}


def lines_of(name: str) -> list[str]:
    return (EXAMPLES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()


def page_of(name: str) -> str:
    return (ROOT / "protocol" / f"{name}.md").read_text(encoding="utf-8")


FINDINGS, EARLIER, REPRODUCTIONS = map(lines_of, ("findings", "findings_1", "reproduction"))


@pytest.mark.parametrize(("name", "line"), [(name, line) for name in MODELS for line in lines_of(name)])
def test_a_golden_document_survives_the_round_trip(name: str, line: str) -> None:
    assert json.loads(MODELS[name].model_validate_json(line).model_dump_json()) == json.loads(line)


@pytest.mark.parametrize("name", MODELS)
def test_a_field_of_a_later_version_is_ignored(name: str) -> None:
    given = json.loads(lines_of(name)[0])
    later = {**given, "verse": 1} | ({"trust": {**given["trust"], "verse": 2}} if "trust" in given else {})
    assert MODELS[name].model_validate(later) == MODELS[name].model_validate(given)


@pytest.mark.parametrize(("name", "line"), [(name, line) for name in MODELS for line in lines_of(f"{name}_rejected")])
def test_a_golden_broken_document_is_refused_where_it_is(name: str, line: str, tmp_path: Path) -> None:
    """`fields` take the place of those of the first golden document; `without` names one that it then lacks."""
    golden = json.loads(line)
    document: dict[str, Any] = {**json.loads(lines_of(name)[0]), **golden.get("fields", {})}
    document.pop(golden.get("without"), None)
    with pytest.raises(ValidationError) as caught:
        MODELS[name].model_validate(document)
    assert [".".join(map(str, error["loc"])) for error in caught.value.errors()] == [golden["where"]]
    if name == "reproduction":
        (tmp_path / saved_documents.NAME).write_text(json.dumps(document), encoding="utf-8")
        refuses(ProtocolError, re.escape(golden["where"]), saved_documents.read_reproduction, tmp_path)


def test_every_field_of_findings_is_told_by_some_golden_document() -> None:
    documents = [json.loads(line) for line in FINDINGS]
    documented = set(re.findall(r"^\| `(\w+)` \|", page_of("findings"), re.MULTILINE))
    assert {field for document in documents for field, value in document.items() if value} == documented
    assert documented == set(Findings.model_fields)
    questions = {document["study"]["question"] for document in documents}
    assert questions == {
        "sweep",
        "effective-cpus",
        "cliff",
        "break-even",
        "throughput",
        "within-limit",
        "tunables",
        "best",
    }


@pytest.mark.parametrize(("before", "after"), list(zip(EARLIER, FINDINGS, strict=False)), ids=range(len(EARLIER)))
def test_a_golden_document_of_protocol_1_says_the_same(before: str, after: str) -> None:
    earlier, now = map(Findings.model_validate_json, (before, after))
    assert earlier.protocol == 1 and earlier.study == now.study
    assert [flag.text for flag in flags(earlier)] == [flag.text for flag in flags(now)]
    assert earlier.document("surface", Surfaces) == now.document("surface", Surfaces)
    assert {**earlier.parts, "surface": None} == {**now.parts, "surface": None}


def flags(found: Findings) -> list[Flag]:
    """All remarks on points; of protocol 1 they are texts."""
    return [flag for curve in found.curves for point in curve.points for flag in point.flags]


def test_a_search_without_a_part_had_no_answer_and_a_broken_part_is_refused() -> None:
    line = next(line for line in EARLIER if json.loads(line)["study"]["question"] == "cliff")
    parts = Findings.model_validate({**json.loads(line), "cliffs": None}).parts
    assert parts == {"cliff": Part(decided=False)}
    found = Findings.model_validate_json(next(line for line in FINDINGS if json.loads(line)["parts"].get("cliff")))
    part = found.parts["cliff"]
    assert part.data is not None
    del part.data["factor"]
    refuses(ProtocolError, r"findings: parts\.cliff\.data\.factor: ", found.document, "cliff", Cliffs)


def test_every_field_of_a_reproduction_is_on_its_page_and_documents_hold_every_state_and_outcome() -> None:
    documents, page = [Reproduction.model_validate_json(line) for line in REPRODUCTIONS], page_of("reproduction")
    rows = [row.split("|")[1] for row in page.splitlines() if row.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(Reproduction.model_fields)
    assert all(f"`{name}`" in page for model in (ReproducedPart, ReproducedClaim) for name in model.model_fields)
    claims = [claim for document in documents for study in document.studies for claim in study.claims]
    states = {part.state for document in documents for part in document.parts}
    assert {claim.outcome for claim in claims} == set(OUTCOMES)
    assert states == {"done", "failed", "skipped", "begun", "not run"}
    assert {document.ended is None for document in documents} == {True, False}


RECORDED = ROOT / "tests" / "recorded" / "before-rename" / "examples" / "reproduction.jsonl"
OLD, NOW = "cannot be seen here", "not testable here"


@pytest.mark.parametrize("protocol", [1, 2, 3])
def test_a_reproduction_of_an_earlier_protocol_is_read_with_the_words_of_today(protocol: int) -> None:
    earlier = RECORDED.read_text(encoding="utf-8").splitlines()[0]
    assert earlier.count(OLD) == 3, "of the claim, of its decision, and of its number"
    read = Reproduction.model_validate({**json.loads(earlier), "protocol": protocol})
    now = Reproduction.model_validate_json(REPRODUCTIONS[0])
    (claim,) = [claim for study in read.studies for claim in study.claims if claim.outcome == NOW]
    assert claim.decided and claim.decided.decision == NOW and OLD not in read.model_dump_json()
    same = {claim.id: claim.outcome for study in now.studies for claim in study.claims}
    assert all(same[claim.id] == claim.outcome for study in read.studies for claim in study.claims)
    for study, later in zip(read.studies, now.studies, strict=True):
        assert study.outcomes.items() <= later.outcomes.items()


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_findings_of_an_earlier_release_are_read_with_the_outcomes_of_today(protocol: int) -> None:
    document = next(item for item in map(json.loads, FINDINGS) if item["published_claims"])
    claims = [{**claim, "decision": OLD, "sentence": OLD} for claim in document["published_claims"]]
    read = Findings.model_validate({**document, "protocol": protocol, "published_claims": claims})
    assert [(claim.decision, claim.sentence) for claim in read.published_claims] == [(NOW, OLD)] * len(claims)


NOTES = lines_of("notes")


@pytest.mark.parametrize("line", NOTES)
def test_a_golden_note_is_read_and_its_page_has_each_field(line: str) -> None:
    summary = decode_note(line)
    assert decode_note(encode_note(summary, summary.link or "")) == summary
    later = {**json.loads(line), "verse": 1}
    assert decode_note(json.dumps(later)) == summary
    rows = [row.split("|")[1] for row in page_of("notes").splitlines() if row.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(ResultSummary.__struct_fields__)


@pytest.mark.parametrize("line", lines_of("notes_rejected"))
def test_a_golden_broken_note_is_refused(line: str) -> None:
    broken, golden = json.loads(line), json.loads(NOTES[0])
    with pytest.raises(ValueError, match=re.escape(broken["found"])):
        decode_note(json.dumps({**golden, "result": {**golden["result"], **broken["fields"]}}))
    with pytest.raises(ValueError, match="protocol 2, expected 1"):
        decode_note(json.dumps({**golden, "protocol": 2}))


ACCEPTED = sorted((EXAMPLES / "study_accepted").glob("*.toml"))
REJECTED = sorted((EXAMPLES / "study_rejected").glob("*.toml"))


@pytest.mark.parametrize("file", ACCEPTED, ids=lambda file: file.stem)
def test_a_golden_study_is_understood_as_written(file: Path) -> None:
    found = scalograph(["check", "--json", file.name], file.parent)
    assert found.code == 0, found.printed
    assert json.loads(found.printed) == json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", REJECTED, ids=lambda file: file.stem)
def test_every_mistake_of_a_golden_study_is_told_where_it_is(file: Path) -> None:
    found = scalograph(["check", file.name], file.parent)
    assert found.code == 2
    expected = file.with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    said = found.printed.splitlines()
    assert [line[: len(start)] for line, start in zip(said, expected, strict=True)] == expected


def test_every_question_and_every_table_of_a_study_has_an_example() -> None:
    studies = [tomllib.loads(file.read_text(encoding="utf-8")) for file in ACCEPTED]
    questions = {"sweep", "effective-cpus", "cliff", "break-even", "throughput", "within-limit", "tunables", "best"}
    assert {study.get("question", "sweep") for study in studies} == questions
    tables = {"workload", "factors", "exclude", "responses", "protocol", "baseline", "reference", "tables", "quick"}
    assert tables <= set(next(study for study in studies if study["name"] == "hello-threads"))


GOLDEN = EXAMPLES / "journal_events.jsonl"
LINES = GOLDEN.read_text(encoding="utf-8").splitlines()
REJECTED_EVENTS = (EXAMPLES / "journal_events_rejected.jsonl").read_text(encoding="utf-8").splitlines()
EVENTS: list[dict[str, Any]] = [json.loads(line) for line in LINES]


def test_every_event_of_the_page_has_a_golden_line_with_all_of_its_fields() -> None:
    page = (ROOT / "protocol/journal.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \|", page, re.MULTILINE)
    fields: dict[str, set[str]] = {}
    for event in EVENTS:
        fields.setdefault(event["event"], set()).update(set(event) - {"event", "at"})
    assert fields == {event: set(re.findall(r"`(\w+)`", names)) for event, names in rows}


def test_the_golden_events_are_a_journal_as_it_reads() -> None:
    torn: list[str] = []
    records = [event | {"record": read_record(event["record"])} if "record" in event else event for event in EVENTS]
    assert list(read(GOLDEN, torn)) == records and not torn
    found = table.load(GOLDEN)
    assert [(row.run, row.status, row.boot) for row in found.rows] == [
        ("r0000", "ok", 1), ("r0001", "ok", 1), ("r0001r1", "ok", 1), ("r0002", "ok", 2), ("r0003", "failed", 2),
    ]  # fmt: skip
    assert (found.configurations, found.n_asked) == ([{"threads": 1}, {"threads": 2}], [2, 2])
    assert found.noise is not None and found.noise.changed == "no"
    assert found.ceiling is not None and [part.n_cpus for part in found.ceiling.kinds["arithmetic"]] == [1, 2]
    assert (found.accepted, found.end_reason, found.warnings) == ([("kernel", "6.12.0", "6.12.1")], "complete", [])
    assert found.notes == [("block 1 began on a busy machine: used by others: CPU 1 98 %", "busy")]


def test_the_golden_verdicts_are_those_of_the_golden_records() -> None:
    found = table.load(GOLDEN)
    asked = requirements(found.study)
    judged = {e["run"]: judge(read_record(e["record"]), asked) for e in EVENTS if e["event"] == "run"}
    kept = {e["run"]: (e["verdict"], e["causes"]) for e in EVENTS if e["event"] == "verdict"}
    assert kept == {name: (it.verdict, [cause.journal_entry() for cause in it.causes]) for name, it in judged.items()}
    assert {verdict for verdict, _ in kept.values()} == {"clean", "disturbed", "failed"}


@pytest.mark.parametrize("line", REJECTED_EVENTS)
def test_a_golden_broken_line_is_refused_where_it_is(line: str, tmp_path: Path) -> None:
    """`line` takes the place of that `number`, and is the last."""
    broken = json.loads(line)
    before = LINES[: broken["number"] - 1]
    (tmp_path / "journal.jsonl").write_text("\n".join([*before, broken["line"]]) + "\n", encoding="utf-8")
    done = scalograph(["analyze", "journal.jsonl"], tmp_path)
    assert done.code == 6 and done.printed.startswith(f"error: journal.jsonl:{broken['number']}: {broken['found']}")
    assert not (tmp_path / "findings.json").exists()
