"""Stalls other than preemption: each cause is a value of the record (protocol/probe.md) and a limit.

The limits are those of interference (`SHARE` of what the run wanted or of its wall time). What the run does to itself
is no disturbance: waiting for a disk that no other process uses belongs to the program, and so does a quota that the
study sets.
"""

from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter

from scalograph.protocol.record import RunFigures
from scalograph.verdict.cause import SHARE, Cause

_STEP_NS = 10_000_000  # a clock that is set by less than a tick is being disciplined, not set
_ASLEEP_NS = 1_000_000  # less is none: CLOCK_BOOTTIME and CLOCK_MONOTONIC are read one after the other


def find_stalls(run: RunFigures) -> list[Cause]:
    """Find the stalls that disturb a run; what was not measured (None) causes nothing."""
    figures, wall = _FIGURES(run), run.wall_ns or 0
    if not any(figures):  # of nearly all runs
        return []
    looks = zip(_CHECKS.values(), figures, strict=True)
    return [cause for look, held in looks if held and (cause := look(run, held, wall))]


def bound_stalls(run: RunFigures) -> Iterator[Cause]:
    """Bound the stalls of a run that were not measured by those of the whole machine."""
    wall = run.wall_ns or 0
    if (share := _io_wait_share(run, wall)) and _disk_bytes(run)[0] > 2 * (_disk_bytes(run)[1] or 0):
        yield Cause("I/O", share, "of time, at most", _io_text(run, share))
    stalls = (
        ("memory", run.memory_stall_ns, run.machine_memory_stall_ns),
        ("I/O", run.io_stall_ns, run.machine_io_stall_ns),
    )
    for what, own, machine in stalls:
        if own is None and machine is not None and machine >= SHARE * wall > 0:
            share = machine / wall
            text = f"somebody on this machine stood still for {what} for {100 * share:.1f}% of its time; maybe the run"
            yield Cause(f"{what} pressure", share, "of time, at most", text)


# Of a run, the value that it checks (neither absent nor 0), and the wall time.
StallCheck = Callable[[RunFigures, int, int], Cause | None]


def _make_check(name: str, text: str) -> StallCheck:
    """Make the check of a cause that is a time within the run."""

    def look(run: RunFigures, held: int, wall: int) -> Cause | None:
        if held < SHARE * wall:
            return None
        share = held / wall if wall else 1.0
        return Cause(name, share, "of time", f"{text} for {100 * share:.1f}% of its time")

    return look


def _check_throttling(run: RunFigures, held: int, wall: int) -> Cause | None:
    """Check throttling against the CPU time that the run wanted; the study's own quota is no cause."""
    share = held / ((run.cpu_ns or 0) + held)
    if run.quota_cpus or share < SHARE:
        return None
    return Cause(
        "quota", share, "of wanted", f"a CPU quota held back {100 * share:.1f}% of the CPU time that it wanted"
    )


def _check_io(run: RunFigures, held: int, wall: int) -> Cause | None:
    """Check I/O only if others used the disks far more than the run did."""
    moved, own = _disk_bytes(run)
    if own is not None and (share := _io_wait_share(run, wall)) and moved > _FAR_MORE * own + _MUCH_BYTES:
        return Cause("I/O", share, "of time", _io_text(run, share))
    return None


def _io_wait_share(run: RunFigures, wall: int) -> float:
    """Return the share of its time for which the run waited for I/O; 0 below the limit."""
    stalled = run.io_stall_ns or 0
    share = stalled / wall if wall else float(stalled > 0)
    return share if share >= SHARE else 0.0


def _disk_bytes(run: RunFigures) -> tuple[int, int | None]:
    """Return the disk bytes of the machine, and those known of the run, without services and file system journals."""
    counted = [blocks for blocks in (run.n_blocks_in, run.n_blocks_out) if blocks is not None]
    return run.disk_bytes or 0, 512 * sum(counted) if counted else None


def _io_text(run: RunFigures, share: float) -> str:
    moved, own = _disk_bytes(run)
    its = "its own reads and writes were " + (f"{own / 1e6:.1f} MB" if own is not None else "not counted")
    return f"stood still for I/O for {100 * share:.1f}% of its time; the machine moved {moved / 1e6:.1f} MB, {its}"


# A file system writes up to three times as much as it was given; only the rest is of others.
_FAR_MORE, _MUCH_BYTES = 4, 32_000_000


def _check_swap(run: RunFigures, pages: int, wall: int) -> Cause | None:
    """Check that pages came back from swap and that the run waited for pages; others may swap too."""
    faults, stalled = run.n_major_faults or 0, run.memory_stall_ns
    if min(pages, faults) >= _PAGES and (stalled is None or stalled >= SHARE * wall):
        return Cause("swap", None, "", f"{pages} pages came back from swap, and it waited for {faults} pages")
    return None


# So many waits for a page, of about 0.1 ms each, can be seen in a run of a tenth of a second.
_PAGES = 16


def _check_clock_step(run: RunFigures, step: int, wall: int) -> Cause | None:
    if abs(step) < max(_STEP_NS, SHARE * wall):
        return None
    way = "forward" if step > 0 else "back"
    return Cause("clock", None, "", f"the wall clock was set {way} by {abs(step) / 1e9:.3g} s meanwhile")


def _check_clock_source(run: RunFigures, changed: int, wall: int) -> Cause | None:
    return Cause("clock", None, "", "the kernel changed its clock source meanwhile")


def _check_suspend(run: RunFigures, asleep: int, wall: int) -> Cause | None:
    if asleep < _ASLEEP_NS:
        return None
    return Cause("suspend", None, "", f"the machine was suspended for {asleep / 1e9:.3g} s meanwhile")


_CHECKS: Mapping[str, StallCheck] = {
    "throttled_ns": _check_throttling,
    "memory_stall_ns": _make_check("memory pressure", "stood still for want of memory"),
    "n_swapped_in": _check_swap,
    "io_stall_ns": _check_io,
    "thermal_ns": _make_check("heat", "a CPU was throttled by heat"),
    "stopped_ns": _make_check("stopped", "a copy was stopped by a signal"),
    "clock_step_ns": _check_clock_step,
    "clock_source_changed": _check_clock_source,
    "asleep_ns": _check_suspend,
}
MEASURED = tuple(_CHECKS)
_FIGURES = attrgetter(*MEASURED)
