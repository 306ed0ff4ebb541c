"""A search for a cliff on the page: an axis of ratios with the levels that were measured, and a band where it jumps."""

from math import log10

import pytest

from scalograph.protocol.findings import CliffDoc, Cliffs, Findings
from scalograph.questions.cliff.figure import cliff_marks
from scalograph.report.axis import Factors
from scalograph.report.payload import payload

from .sample import full


def sample() -> Findings:
    return full(2, (1, 2, 8, 512), 1)


def searched(**cliff: float) -> Findings:
    found = sample()
    factor = found.curves[0].factor
    told = CliffDoc(
        location=3.5, factor=(1.8, 2.0, 2.2), probability=0.99, gradual=0.0, **{"low": 3, "high": 4, **cliff}
    )
    one = Cliffs(factor=factor, decided=True, cliffs=[told], probability=0.99, n=17, least=1.2)
    return found.model_copy(update={"cliffs": one})


def test_a_band_where_it_begins_and_is_over() -> None:
    found = searched()
    (mark,) = payload(found)["families"][0]["cliffs"]
    assert (mark["low"], mark["high"]) == (pytest.approx(log10(3), abs=1e-4), pytest.approx(log10(4), abs=1e-4))
    assert cliff_marks(found, "another") == []


def test_without_a_search_there_is_no_band() -> None:
    assert all(family["cliffs"] == [] for family in payload(sample())["families"])


def test_a_band_without_a_place_is_left_out() -> None:
    found = searched(low=0)
    assert cliff_marks(found, found.curves[0].factor) == []


def test_the_axis_is_of_ratios_and_of_measured_levels() -> None:
    found = searched()
    factor = found.curves[0].factor
    axis = Factors(found)[factor].axis()
    assert axis["scale"] == "log" and axis["labels"] == ["1", "2", "8", "512"]
    some = [curve.model_copy(update={"points": curve.points[:3]}) for curve in found.curves]
    assert Factors(found.model_copy(update={"curves": some}))[factor].axis()["labels"] == ["1", "2", "8"]
