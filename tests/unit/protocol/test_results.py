"""A folder of results: written whole or not at all; findings are read back as they were written."""

import gzip
import json
import os
from pathlib import Path

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.errors import HostError, ProtocolError
from scalograph.protocol import results, saved_documents
from scalograph.protocol.findings import Column, PointResponse, TableDoc, Trust
from scalograph.questions.cliff.document import Cliffs
from tests.kit import ROOT
from tests.kit.refusals import refuses


def test_a_file_system_without_links_costs_the_link_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, target: str) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.chdir(tmp_path)
    assert results.create("small").warning is None
    monkeypatch.setattr(Path, "symlink_to", refuse)
    made = results.create("small")
    assert made.folder.is_dir()
    assert made.warning and "latest: no such link could be made (Operation not permitted)" in made.warning


def test_a_full_disk_is_told_and_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    file = tmp_path / "findings.json"
    file.write_text("old")
    refuses(HostError, "cannot be made", results.create, "small", file / "results")
    monkeypatch.setattr(Path, "replace", refuse)
    refuses(HostError, r"findings\.json: cannot be written: No space left", results.write_text, file, "new")
    assert file.read_text() == "old" and list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(("asked", "missing"), [("nosuch", "nosuch"), (".", "journal.jsonl"), ("no.jsonl", "no.jsonl")])
def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str, missing: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProtocolError, match=rf"^{missing}: no such file, expected a results folder or a journal"):
        results.locate_journal(Path(asked))
    (tmp_path / "journal.jsonl").touch()
    if asked != ".":  # a mistyped name is never the folder that it would be in
        refuses(ProtocolError, rf"^{missing}: no such file", results.locate_journal, Path(asked))
    assert results.locate_journal(Path()) == results.locate_journal(Path("journal.jsonl")) == Path("journal.jsonl")


@pytest.mark.parametrize("name", ["report.html", "findings.json", "study.toml"])
def test_of_another_file_of_a_result_it_is_told_what_to_give_instead(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("<!doctype html>\n")
    told = f"{name}: no journal, expected a results folder or a journal .*; give"
    refuses(ProtocolError, f"{told} the folder that a study was run into$", results.locate_journal, tmp_path / name)
    (tmp_path / "journal.jsonl").touch()
    refuses(ProtocolError, f"{told} {tmp_path}$", results.locate_journal, tmp_path / name)


def test_a_path_is_a_folder_or_a_plain_file_in_one(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").touch()
    os.mkfifo(tmp_path / "pipe")
    found = [results.locate_results(path) for path in (tmp_path, tmp_path / "journal.jsonl")]
    assert found == [results.Results(tmp_path)] * 2
    for name, why in (("typo", "no such file"), ("journal.jsonl/x", "no such file"), ("pipe", "no plain file")):
        with pytest.raises(ProtocolError, match=f"{name}: {why}, expected a results folder or a journal"):
            results.locate_results(tmp_path / name)


KNOWN = Estimate(2.0, 1.5, 2.5, 0.95, 5, "an example", ("a warning",))


def test_a_field_and_a_cell_are_read_back_as_they_were() -> None:
    written = PointResponse(estimate=KNOWN)
    assert PointResponse.model_validate_json(written.model_dump_json()) == written
    # What an older version left out is unknown, and what a later one adds is ignored.
    read = PointResponse.model_validate_json('{"estimate": {"value": 2, "beyond": 3}}')
    assert read.estimate == Estimate(value=2.0)
    rows = [[KNOWN], [None], [{"value": "no number"}]]  # the last one only resembles an estimate
    table = TableDoc(id="t", title="", columns=[Column(name="x", kind="estimate")], rows=rows)
    assert TableDoc.model_validate_json(table.model_dump_json()).rows == rows


RECORDED = ROOT / "tests" / "recorded" / "findings-1-descriptor-cliff.json.gz"


def test_the_cliff_of_protocol_1_is_read(tmp_path: Path) -> None:
    file = tmp_path / "findings.json"
    file.write_bytes(gzip.decompress(RECORDED.read_bytes()))
    found = saved_documents.read_findings(file)
    assert found.protocol == 1 != saved_documents.LATEST
    assert found.parts["cliff"].decided is True and list(found.parts) == ["cliff"]
    part = found.document("cliff", Cliffs)
    assert (
        part is not None
        and part.model_dump(mode="json", exclude={"alternates"}) == json.loads(file.read_text())["cliffs"]
    )
    assert [(cliff.low, cliff.high) for cliff in part.cliffs] == [(58, 59)]


@pytest.mark.parametrize("sentence", ["Believe it: 30 runs, clean", "Be careful: 30 runs, clean", "30 runs, clean"])
def test_the_verdict_of_an_earlier_version_is_said_once(sentence: str) -> None:
    assert Trust(level="reliable", sentence=sentence).sentence == "30 runs, clean"
