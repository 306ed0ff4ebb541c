"""Runs of which a few figures say what all rules would say."""

import random
from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import replace

from scalograph.protocol.record import CopyEvent, InterferingProcess, Iterations, PlacementChange, Record, Values
from scalograph.verdict import judge as judging
from scalograph.verdict.judge import Requirements, is_surely_clean, judge
from tests.kit.records import record

ASKED = Requirements(3, True)
QUIET = record(1.0, 0.9, iterations=[(0.3, 0.3, 7)] * 3, cpus=(0, 1))
WALL = 1_000_000_000
# Figures of a run that a rule may count, and amounts below, about and above their limits, in ns, bytes or counts.
FIGURES = (
    "neighbor_ns", "wait_ns", "steal_ns", "worst_steal_ns", "memory_stall_ns", "io_stall_ns",
    "machine_memory_stall_ns", "machine_io_stall_ns", "machine_busy_ns", "throttled_ns", "thermal_ns", "stopped_ns",
    "n_swapped_in", "n_major_faults", "disk_bytes", "asleep_ns", "n_lost_records", "observer_ns", "cpu_ns", "n_tasks",
)  # fmt: skip
AMOUNTS = (None, 0, 1, 4_000_000, 4_999_999, 5_000_000, 20_000_000, WALL)


def figures(rng: random.Random) -> dict[str, Any]:
    """Most of them as of a quiet run, and a few that are not."""
    found: dict[str, Any] = {name: rng.choice(AMOUNTS) for name in rng.sample(FIGURES, rng.randrange(4))}
    if rng.random() < 0.3:
        found["neighbor_per_cpu_ns"] = [rng.choice(AMOUNTS[1:]) for _ in range(2)]
    if rng.random() < 0.3:
        kinds = [(False, False), (True, False), (False, True)]
        taken = [(rng.choice(AMOUNTS[1:-1]) or 0, *rng.choice(kinds)) for _ in range(2)]
        found["neighbors"] = [
            InterferingProcess(taken_ns=ns, kernel=kernel, observer=probe) for ns, kernel, probe in taken
        ]
    return found


def test_a_run_that_is_untouched_is_judged_as_by_all_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, quiet = random.Random(1), record(1.0, 0.9)
    runs = [quiet.replace_values(**{"wait_ns": 0, **figures(rng)}) for _ in range(4000)]
    quickly = [judge(run) for run in runs]
    assert sum(judgment is judging._CLEAN for judgment in quickly) > 400
    monkeypatch.setattr(judging, "is_untouched", lambda run: False)
    assert quickly == [judge(run) for run in runs]
    assert {judgment.verdict for judgment in quickly} == {"clean", "unverified", "disturbed"}


@dataclass(frozen=True)
class _Odd:
    """What may be odd about a run, each part in one of ten of them."""

    rng: random.Random

    def run(self) -> Record:
        run = QUIET.replace_values(
            **{"wait_ns": 0, **figures(self.rng), **self._some(tree_wall_ns=(None, 0, 2 * WALL))}
        )
        return replace(
            run, copies=self._copies(run.copies[0]), iterations=self._iterations(run.iterations[0]),
            values=[Values(0, {self.rng.choice(["rate", "requests"]): [1.0]})] if self._rarely() else [],
        )  # fmt: skip

    def _copies(self, one: CopyEvent) -> list[CopyEvent]:
        used, start, end = (0, WALL, 4 * WALL), (None, 5 * WALL // 100), (None, WALL // 2, 2**60)
        fields = self._some(user_ns=used, system_ns=used, start_ns=start, end_ns=end, in_force=(None,))
        copy = replace(one, **fields, **self._some(changed=(PlacementChange(nice=3), PlacementChange(cpus=[7]))))
        return [copy, replace(copy, copy_index=1)] if self._rarely() else [copy]

    def _iterations(self, one: Iterations) -> list[Iterations]:
        index = self._some(index=([0, 1, 3], [0, 2, 1]))
        ends = self._some(end_ns=([0, 1, 2], [1, 2, 3 * WALL]), copy_index=(1,))
        part = replace(one, **index, **ends)
        return self.rng.choice([[part, part], []]) if self._rarely() else [part]

    def _some(self, **fields: tuple[Any, ...]) -> dict[str, Any]:
        return {name: self.rng.choice(values) for name, values in fields.items() if self._rarely()}

    def _rarely(self) -> bool:
        return self.rng.random() < 0.1


def test_what_is_surely_clean_is_clean_by_all_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_surely_clean(QUIET, 3), "of as many iterations as were asked for"
    assert not is_surely_clean(QUIET, 2) and not is_surely_clean(QUIET.replace_values(steal_ns=1), 3)
    odd = _Odd(random.Random(3))
    runs = [odd.run() for _ in range(6000)]
    sure = [is_surely_clean(run, ASKED.iterations) for run in runs]
    assert all(judge(run, ASKED).verdict == "clean" for run, is_sure in zip(runs, sure, strict=True) if is_sure)
    monkeypatch.setattr(judging, "is_surely_clean", lambda *_: False)
    monkeypatch.setattr(judging, "is_untouched", lambda _: False)
    by_rules = [judge(run, ASKED).verdict for run in runs]
    assert {verdict for verdict, is_sure in zip(by_rules, sure, strict=True) if is_sure} == {"clean"}
    assert {"invalid", "disturbed", "unverified", "failed"} <= {*by_rules}
    assert sum(sure) > 600, "a run is odd in one of a dozen ways; most that are not are found"
