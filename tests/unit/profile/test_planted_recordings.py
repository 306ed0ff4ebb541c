"""Recordings of programs with one planted cause each: what is read of them is what was planted."""

import gzip

import pytest

from scalograph.profile.cpu_budget import exclude_others, split_capacity
from scalograph.profile.level_losses import LevelRuns, Losses, compare_levels
from scalograph.profile.perf_trace import parse_trace
from scalograph.protocol.explanation import LEAST_LOSS
from scalograph.protocol.record import RunFigures
from scalograph.text.explained import cause_text
from tests.kit import RECORDED

# Of the runs under a quota of 0.1 CPUs, by `cpu.stat` of their cgroup.
THROTTLED_NS = {"quota-1": 1_676_997_586, "quota-2": 1_704_595_921}
FIRST = {
    "mutex": "waiting for a lock in insert_locked",
    "serial": "idle while others work in compute, called by serial_phase",
    "barrier": "idle while others work in compute, called by slow_worker",
    "spinlock": "more CPU time for the same work in __pthread_spin_lock, called by spin_locked",
    "sleep": "sleeping in take_nap",
    "child": "waiting for a lock in wait_for_child",
    "allocator": "waiting for a lock in allocate_block",
    "quota": "stopped by the CPU quota",
}


def losses_of(cause: str) -> Losses:
    """Return what one recorded run with two threads loses over one with one."""
    levels = []
    for n in (1, 2):
        name = f"{cause}-{n}"
        lines = gzip.decompress((RECORDED / "planted" / f"{name}.txt.gz").read_bytes()).decode().splitlines()
        run = RunFigures(status="ok", throttled_ns=THROTTLED_NS.get(name))
        levels.append(LevelRuns(n, [exclude_others(split_capacity(parse_trace(lines), n), run)], [1.0]))
    return compare_levels(*levels, 0.95)


@pytest.mark.parametrize("cause", FIRST)
def test_the_planted_cause_has_most_of_the_loss_and_the_parts_sum_to_it(cause: str) -> None:
    losses = losses_of(cause)
    assert losses.lost_cpus.value > LEAST_LOSS * 2
    assert cause_text(losses.parts[0]) == FIRST[cause]
    planted = losses.parts[0].caller if cause in ("serial", "barrier", "spinlock") else losses.parts[0].what
    own = sum(part.share.value for part in losses.parts if planted in (part.what, part.caller))
    assert own > 0.5
    assert all(part.share.value < 0.2 for part in losses.parts if planted not in (part.what, part.caller))
    assert sum(part.share.value for part in losses.parts) + losses.unexplained.value == pytest.approx(1.0)


def test_a_program_that_scales_loses_nothing_worth_a_name() -> None:
    assert losses_of("scales").lost_cpus.value < LEAST_LOSS * 2
