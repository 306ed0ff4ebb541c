"""Traces of subtasks in the page's data."""

from typing import Any

import pytest

from scalograph.protocol.findings import Findings, TaskTrace
from scalograph.report.html import page
from scalograph.report.payload import payload
from scalograph.report.traces import busy, in_words

from . import even_sample as sample

WHOLE: dict[str, Any] = {"start_us": [0, 1, 6], "end_us": [5, 10, 9], "worker": [0, 3, 0]}


def with_trace(**changes: Any) -> Findings:
    found = sample.two_factors()
    found.traces = [TaskTrace(run="r7", treatment={"workers": 2}, **(WHOLE | changes))]
    return found


def test_bars_stand_on_the_row_of_their_worker() -> None:
    (one,) = payload(with_trace())["traces"]
    assert (one["title"], one["workers"], one["row"]) == ("workers: 2", ["0", "3"], [0, 1, 0])
    assert (one["start"], one["length"], one["end"]) == ([0, 1, 6], [5, 9, 3], 10)
    assert one["busy"] == [80, 90]


def test_the_words_count_subtasks_workers_and_the_time_they_were_busy() -> None:
    (one,) = payload(with_trace())["traces"]
    assert one["words"].startswith(
        "3 subtasks of 5.67 \N{MICRO SIGN}s on average by 2 workers, who were busy for 85 % of"
    )


def test_a_trace_that_was_cut_says_so() -> None:
    cut = TaskTrace(run="r", treatment={}, start_us=[0] * 512, end_us=[1] * 512, worker=[0] * 512)
    assert in_words(cut).endswith("Only the first 512 are recorded.")


def test_time_that_two_subtasks_of_a_worker_share_counts_once() -> None:
    assert busy([(0, 10), (2, 3), (5, 12)]) == 12
    assert busy([(4, 5), (0, 1)]) == 2


def test_a_shot_without_length_is_no_error() -> None:
    (one,) = payload(with_trace(start_us=[0], end_us=[0], worker=[0]))["traces"]
    assert one["busy"] == [0]


@pytest.mark.parametrize("changes", [{"worker": [0, 1]}, {"end_us": [5, 0, 9]}, {"start_us": [-1, 1, 6]}])
def test_lists_that_disagree_are_not_drawn(changes: dict[str, Any]) -> None:
    assert payload(with_trace(**changes))["traces"] == []


def test_a_trace_alone_has_its_place_in_the_page() -> None:
    found = with_trace()
    found.break_even = None
    assert 'id="traces"' in page(found)
    found.traces = []
    assert 'id="traces"' not in page(found)
