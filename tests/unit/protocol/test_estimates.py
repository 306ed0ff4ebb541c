"""An estimate is its own document: in a field and in a cell, written and read back."""

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.findings import Column, PointResponse, TableDoc

KNOWN = Estimate(2.0, 1.5, 2.5, 0.95, 5, "an example", ("a warning",))


def test_a_field_is_read_back_as_it_was() -> None:
    written = PointResponse(estimate=KNOWN)
    assert PointResponse.model_validate_json(written.model_dump_json()) == written


def test_what_an_older_version_left_out_is_unknown_and_what_a_later_one_adds_is_ignored() -> None:
    read = PointResponse.model_validate_json('{"estimate": {"value": 2, "beyond": 3}}')
    assert read.estimate == Estimate(value=2.0)


def test_a_cell_is_read_back_as_it_was_and_what_only_resembles_an_estimate_stays() -> None:
    rows = [[KNOWN], [None], [{"value": "no number"}]]
    written = TableDoc(id="t", title="", columns=[Column(name="x", kind="estimate")], rows=rows)
    assert TableDoc.model_validate_json(written.model_dump_json()).rows == rows
