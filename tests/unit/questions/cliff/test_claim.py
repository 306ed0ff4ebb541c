"""What a cliff is called: of a time or a rate, of a size that the runs beside it carry, between runs that failed."""

import pytest

from scalograph.findings.row import Row
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim
from scalograph.questions.cliff.claim import cliff_claim
from scalograph.questions.cliff.document import CliffDoc, Cliffs
from scalograph.study.load import parse
from tests.kit.studies import a_study

TIME, RATE = {"unit": "s"}, {"unit": "1/s", "better": "higher"}


def claim_of(response: dict[str, str], scores: dict[int, float | None], **fields: object) -> Claim:
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
    return cliff_claim(read, Cliffs(factor="threads", decided=True, cliffs=[cliff], probability=0.99, n=16, least=1.2))


@pytest.mark.parametrize(
    ("response", "above", "factor", "end"),
    [
        (TIME, 2.0, (1.9, 2.0, 2.1), "the time jumps 2.00-fold [1.90, 2.10]."),
        (RATE, 0.5, (1.9, 2.0, 2.1), "the rate falls 2.00-fold [1.90, 2.10]."),
        (RATE, 2.0, (0.45, 0.5, 0.55), "the rate jumps 2.00-fold [1.82, 2.22]."),
        (TIME, 0.75, (0.7, 0.75, 0.8), "the time falls by 25 % [20, 30]."),
        (TIME, 2.0, (1.2, 2.0, 3.0), "the time jumps (how far is not resolved)."),
        (TIME, 2.0, (2.5, 2.7, 2.9), "the time jumps (how far is not resolved)."),
    ],
    ids=["slower", "fewer", "more", "faster", "wide", "refuted"],
)
def test_a_time_and_a_rate_go_opposite_ways(
    response: dict[str, str], above: float, factor: tuple[float, ...], end: str
) -> None:
    """No size is told that is wide, or that the runs beside it refute."""
    claim = claim_of(response, {n: 1.0 if n < 5 else above for n in range(1, 9)}, factor=factor)
    assert claim.sentences[0] == f"From 4 to 5 threads {end}"


def test_between_levels_that_all_failed_there_is_no_cliff() -> None:
    claim = claim_of(TIME, {1: 1.0, 4: 1.0, 5: None, 6: None, 7: 2.0, 8: 2.0}, low=4, high=7)
    assert not claim.answered
    assert claim.sentences == ["Cannot be said: every run failed from 5 to 6 threads."]
