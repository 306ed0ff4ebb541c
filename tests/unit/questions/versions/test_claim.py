"""The A/B answer: what is said of versions whose truth is known, and the numbers that stand beside it."""

import numpy as np
import pytest

from scalograph.cli.command_line_study.declaration import CommandStudy, study_text
from scalograph.findings.row import Row
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim
from scalograph.questions.assemble import findings
from scalograph.simulate.two_studies import Kind, blocks, session
from scalograph.study.load import parse

SETUP = ("p", "plain", "cgroup", "", "")


def claimed(times: dict[str, np.ndarray], verdict: str = "clean") -> Claim:
    """The claim of a command in versions, of which the first is the reference."""
    study = parse(study_text(CommandStudy(("p-{version}",), {"version": ",".join(times)})))
    rows = [
        Row(
            f"{name}{i}", i, i, False, {"version": name}, "ok", None, verdict, (), {}, {"wall": took / 1000},
            wall_s=1.0, setup=SETUP,
        )
        for name, all_times in times.items() for i, took in enumerate(map(float, all_times))
    ]  # fmt: skip
    n_runs = [len(all_times) for all_times in times.values()]
    found = findings(Table(study, "h", {}, [{"version": name} for name in times], n_runs, rows))
    assert found.claim is not None
    assert len(times) == 1 or not any("visible" in point for point in found.trust.points)  # the claim tells that
    return found.claim


def two(kind: Kind, n: int, effect: float, seed: int = 3) -> Claim:
    new, old = blocks(np.random.default_rng(seed), kind, n, effect)
    return claimed({"old": old, "new": new})


def test_a_gain_is_told_with_its_interval_and_the_matrix_that_carries_it() -> None:
    found = two("normal", 20, 0.04)
    assert found.answered and found.sentences[0].startswith("new takes ")
    assert " % less time than old [" in found.sentences[0]
    assert found.matrix and [row.label for row in found.matrix.rows] == ["old", "new"]
    times = [row.cells[0].estimate for row in found.matrix.rows]
    assert times[1] and times[1].value == pytest.approx(0.1152, rel=0.01)


def test_the_same_is_said_only_where_it_is_shown() -> None:
    alike, open_, alone = two("normal", 40, 0.0), two("lognormal", 10, 0.0), two("ticks", 10, 0.0)
    assert alike.answered and "the same time within 0" in alike.sentences[0].replace("within 1", "within 0")
    for found in (open_, alone):
        assert not found.answered and found.sentences[0].startswith("Cannot be said: ")
    assert "are visible" in open_.sentences[0] and "too coarse" in alone.sentences[0]


def test_two_modes_are_named_with_shares_and_mark_the_cell() -> None:
    found = claimed({"a": session(np.random.default_rng(1), "modes", 40)})
    assert found.sentences[0].startswith("Runs have two modes: ") and " near " in found.sentences[0]
    pair = two("modes", 40, 0.0)
    assert any("two modes" in text for text in pair.sentences)
    assert pair.matrix and pair.matrix.rows[0].cells[0].doubt


def test_a_clock_that_ticks_makes_the_interval_as_wide_as_it_hides() -> None:
    found = claimed({"a": np.array([120.0] * 11 + [130.0])})
    assert found.matrix
    typical = found.matrix.rows[0].cells[0].estimate
    assert typical and typical.high and typical.low and typical.high / typical.low > 1.08


def drawn(n: int, **kinds: tuple[float, float]) -> dict[str, np.ndarray]:
    """Times of versions, each about its typical one, with a standard deviation of their logs."""
    rng = np.random.default_rng(5)
    return {name: typical * np.exp(rng.normal(0, sd, n)) for name, (typical, sd) in kinds.items()}


def test_of_several_the_fastest_and_the_slowest_are_told() -> None:
    found = claimed(drawn(10, a=(100, 0.005), b=(90, 0.005), c=(300, 0.005)))
    assert found.sentences[0].startswith("The fastest (b) takes ") and "the worst (c) " in found.sentences[0]
    assert found.matrix and len(found.matrix.rows) == 3
    # An end that is not resolved leaves no gap in the sentence.
    (text, *_) = claimed(drawn(10, a=(100, 0.005), b=(110, 0.005), c=(300, 2.0))).sentences
    assert text.startswith("None is shown to be faster than a") and ", ." not in text and "; ." not in text
    # Of too wide an interval only which is slower is told.
    (text, *_) = claimed(drawn(8, a=(100, 0.005), b=(800, 0.6), c=(2000, 0.6))).sentences
    more = "the best (b) takes more time (by how much is not resolved), the worst (c) "
    assert text.startswith(f"None is faster than a: {more}")


def test_disturbed_runs_say_nothing_of_versions_and_a_failing_one_is_the_reason() -> None:
    times = {"a": np.full(5, 100.0) + np.arange(5), "b": np.full(5, 50.0) + np.arange(5)}
    assert claimed(times, "disturbed").sentences[0].startswith("Cannot be said: 10 of 10 runs")
    found = claimed({"old": np.array([100.0, 101.0]), "broken": np.array([])})
    assert found.sentences == ["Cannot be said: no other run than with old succeeded."] and not found.answered
