"""The claims about surfaces, decided on runs of which it is known how the workers shared the CPUs."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from scalograph.cli.analyze_steps import analyze
from scalograph.protocol.published_claim import Decision
from scalograph.study.declare import declare_shipped
from tests.kit import RECORDED
from tests.published.claims import Figures, decisions, holding

Times = Callable[[int, int], float]


def processes(time: Times) -> Figures:
    return lambda t: {"wall": 0.1 * time(int(t["processes"]), int(t["cpus"])), "cpu": 0.1 * int(t["processes"])}


def carried(cap: Callable[[int, int], int]) -> Figures:
    """Threads in rounds of as many as run at once: a function of carriers (0: none told) and CPUs."""
    return lambda t: {"wall": 0.06 * math.ceil(int(t["threads"]) / cap(int(t["carriers"]), int(t.get("cpus", 12))))}


@pytest.mark.parametrize(("time", "n_cpus", "proportional", "flat"), [
    (lambda n, m: max(1.0, n / m), 2, "holds", "holds"),
    (lambda n, m: max(1.0, n / m) * (1 + 0.01 * n), 2, "does not hold", "holds"),
    (lambda n, m: n / min(m, 1.5), 2, "holds", "does not hold"),
    (lambda n, m: n / m, 1, "holds", "not testable here"),
], ids=["shared in turns", "each process slows all others", "two CPUs are worth 1.5", "one CPU"])  # fmt: skip
def test_processes(time: Times, n_cpus: int, proportional: Decision, flat: Decision) -> None:
    shown = decisions("cpu-surface", processes(time), n_cpus=n_cpus, quick=True)
    assert (shown["S1-1"], shown["S1-5a"], shown["S1-6"]) == (proportional, flat, flat)


@pytest.mark.parametrize(("figures", "broken"), [
    (carried(lambda carriers, cpus: 2), set()),
    (carried(lambda carriers, cpus: 4), {"S1-8b"}),
    (lambda t: {"wall": 0.06 * max(1, int(t["threads"]) / 2)}, {"S1-8b", "S1-8c", "S1-8d"}),
], ids=["two", "four", "in turns, which climb no stairs"])  # fmt: skip
def test_threads_on_two_kernel_threads(figures: Figures, broken: set[str]) -> None:
    shown = decisions("virtual-carriers", figures, quick=True)
    assert holding(shown, "does not hold") == broken
    # What the two carriers of the study are to show is no finding where it holds.
    assert holding(shown, "demonstration") | broken == shown.keys() == {"S1-8a", "S1-8b", "S1-8c", "S1-8d"}


@pytest.mark.parametrize(("n_cpus", "cap", "shown"), [
    (4, lambda k, m: min(k or m, m), {"S1-9": "holds", "S1-10c": "holds"}),
    (4, lambda k, m: m, {"S1-9": "does not hold", "S1-10c": "holds"}),
    (2, lambda k, m: min(k or m, m), {"S1-9": "not testable here", "S1-10c": "holds"}),
], ids=["capped", "not capped", "on two CPUs"])  # fmt: skip
def test_a_cap_below_the_cpus(n_cpus: int, cap: Callable[[int, int], int], shown: dict[str, Decision]) -> None:
    assert decisions("capped-jvm", carried(cap), n_cpus=n_cpus, quick=True).items() >= shown.items()


@pytest.mark.parametrize(("up", "cycles"), [(0.33, 1.0), (0.66, 2.0)], ids=["a cycle either way", "two cycles up"])
def test_how_many_cycles_a_loop_takes_is_a_property_of_the_cpu(up: float, cycles: float) -> None:
    count = {"up": up, "down": 0.33}
    found = decisions(
        "cpu-surface-loop", lambda t: {"wall": 0.03, "count": count[str(t["direction"])], "cycles": cycles}, quick=True
    )
    compared = {"S1-2": "not comparable", "S1-3b": "not comparable"}
    assert found == {"S1-3a": "not testable here", "S1-4": "not testable here", **compared}


@pytest.mark.parametrize(("compiled", "interpreted", "shown"), [
    (1.94, 18.9, {"S1-7a": "holds", "S1-7b": "holds"}),
    (1.0, 12.0, {"S1-7a": "does not hold", "S1-7b": "does not hold"}),
], ids=["as published", "a compiler as good as that of C"])  # fmt: skip
def test_java_over_c(compiled: float, interpreted: float, shown: dict[str, Decision]) -> None:
    def figures(configuration: Mapping[str, Any]) -> dict[str, float]:
        times = compiled if configuration["options"] == "" else interpreted
        return {"cpu": 0.06 * (times if configuration["version"] == "java" else 1.0), "wall": 1.0}

    assert decisions("cpu-surface-versions", figures, quick=True) == shown


@pytest.mark.parametrize(("side_by_side", "n_cpus", "decision"), [
    (2, 2, "holds"), (1, 2, "does not hold"),
    (16, 16, "not measured"),  # eight threads say nothing of the ridge of sixteen CPUs
])  # fmt: skip
def test_java_threads(side_by_side: int, n_cpus: int, decision: Decision) -> None:
    def figures(configuration: Mapping[str, Any]) -> dict[str, float]:
        return {"wall": 0.1 * max(1.0, configuration["threads"] / min(side_by_side, configuration["cpus"]))}

    shown = decisions("cpu-surface-java", figures, n_cpus=n_cpus, quick=True)
    assert shown == {"S1-10a": decision, "S1-10b": decision}


def test_a_count_of_which_a_quick_form_planned_one_level_is_named() -> None:
    """A quick form of before had two JVMs alone; that of now has one, two and four."""
    declared = declare_shipped("database-page", quick=True)
    left_out = "the quick form leaves out levels of JVMs: run the full form"
    early = (RECORDED / "database-page-two-jvms", "not measured", left_out)
    now = (declared.folder / "example", "inconclusive", "inconclusive where the plateau begins")
    for folder, decision, reason in (early, now):
        found, _ = analyze(folder, declared, keep=False)
        claims = {claim.id: (claim.decision, claim.why) for claim in found.published_claims}
        assert claims["S1-12c"] == ("holds", "")
        assert claims["S1-12a"] == (decision, reason)
