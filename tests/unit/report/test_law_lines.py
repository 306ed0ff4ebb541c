"""Laws as the page gets them: places on every kind of axis, words for the optimum, and nothing past the lines."""

from typing import Any

import pytest

from scalograph.analysis.estimate import Estimate, Flag
from scalograph.protocol.findings import Curve, LawDoc
from scalograph.protocol.plain import Level
from scalograph.report.families import law_line
from scalograph.text.axes import Levels, axis_position


def law(**changes: Any) -> LawDoc:
    none = Estimate()
    sizes = [1.0, 2.0, 4.0, 8.0, 10.0, 20.0]
    columns = {
        "fitted": [1, 1.9, 3.4, 5.2, 5.0, 4.0],
        "low": [1, 1.8, 3.3, 5.0, 4.0, 3.0],
        "high": [1, 2.0, 3.5, 5.4, None, None],
    }
    best = Estimate(value=10.0, low=9.0, high=12.0)
    given = {"sigma": none, "kappa": none, "gamma": none, "twice": none, "optimum": best, "largest": 8, "sizes": sizes}
    return LawDoc(**{**given, **columns, **changes})


def drawn(levels: list[Level], **changes: Any) -> dict[str, Any] | None:
    return law_line(Curve(group={}, factor="n", points=[], law=law(**changes)), Levels("n", "n", "", levels))


def test_a_logarithmic_axis_holds_the_line_and_a_little_of_what_lies_beyond() -> None:
    found = drawn([1, 2, 4, 8])
    assert found is not None and found["at"] == pytest.approx([0, 0.30103, 0.60206, 0.90309, 1.0])
    assert found["inside"] == 4 and found["high"][-1] is None
    assert found["optimum"]["at"] == pytest.approx(1.0) and found["optimum"]["value"] == 5.0
    assert found["words"] == "N* = 10.0 [9.0, 12.0]" and found["sizes"][-1] == "10"


def test_an_axis_of_categories_ends_with_its_levels() -> None:
    found = drawn([1, 2, 3, 5, 6, 7])
    assert found is not None and found["at"][0] == 1
    place = axis_position(Levels("n", "n", "", [10, 11, 24, 25]))
    assert place(24.5) == 2.5 and place(26) is None
    short = drawn([10, 11, 24, 25], sizes=[10.0, 11.0, 24.0, 25.0, 50.0], largest=25)
    assert short is not None and short["at"] == [0, 1, 2, 3] and len(short["fitted"]) == 4


def test_an_optimum_is_drawn_within_the_line_and_told_further_out() -> None:
    far = drawn([1, 2, 4, 8], optimum=Estimate(value=40.0, low=30.0, high=60.0))
    assert far is not None and far["optimum"] is None and far["words"].startswith("N* = 40")
    open_ = drawn([1, 2, 4, 8], optimum=Estimate(low=20.2))
    assert open_ is not None and open_["optimum"] is None and open_["words"] == "N* > 20.2"
    none = drawn([1, 2, 4, 8], optimum=Estimate())
    assert none is not None and none["words"] == ""
    found = drawn([1, 2, 4, 8], optimum=Estimate(value=9.0, low=5.0, high=80.0))
    assert found is not None and found["optimum"]["high"] == found["at"][-1]
    assert law_line(Curve(group={}, factor="n", points=[]), Levels("n", "n", "", [1, 2])) is None
    assert drawn([1, 2, 4, 8], sizes=[1.0]) is None


@pytest.mark.parametrize(
    "flag",
    [Flag("lack of fit", "lack of fit: the points differ"), Flag("superlinear", "superlinear at 2, 4: more than")],
)
def test_a_law_that_does_not_hold_has_no_optimum(flag: Flag) -> None:
    found = drawn([1, 2, 4, 8], flags=[Flag("bound of zero", "kappa on the bound of zero: at most"), flag])
    assert found is not None and found["optimum"] is None and found["words"] == flag.code
