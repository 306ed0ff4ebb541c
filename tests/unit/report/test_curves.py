"""Curves as the page gets them: points in order, laws and the ideal beneath them, and what makes panels."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.kit import samples

from scalograph.analysis.estimate import Estimate, Flag
from scalograph.protocol.findings import BaselineDoc, Curve, Findings, LawDoc, PointResponse
from scalograph.protocol.plain import Level
from scalograph.report.families import arrangement, law_line
from scalograph.report.payload import payload
from scalograph.report.underlays import NAME, OWN, legend, speedup_underlays
from scalograph.text.axes import Factors, Levels, axis_position


def curves(findings: Findings) -> list[dict[str, Any]]:
    (family,) = payload(findings)["families"]
    found: list[dict[str, Any]] = family["curves"]
    return found


def test_the_ideal_grows_with_cpus_and_with_workers_until_each_has_one() -> None:
    findings = samples.small()
    for point in findings.curves[1].points:
        point.n_cpus = 1
    on_two, on_one = curves(findings)
    assert [point["ideal"] for point in on_two["points"]] == [1.0, 2.0, 2.0]
    assert [point["ideal"] for point in on_one["points"]] == [1.0, 1.0, 1.0]
    findings = samples.small()
    findings.study.baseline = BaselineDoc(factor="cpus", level=1)
    one = findings.curves[1]
    one.factor, one.group = "cpus", {"threads": 8, "lock": "none", "quantum": "large"}
    for point, cpus in zip(one.points, (1, 2, 4), strict=True):
        point.level = point.n_cpus = cpus
    findings.curves = [one]
    assert [point["ideal"] for point in curves(findings)[0]["points"]] == [1.0, 2.0, 4.0]


def test_points_stand_in_the_order_of_the_axis_and_downloads_have_levels_as_they_are() -> None:
    findings = samples.small()
    findings.study.factors[0].levels = [512, 1, 8]
    (family,) = payload(findings)["families"]
    for curve in family["curves"]:
        at = [family["axis"]["at"][point["level"]] for point in curve["points"]]
        assert len(at) == 3 and at == sorted(at)
    findings = samples.small()
    findings.study.factors[1].unit = "CPUs"
    factor = payload(findings)["factors"]["cpus"]
    assert (factor["levels"], factor["raw"], factor["unit"]) == (["1 CPUs", "2 CPUs"], [1, 2], "CPUs")


def test_of_two_runs_the_range_is_drawn_and_no_interval() -> None:
    findings = samples.small()
    wide = Estimate(value=2.0, low=0.1, high=40.0, n=2)
    findings.curves[0].points[0].responses["wall"] = PointResponse(
        estimate=wide, scores=[1.6, 9.0, 2.5], runs=["a", "b", "c"], left_out=["b"]
    )
    value = curves(findings)[0]["points"][0]["values"]["response wall"]
    assert value[1] / value[0] == pytest.approx(0.8) and value[2] / value[0] == pytest.approx(1.25)
    assert value[3].endswith("both runs")


def test_what_is_the_same_everywhere_is_a_sentence_and_the_rest_stands_in_order() -> None:
    findings = samples.small()
    for point in (p for curve in findings.curves for p in curve.points):
        one = Estimate(value=2.0, low=2.0, high=2.0, n=3)
        point.responses["cpu"] = PointResponse(estimate=one, scores=[2.0] * 3)
    (family,) = payload(findings)["families"]
    assert "CPU time: 2,000 ms" in family["fixed"]
    assert [m["id"] for m in family["measures"]] == ["response wall", "speedup", "efficiency", "serial_fraction"]
    assert all(len(m["key"].split()) <= 12 for m in family["measures"])
    assert family["measures"][0]["key"].startswith("Lower is better.")


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


def test_a_line_ends_a_little_beyond_a_logarithmic_axis_and_with_its_categories() -> None:
    found = drawn([1, 2, 4, 8])
    assert found is not None and found["at"] == pytest.approx([0, 0.30103, 0.60206, 0.90309, 1.0])
    assert found["inside"] == 4 and found["high"][-1] is None
    assert found["optimum"]["at"] == pytest.approx(1.0) and found["optimum"]["value"] == 5.0
    assert found["words"] == "N* = 10.0 [9.0, 12.0]" and found["sizes"][-1] == "10"
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
def test_a_law_that_does_not_hold_is_not_drawn(flag: Flag) -> None:
    assert drawn([1, 2, 4, 8], flags=[Flag("bound of zero", "kappa on the bound of zero: at most"), flag]) is None


LAW: dict[str, Any] = {
    "at": [0.0, 1.0, 2.0, 3.0], "sizes": ["1", "2", "4", "8"], "fitted": [1.0, 1.9, 3.4, 3.0],
    "low": [1.0, 1.8, 3.0, None], "high": [1.0, 2.0, 3.8, None], "amdahl": [1.0, 1.9, 3.3, 5.0], "inside": 3,
    "optimum": {"at": 2.0, "low": 1.5, "high": None, "value": 3.4, "open": True}, "words": "N* = 4",
}  # fmt: skip
IDEAL = [(0.0, 1.0), (1.0, 2.0), (2.0, None)]


def of(kind: str, **changes: Any) -> dict[str, Any]:
    return next(one for one in speedup_underlays({**LAW, **changes}, IDEAL) if one["of"] == kind)


def test_a_law_is_solid_over_its_band_and_dotted_beyond_the_data() -> None:
    found = of("fitted")
    band, within, beyond, optimum = found["traces"]
    assert band["fill"] == "toself" and band["fillcolor"] == f"{OWN}/0.1"
    assert (within["x"], within["line"]["dash"]) == ([0.0, 1.0, 2.0], "solid")
    assert (beyond["x"], beyond["line"]["dash"]) == ([2.0, 3.0], "2px,3px")
    assert within["hovertext"][1].startswith(NAME) and "1.90 [1.80, 2.00]" in within["hovertext"][1]
    assert optimum["error_x"]["array"] == [0.0] and optimum["error_x"]["arrayminus"] == [0.5]
    assert found["said"] == "dotted: beyond the data" and found["reach"] == [1.0, 3.4, 1.0, 3.8]


def test_an_optimum_further_out_and_an_ideal_stand_where_they_can() -> None:
    *_, words = of("fitted", optimum=None)["traces"]
    assert words["mode"] == "text" and words["x"] == [3.0] and words["text"] == ["N* = 4"]
    assert of("fitted", optimum=None, words="")["traces"][-1]["mode"] == "lines"
    assert of("ideal")["traces"][0]["x"] == [0.0, 1.0]
    assert [one["of"] for one in speedup_underlays(None, IDEAL[:1])] == []
    assert all(one["measure"] == "speedup" for one in speedup_underlays(LAW, IDEAL))


@pytest.mark.parametrize(("n_lines", "shown"), [(3, [True, False, True]), (4, [False, False, True])])
def test_laws_of_many_lines_wait_until_they_are_asked_for(n_lines: int, shown: list[bool]) -> None:
    paper = {"of": "p0", "shown": True}
    found = legend([{"under": speedup_underlays(LAW, IDEAL)}], n_lines, [paper])
    assert [one["of"] for one in found] == ["fitted", "amdahl", "ideal", "p0"]
    assert [one["shown"] for one in found] == [*shown, True]


def arranged(*n_levels: int) -> dict[str, Any]:
    """Curves of every combination of so many levels of the factors a, b and c."""
    names = "abc"[: len(n_levels)]
    groups: list[tuple[int, ...]] = [()]
    for n in n_levels:
        groups = [(*group, level) for group in groups for level in range(n)]
    titles = {name: SimpleNamespace(title=name.upper()) for name in names}
    return arrangement(list(names), [{"group": group} for group in groups], cast(Factors, titles))


def test_curves_that_differ_by_one_factor_leave_nothing_to_choose() -> None:
    found = arranged(3)
    assert found == {"used": {"a": [0, 1, 2]}, "panels": {"a": {"first": "all", "choices": []}}}
    assert arrangement([], [{"group": ()}], cast(Factors, {}))["panels"][""] == {"first": "all", "choices": []}


@pytest.mark.parametrize(("levels", "first", "choices"), [
    ((2, 3, 4), "all", ["all", "b", "c"]),
    ((2, 4, 12), "c", ["all", "b", "c", "none"]),
    ((2, 5, 13), "b", ["b", "c", "none"]),
    ((2, 13, 49), "none", ["b", "none"]),
])  # fmt: skip
def test_panels_are_few_or_one_factor_makes_them(levels: tuple[int, ...], first: str, choices: list[str]) -> None:
    found = arranged(*levels)["panels"]["a"]
    assert (found["first"], [value for value, _ in found["choices"]]) == (first, choices)
    assert dict(found["choices"]).get("all", "B \N{MULTIPLICATION SIGN} C") == "B \N{MULTIPLICATION SIGN} C"
