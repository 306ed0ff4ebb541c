"""A study read back from a journal is held against what declaring it would have refused."""

import json
from typing import Any

import pytest

from scalograph.design.resolve import assumed_host, design
from scalograph.study.declare import declare_shipped
from scalograph.study.identity import dump_study, parse_journaled_study
from scalograph.study.load import parse
from scalograph.study.shipped import shipped_studies
from tests.kit.refusals import refuses
from tests.kit.studies import VALID

CLAIM = """
[[published.claims]]
id = "a"
sentence = "b"
kind = "ratio"
where = { lock = "none" }
of = { threads = 1 }
over = { threads = 4 }
holds = [1.0, 4.0]
"""


def test_what_was_planned_is_read_back_and_a_host_may_lack_some_of_it() -> None:
    for name in shipped_studies():
        study = declare_shipped(name, quick=True).study
        made = design(study, assumed_host(study, 2)).study
        assert parse_journaled_study(json.loads(json.dumps(dump_study(made)))) == made, name
    # Nor does it say anything of a search how many runs its quick form asked for.
    wide = VALID.replace('levels = ["none", "cas"]', 'levels = ["none", "cas"]\nif_granted = ["cas"]') + CLAIM
    document = dump_study(parse(wide + "[[exclude]]\nthreads = [4]\n"))
    document["factors"]["threads"]["levels"] = [1, 2]
    document["factors"]["lock"]["levels"] = ["none"]
    document["question"], document["protocol"]["runs"] = "cliff", 3
    assert parse_journaled_study(document).exclude == [{"threads": [4]}]


@pytest.mark.parametrize(("changes", "where"), [
    ({"question": "break-even", "baseline": {}}, "baseline"),
    ({"question": "break-even"}, "factors.threads.levels"),
    ({"question": "cliff"}, "factors"),
    ({"baseline": {"core": 1}}, "baseline.core"),
    ({"baseline": {"threads": 3}}, "baseline.threads"),
    ({"reference": {"core": 1}}, "reference.core"),
    ({"exclude": [{"core": [1]}]}, r"exclude\[0\].core"),
    ({"tables": [{"title": "t", "rows": "core", "response": "wall"}]}, r"tables\[0\].rows"),
    ({"tables": [{"title": "t", "rows": "lock", "response": "speed"}]}, r"tables\[0\].response"),
])  # fmt: skip
def test_what_could_not_be_declared_is_refused_by_its_place(changes: dict[str, Any], where: str) -> None:
    refuses(ValueError, rf"^study\.{where}: ", parse_journaled_study, {**dump_study(parse(VALID)), **changes})


@pytest.mark.parametrize("changes", [{"where": {"core": 1}}, {"of": {"core": 1}}, {"along": "core"}, {"response": "x"}])
def test_a_claim_of_what_is_not_declared_is_refused(changes: dict[str, Any]) -> None:
    document = dump_study(parse(VALID + CLAIM))
    document["published"]["claims"][0] |= changes
    refuses(ValueError, r"study\.published\.claims\[0\]\.", parse_journaled_study, document)


@pytest.mark.parametrize("file", ["/a/b.csv", "../b.csv", "a/../../b.csv"])
def test_a_published_file_outside_is_refused(file: str) -> None:
    document = dump_study(declare_shipped("break-even").study)
    document["published"]["file"] = file
    with pytest.raises(
        ValueError, match=r'^study\.published\.file: ".*" leads outside the study\'s folder, expected a file'
    ):
        parse_journaled_study(document)
