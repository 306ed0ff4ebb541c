import random
from typing import Any

import pytest

from scalograph.protocol.record import InterferingProcess
from scalograph.verdict import judge as judging
from scalograph.verdict.judge import judge
from tests.kit.records import record

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
