"""When the rule passes, and when it waits."""

import pytest

from scalograph.analysis.stopping import SEQUENTIAL, Stopping, half_width
from scalograph.study.check_question import FEWEST


def test_waits_for_half_of_the_plan_and_at_least_eight() -> None:
    assert Stopping(0.01, 10).first_look == 8
    assert Stopping(0.01, 100).first_look == 50
    still = [1.0, 1.0001] * 30
    assert not Stopping(0.01, 100).is_precise(still[:50])
    assert Stopping(0.01, 100).is_precise(still[:51])


def test_must_pass_twice_in_a_row() -> None:
    rule = Stopping(0.02, 16)
    wide = [1.0, 1.2, 1.0, 1.2, 1.0, 1.2, 1.0, 1.2]
    scores = [*wide, *[1.1] * 200]
    passed = [n for n in range(9, len(scores)) if rule.is_precise(scores[:n])]
    first = next(n for n in range(9, len(scores)) if (half_width(scores[:n]) or 1) <= 0.02)
    assert passed[0] == first + 1


@pytest.mark.parametrize("scores", [[], [1.0], [0.0] * 20, [-1.0] * 20, [float("nan")] * 20])
def test_what_has_no_interval_is_never_enough(scores: list[float]) -> None:
    assert not Stopping(0.5, 8).is_precise(scores)
    assert half_width(scores) is None


def test_says_that_it_was_stopped_sequentially() -> None:
    assert SEQUENTIAL in Stopping(0.01, 16).estimate([1.0, 1.01] * 5).warnings


def test_says_what_was_asked_for_and_not_reached() -> None:
    (told, *_) = [w for w in Stopping(0.01, 16).estimate([1.0, 1.1] * 5).warnings if "asked" in w]
    assert told == "+-1 % was asked for, +-3.6 % reached after 10 runs"
    assert SEQUENTIAL not in Stopping(0.01, 16).estimate([1.0, 1.1] * 5).warnings


def test_an_interval_as_narrow_as_asked_is_no_failure_whatever_ended_its_runs() -> None:
    rule, scores = Stopping(0.01, 16), [1.0, 1.001] * 3
    (told, *_) = [w for w in rule.estimate(scores).warnings if "asked" in w]
    assert told == "+-0.057 % reached after 6 runs, as narrow as asked (+-1 %); no rule ended them"
    assert (
        not rule.misses_precision(scores) and rule.misses_precision([1.0, 1.1] * 5) and not rule.misses_precision([1.0])
    )


def test_a_study_may_ask_for_as_few_runs_as_can_end_it() -> None:
    still = [1.0, 1.0001] * 8
    assert Stopping(0.01, FEWEST).is_precise(still[:FEWEST])
    assert not any(Stopping(0.01, FEWEST - 1).is_precise(still[:n]) for n in range(FEWEST))
