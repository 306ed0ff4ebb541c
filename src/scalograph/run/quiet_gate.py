"""Before each block: is the machine quiet? Where it is not, wait as long as the study allows, and say so.

A look takes half a second, which is more than many a block. So it holds for a while, and the runs meanwhile, which tell
what others took, stand for the next one.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

from scalograph.protocol.record import Record
from scalograph.system.quiet import BUSY, SAMPLE_S, LoadSample
from scalograph.text.units import format_duration

# Between two looks while we wait: a look itself takes half a second.
PAUSE_S = 0.5
# How long a look holds: short blocks would be looked at for longer than they take.
HOLDS_S = 10.0
# A wait is told again after so long.
TELL_EVERY_S = 30.0


class GateResult(NamedTuple):
    """How a block began: on a quiet machine or not, and what a person should know of it (empty: nothing)."""

    quiet: bool
    note: str = ""


class QuietGate:
    """Looks at the machine before each block.

    Args:
        patience_s: how long to wait for quiet, over all blocks of this start; 0 looks and goes on.
        tell: is told that, and why, we wait.
        look: one look at the machine, as its host takes it.
        clock: seconds.
        pause: sleeps between looks.
    """

    def __init__(
        self,
        patience_s: float,
        tell: Callable[[str], None],
        look: Callable[[], LoadSample],
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._patience_s, self._tell, self._look = patience_s, tell, look
        self._clock, self._pause = clock, pause
        self._held: GateResult | None = None
        self._at = self._runs_s = self._others_s = 0.0

    def observe_run(self, record: Record) -> None:
        """A run has ended: remember what others took of its CPUs, where the probe says so."""
        run = record.run
        wall, busy, own = run.wall_outer_ns, run.machine_busy_ns, run.cpu_ns
        if wall and busy is not None and own is not None:
            ours = own + (run.observer_ns or 0)
            self._runs_s += wall / 1e9
            self._others_s += (busy + (run.steal_ns or 0) - ours) / 1e9

    def wait_until_quiet(self, block: int, interrupted: Callable[[], bool]) -> GateResult:
        """Look, and wait where the machine is busy and patience is left.

        Args:
            block: that would begin.
            interrupted: whether somebody wants us to stop waiting.
        """
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
        """Patience in seconds, of a wait that began then."""
        return self._patience_s - (self._clock() - began)

    def _is_recent(self) -> bool:
        """Whether the last look still stands, or quiet runs since then stand for another one."""
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
    after = f" after waiting {format_duration(round(waited))}" if waited >= 2 else ""
    if not seen.quiet:
        return f"block {block + 1} began on a busy machine{after}: {seen}"
    return f"block {block + 1} began on a quiet machine{after}" if after else ""
