"""Published tables against each other: what the paper's figures say, without a verdict."""

import pytest

from scalograph.exchange.compare.compare_claim import compare_claim
from scalograph.exchange.compare.published_source import published_source
from scalograph.exchange.compare.result_answer import compare_sources


def test_windows_against_os_x() -> None:
    found = compare_sources(published_source("published:8"), [published_source("published:15")])
    (one,) = found.results
    ratios = {configuration.levels["threads"]: configuration.ratio.value or 0 for configuration in one.configurations}
    assert 1 / ratios[1] == pytest.approx(1.52, abs=0.005)
    middle = [ratios[n] for n in (2, 8, 32, 128)]
    assert (min(middle), max(middle)) == pytest.approx((1.06, 1.23), abs=0.005)
    assert ratios[512] == pytest.approx(2.08, abs=0.005)
    assert one.answer == "inconclusive"
    assert [(d.what, d.reference, d.other) for d in one.differences] == [("os", "Windows XP", "Mac OS X 10.4.8")]
    first, second = compare_claim(found).cases
    assert (first.case, second.case) == ("refused", "values")
    assert [e.value for e in second.values["values"]] == pytest.approx([1 / 1.52, 2.08], abs=0.005)


def test_disturbed_runs_alone_give_no_figure_to_lead_with() -> None:
    found = compare_sources(published_source("published:8"), [published_source("published:15")])
    (one,) = found.results
    lost = [ratio.model_copy(update={"doubt": "includes disturbed runs"}) for ratio in one.configurations]
    busy = one.model_copy(update={"configurations": lost, "why": "a: 9 of 9 runs were disturbed"})
    told = compare_claim(found.model_copy(update={"results": [busy]}))
    assert told.sentences == ["Inconclusive: a: 9 of 9 runs were disturbed."]


def test_rows_are_chosen_by_their_columns() -> None:
    found = published_source("published:parallel-build:smp=smp,scheduler=ule,tree=full")
    assert [configuration.levels["jobs"] for configuration in found.configurations] == [1, 2, 4, 8]
    assert found.response.name == "wall" and found.is_printed
