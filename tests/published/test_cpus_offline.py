"""Mask against offline: the study tells a difference where there is one, and that there is none where there is none."""

import pytest

from tests.published.claims import found


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize(("slower", "is_told"), [(1.0, False), (1.3, True)])
def test_the_way_to_one_cpu_matters_only_where_it_does(slower: float, is_told: bool, quick: bool) -> None:
    offline = {"wall": 0.6 * slower, "visible_cpus": 1.0, "online_cpus": 1.0}
    masked = {"wall": 0.6, "visible_cpus": 1.0, "online_cpus": 2.0}
    claim = found("cpus-offline", lambda t: masked if t["online"] is False else offline, quick=quick).claim
    assert claim is not None and claim.answered
    assert ("CPUs online" in claim.sentences[0]) == is_told, claim.sentences
