"""The claims about surfaces, decided on runs of which it is known how the workers shared the CPUs."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from scalograph.protocol.published_claim import Decision
from scalograph.study.scalars import Level
from tests.published.claims import decisions

Times = Callable[[int, int], float]


def processes(time: Times) -> Callable[[Mapping[str, Level]], dict[str, float]]:
    def figures(configuration: Mapping[str, Any]) -> dict[str, float]:
        return {
            "wall": 0.1 * time(configuration["processes"], configuration["cpus"]),
            "cpu": 0.1 * configuration["processes"],
        }

    return figures


def carried(cap: Callable[[int, int], int]) -> Callable[[Mapping[str, Level]], dict[str, float]]:
    """Threads in rounds of as many as run at once: a function of carriers (0: none told) and CPUs."""

    def figures(configuration: Mapping[str, Any]) -> dict[str, float]:
        at_once = cap(configuration["carriers"], configuration.get("cpus", 12))
        return {"wall": 0.06 * math.ceil(configuration["threads"] / at_once)}

    return figures


@pytest.mark.parametrize(("time", "proportional", "flat"), [
    (lambda n, m: max(1.0, n / m), "holds", "holds"),
    (lambda n, m: max(1.0, n / m) * (1 + 0.01 * n), "does not hold", "holds"),
    (lambda n, m: n / min(m, 1.5), "holds", "does not hold"),
], ids=["shared in turns", "each process slows all others", "two CPUs are worth one and a half"])  # fmt: skip
def test_processes(time: Times, proportional: Decision, flat: Decision) -> None:
    shown = decisions("cpu-surface", processes(time), quick=True)
    assert (shown["S1-1"], shown["S1-5a"], shown["S1-6"]) == (proportional, flat, flat)


def test_one_cpu_shows_no_flat_part() -> None:
    shown = decisions("cpu-surface", processes(lambda n, m: n / m), n_cpus=1, quick=True)
    assert (shown["S1-1"], shown["S1-5a"]) == ("holds", "cannot be seen here")


@pytest.mark.parametrize(("cap", "decision"), [(2, "holds"), (4, "does not hold")])
def test_threads_on_two_kernel_threads(cap: int, decision: Decision) -> None:
    shown = decisions("virtual-carriers", carried(lambda carriers, cpus: cap), quick=True)
    assert shown == {"S1-8a": "holds", "S1-8b": decision, "S1-8c": "holds", "S1-8d": "holds"}


def test_threads_in_turns_climb_no_stairs() -> None:
    shown = decisions("virtual-carriers", lambda t: {"wall": 0.06 * max(1, int(t["threads"]) / 2)}, quick=True)
    assert shown == {
        "S1-8a": "holds", "S1-8b": "does not hold", "S1-8c": "does not hold", "S1-8d": "does not hold",
    }  # fmt: skip


@pytest.mark.parametrize(("n_cpus", "cap", "shown"), [
    (4, lambda k, m: min(k or m, m), {"S1-9": "holds", "S1-10c": "holds"}),
    (4, lambda k, m: m, {"S1-9": "does not hold", "S1-10c": "holds"}),
    (2, lambda k, m: min(k or m, m), {"S1-9": "cannot be seen here", "S1-10c": "holds"}),
], ids=["capped", "not capped", "on two CPUs"])  # fmt: skip
def test_a_cap_below_the_cpus(n_cpus: int, cap: Callable[[int, int], int], shown: dict[str, Decision]) -> None:
    assert decisions("capped-jvm", carried(cap), n_cpus=n_cpus, quick=True).items() >= shown.items()


@pytest.mark.parametrize(("up", "cycles", "shown"), [
    (0.33, 1.0, {"S1-2": "does not hold", "S1-3b": "holds"}),
    (0.66, 2.0, {"S1-2": "holds", "S1-3b": "does not hold"}),
], ids=["a cycle either way", "two cycles up and one down"])  # fmt: skip
def test_how_a_loop_counts(up: float, cycles: float, shown: dict[str, Decision]) -> None:
    def figures(configuration: Mapping[str, Any]) -> dict[str, float]:
        return {"wall": 0.03, "count": up if configuration["direction"] == "up" else 0.33, "cycles": cycles}

    found = decisions("cpu-surface-loop", figures, quick=True)
    assert found == {"S1-3a": "cannot be seen here", "S1-4": "cannot be seen here", **shown}


@pytest.mark.parametrize(("compiled", "interpreted", "shown"), [
    (1.94, 18.9, {"S1-7a": "holds", "S1-7b": "holds"}),
    (1.0, 12.0, {"S1-7a": "does not hold", "S1-7b": "does not hold"}),
], ids=["as published", "a compiler as good as that of C"])  # fmt: skip
def test_java_over_c(compiled: float, interpreted: float, shown: dict[str, Decision]) -> None:
    def figures(configuration: Mapping[str, Any]) -> dict[str, float]:
        times = compiled if configuration["options"] == "" else interpreted
        return {"cpu": 0.06 * (times if configuration["version"] == "java" else 1.0), "wall": 1.0}

    assert decisions("cpu-surface-versions", figures, quick=True) == shown


@pytest.mark.parametrize(("side_by_side", "decision"), [(2, "holds"), (1, "does not hold")])
def test_java_threads(side_by_side: int, decision: Decision) -> None:
    def figures(configuration: Mapping[str, Any]) -> dict[str, float]:
        return {"wall": 0.1 * max(1.0, configuration["threads"] / min(side_by_side, configuration["cpus"]))}

    assert decisions("cpu-surface-java", figures, quick=True) == {"S1-10a": decision, "S1-10b": decision}


def test_eight_threads_say_nothing_of_the_ridge_of_sixteen_cpus() -> None:
    def figures(configuration: Mapping[str, Any]) -> dict[str, float]:
        return {"wall": 0.1 * max(1.0, configuration["threads"] / configuration["cpus"])}

    shown = decisions("cpu-surface-java", figures, n_cpus=16, quick=True)
    assert shown == {"S1-10a": "not measured", "S1-10b": "not measured"}
