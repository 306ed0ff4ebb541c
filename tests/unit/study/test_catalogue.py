"""The catalogue of published studies: every claim is decided once, or is open and says why."""

from pathlib import Path

import pytest

from scalograph.errors import StudyError
from scalograph.study.catalogue import OpenedCatalogue, claim_number, explained_levels, open_catalogue
from scalograph.study.declare import claims_of, declare_shipped
from scalograph.study.shipped import shipped_studies
from tests.kit.refusals import refuses
from tests.kit.studies import a_study

LISTED = {"S0": 16, "S1": 13, "S2": 7, "S3": 7, "S4": 10}
SMALL = """\
version = 1
[[studies]]
id = "P0"
name = "sleep"
title = "Sleeping"
parts = [{{ study = "one" }}]
[studies.claims]
P0-1 = "table 1"
P0-2 = "table 2"
{more}
"""
STUDY = a_study({"n": "1,2"}, name="one", published={})
CLAIM = '[[published.claims]]\nid = "{id}"\nsentence = "As long."\nkind = "flat"\nalong = "n"\n'
OPEN = '[[studies.open]]\nid = "{id}"\nsentence = "Longer."\ndecision = "{decision}"\nwhy = "needs time"\n'


@pytest.fixture(scope="module")
def shipped() -> OpenedCatalogue:
    return open_catalogue()


def test_all_53_claims_are_listed_and_what_no_study_decides_is_open(shipped: OpenedCatalogue) -> None:
    assert {study.id: list(study.claims) for study in shipped.studies} == {
        name: [f"{name}-{k}" for k in range(1, n + 1)] for name, n in LISTED.items()
    }
    assert all(place for study in shipped.studies for place in study.claims.values())
    is_open = {claim.id: claim.decision for study in shipped.studies for claim in study.open}
    assert {name for name, decision in is_open.items() if decision == "not yet"} == {"S3-6", "S3-7"}
    assert is_open["S0-16"] == "not comparable"
    deciding = {name for name in shipped_studies() if claims_of(declare_shipped(name))}
    assert deciding <= {*shipped.declared, *open_catalogue(quick=True).declared}
    budgets = [declared.study.protocol.budget_s for declared in open_catalogue(quick=True).declared.values()]
    assert None not in budgets, "each part has one"
    assert sum(seconds for seconds in budgets if seconds) <= 50 * 60


def test_what_is_explained_is_two_levels_of_one_factor_of_the_part(shipped: OpenedCatalogue) -> None:
    explained = {part.study: part.explain for _, part in open_catalogue(quick=True).parts if part.explain}
    assert {"fork-join", "thread-cliff-sides", "capped-jvm", "database-page", "parallel-build"} <= explained.keys()
    for name, texts in explained.items():
        assert explained_levels(name) == texts
        pairs = [text.split("=") for text in texts]
        assert {factor for factor, _ in pairs} <= declare_shipped(name).study.factors.keys()
        assert [levels.count(",") for _, levels in pairs if "," in levels] == [1]
    assert explained_levels("descriptor-cliff") == explained_levels("mine") == []


@pytest.mark.parametrize("quick", [False, True])
def test_every_claim_is_decided_by_one_study_or_is_open(quick: bool) -> None:
    shipped = open_catalogue(quick=quick)
    ids = [claim.id for declared in shipped.declared.values() for claim in claims_of(declared)]
    ids += [claim.id for study in shipped.studies for claim in study.open]
    assert len(ids) == len(set(ids))
    listed = {claim for study in shipped.studies for claim in study.claims}
    assert {claim_number(one) for one in ids} == listed


def small(folder: Path, claims: str = "", more: str = "") -> Path:
    (folder / "one").mkdir()
    (folder / "one" / "study.toml").write_text(STUDY + claims)
    file = folder / "published.toml"
    file.write_text(SMALL.format(more=more))
    return file


def test_studies_lie_beside_their_catalogue_which_is_read_within_limits(tmp_path: Path) -> None:
    file = small(tmp_path, CLAIM.format(id="P0-1a"), OPEN.format(id="P0-2", decision="not yet"))
    for names in ((), ("P0",), ("sleep",)):
        found = open_catalogue(file, names=names)
        assert [part.study for _, part in found.parts] == ["one"] and not found.is_shipped
    refuses(StudyError, "cannot be read", open_catalogue, tmp_path / "missing.toml")
    (tmp_path / "published.toml").write_bytes(b"#" * ((1 << 20) + 1))
    refuses(StudyError, "larger than 1 MiB", open_catalogue, tmp_path / "published.toml")
    with pytest.raises(StudyError, match=r'no published study "nothing", expected one of thread-scaling \(S0\)'):
        open_catalogue(names=("nothing",))


@pytest.mark.parametrize(("claims", "more", "message"), [
    (CLAIM.format(id="P0-2"), OPEN.format(id="P0-2", decision="not yet"), "claim P0-2: in one and in `open`"),
    (CLAIM.format(id="P0-1") + 'like = ["P0-3"]\n', "", r'claim P0-1: in one, like "P0-3"'),
    (CLAIM.format(id="P0-1") + 'like = ["P0-1"]\n', "", r'claim P0-1: in one, like "P0-1"'),
    (CLAIM.format(id="P0-7"), "", "claim P0-7: in one, in no list of claims"),
    ("", OPEN.format(id="P0-2", decision="holds"), r"published.toml:\d+: studies.0.open.0.decision: "),
    ("", "[studies.verses]\n", "studies.0.verses: "),
    ("", "[", "published.toml: not TOML"),
])  # fmt: skip
def test_what_is_no_catalogue_is_refused_where_wrong(tmp_path: Path, claims: str, more: str, message: str) -> None:
    refuses(StudyError, message, open_catalogue, small(tmp_path, claims, more))
