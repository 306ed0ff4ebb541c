"""What a cliff is called: of a time or a rate, of a size that the runs beside it carry, between runs that failed."""

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.findings.row import Row
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim
from scalograph.questions.cliff.claim import cliff_claim
from scalograph.questions.cliff.document import CliffDoc, Cliffs
from scalograph.questions.cliff.published import quantities
from scalograph.study.load import parse
from tests.kit.findings import cases_of, cells_of
from tests.kit.shown_numbers import check_numbers
from tests.kit.studies import a_study

TIME, RATE = {"unit": "s"}, {"unit": "1/s", "better": "higher"}


def claim_of(
    response: dict[str, str], scores: dict[int, float | None], result: dict[str, object] | None = None, **fields: object
) -> Claim:
    """Of a jump of the time by 2 between 4 and 5, or another one; None is a run that failed."""
    rows = [
        Row(f"r{n}-{again}", n, again, False, {"threads": n}, "failed" if x is None else "ok", None, "clean", (), {},
            {} if x is None else {"wall": x * (1 + 0.01 * again)})
        for n, x in scores.items() for again in (0, 1)
    ]  # fmt: skip
    text = a_study({"threads": "1:8"}, question="cliff", responses={"wall": {"from": "run.wall", **response}})
    read = Table(parse(text), "h", {}, [{"threads": n} for n in range(1, 9)], [1] * 8, rows)
    usual = {"location": 4.5, "low": 4, "high": 5, "factor": (1.9, 2.0, 2.1), "probability": 0.99, "gradual": 0.0}
    cliff = CliffDoc.model_validate(usual | fields)
    usual = {"factor": "threads", "decided": True, "cliffs": [cliff], "probability": 0.99, "n": 16, "least": 1.2}
    return cliff_claim(read, Cliffs.model_validate(usual | (result or {})))


@pytest.mark.parametrize(("response", "above", "factor", "case", "size"), [
    (TIME, 2.0, (1.9, 2.0, 2.1), "rise", 2.0), (RATE, 0.5, (1.9, 2.0, 2.1), "fall", 0.5),
    (RATE, 2.0, (0.45, 0.5, 0.55), "rise", 2.0), (TIME, 0.75, (0.7, 0.75, 0.8), "fall", 0.75),
    (TIME, 2.0, (1.2, 2.0, 3.0), "rise of uncertain size", None),
    (TIME, 2.0, (2.5, 2.7, 2.9), "rise of uncertain size", None),
    (RATE, 2.0, (1.9, 2.0, 2.1), "fall of uncertain size", None),
], ids=["slower", "fewer", "more", "faster", "wide", "refuted", "rate refuted"])  # fmt: skip
def test_a_time_and_a_rate_go_opposite_ways(
    response: dict[str, str], above: float, factor: tuple[float, ...], case: str, size: float | None
) -> None:
    """No size is stated that is wide, or that the runs beside it refute."""
    claim = claim_of(response, {n: 1.0 if n < 5 else above for n in range(1, 9)}, factor=factor)
    first = claim.cases[0]
    assert claim.answered and (first.case, first.values["place"]) == (case, "4 and 5 threads")
    assert first.values["what"] == ("time" if response is TIME else "rate")
    assert [gain.value for gain in first.values.get("gain", ())] == ([] if size is None else [pytest.approx(size)])
    assert claim.cases[-1].case == "unseen"


def test_between_levels_that_all_failed_there_is_no_cliff() -> None:
    claim = claim_of(TIME, {1: 1.0, 4: 1.0, 5: None, 6: None, 7: 2.0, 8: 2.0}, low=4, high=7)
    assert not claim.answered and claim.matrix is None
    assert cases_of(claim) == {"all failed": {"levels": "5 to 6 threads"}}


@pytest.mark.parametrize(
    "more", [{}, {"another": 0.19, "likely": 2.0}, {"wanders": (3.0, 6.0), "jump": 0.5, "cliffs": []}]
)
def test_every_number_of_the_claim_is_in_a_row_that_shows(more: dict[str, object]) -> None:
    """The place is the same range in sentence and matrix, though the nearest measured levels are others."""
    check_numbers(claim_of(TIME, {1: 1.0, 3: 1.0, 6: 2.0, 8: 2.0}, result=more))


STEP = {n: 1.0 if n < 5 else 2.0 for n in range(1, 9)}


def test_a_further_jump_has_a_row_jumps_carry_their_flags_and_gradual_rises_their_word() -> None:
    claim = claim_of(TIME, STEP, result={"another": 0.19, "likely": 7.0})
    assert cases_of(claim)["another"] == {"probability": 0.19, "near": "7 threads"}
    assert [*cells_of(claim)] == ["4 to 5", "near 7"]
    values = claim_of(TIME, STEP).cases[0].values
    assert [round(e.value, 1) for e in values["sides"]] == [1.0, 2.0]
    assert "rises gradually" in claim_of(TIME, STEP, gradual=0.9).sentences[0]


def test_odd_and_even_levels_that_differ_are_told_and_a_cliff_was_not_searched() -> None:
    claim = claim_of(RATE, {n: 1.0 + n % 2 for n in range(1, 9)}, {"cliffs": [], "alternates": 0.5})
    values = {"factor": "threads", "what": "rate", "gain": [Estimate(2.0)]}
    assert claim.answered and cases_of(claim) == {"alternates": values, "not searched": {}}
    usual = {"factor": "threads", "decided": True, "cliffs": [], "probability": 0.9, "n": 12, "least": 1.2}
    assert quantities(Cliffs.model_validate({**usual, "alternates": 1.3})) == {}
    assert quantities(Cliffs.model_validate(usual))["cliff"] == []
