"""Are unlike CPUs told apart, and only these? Times are simulated, but for one look at this machine."""

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from scalograph.control.host_facts import read_host_facts
from scalograph.machine.cpu_classes import (
    ROUNDS,
    Turn,
    choose_pairs,
    class_rows,
    class_sentences,
    classify,
    measure_classes,
)
from scalograph.protocol.facts import CpuFact, HostFacts
from scalograph.protocol.measured_cpus import CpuClasses, read_classes, save_classes


def facts(n: int, siblings: int = 1) -> HostFacts:
    return HostFacts(cpus=tuple(CpuFact(cpu=i, core=i // siblings) for i in range(n)), cpu_model="made")


def simulate(
    n: int, slow: Mapping[int, float] = {}, sharing: Mapping[Turn, float] = {}, noise: float = 0.01, seed: int = 1
) -> dict[Turn, list[list[float]]]:
    """Times of n CPUs: some slower by a factor, some pairs slowed by one, a drift of 10% over the rounds."""
    rng = np.random.default_rng(seed)
    turns: list[Turn] = [*((cpu,) for cpu in range(n)), *choose_pairs(facts(n))]

    def seconds(turn: Turn, cpu: int, number: int) -> float:
        drift = 1 + 0.1 * number / ROUNDS
        return 0.01 * drift * slow.get(cpu, 1.0) * sharing.get(turn, 1.0) * float(np.exp(noise * rng.standard_normal()))

    return {turn: [[seconds(turn, cpu, i) for cpu in turn] for i in range(ROUNDS)] for turn in turns}


def classes_of(seen: CpuClasses) -> list[int]:
    return [cpu.speed_class for cpu in seen.cpus]


def test_fast_and_slow_cores_are_two_classes_with_their_speeds() -> None:
    seen = classify(simulate(8, slow=dict.fromkeys(range(4, 8), 1.6)))
    assert classes_of(seen) == [0, 0, 0, 0, 1, 1, 1, 1] and {cpu.shared for cpu in seen.cpus} == {None}
    for cpu in seen.cpus[4:]:
        assert cpu.speed.low is not None and cpu.speed.high is not None
        assert cpu.speed.low < 1 / 1.6 < cpu.speed.high and cpu.speed.high - cpu.speed.low < 0.04
    told = [*class_sentences(seen, facts(8))]
    assert told[0].startswith("CPU 4-7: 0.6") and "the speed of CPU 0-3 (" in told[0]
    assert told[1] == "No two CPUs slow each other (28 pairs)."
    assert [row[0] for row in class_rows(seen)] == ["CPUs", "0-3", "4-7"]


def test_hidden_siblings_are_found_and_told_from_those_that_the_kernel_names() -> None:
    pairs = {(0, 1): 1.7, (2, 3): 1.7}
    seen = classify(simulate(4, sharing=pairs))
    assert [cpu.shared for cpu in seen.cpus] == [0, 0, 2, 2] and classes_of(seen) == [0] * 4
    hidden = [text for text in class_sentences(seen, facts(4)) if "the kernel does not say so" in text]
    assert [text.split(" share a core: together, work takes 1.")[0] for text in hidden] == ["CPU 0-1", "CPU 2-3"]
    assert not [text for text in class_sentences(seen, facts(4, 2)) if "does not say so" in text]


def test_equal_cpus_are_one_class_whatever_the_noise() -> None:
    wrong = 0
    for seed in range(60):
        seen = classify(simulate(6, noise=0.05, seed=seed))
        wrong += any(classes_of(seen)) or any(cpu.shared is not None for cpu in seen.cpus)
    assert wrong <= 1


def test_a_slow_neighbor_of_one_cpu_shows_as_slow_phases() -> None:
    times = simulate(3)
    times[2,] = [
        [1.8 * seconds if i % 3 == 0 else seconds for (seconds,) in [each]][0:1] for i, each in enumerate(times[2,])
    ]
    seen = classify(times)
    assert seen.cpus[2].slow_share == pytest.approx(1 / 3) and seen.cpus[0].slow_share == 0
    assert any(text.startswith("Slow in phases: CPU 2.") for text in class_sentences(seen, facts(3)))


def test_not_all_pairs_of_many_cpus_are_measured_and_named_siblings_always_are() -> None:
    pairs = choose_pairs(facts(64))
    assert len(pairs) == 63 + 32 and {(0, 1), (0, 32), (31, 63)} <= {*pairs}
    far = facts(16).model_copy(update={"cpus": (*facts(16).cpus[:15], CpuFact(cpu=15, core=3))})
    assert (3, 15) in choose_pairs(far)


def test_saved_classes_are_added_to_the_same_cpus_only(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    seen = classify(simulate(4, slow={3: 1.5})).model_copy(update={"cpu_model": "made"})
    save_classes(seen, environ)
    kept = read_classes(environ)
    assert kept == seen
    assert [cpu.speed_class for cpu in seen.add_to(facts(4)).cpus] == [0, 0, 0, 1]
    assert seen.add_to(facts(3)) == facts(3)
    alike = classify(simulate(4)).model_copy(update={"cpu_model": "made"})
    assert alike.add_to(facts(4)) == facts(4), "where all are alike, nothing is added"
    (tmp_path / "scalograph" / "cpus.json").write_text("{")
    assert read_classes(environ) is None


def test_this_machine_is_measured_and_its_mask_stays() -> None:
    mask, here = os.sched_getaffinity(0), read_host_facts(jvms=())
    few = here.model_copy(update={"cpus": here.cpus[:2]})
    told = list[str]()
    seen = measure_classes(few, told.append, rounds=2)
    assert os.sched_getaffinity(0) == mask and len(seen.cpus) == len(few.cpus)
    assert len(seen.pairs) == len(few.cpus) - 1 and all((cpu.speed.value or 0) > 0 for cpu in seen.cpus)
    assert told == [f"{len(few.cpus)} CPUs alone, {len(seen.pairs)} pair: 2 rounds"] or len(few.cpus) == 1
