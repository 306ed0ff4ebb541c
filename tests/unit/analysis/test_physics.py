"""Each gate: one curve that trips it, and one that comes close and does not."""

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.physics import ObservedLevel, cpu_time_across, physics_flags


def about(value: float, play: float = 0.01) -> Estimate:
    return Estimate(value, value * (1 - play), value * (1 + play), 0.95, 5, "made up")


def gates(*curve: ObservedLevel, work: str = "total") -> list[tuple[str, int]]:
    return [(o.gate, o.n) for o in physics_flags(curve, 1, "total" if work == "total" else "per-worker")]


def gained(n: int, n_cpus: int, speedup: float, play: float = 0.01) -> ObservedLevel:
    return ObservedLevel(n, n_cpus, speedup=about(speedup, play))


def test_speedup_above_the_cpus_in_use_and_efficiency_that_rises() -> None:
    assert gates(gained(1, 4, 1.0, 0), gained(2, 4, 2.5)) == [("speedup above the CPUs", 2)]
    assert gates(gained(1, 4, 1.0, 0), gained(2, 4, 2.04, 0.02)) == []  # the interval reaches down to 2
    assert gates(gained(1, 1, 1.0, 0), gained(8, 1, 1.019, 0)) == []
    assert gates(gained(1, 1, 1.0, 0), gained(8, 1, 1.021, 0)) == [("speedup above the CPUs", 8)]
    assert gates(gained(1, 2, 1.0, 0), gained(8, 2, 2.5)) == [("speedup above the CPUs", 8)]
    rising = [gained(1, 8, 1.0, 0), gained(2, 8, 1.4), gained(4, 8, 3.6)]
    assert gates(*rising) == [("efficiency rises", 4)]
    noisy = [gained(1, 8, 1.0, 0), gained(2, 8, 1.8, 0.1), gained(4, 8, 3.7, 0.1)]
    assert gates(*noisy) == []
    # The published Mac OS X curve: 1.60 with 8 threads and 1.86 with 128 on two CPUs.
    assert gates(gained(1, 2, 1.0, 0), gained(2, 2, 1.81), gained(8, 2, 1.6), gained(128, 2, 1.86)) == []


def test_time_below_the_cpu_time_and_a_baseline_off_the_cpu() -> None:
    one = ObservedLevel(1, 1, about(4.0), about(4.0))
    assert gates(one, ObservedLevel(10, 1, about(38.0)), work="per-worker") == [("time below the CPU time", 10)]
    assert gates(one, ObservedLevel(10, 1, about(39.9)), work="per-worker") == []
    assert gates(one, ObservedLevel(2, 2, about(1.8))) == [("time below the CPU time", 2)]
    assert gates(ObservedLevel(1, 2, about(10.0), about(9.0))) == [("baseline off the CPU", 1)]
    assert gates(ObservedLevel(1, 2, about(10.0), about(9.7))) == []


def test_work_or_cpus_that_are_not_what_was_declared() -> None:
    total = ObservedLevel(1, 2, work=100), ObservedLevel(2, 2, work=200)
    assert gates(*total) == [("work differs", 2)] and gates(*total, work="per-worker") == []
    same = ObservedLevel(1, 2, work=100), ObservedLevel(2, 2, work=100)
    assert gates(*same) == [] and gates(*same, work="per-worker") == [("work differs", 2)]
    for n in (0, 10**18):  # counted exactly
        assert gates(ObservedLevel(1, 2, work=n), ObservedLevel(2, 2, work=n + 1)) == [("work differs", 2)]
    assert gates(ObservedLevel(1, 2, believed_cpus=16)) == [("believes in other CPUs", 1)]
    assert gates(ObservedLevel(1, 2, believed_cpus=2)) == []
    found = cpu_time_across({1: about(42.0), 2: about(66.0), 4: about(43.0)})
    assert list(found) == [2] and "66 s of CPU time on 2 CPUs and 42 s on 1" in found[2].text
    assert gates(ObservedLevel(1, 2), ObservedLevel(2, 2)) == [] and gates() == [] and cpu_time_across({}) == {}
