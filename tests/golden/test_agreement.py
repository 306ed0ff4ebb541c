"""Verdict, flags, matrix and answer agree, over every example that is kept."""

import gzip
import re
from pathlib import Path

import pytest

from scalograph.protocol.findings import Findings
from tests.golden.conftest import Told
from tests.golden.kept import FOLDER, JOURNALS, kept_journals
from tests.kit import ROOT
from tests.kit.agreement import DOUBLED, contradictions

pytestmark = kept_journals
# What contradicts itself today: a name that agrees comes off this list.
EXAMPLES = sorted([*ROOT.glob("studies/*/example/journal.jsonl.gz"), *JOURNALS.glob("*/journal.jsonl.gz")])
KNOWN = {
    "break-even-clients": "a sentence without a verb; break-even states no cases yet",
    "capped-jvm": "a sentence without a verb; surface states no cases yet",
    "connection-pool": "a sentence without a verb; throughput states no cases yet",
    "cpu-surface-java": "a sentence without a verb; surface states no cases yet",
    "cpu-surface-loop": "a ratio that is not in the matrix; levels states no cases yet",
    "cpu-surface-versions": "seconds beside a matrix of milliseconds; levels states no cases yet",
    "database-page": "a sentence without a verb; throughput states no cases yet",
    "descriptor-cliff": "the jump is not in the matrix; cliff states no cases yet",
    "jvm-tunables": "less time beside a matrix of 1 / time; tunables states no cases yet",
    "openmp-break-even": "a mean that is not in the matrix; break-even states no cases yet",
    "order-to-build": "a sentence without a verb; throughput states no cases yet",
    "servlet-throughput": "a sentence without a verb; throughput states no cases yet",
    "thread-scaling-512": "values of single configurations beside joined rows; levels states no cases yet",
}


def name_of(journal: Path) -> str:
    """Return the name of the study of a journal, which lies in its `example` or under its own name."""
    return journal.parents[1 if journal.parent.name == "example" else 0].name


def examples() -> list[object]:
    """List the journals; one that contradicts itself today is expected to fail, and fails the test if it agrees."""
    marks = {name: [pytest.mark.xfail(strict=True, reason=reason)] for name, reason in KNOWN.items()}
    ids = [str(journal.parent.relative_to(ROOT)) for journal in EXAMPLES]
    return [pytest.param(x, id=i, marks=marks.get(name_of(x), [])) for x, i in zip(EXAMPLES, ids, strict=True)]


@pytest.mark.parametrize("journal", examples())
def test_what_an_example_says_agrees(journal: Path, told: Told) -> None:
    folder = told(journal.parent, name_of(journal)).folder
    assert contradictions(Findings.model_validate_json((folder / "findings.json").read_text())) == []


def test_only_examples_that_are_there_are_expected_to_contradict_themselves() -> None:
    assert {*KNOWN} <= {*map(name_of, EXAMPLES)}


def test_no_text_of_a_kept_reproduction_has_a_doubled_period() -> None:
    text = gzip.decompress((FOLDER / "results" / "reproduction.json.gz").read_bytes()).decode()
    assert not re.search(DOUBLED, text)
