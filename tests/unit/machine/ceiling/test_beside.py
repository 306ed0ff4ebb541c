"""A study's curves under the machine's ceiling: which point is compared, what is said, what is shown."""

import re

import numpy as np
import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.ratios import paired_ratio
from scalograph.machine.ceiling import compare_ceiling as comparison
from scalograph.machine.ceiling.compare_ceiling import add_ceiling, compare_ceiling, compare_speedup, ratio, reach
from scalograph.protocol.findings import Claim, Findings
from scalograph.protocol.machine_ceiling import Ceiling
from tests.unit.machine.ceiling.made import KINDS, ceiling, curve, findings


def reaching(speedup: float) -> Findings:
    """Of a program that reaches this with two threads on two CPUs."""
    return findings(curve({1: (1.0, 2), 2: (speedup, 2)}))


def test_the_box_is_told_first() -> None:
    made = compare_ceiling(reaching(1.25), ceiling())
    assert made.answer[0].startswith("On 2 CPUs this machine scales arithmetic to 1.98× [")
    assert "one lock that is taken all the time to 0.400× [" in made.answer[0]
    claim = Claim(sentences=["So.", "Thus.", "And."])
    told = add_ceiling(reaching(1.25).model_copy(update={"claim": claim}), ceiling()).claim
    assert told and told.sentences == ["So.", "Thus.", made.answer[0]]


# … stands for any words.
@pytest.mark.parametrize(("reached", "kinds", "said", "unsaid"), [
    (1.25, KINDS,
     "Your program reaches 1.25× [1.23, 1.27] on 2 CPUs, about as far as memory bandwidth 1.30×…, which may limit it.",
     ("page faults", "arithmetic")),
    (1.0, KINDS, "…below every ceiling of this machine (lowest: memory bandwidth 1.30×…The program limits itself.", ()),
    # One that scales like a lock.
    (0.4, KINDS, "…The program limits itself. …like one lock that is taken all the time 0.400×…; look for that.", ()),
    (1.95, KINDS, "…, as far as this machine scales anything (arithmetic 1.98× […]). The machine limits it.", ()),
    # Of two ceilings around it neither is blamed.
    (1.45, {"arithmetic": 1.98, "memory": 1.2}, "…, below arithmetic 1.98× […], above memory bandwidth 1.20× […].",
     ("limit",)),
    # Above all of them the baseline is suspected.
    (2.6, KINDS, "…, more than any ceiling of this machine (arithmetic 1.98× […]). Check its baseline.", ()),
])  # fmt: skip
def test_what_is_said_of_a_program(reached: float, kinds: dict[str, float], said: str, unsaid: tuple[str, ...]) -> None:
    _, sentence = compare_ceiling(reaching(reached), ceiling(kinds)).answer
    assert re.fullmatch(".*".join(map(re.escape, said.split("…"))), sentence), sentence
    assert not any(words in sentence for words in unsaid)


def test_more_workers_than_cpus_use_the_cpus_that_there_are() -> None:
    made = curve({1: (1.0, 2), 2: (1.6, 2), 8: (1.9, 2)})
    assert {n: estimate.value for n, estimate in comparison.speedups_by_cpus(findings(made), made).items()} == {
        1: 1.0,
        2: 1.6,
    }


@pytest.mark.parametrize(("points", "factor", "control"), [
    ({1: (1.0, 2), 8: (1.9, 2)}, "threads", None),  # without a level for each CPU, the next one stands for it
    ({1: (1.0, 1), 2: (1.9, 2)}, "cpus", "cpus"),
    ({1: (1.0, 8), 2: (1.9, 8), 8: (3.0, 8)}, "threads", None),  # the most CPUs that both have
])  # fmt: skip
def test_what_of_a_curve_is_compared(points: dict[int, tuple[float, int]], factor: str, control: str | None) -> None:
    made = curve(points, factor)
    found = reach(findings(made, control=control), made, ceiling())
    assert found and (found.baseline, found.n_cpus, found.speedup.value) == (1, 2, 1.9)


@pytest.mark.parametrize(("points", "baseline"), [
    ({1: (1.0, 2), 2: (1.9, 2)}, None), ({1: (1.0, 1), 2: (1.0, 1)}, 1), ({3: (1.0, 8), 5: (1.5, 8)}, 3),
])  # fmt: skip
def test_what_cannot_be_compared(points: dict[int, tuple[float, int]], baseline: int | None) -> None:
    made = curve(points)
    found = findings(made, baseline=baseline)
    assert reach(found, made, ceiling()) is None
    _, told = compare_ceiling(found, ceiling()).answer
    assert told.startswith("No curve can be compared with the machine")


def test_of_many_curves_the_furthest_behind_are_told_and_all_are_shown() -> None:
    many = [curve({1: (1.0, 2), 2: (0.5 + n / 10, 2)}, group={"kind": n}) for n in range(12)]
    made = compare_ceiling(findings(*many), ceiling())
    assert len(made.answer) == 1 + comparison.MAX_SENTENCES and made.answer[1].startswith("kind 0 reaches 0.500×")
    assert len(made.tables[1].rows) == 12


