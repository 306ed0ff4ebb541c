"""The short version of benchmarks/statistics_claims_searches.py: what a claim says is true, and is said where it is."""

from functools import partial
from types import ModuleType

import numpy as np
import pytest
from simulate.cliff import Draw, curve, jump, line
from simulate.noise import LOW

from scalograph.protocol.findings import Claim
from tests.calibration.sequential import is_share
from tests.kit.scripts import Benchmarks


@pytest.fixture(scope="module")
def bench(b: Benchmarks) -> ModuleType:
    return b.statistics_claims_searches


def is_short(claim: Claim) -> bool:
    """At most three sentences and 55 words, of which the first answers, or says that it cannot be said."""
    said = claim.sentences[0].startswith(("Inconclusive: ", "Inconclusive", "No answer"))
    return len(" ".join(claim.sentences).split()) <= 55 and claim.answered != said


@pytest.mark.parametrize("draw", [line, curve])
def test_where_nothing_jumps_no_cliff_is_told(bench: ModuleType, draw: Draw) -> None:
    claim = bench.cliff_said(draw(np.random.default_rng(1), bench.TOP), np.random.default_rng(2), LOW)
    assert is_short(claim) and not bench.jumps(claim)


@pytest.mark.parametrize("factor", [2.0, 0.4])
def test_a_jump_is_told_where_it_is(bench: ModuleType, factor: float) -> None:
    program = partial(jump, factor=factor)(np.random.default_rng(4), bench.TOP)
    claim = bench.cliff_said(program, np.random.default_rng(5), LOW)
    assert is_short(claim) and bench.jumps(claim) and ("falls" in claim.sentences[0]) == (factor < 1)
    low, high = map(float, claim.matrix.rows[0].label.split(" to "))
    assert low - 1 <= np.exp(program.place or 0) <= high + 1


def test_break_even_is_told_where_it_is(bench: ModuleType) -> None:
    claim, lines, truth = bench.even_searched(np.random.default_rng(6), 0.02)
    assert is_short(claim) and " from size " in claim.sentences[0]
    told = [one for one in lines if one.kind == "from"]
    assert len(told) == 3
    assert all(one.location == pytest.approx(truth(one.level), rel=0.25) for one in told)


@pytest.mark.parametrize(("excess", "case"), [(1.0, "fair"), (1.5, "unfair")])
def test_cpus_are_shared_fairly_where_they_are(bench: ModuleType, excess: float, case: str) -> None:
    claims = [bench.surface_said(np.random.default_rng(seed), excess, 0.02) for seed in range(5)]
    assert all(is_short(claim) and claim.cases[0].case == case for claim in claims)


@pytest.mark.parametrize(("typical", "share"), [([1, 1, 1, 1], 0.05), ([1.8, 1, 1.03, 1.06], 0.05)])
def test_the_best_number_of_jobs_is_seldom_left_out(bench: ModuleType, typical: list[float], share: float) -> None:
    rng = np.random.default_rng(7)
    claims = (bench.build_said(rng, typical, 5) for _ in range(400))
    assert is_share((not c.answered or 2 in c.cases[0].values["best"] for c in claims), 1 - share, rather_than=0.85)


def test_a_clear_best_is_named_though_blocks_drift(bench: ModuleType) -> None:
    claims = [bench.build_said(np.random.default_rng(seed), [1.8, 1, 1.3, 1.3], 5) for seed in range(10)]
    assert sum(c.sentences[0].startswith("-j 2 builds fastest") for c in claims) >= 8
    assert all(is_short(c) for c in claims)
