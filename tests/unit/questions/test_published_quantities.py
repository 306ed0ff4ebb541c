"""What questions offer to the claims of a paper, where the truth is known."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.published_claim import DecidedClaim
from scalograph.questions.cliff import published as cliff
from scalograph.questions.cliff.document import CliffDoc, Cliffs
from scalograph.questions.effective_cpus import published as effective
from scalograph.questions.effective_cpus.document import EffectiveCpus, EffectiveGroups
from scalograph.questions.registry import role, roles_present
from tests.kit import ROOT
from tests.kit.findings import findings_of
from tests.kit.records import recorded
from tests.kit.simulated import Machine as EvenMachine
from tests.kit.studies import a_study
from tests.unit.questions.break_even.test_study import STUDY as STUDY_OF_EVEN
from tests.unit.questions.break_even.test_study import forked
from tests.unit.questions.break_even.test_study import run as even_run
from tests.unit.questions.cliff.test_study import STUDY as CLIFF
from tests.unit.questions.cliff.test_study import Machine, run

CLAIM = """
[[published.claims]]
id = "S0-8"
sentence = "The time jumps between 200 and 250 threads."
kind = "location"
quantity = "cliff"
holds = [200, 250]
[[published.claims]]
id = "S0-9"
sentence = "There is one jump."
kind = "count"
quantity = "cliffs"
holds = [1, 1]
"""


@pytest.mark.parametrize(("jumps", "decisions"), [
    ({220: 2.0}, ["holds", "holds"]), ({40: 2.0}, ["does not hold", "holds"]),
    ({10_000: 2.0}, ["does not hold", "does not hold"]),
], ids=["there", "elsewhere", "nowhere"])  # fmt: skip
def test_a_place_is_where_it_was_published(tmp_path: Path, jumps: dict[int, float], decisions: list[str]) -> None:
    _, found = run(tmp_path, Machine(jumps), CLIFF + CLAIM)
    place, _ = found.published_claims
    assert [claim.decision for claim in found.published_claims] == decisions
    assert place.quantity == "level at which the time jumps"
    assert [figure.none for figure in place.figures] == ["none" if 10_000 in jumps else ""]


def cliffs(*found: CliffDoc, decided: bool = True, **more: object) -> Cliffs:
    fields = {"factor": "n", "decided": decided, "cliffs": list(found), "probability": 0.5, "n": 20, "least": 1.2}
    return Cliffs.model_validate({**fields, **more})


def test_a_search_that_is_open_decides_nothing_and_a_place_that_moves_is_a_range() -> None:
    offered = cliff.quantities(cliffs(decided=False, likely=220.0))
    assert (offered["cliff"][0].estimate.value, offered["cliff"][0].estimate.low) == (220.0, None)
    assert (offered["cliffs"][0].estimate.low, offered["cliffs"][0].estimate.high) == (0.0, None)
    offered = cliff.quantities(cliffs(wanders=(150.0, 260.0), jump=2.0))
    assert (offered["cliff"][0].estimate.low, offered["cliff"][0].estimate.high) == (150.0, 260.0)
    assert offered["cliff_moves"][0].estimate.value == 1.0


def test_effective_cpus_have_the_range_of_their_posterior() -> None:
    posterior = {1: 0.01, 2: 0.6, 3: 0.37, 4: 0.02}
    group = EffectiveCpus(group={"jvm": "25"}, factor="cpus", k_eff=2, decided=True, posterior=posterior, n=9)
    bare = EffectiveCpus(group={"jvm": "8"}, factor="cpus", k_eff=2, decided=False)
    (one, other) = effective.quantities(EffectiveGroups(groups=[group, bare]))["effective_cpus"]
    assert (one.group, one.estimate.value, one.estimate.low, one.estimate.high) == ({"jvm": "25"}, 2.0, 2.0, 3.0)
    assert (other.estimate.low, other.estimate.high) == (None, None)


EVEN = """
[[published.claims]]
id = "S2-7"
sentence = "At 3000 elements eight workers take half as long, or more."
kind = "ratio"
where = { size = 4096, workers = 8 }
of = { version = "parallel" }
over = { version = "sequential" }
holds = [0.3, 0.5]
[[published.claims]]
id = "S2-8"
sentence = "With one worker it never pays."
kind = "ratio"
where = { workers = 1 }
of = { version = "sequential" }
over = { version = "parallel" }
along = "size"
levels = [64, 65536]
holds = [1, "any"]
"""


def test_ratios_of_a_break_even_study_are_those_of_its_surface(tmp_path: Path) -> None:
    _, found = even_run(tmp_path, EvenMachine(forked), STUDY_OF_EVEN + EVEN)
    pays, never = found.published_claims
    (figure,) = pays.figures
    assert isinstance(figure.here, Estimate) and figure.here.value == pytest.approx(0.41, rel=0.15)
    assert (pays.decision, never.decision) == ("holds", "does not hold")
    assert never.quantity == "wall of sequential over that of parallel, 1 worker, each size"


def surface(folder: Path, threads: Sequence[int], cpus: Sequence[int]) -> list[DecidedClaim]:
    """What is decided of two claims about a surface that rises with each worker beyond the CPUs."""
    asked = {"kind": "location", "sentence": "It is so.", "where": {"cpus": cpus[0]}, "holds": [0.9, 1.1]}
    claims = [
        {"id": "S1-1", "quantity": "slope_over_expected", **asked},
        {"id": "S1-5", "quantity": "ridge_deviation", **asked, "holds": [0.95, 1.05]},
    ]
    del claims[1]["where"]
    made = [
        ({"threads": n, "cpus": m}, recorded(max(1.0, n / m) * (1 + 0.001 * ((i + 3 * n + m) % 4)), cpus=(*range(m),)))
        for i in range(4)
        for n in threads
        for m in cpus
    ]
    factors = {"threads": [*threads], "cpus": {"control": "cpus", "levels": [*cpus]}}
    more = {"baseline": {"threads": 1}, "protocol": {"runs": 3}, "published": {"claims": claims}}
    return findings_of(folder, made, a_study(factors, work="per-worker", **more)).published_claims


def test_a_surface_rises_and_is_flat_as_published(tmp_path: Path) -> None:
    slope, flat = surface(tmp_path, range(1, 5), (1, 2))
    assert [(claim.decision, len(claim.figures)) for claim in (slope, flat)] == [("holds", 1), ("holds", 1)]
    assert isinstance(slope.figures[0].here, Estimate) and slope.figures[0].here.value == pytest.approx(1, rel=0.02)
    assert flat.figures[0].label == "2 cpus"


@pytest.mark.parametrize(("cpus", "decision"), [((2, 3), "holds"), ((3,), "not measured"), ((1,), "not measured")])
def test_a_ridge_is_where_workers_are_as_many_as_cpus(tmp_path: Path, cpus: tuple[int, ...], decision: str) -> None:
    _, flat = surface(tmp_path, (1, 2, 4, 6), cpus)
    assert flat.decision == decision
    assert [figure.label for figure in flat.figures if figure.decision == "holds"] == ["2 cpus"] * (decision == "holds")
    assert flat.why == ("" if decision == "holds" else "no count of workers is that of two or more CPUs")


def test_every_quantity_is_on_the_page_of_studies() -> None:
    page = (ROOT / "protocol" / "study.md").read_text(encoding="utf-8")
    names = [name for question in roles_present("published") for name in role(question, "published").QUANTITIES]
    assert names and [name for name in names if f"`{name}`" not in page] == []
    assert len({*names}) == len(names)