def test_the_tables_fit_their_columns_and_the_document_has_each_point() -> None:
    made = compare_ceiling(reaching(1.25), ceiling())
    assert [table.id for table in made.tables] == ["ceilings", "against-ceilings"]
    assert all(len(row) == len(table.columns) for table in made.tables for row in table.rows)
    (row,) = made.tables[1].rows
    cells = dict(zip([column.name for column in made.tables[1].columns], row, strict=True))
    expected = {"memory bandwidth": "alike", "arithmetic": "below", "one lock that is taken all the time": "above"}
    assert {name: cells[name] for name in expected} == expected
    one, two = made.document["memory"]
    assert (one.n_cpus, one.speedup and one.speedup.value, two.n) == (1, 1.0, 5)
    assert two.speedup and two.speedup.contains(1.3)


def test_joined_keeps_what_was_there_and_warns() -> None:
    found = add_ceiling(findings(), ceiling().model_copy(update={"warnings": ("not kept",)}))
    assert found.answer[0] == "first" and found.answer[-1] == "not kept" and found.tables[0].id == "ceilings"
    assert Findings.model_validate_json(found.model_dump_json()) == found
    lone = Ceiling(kinds={kind: parts[:1] for kind, parts in ceiling().kinds.items()})
    assert compare_ceiling(findings(), lone).answer == [], "a machine of one CPU has no sentence"


def known(value: float, half: float = 0.02) -> Estimate:
    """Five runs; `half` is the half-width of the interval on logs."""
    return Estimate(value, value * np.exp(-half), value * np.exp(half), 0.95, 5, "t")


def labels(program: float, half: float = 0.02, **ceilings: float) -> dict[str, str]:
    found = compare_speedup(known(program, half), {kind: known(value) for kind, value in ceilings.items()})
    return {each.kind: each.label for each in found}


def test_each_word_the_highest_ceiling_first_and_a_wide_interval_says_nothing() -> None:
    found = labels(1.25, lock=0.4, arithmetic=1.98, memory=1.3)
    assert [*found.items()] == [("arithmetic", "below"), ("memory", "alike"), ("lock", "above")]
    assert labels(1.25, 0.5, memory=1.3) == {"memory": "unknown"}
    assert labels(0.3, 0.5, arithmetic=2.0) == {"arithmetic": "below"}
    (found,) = compare_speedup(Estimate(1.25, None, None, 0.95, 1, "t"), {"memory": known(1.3)})
    assert found.label == "unknown" and found.ratio.value is None and "interval" in found.ratio.warnings[0]


@pytest.mark.parametrize(("low", "high", "word"), [
    (0.80, 0.95, "below"), (0.81, 0.96, "unknown"), (0.94, 0.98, "alike"), (0.82, 1.02, "alike"),
    (0.79, 1.02, "unknown"), (1.06, 1.1, "above"), (1.04, 1.1, "unknown"), (1.01, 1.06, "alike"),
    (0.99, 1.24, "alike"), (0.99, 1.26, "unknown"),
])  # fmt: skip
def test_the_margin_decides(low: float, high: float, word: str) -> None:
    assert comparison.label(Estimate((low * high) ** 0.5, low, high, 0.95, 5, "t"), comparison.MARGIN) == word


def test_mover_is_the_exact_root_of_squares_for_even_intervals_and_zero_has_no_log() -> None:
    found = ratio(known(2.0, 0.03), known(1.0, 0.04))
    assert (found.low, found.high) == pytest.approx((2 * np.exp(-0.05), 2 * np.exp(0.05)))
    assert ratio(Estimate(0.0, 0.0, 1.0, 0.95, 5, "t"), known(1.0)).value is None


def simulated(truth: float, ceiling: float, n: int, sd: float = 0.03) -> list[comparison.CeilingRatio]:
    """So many programs that reach `truth` where the machine gives `ceiling`: five runs of each, 3% noise."""
    rng = np.random.default_rng(20264)

    def reached(value: float) -> Estimate:
        one, many = np.exp(sd * rng.standard_normal((2, 5)))
        return paired_ratio(list(one), list(many / value))

    return [compare_speedup(reached(truth), {"memory": reached(ceiling)})[0] for _ in range(n)]


def test_the_interval_covers_what_it_claims_and_words_are_seldom_wrong() -> None:
    found = simulated(1.0, 1.3, 1000)
    assert 0.94 <= np.mean([each.ratio.contains(1 / 1.3) for each in found]) <= 0.995
    assert np.mean([each.label == "below" for each in found[:500]]) >= 0.9
    found = [each.label for each in simulated(1.3, 1.3, 1000)]
    assert np.mean([word in ("below", "above") for word in found]) <= 0.02
    assert np.mean([word == "alike" for word in found]) >= 0.95
