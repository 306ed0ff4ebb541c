"""The A/B answer: what is said of versions whose truth is known, and the numbers that stand beside it."""

import numpy as np
import pytest
from simulate.two_studies import Kind, blocks

from scalograph.cli.command_line_study.declaration import CommandStudy, study_text
from scalograph.findings.row import Row
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim
from scalograph.questions.asked import AskedFactors
from scalograph.questions.assemble import findings
from scalograph.study.load import parse
from tests.kit.findings import cases_of
from tests.kit.shown_numbers import check_numbers

SETUP = ("p", "plain", "cgroup", "", "")


def drawn(**kinds: tuple[float, float] | float) -> dict[str, np.ndarray]:
    """Ten times of each version, about its typical one, with a standard deviation of their logs (0.005)."""
    rng = np.random.default_rng(5)
    both = {name: kind if isinstance(kind, tuple) else (kind, 0.005) for name, kind in kinds.items()}
    return {name: typical * np.exp(rng.normal(0, sd, 10)) for name, (typical, sd) in both.items()}


def claimed(times: dict[str, np.ndarray], verdict: str = "clean", factor: str = "version") -> Claim:
    """The claim of a command in versions, of which the first is the reference."""
    study = parse(study_text(CommandStudy((f"p-{{{factor}}}",), AskedFactors({factor: ",".join(times)}))))
    rows = [
        Row(
            f"{name}{i}", i, i, False, {factor: name}, "ok", None, verdict, (), {}, {"wall": took / 1000},
            wall_s=1.0, setup=SETUP,
        )
        for name, all_times in times.items() for i, took in enumerate(map(float, all_times))
    ]  # fmt: skip
    n_runs = [len(all_times) for all_times in times.values()]
    found = findings(Table(study, "h", {}, [{factor: name} for name in times], n_runs, rows))
    assert found.claim is not None
    assert len(times) == 1 or "detectable" not in found.trust.codes  # the claim tells that
    return found.claim


def two(kind: Kind, n: int, effect: float, seed: int = 3) -> Claim:
    new, old = blocks(np.random.default_rng(seed), kind, n, effect)
    return claimed({"old": old, "new": new})


def test_a_gain_is_told_with_its_interval_and_the_matrix_that_carries_it() -> None:
    found = two("normal", 20, 0.04)
    (case,) = found.cases
    assert found.answered and case.case == "percent of time" and case.values["answer"] == "faster"
    assert (case.values["who"], case.values["base"]) == ("new", "old")
    assert found.matrix and [row.label for row in found.matrix.rows] == ["old", "new"]
    times = [row.cells[0].estimate for row in found.matrix.rows]
    assert times[1] and times[1].value == pytest.approx(0.1152, rel=0.01)
    assert found.matrix.rows[1].cells[1].estimate == case.values["gain"][0]


def test_a_ratio_of_two_or_more_is_a_factor() -> None:
    (case, *_) = claimed(drawn(a=100, b=350)).cases
    assert case.case == "factor of time" and case.values["gain"][0].value == pytest.approx(3.5, rel=0.01)


def test_a_level_is_named_as_it_was_typed() -> None:
    values = claimed(drawn(n=100, g=110), factor="order").cases[0].values
    assert (values["who"], values["base"]) == ("order=g", "order=n")


def test_the_same_is_said_only_where_it_is_shown() -> None:
    alike, wide, coarse = two("normal", 40, 0.0), two("lognormal", 10, 0.0), two("ticks", 10, 0.0)
    assert alike.answered and alike.cases[0].case == "equivalent"
    assert not wide.answered and not coarse.answered
    assert wide.cases[0].case == "open" and wide.cases[0].values["who"] == ["new"]
    assert coarse.cases[0].case == "no ratio" and "too coarse" in coarse.cases[0].values["reason"]


def test_of_several_the_fastest_and_the_slowest_are_told() -> None:
    found = claimed(drawn(a=100, b=90, c=300))
    first, beside = found.cases
    assert (first.case, first.values["who"], first.values["n"]) == ("best", "b", 3)
    assert [name for name, _ in beside.values["higher"]] == ["c"] and not beside.values["left"]
    assert found.matrix and len(found.matrix.rows) == 3


@pytest.mark.parametrize(
    "found",
    [two("normal", 20, 0.04), two("normal", 40, 0.0), claimed(drawn(a=100, b=90, c=300)),
     claimed(drawn(**{f"v{n}": 100 + 20 * n for n in range(8)})),
     claimed(drawn(**{f"v{n:02d}": 100 + (n > 20) for n in range(40)}))],
)  # fmt: skip
def test_every_number_of_the_claim_is_a_cell_of_a_row_that_shows(found: Claim) -> None:
    check_numbers(found)


def test_two_modes_are_named_and_mark_the_cell() -> None:
    pair = two("modes", 40, 0.0)
    assert pair.cases[-1].case == "modes" and "old" in pair.cases[-1].values["who"]
    assert pair.matrix and "two modes" in pair.matrix.rows[0].cells[0].doubt


def test_a_clock_that_ticks_makes_the_interval_as_wide_as_it_hides() -> None:
    found = claimed({"a": np.array([120.0] * 11 + [130.0])})
    assert found.matrix
    typical = found.matrix.rows[0].cells[0].estimate
    assert typical and typical.high and typical.low and typical.high / typical.low > 1.08


def test_disturbed_runs_say_nothing_of_versions_and_a_failing_one_is_the_reason() -> None:
    times = {"a": np.full(5, 100.0) + np.arange(5), "b": np.full(5, 50.0) + np.arange(5)}
    assert claimed(times, "disturbed").sentences == ["No answer: 10 of 10 runs were disturbed."]
    found = claimed({"old": np.array([100.0, 101.0]), "broken": np.array([])})
    assert found.sentences == ["No answer: no other run than with old succeeded."] and not found.answered


def test_what_is_inconclusive_is_named_beside_what_is_slower() -> None:
    first, beside = claimed(drawn(a=100, b=110, c=(300, 2.0))).cases
    assert first.case == "none clearly better"
    assert [name for name, _ in beside.values["higher"]] == ["b"] and beside.values["left"] == ["c"]
    # Of too wide an interval only which is slower is told.
    cases = cases_of(claimed(drawn(a=100, b=(800, 0.6), c=(2000, 0.6))))
    assert [*cases] == ["none better", "beside"]
    assert cases["beside"]["higher"] == [("b or c (size uncertain)", [])]
