"""Curves as the page gets them: the ideal beneath a speedup, and points in the order of the axis."""

from typing import Any

import pytest
from tests.kit import samples

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.findings import BaselineDoc, Findings, PointResponse
from scalograph.report.payload import payload


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
