"""The gate before each block, with looks and time made by hand."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from scalograph.protocol.record import Record
from scalograph.run.quiet_gate import HOLDS_S, QuietGate
from scalograph.system import quiet
from scalograph.system.quiet import FIRST_SAMPLE_S, SAMPLE_S, LoadSample, Reading, sample_load
from tests.kit.records import record

QUIET, BUSY = LoadSample({0: 0.01, 1: 0.04}), LoadSample({0: 0.02, 1: 0.5})


class World:
    """Looks in order (the last one again and again); each takes half a second, as pauses do."""

    def __init__(self, looks: Sequence[LoadSample]) -> None:
        self.looks, self.now, self.told = list(looks), 0.0, list[str]()
        self.pause_s = 0.0

    def sample_load(self) -> LoadSample:
        self.now += SAMPLE_S
        return self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]

    def pause(self, seconds: float) -> None:
        self.now += max(seconds, self.pause_s)

    def gate(self, patience_s: float) -> QuietGate:
        return QuietGate(patience_s, self.told.append, self.sample_load, lambda: self.now, self.pause)


def never() -> bool:
    return False


def test_a_quiet_machine_is_passed_at_once_and_a_busy_one_without_patience_told() -> None:
    world = World([QUIET])
    assert world.gate(600).wait_until_quiet(0, never) == (True, "") and (world.now, world.told) == (SAMPLE_S, [])
    world = World([BUSY])
    quiet, note = world.gate(0).wait_until_quiet(2, never)
    assert not quiet and note == "CPU busy at the start of block 3 (used by others: CPU 1 50%)"


def test_it_waits_until_the_machine_is_quiet_and_no_longer_than_it_says() -> None:
    world = World([BUSY] * 8 + [QUIET])
    quiet, note = world.gate(60).wait_until_quiet(0, never)
    assert quiet and note == "Block 1 started on a quiet machine after waiting 8 s"
    assert len(world.told) == 1 and world.told[0].startswith(
        "waiting for a quiet machine before block 1, at most 1 min"
    )
    world = World([BUSY])
    world.pause_s = 0.6  # a sleep is never shorter than asked, and often longer
    quiet, note = world.gate(3).wait_until_quiet(0, never)
    assert not quiet and note == "CPU busy at the start of block 1 after waiting 2 s (used by others: CPU 1 50%)"
    assert world.now <= SAMPLE_S + 3
    assert world.told == ["waiting for a quiet machine before block 1, at most 3 s: used by others: CPU 1 50%"]
    world = World([BUSY])
    assert not world.gate(3600).wait_until_quiet(0, lambda: world.now > 5).quiet and world.now < 8
    world = World([BUSY])
    gate = world.gate(90)
    assert not gate.wait_until_quiet(0, never).quiet and world.now == SAMPLE_S + 90 and len(world.told) == 3
    began = world.now
    world.now += HOLDS_S
    assert not gate.wait_until_quiet(1, never).quiet and world.now - began == SAMPLE_S + HOLDS_S


def test_a_look_holds_for_a_while_and_where_it_would_wait_each_block_is_looked_at() -> None:
    world = World([QUIET, BUSY])
    gate = world.gate(0)
    assert gate.wait_until_quiet(0, never).quiet and gate.wait_until_quiet(1, never).quiet and world.now == SAMPLE_S
    world.now += HOLDS_S
    assert gate.wait_until_quiet(2, never).note and gate.wait_until_quiet(3, never) == (False, "")
    assert world.now == 2 * SAMPLE_S + HOLDS_S
    world = World([BUSY] * 2 + [QUIET] * 2)
    gate = world.gate(600)
    assert gate.wait_until_quiet(0, never).quiet
    world.looks, world.now = [BUSY, QUIET], world.now + HOLDS_S
    assert gate.wait_until_quiet(1, never).quiet and not world.looks[1:]


def ran(busy_ns: int | None, wall_ns: int = 200_000_000) -> Record:
    figures = {"wall_outer_ns": wall_ns, "machine_busy_ns": busy_ns, "cpu_ns": 100_000_000, "observer_ns": 1_000_000}
    return record().replace_values(**figures)


@pytest.mark.parametrize(("n_runs", "busy_ns", "looked"), [
    (3, 110_000_000, False), (3, 130_000_000, True), (3, None, True), (1, 100_000_000, True),
])  # fmt: skip
def test_only_quiet_runs_of_some_length_stand_for_a_look(n_runs: int, busy_ns: int | None, looked: bool) -> None:
    world = World([QUIET])
    gate = world.gate(0)
    gate.wait_until_quiet(0, never)
    for _ in range(n_runs):
        gate.observe_run(ran(busy_ns))
    world.now = before = world.now + HOLDS_S
    assert gate.wait_until_quiet(1, never).quiet and world.now == before + SAMPLE_S * looked


@pytest.mark.parametrize(("user", "stolen", "quiet"), [(0, 0, True), (4, 0, True), (6, 0, False), (0, 6, False)])
def test_a_look_counts_what_others_and_the_hypervisor_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int, stolen: int, quiet: bool
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {1})
    stat = tmp_path / "proc/stat"
    stat.parent.mkdir()

    def write(used: int, taken: int) -> None:
        stat.write_text(
            f"cpu 9 9 9 9 9 9 9 9 0 0\ncpu0 {used}00 0 0 0 0 0 0 0 0 0\ncpu1 {used} 0 1 7 9 0 0 {taken} 0 0\n"
        )

    write(0, 0)
    seen = sample_load(lambda seconds: write(user, stolen), tmp_path)
    assert seen.quiet is quiet and set(seen.busy) == {1}


def test_who_had_a_cpu_is_told_by_the_larger_part_and_in_short(tmp_path: Path) -> None:
    busy = {0: 0.18, 1: 0.5, 2: 0.02}
    assert str(LoadSample(busy, {0: 0.17, 1: 0.1})) == "used by others: CPU 1 50%; taken by the hypervisor: CPU 0 18%"
    assert str(LoadSample({0: 0.18}, {0: 0.18})) == "taken by the hypervisor: CPU 0 18%"
    assert str(LoadSample(dict.fromkeys(range(9), 0.5))).endswith("CPU 3 50% and 5 more")
    seen = sample_load(lambda seconds: None, tmp_path)
    assert seen.quiet and str(seen) == "quiet"


def test_what_we_use_during_a_look_is_not_others(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = [Reading({0: (0, 0)}, 1.0, 0.0), Reading({0: (8, 1)}, 1.06, 0.25), Reading({0: (9, 4)}, 1.07, 0.5)]
    monkeypatch.setattr(quiet, "_reading", lambda root: readings.pop(0))
    seen = sample_load(lambda seconds: None)
    assert seen.busy == pytest.approx({0: 0.12}) and seen.stolen == pytest.approx({0: 0.08})


@pytest.mark.parametrize(("passed_s", "used", "waits_s"), [
    (0.5, 40, 0.0),
    (0.5, 42, 0.0),
    (0.5, 45, FIRST_SAMPLE_S),
    (0.05, 40, FIRST_SAMPLE_S - 0.05),
    (9.0, 40, FIRST_SAMPLE_S),
], ids=["alone", "rounded", "a neighbor", "short", "long ago"])  # fmt: skip
def test_a_start_that_had_the_cpus_to_itself_is_a_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, passed_s: float, used: int, waits_s: float
) -> None:
    now, waited = 5.0, list[float]()
    ticks = {0: (9 + used // 2, 0), 1: (used - used // 2, 0)}

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        waited.append(seconds)

    monkeypatch.setattr(quiet.time, "monotonic", lambda: now)
    monkeypatch.setattr(quiet, "_reading", lambda root: Reading({0: (9, 0), 1: (0, 0)}, 1.0, now))
    quiet.remember_start(tmp_path)
    now += passed_s
    monkeypatch.setattr(quiet, "_reading", lambda root: Reading(ticks, 1.4, now))
    assert sample_load(sleep, tmp_path).quiet and sum(waited) == pytest.approx(waits_s)
    sample_load(sleep, tmp_path)
    assert sum(waited) == pytest.approx(waits_s + FIRST_SAMPLE_S)  # only the first look reaches back


@pytest.mark.parametrize("text", ["", "cpu0", "cpu0 1 2", "cpu0 a b c d e f g h", "cpu0 " + "9" * 5000 + " 0" * 7])
def test_a_look_at_another_machine_sees_only_the_cpus_that_it_tells(text: str) -> None:
    first, second = (f"cpu1 {used} 0 0 9 0 0 0 0 0 0\n{text}\n" for used in (0, 50))
    assert quiet.parse_load(first, second, [0, 1, 2], 1.0).busy.keys() == {1}
