"""Which CPUs: examples on machines that were made, properties on any machine."""

import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scalograph.control.control import LevelError
from scalograph.control.placement import PLACEMENTS, PlacementControl, choose_cpus, count_available
from scalograph.protocol.facts import CpuFact, HostFacts
from scalograph.system.topology import read_topology
from tests.unit.control.trees import MACHINES, grown


@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_has_every_placement_but_siblings(tmp_path: Path, name: str) -> None:
    levels = list(PLACEMENTS[:3])
    assert PlacementControl().resolve(levels, HostFacts(cpus=on(tmp_path, name))) == levels


def on(tmp_path: Path, name: str) -> tuple[CpuFact, ...]:
    return read_topology(grown(tmp_path, MACHINES[name]()))


TWO_SOCKETS: list[tuple[str, int, tuple[int, ...]]] = [
    ("compact", 2, (0, 16)), ("compact", 4, (0, 1, 16, 17)), ("compact", 16, (*range(8), *range(16, 24))),
    ("compact", 17, (*range(9), *range(16, 24))),
    ("scatter", 2, (0, 8)), ("scatter", 4, (0, 1, 8, 9)), ("scatter", 16, (*range(16),)),
    ("scatter", 18, (*range(17), 24)),
    ("one-per-core", 3, (0, 1, 2)), ("siblings", 2, (0, 16)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "placement", "n", "expected"), [
    *(("two sockets", *row) for row in TWO_SOCKETS),
    ("hybrid", "compact", 5, (0, 1, 2, 3, 4)), ("hybrid", "scatter", 3, (0, 2, 4)),
    ("hybrid", "scatter", 6, (0, 2, 4, 5, 6, 7)), ("hybrid", "scatter", 7, (0, 1, 2, 4, 5, 6, 7)),
    ("hybrid", "one-per-core", 6, (0, 2, 4, 5, 6, 7)), ("hybrid", "siblings", 4, (0, 1, 2, 3)),
    ("chiplets", "compact", 5, (0, 1, 2, 3, 4)), ("chiplets", "scatter", 3, (0, 4, 8)),
    ("chiplets", "scatter", 7, (0, 1, 2, 4, 5, 8, 9)),
    ("four nodes", "compact", 3, (0, 1, 2)), ("four nodes", "scatter", 2, (0, 4)),
    ("four nodes", "scatter", 4, (0, 2, 4, 6)),
])  # fmt: skip
def test_examples(tmp_path: Path, name: str, placement: str, n: int, expected: tuple[int, ...]) -> None:
    assert choose_cpus(n, placement, on(tmp_path, name)) == expected


@pytest.mark.parametrize(("name", "placement", "n", "said"), [
    ("two sockets", "one-per-core", 17, "17 CPUs placed one-per-core, expected 1 to 16 on this host"),
    ("hybrid", "siblings", 5, "5 CPUs placed siblings, expected 1 to 4 on this host"),
    ("chiplets", "siblings", 1, "expected 1 to 0"), ("chiplets", "compact", 11, "expected 1 to 10"),
    ("chiplets", "compact", 0, "expected 1 to 10"),
    ("chiplets", "nearby", 1, "placement 'nearby', expected one of compact, scatter, one-per-core, siblings"),
])  # fmt: skip
def test_refused_by_name(tmp_path: Path, name: str, placement: str, n: int, said: str) -> None:
    with pytest.raises(LevelError, match=said):
        choose_cpus(n, placement, on(tmp_path, name))


@st.composite
def machines(draw: st.DrawFn) -> tuple[CpuFact, ...]:
    """Packages of unequal size, cores with one to four CPUs, some sharing an L2; some CPUs not ours, in any order."""
    chance = random.Random(draw(st.integers(0, 1 << 16)))
    cpus: list[CpuFact] = []
    numbers = iter(chance.sample(range(96), 96))
    for package in range(chance.randint(1, 3)):
        for l3 in range(chance.randint(1, 2)):
            pairs = chance.random() < 0.5
            for core in range(chance.randint(1, 4)):
                own = [next(numbers) for _ in range(chance.randint(1, 4))]
                # Numbers of cores that share an L2 need not be neighbors.
                l2 = 100 * (package * 2 + l3) + core % 2 if pairs else 1000 + min(own)
                shared = {"core": min(own), "l2": l2, "l3": package * 2 + l3, "package": package, "node": package}
                cpus += [CpuFact.model_validate({"cpu": n, **shared}) for n in own]
    return tuple(chance.sample(cpus, draw(st.integers(1, len(cpus)))))


@given(machines(), st.sampled_from(PLACEMENTS), st.data())
def test_every_placement(cpus: tuple[CpuFact, ...], placement: str, data: st.DataObject) -> None:
    available = count_available(placement, cpus)
    assume(available)
    n = data.draw(st.integers(1, available))
    chosen = choose_cpus(n, placement, cpus)
    assert len(set(chosen)) == n, "no duplicates, and as many as asked for"
    assert set(chosen) <= {cpu.cpu for cpu in cpus}
    assert chosen == tuple(sorted(chosen)) == choose_cpus(n, placement, cpus[::-1]), "whatever the order of the facts"
    if n < available:
        assert set(chosen) < set(choose_cpus(n + 1, placement, cpus)), "one CPU more only adds"
    else:
        with pytest.raises(LevelError):
            choose_cpus(n + 1, placement, cpus)


@given(machines(), st.data())
def test_scatter_takes_second_cpus_of_a_core_or_package_last(cpus: tuple[CpuFact, ...], data: st.DataObject) -> None:
    n = data.draw(st.integers(1, len(cpus)))
    chosen = choose_cpus(n, "scatter", cpus)
    for shared in ("core", "package"):
        place_of = {cpu.cpu: getattr(cpu, shared) for cpu in cpus}
        assert len({place_of[cpu] for cpu in chosen}) == min(n, len({*place_of.values()}))


@given(machines(), st.data())
def test_compact_leaves_at_most_one_thing_half_full(cpus: tuple[CpuFact, ...], data: st.DataObject) -> None:
    chosen = set(choose_cpus(data.draw(st.integers(1, len(cpus))), "compact", cpus))
    for shared in ("core", "l2", "l3", "package"):
        has, took = Counter(getattr(c, shared) for c in cpus), Counter()
        took.update(getattr(c, shared) for c in cpus if c.cpu in chosen)
        assert sum(0 < took[key] < has[key] for key in has) <= 1


@given(machines())
def test_one_per_core_takes_each_core_once(cpus: tuple[CpuFact, ...]) -> None:
    chosen = choose_cpus(count_available("one-per-core", cpus), "one-per-core", cpus)
    assert sorted(cpu.core for cpu in cpus if cpu.cpu in chosen) == sorted({cpu.core for cpu in cpus})
