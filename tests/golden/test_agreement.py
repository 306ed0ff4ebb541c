"""Verdict, flags, matrix and answer agree, over every example that is kept."""

import gzip
import re
import shutil
from pathlib import Path

import pytest

from scalograph.cli.analyze_steps import analyze
from scalograph.protocol.findings import Findings
from scalograph.questions.comparison import FORMS
from scalograph.study.load import load
from tests.golden.conftest import Told
from tests.golden.kept import FOLDER, JOURNALS, kept_journals
from tests.kit import ROOT
from tests.kit.agreement import DOUBLED, contradictions

pytestmark = kept_journals
EXAMPLES = sorted([*ROOT.glob("studies/*/example/journal.jsonl.gz"), *JOURNALS.glob("*/journal.jsonl.gz")])


def name_of(journal: Path) -> str:
    """Return the name of the study of a journal, which lies in its `example` or under its own name."""
    return journal.parents[1 if journal.parent.name == "example" else 0].name


@pytest.mark.parametrize("journal", EXAMPLES, ids=lambda journal: str(journal.parent.relative_to(ROOT)))
def test_what_an_example_says_agrees(journal: Path, told: Told) -> None:
    folder = told(journal.parent, name_of(journal)).folder
    assert contradictions(Findings.model_validate_json((folder / "findings.json").read_text())) == []


COMPARED = [
    folder for folder in sorted((ROOT / "studies").glob("*/example")) if load(folder.parent / "study.toml").compare
]


@pytest.mark.parametrize("example", COMPARED, ids=lambda example: str(example.parent.name))
def test_what_a_study_declares_answers_of_its_example(example: Path) -> None:
    """The example was run before the comparison was declared, which is read from the study around it."""
    findings, _ = analyze(example, keep=False)
    assert findings.claim and {case.case for case in findings.claim.cases} <= FORMS.keys()
    assert contradictions(findings) == []


@pytest.mark.parametrize(("name", "compares"), [("kernels", True), ("other", False), ("", False)])
def test_comparisons_are_those_of_the_same_study_around_the_results(tmp_path: Path, name: str, compares: bool) -> None:
    study = ROOT / "studies" / "kernels"
    shutil.copytree(study / "example", tmp_path / "example")
    if name:
        text = (study / "study.toml").read_text().replace('name = "kernels"', f'name = "{name}"')
        (tmp_path / "study.toml").write_text(text)
    findings, _ = analyze(tmp_path / "example", keep=False)
    assert findings.claim and (findings.claim.cases[0].case == "range") == compares


def test_no_text_of_a_kept_reproduction_has_a_doubled_period() -> None:
    text = gzip.decompress((FOLDER / "results" / "reproduction.json.gz").read_bytes()).decode()
    assert not re.search(DOUBLED, text)
