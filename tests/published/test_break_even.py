"""The published point of break-even, decided by the surface of machines of which the line is known."""

from collections.abc import Mapping

import pytest

from scalograph.study.scalars import Level
from tests.published.claims import decided, found


def times(configuration: Mapping[str, Level], n_even: float, cpus: int = 32) -> dict[str, float]:
    """A pool that pays from so many elements of cost 58 on with 32 workers; its start and its workers cost time."""
    n, p = int(configuration["n"]) * int(configuration["q"]) / 58, int(configuration["p"])
    if configuration["version"] == "sequential":
        return {"wall": n * 1e-7}
    gain = 1 - 1 / min(32, cpus)
    lost = n_even * gain * (p / 32) ** 0.5
    return {"wall": (n / min(p, cpus) + lost) * 1e-7}


@pytest.mark.parametrize(("n_even", "decision"), [(3000, "holds"), (12_000, "does not hold"), (900, "does not hold")])
def test_whether_3000_elements_break_even_with_32_workers(n_even: float, decision: str) -> None:
    claim = decided("break-even", lambda t: times(t, n_even), n_cpus=32, quick=True)["S2-7"]
    assert claim.decision == decision
    (figure,) = claim.figures
    assert figure.published == 0.96 and figure.here and figure.here.value
    truth = times({"version": "sequential", "n": 3000, "q": 58, "p": 32}, n_even)["wall"]
    truth /= times({"version": "stream", "n": 3000, "q": 58, "p": 32}, n_even)["wall"]
    assert figure.here.value == pytest.approx(truth, rel=0.08)


def test_two_cpus_show_the_point_and_decide_nothing() -> None:
    claim = decided("break-even", lambda t: times(t, 18_000, cpus=2), n_cpus=2, quick=True)["S2-7"]
    assert claim.decision == "cannot be seen here" and claim.why == "it needs 32 CPUs, this machine has 2"
    assert claim.figures[0].here and (claim.figures[0].here.value or 1) < 0.5


@pytest.mark.parametrize("name", ["break-even", "break-even-clients"])
def test_the_quick_form_finds_its_line(name: str) -> None:
    def figures(configuration: Mapping[str, Level]) -> dict[str, float]:
        shown = times({"q": 58, **configuration}, 9000, cpus=2)
        clients = int(configuration.get("clients", 1))
        return {"wall": shown["wall"] * (max(1.0, clients / 2) if configuration["version"] == "stream" else 1.0)}

    made = found(name, figures, n_cpus=2, quick=True, noise=0.05)
    assert made.parts["break-even"].decided
    assert made.runs.n_done <= 100  # at most 3 s each: five minutes
