"""What a cliff is called: of a time or a rate, of a size that the runs beside it carry, between runs that failed."""

import pytest

from scalograph.findings.row import Row
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim
from scalograph.questions.cliff.claim import cliff_claim
from scalograph.questions.cliff.document import CliffDoc, Cliffs
from scalograph.study.load import parse

STUDY = """\
version = 1
name = "edge"
title = "Where?"
question = "cliff"
work = "total"
seed = 3
[workload]
command = ["true", "{threads}"]
[factors.threads]
levels = "1:8"
[responses.wall]
from = "run.wall"
"""
TIME, RATE = 'unit = "s"\n', 'unit = "1/s"\nbetter = "higher"\n'


def claim_of(response: str, scores: dict[int, float | None], **fields: object) -> Claim:
    """Of a jump of the time by 2 between 4 and 5, or another one; None is a run that failed."""
    rows = [
        Row(f"r{n}-{again}", n, again, False, {"threads": n}, "failed" if x is None else "ok", None, "clean", (), {},
            {} if x is None else {"wall": x * (1 + 0.01 * again)})
        for n, x in scores.items() for again in (0, 1)
    ]  # fmt: skip
    read = Table(parse(STUDY + response), "h", {}, [{"threads": n} for n in range(1, 9)], [1] * 8, rows)
    usual = {"location": 4.5, "low": 4, "high": 5, "factor": (1.9, 2.0, 2.1), "probability": 0.99, "gradual": 0.0}
    one = CliffDoc.model_validate(usual | fields)
    return cliff_claim(read, Cliffs(factor="threads", decided=True, cliffs=[one], probability=0.99, n=16, least=1.2))


@pytest.mark.parametrize(
    ("response", "factor", "said"),
    [
        (TIME, (1.9, 2.0, 2.1), "the time jumps 2.00-fold [1.90, 2.10]."),
        (RATE, (1.9, 2.0, 2.1), "the rate falls 2.00-fold [1.90, 2.10]."),
        (RATE, (0.45, 0.5, 0.55), "the rate jumps 2.00-fold [1.82, 2.22]."),
        (TIME, (0.7, 0.75, 0.8), "the time falls by 25 % [20, 30]."),
    ],
)
def test_a_time_and_a_rate_go_opposite_ways(response: str, factor: tuple[float, ...], said: str) -> None:
    over = factor[1] if response == TIME else 1 / factor[1]
    found = claim_of(response, {n: 1.0 if n < 5 else over for n in range(1, 9)}, factor=factor)
    assert found.sentences[0] == f"From 4 to 5 threads {said}"


@pytest.mark.parametrize("factor", [(1.2, 2.0, 3.0), (2.5, 2.7, 2.9)])
def test_no_size_that_is_wide_or_that_the_runs_refute(factor: tuple[float, ...]) -> None:
    found = claim_of(TIME, {n: 1.0 if n < 5 else 2.0 for n in range(1, 9)}, factor=factor)
    assert found.sentences[0] == "From 4 to 5 threads the time jumps (how far is not resolved)."


def test_between_levels_that_all_failed_there_is_no_cliff() -> None:
    found = claim_of(TIME, {1: 1.0, 4: 1.0, 5: None, 6: None, 7: 2.0, 8: 2.0}, low=4, high=7)
    assert not found.answered
    assert found.sentences == ["Cannot be said: every run failed from 5 to 6 threads."]
