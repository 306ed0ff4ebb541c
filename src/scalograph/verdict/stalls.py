"""What stalled a run besides its neighbors: each cause is a figure of the record (protocol/probe.md) and a limit.

The limits are those of a neighbor (`SHARE` of what the run wanted, `SHARE` of its wall time): 20 ms in a second disturb
a run equally, whatever took them. What the run does to itself is no disturbance, as far as it can be distinguished:
waiting for a disk that no other process uses belongs to the program, and so does a quota that the study sets.
"""

from collections.abc import Callable, Iterator

from scalograph.protocol.record import RunFigures
from scalograph.verdict.cause import SHARE, Cause

# A clock that is set by less than a tick is being disciplined, not set.
_STEP_NS = 10_000_000
# Suspended time below this is none: CLOCK_BOOTTIME and CLOCK_MONOTONIC are read one after the other.
_ASLEEP_NS = 1_000_000


def held_up(run: RunFigures) -> Iterator[Cause]:
    """Find causes that contaminate a run.

    Args:
        run: figures of its record; a figure that is absent or None was not measured and causes nothing.
    """
    wall = run.wall_ns or 0
    for look in _LOOKS:
        yield from look(run, wall)


def bounds(run: RunFigures) -> Iterator[Cause]:
    """Find what may have disturbed a run whose own stalls were not measured: those of the whole machine bound them."""
    wall = run.wall_ns or 0
    if (share := _waited(run, wall)) and _moved(run)[0] > 2 * _moved(run)[1]:
        yield Cause("I/O", share, "of time, at most", _told(run, share))
    stalls = (
        ("memory", run.memory_stall_ns, run.machine_memory_stall_ns),
        ("I/O", run.io_stall_ns, run.machine_io_stall_ns),
    )
    for what, own, machine in stalls:
        if own is None and machine is not None and machine >= SHARE * wall > 0:
            share = machine / wall
            text = f"somebody on this machine stood still for {what} for {100 * share:.1f} % of its time; maybe the run"
            yield Cause(f"{what} pressure", share, "of time, at most", text)


Look = Callable[[RunFigures, int], Iterator[Cause]]


def _share(name: str, figure: Callable[[RunFigures], int | None], told: str) -> Look:
    """Make the check of a cause whose figure is a time within the run."""

    def look(run: RunFigures, wall: int) -> Iterator[Cause]:
        held = figure(run) or 0
        if held and held >= SHARE * wall:
            share = held / wall if wall else 1.0
            yield Cause(name, share, "of time", f"{told} for {100 * share:.1f} % of its time")

    return look


def _throttled(run: RunFigures, wall: int) -> Iterator[Cause]:
    """Check throttling, a sum over CPUs, against the CPU time the run wanted; the study's own quota is no cause."""
    held = 0 if run.quota_cpus else run.throttled_ns or 0
    wanted = (run.cpu_ns or 0) + held
    if held and held >= SHARE * wanted:
        share = held / wanted
        text = f"a CPU quota held back {100 * share:.1f} % of the CPU time that it wanted"
        yield Cause("quota", share, "of wanted", text)


def _io(run: RunFigures, wall: int) -> Iterator[Cause]:
    """Check I/O only if others used the disks far more than the run did: alone, waiting belongs to the program."""
    if (share := _waited(run, wall)) and _moved(run)[0] > _FAR_MORE * _moved(run)[1] + _MUCH_BYTES:
        yield Cause("I/O", share, "of time", _told(run, share))


def _waited(run: RunFigures, wall: int) -> float:
    """Return the share of its time for which the run waited for I/O, if it reaches the limit."""
    stalled = run.io_stall_ns or 0
    share = stalled / wall if wall else float(stalled > 0)
    return share if share >= SHARE else 0.0


def _moved(run: RunFigures) -> tuple[int, int]:
    """Return the bytes that the machine moved, and those that the run is known to have moved: without a journal's."""
    own = 512 * ((run.n_blocks_in or 0) + (run.n_blocks_out or 0))
    return run.disk_bytes or 0, own


def _told(run: RunFigures, share: float) -> str:
    moved, own = (size / 1e6 for size in _moved(run))
    return (
        f"stood still for I/O for {100 * share:.1f} % of its time; the machine moved {moved:.1f} MB, its own reads and "
        f"writes were {own:.1f} MB"
    )


# A file system writes up to three times as much as it was given; only the rest is of others.
_FAR_MORE, _MUCH_BYTES = 4, 32_000_000


def _swap(run: RunFigures, wall: int) -> Iterator[Cause]:
    """Check that pages came back from swap and that the run waited for pages: both, since others may swap too."""
    pages, faults = run.n_swapped_in or 0, run.n_major_faults or 0
    stalled = run.memory_stall_ns
    if min(pages, faults) >= _PAGES and (stalled is None or stalled >= SHARE * wall):
        yield Cause("swap", None, "", f"{pages} pages came back from swap, and it waited for {faults} pages")


# So many waits for a page, of about 0.1 ms each, can be seen in a run of a tenth of a second.
_PAGES = 16


def _clock(run: RunFigures, wall: int) -> Iterator[Cause]:
    step = run.clock_step_ns or 0
    if abs(step) >= max(_STEP_NS, SHARE * wall):
        way = "forward" if step > 0 else "back"
        yield Cause("clock", None, "", f"the wall clock was set {way} by {abs(step) / 1e9:.3g} s meanwhile")
    if run.clock_source_changed:
        yield Cause("clock", None, "", "the kernel changed its clock source meanwhile")


def _asleep(run: RunFigures, wall: int) -> Iterator[Cause]:
    asleep = run.asleep_ns or 0
    if asleep >= _ASLEEP_NS:
        yield Cause("suspend", None, "", f"the machine was suspended for {asleep / 1e9:.3g} s meanwhile")


_LOOKS = (
    _throttled,
    _share("memory pressure", lambda run: run.memory_stall_ns, "stood still for want of memory"),
    _swap,
    _io,
    _share("heat", lambda run: run.thermal_ns, "a CPU was slowed by heat"),
    _share("stopped", lambda run: run.stopped_ns, "a copy was stopped by a signal"),
    _clock,
    _asleep,
)
