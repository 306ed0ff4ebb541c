"""A search for a cliff on the page: an axis of ratios with the levels that were measured, and a band where it jumps."""

from math import log10

import pytest
from tests.kit.samples import full

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.findings import Claim, Findings, Matrix, MatrixCell, MatrixRow, Part
from scalograph.questions.cliff.chart import CAPTION, figures
from scalograph.questions.cliff.document import CliffDoc, Cliffs
from scalograph.report.payload import payload
from scalograph.text.axes import Factors


def sample() -> Findings:
    return full(2, (1, 2, 8, 512), 1)


def searched(**cliff: float) -> Findings:
    found = sample()
    factor = found.curves[0].factor
    told = CliffDoc(
        location=3.5, factor=(1.8, 2.0, 2.2), probability=0.99, gradual=0.0, **{"low": 3, "high": 4, **cliff}
    )
    one = Cliffs(factor=factor, decided=True, cliffs=[told], probability=0.99, n=17, least=1.2)
    return found.model_copy(update={"parts": {"cliff": Part(decided=True, data=one.model_dump(mode="json"))}})


def test_a_band_where_it_begins_and_is_over() -> None:
    found = searched()
    (family,) = payload(found, figures(found))["families"]
    (mark,) = family["shapes"]
    assert (mark["x0"], mark["x1"]) == (pytest.approx(log10(3), abs=1e-4), pytest.approx(log10(4), abs=1e-4))
    assert (mark["type"], mark["yref"]) == ("rect", "paper")
    assert all(measure["key"].endswith(CAPTION) for measure in family["measures"])
    (overlay,) = figures(searched(low=0))
    assert (overlay.shapes, overlay.caption) == ([], "") and figures(sample()) == []
    assert all(family["shapes"] == [] for family in payload(sample())["families"])


def test_only_curves_along_the_factor_that_was_searched_have_it() -> None:
    found = searched()
    factor = found.curves[0].factor
    axis = Factors(found, [factor])[factor].axis()
    assert axis["scale"] == "log" and axis["labels"] == ["1", "2", "8", "512"]
    some = [curve.model_copy(update={"points": curve.points[:3]}) for curve in found.curves]
    assert Factors(found.model_copy(update={"curves": some}), [factor])[factor].axis()["labels"] == ["1", "2", "8"]
    data = found.parts["cliff"].data
    assert data is not None
    data["factor"] = "another"
    assert all(family["shapes"] == [] for family in payload(found, figures(found))["families"])


def test_figure_and_matrix_have_one_unit() -> None:
    """By all its levels the figure would be in milliseconds; the matrix of the claim is in microseconds."""
    found = searched()
    (name, *_) = found.curves[0].points[0].responses
    unit = next(response.unit for response in found.study.responses if response.name == name)
    cells = [MatrixCell(estimate=Estimate(2e-6, 1.9e-6, 2.1e-6))]
    matrix = Matrix(title="t", unit=unit, columns=["below"], rows=[MatrixRow(label="3", cells=cells)])
    for claim, wanted in (
        (None, "ms"),
        (Claim(sentences=["So."], matrix=matrix, figure=f"response {name}"), "\N{MICRO SIGN}s"),
    ):
        (family,) = payload(found.model_copy(update={"claim": claim}), figures(found))["families"]
        assert next(m for m in family["measures"] if m.get("response") == name)["unit"] == wanted
