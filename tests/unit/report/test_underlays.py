"""What stands under a curve: a law dotted beyond the data, its optimum, the ideal; and what of it is shown at first."""

from typing import Any

import pytest

from scalograph.report.underlays import NAME, OWN, legend, speedup_underlays

LAW: dict[str, Any] = {
    "at": [0.0, 1.0, 2.0, 3.0], "sizes": ["1", "2", "4", "8"], "fitted": [1.0, 1.9, 3.4, 3.0],
    "low": [1.0, 1.8, 3.0, None], "high": [1.0, 2.0, 3.8, None], "amdahl": [1.0, 1.9, 3.3, 5.0], "inside": 3,
    "optimum": {"at": 2.0, "low": 1.5, "high": None, "value": 3.4}, "words": "N* = 4",
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
