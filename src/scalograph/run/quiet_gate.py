"""Wait for a quiet machine before each block, as long as the study allows, and report it.

A load sample takes half a second, which is more than many a block. So it holds for a while, and the runs meanwhile,
which tell what others took, replace the next one.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

from scalograph.protocol.record import Record
from scalograph.system.quiet import BUSY, SAMPLE_S, LoadSample
from scalograph.text.units import format_duration
from scalograph.text.warning_catalog import warning_text

# Between two looks while we wait: a look itself takes half a second.
PAUSE_S = 0.5
# How long a look holds: short blocks would be looked at for longer than they take.
HOLDS_S = 10.0
# A wait is told again after so long.
TELL_EVERY_S = 30.0


class GateResult(NamedTuple):
    """Whether a block began on a quiet machine, and a note for people (empty: none)."""

    quiet: bool
    note: str = ""


class QuietGate:
    """Samples the load of the machine before each block, with `look`; `tell` receives that, and why, we wait.

    `patience_s` limits the waiting over all blocks of this session; with 0 it samples and goes on.
    """

    def __init__(
        self, patience_s: float, tell: Callable[[str], None], look: Callable[[], LoadSample],
        clock: Callable[[], float] = time.monotonic, pause: Callable[[float], None] = time.sleep,
    ) -> None:  # fmt: skip
        self._patience_s, self._tell, self._look = patience_s, tell, look
        self._clock, self._pause = clock, pause
        self._held: GateResult | None = None
        self._at = self._runs_s = self._others_s = 0.0

    def observe_run(self, record: Record) -> None:
        """Add what others took of the CPUs during a run, if the probe reports it."""
        run = record.run
        wall, busy, own = run.wall_outer_ns, run.machine_busy_ns, run.cpu_ns
        if wall and busy is not None and own is not None:
            ours = own + (run.observer_ns or 0)
            self._runs_s += wall / 1e9
            self._others_s += (busy + (run.steal_ns or 0) - ours) / 1e9

    def wait_until_quiet(self, block: int, interrupted: Callable[[], bool]) -> GateResult:
        """Sample the load before a block, and wait while it is busy, patience is left and nobody interrupts."""
        if self._is_recent():
            return GateResult(self._held is None or self._held.quiet)
        seen, began = self._look(), self._clock()  # a look is no wait: it is taken without patience too
        reported_at = began - TELL_EVERY_S
        while not seen.quiet and not interrupted() and self._patience_left(began) >= PAUSE_S + SAMPLE_S:
            if self._clock() - reported_at >= TELL_EVERY_S:
                left = format_duration(round(self._patience_left(began)))
                self._tell(f"waiting for a quiet machine before block {block + 1}, at most {left}: {seen}")
                reported_at = self._clock()
            self._pause(PAUSE_S)
            seen = self._look()
        waited, left_s = self._clock() - began, self._patience_left(began)
        self._patience_s = left_s if left_s >= PAUSE_S + SAMPLE_S else 0.0  # less is worth no further look
        return self._remember(GateResult(seen.quiet, _note(block, seen, waited)))

    def _patience_left(self, began: float) -> float:
        """Return the seconds of patience left in a wait that began then."""
        return self._patience_s - (self._clock() - began)

    def _is_recent(self) -> bool:
        """Tell whether the last sample still holds, or quiet runs since then replace the next one."""
        if self._held is None or (not self._held.quiet and self._patience_s > 0):
            return False
        if self._clock() - self._at < HOLDS_S:
            return True
        if self._held.quiet and self._runs_s >= SAMPLE_S and self._others_s < BUSY * self._runs_s:
            self._remember(GateResult(True))
            return True
        return False

    def _remember(self, passage: GateResult) -> GateResult:
        self._held, self._at, self._runs_s, self._others_s = passage, self._clock(), 0.0, 0.0
        return passage


def _note(block: int, seen: LoadSample, waited: float) -> str:
    long = format_duration(round(waited)) if waited >= 2 else ""
    if seen.quiet and not long:
        return ""
    return warning_text("waited" if seen.quiet else "busy start", block=block + 1, waited=long, seen=str(seen))
