"""Verdict, flags, matrix and answer of simulated studies agree; a findings document where they do not is seen."""

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.findings import Claim, Findings, Matrix, MatrixCell, MatrixRow, Trust
from scalograph.protocol.plain import AnswerCase
from tests.kit.agreement import contradictions, quoted_numbers, simulate_findings

N_STUDIES, N_PARTS = 200, 8  # the parts share the workers


@pytest.mark.parametrize("part", range(N_PARTS))
def test_what_a_simulated_study_says_agrees(part: int) -> None:
    wrong = {seed: contradictions(simulate_findings(seed)) for seed in range(part, N_STUDIES, N_PARTS)}
    assert {seed: texts for seed, texts in wrong.items() if texts} == {}


@pytest.fixture(scope="module")
def agreeing() -> Findings:
    return simulate_findings(1)


GAIN, OTHER = Estimate(1.94, 1.81, 2.07), Estimate(1.03, 1.02, 1.04)


def answer(sentence: str, *estimates: Estimate, doubt: str = "", **values: object) -> Claim:
    rows = [MatrixRow(label="lock 0", cells=[MatrixCell(estimate=e, doubt=doubt) for e in estimates])]
    columns = [f"{2**i} threads" for i in range(1, len(estimates) + 1)]
    cases = [AnswerCase(case="gain", values=values)] if values else []
    return Claim(sentences=[sentence], cases=cases, matrix=Matrix(title="speedup", columns=columns, rows=rows))


SAID = "Speedup reaches 1.94× (95% CI 1.81–2.07)."


@pytest.mark.parametrize(("claim", "wrong"), [
    (answer(SAID, GAIN), None), (answer(SAID, GAIN, gain=[GAIN], who=["lock 0"], level="2 threads"), None),
    (answer(SAID, OTHER, gain=[GAIN]), "number"), (answer(SAID, OTHER), "number"),
    (answer(SAID, GAIN, gain=[GAIN], who=["lock 1"]), "row"),
    (answer(SAID, GAIN, gain=[GAIN], level="64 threads"), "column"),
    (answer("Speedup reaches 1.9× (95% CI 1.8–2.1).", GAIN), "digits"),
    (answer("Speedup reaches 1.9× (95% CI 1.8–2.1).", GAIN, gain=[GAIN]), "digits"),
    (answer("It takes 0.52× the time [0.48, 0.55].", GAIN), "direction"),
    (answer("It takes 48% less time [44, 51].", GAIN), "direction"),
    (answer("It takes 1,940 ms [1,810, 2,070].", GAIN), "unit"),
    (answer(SAID, GAIN, doubt="disturbed"), "verdict"),
    (answer(SAID, GAIN, doubt="disturbed", gain=[GAIN]), "verdict"),
    (answer("It is 1.03× (95% CI 1.02–1.04).", OTHER), "effect"),
    (answer("It is 1.03× (95% CI 1.02–1.04).", OTHER, gain=OTHER), "effect"),
    (answer("No speedup on 1 CPU.", GAIN), "verb"), (answer("It is so..", GAIN), "period"),
])  # fmt: skip
def test_each_kind_of_contradiction_is_seen(agreeing: Findings, claim: Claim, wrong: str | None) -> None:
    trust = Trust(level="reliable", sentence="Ten runs are used.", error_percent=5)
    checked = agreeing.model_copy(update={"claim": claim, "trust": trust})
    kinds = {text.split(":")[0] for text in contradictions(checked)}
    assert kinds >= {wrong} if wrong else kinds == set()


def test_a_place_has_one_range_and_a_document_read_back_is_checked_alike(agreeing: Findings) -> None:
    study = agreeing.study.model_copy(update={"question": "cliff"})
    claim = Claim(sentences=["From 58 to 59 files the time jumps: it is from 58 to 61 files."])
    checked = agreeing.model_copy(update={"study": study, "claim": claim})
    assert any(text.startswith("place") for text in contradictions(checked))
    read = Findings.model_validate_json(agreeing.model_dump_json())
    assert contradictions(read) == contradictions(agreeing) == []


def test_the_number_of_an_interval_is_the_one_that_lies_in_it() -> None:
    quoted = [*quoted_numbers(["-j 8 takes 13% more user time than -j 1 [3.8, 23]; 34,000 [26,000, 45,000] on, ±7%."])]
    assert [(number.value, number.unit, number.step) for number in quoted] == [(13, "%", 1), (34000, "", 1000)]
