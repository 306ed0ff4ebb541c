"""What was published of both sides of the cliff: on the printed times it holds, on a machine without a cliff not."""

from collections.abc import Mapping

import pytest

from scalograph.study.scalars import Level
from tests.published.claims import decided, decisions

# Wall and CPU time as printed; system time was not: what is more than the work takes is taken for it.
PRINTED = {128: (22.9528, 44, 0.5), 220: (25.6498, 50, 6), 250: (45.8306, 89, 45), 512: (47.108, 92, 48)}
STUDY, CLAIMS = "thread-cliff-sides", ("S0-8b", "S0-8c", "S0-10")


def printed(configuration: Mapping[str, Level]) -> dict[str, float]:
    wall, cpu, system = PRINTED[int(configuration["threads"])]
    return {"wall": wall, "cpu": cpu, "system": system}


@pytest.mark.parametrize("quick", [False, True], ids=["in full", "quick"])
def test_the_printed_times_bear_the_claims_out(quick: bool) -> None:
    shown = decided(STUDY, printed, quick=quick)
    assert {name: claim.decision for name, claim in shown.items()} == dict.fromkeys(CLAIMS, "holds")
    values = [figure.here.value for name in CLAIMS[:2] for figure in shown[name].figures if figure.here]
    assert values == pytest.approx([1.787, 1.78], abs=0.01)


@pytest.mark.parametrize("n_cpus", [2, 16])
def test_threads_that_only_cost_their_creation(n_cpus: int) -> None:
    def even(configuration: Mapping[str, Level]) -> dict[str, float]:
        cost = 0.00025 * int(configuration["threads"])
        return {"wall": 2 + cost, "cpu": 4 + cost, "system": 0.1 + cost}

    assert set(decisions(STUDY, even, n_cpus=n_cpus).values()) == {"does not hold"}
