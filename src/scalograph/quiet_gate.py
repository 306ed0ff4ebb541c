"""Before each block: is the machine quiet? Where it is not, wait as long as the study allows, and say so."""

import time
from collections.abc import Callable
from typing import NamedTuple

from scalograph.control.quiet import Look, look
from scalograph.units import format_duration

# Between two looks while we wait: a look itself takes half a second.
PAUSE_S = 0.5
# How long a quiet look holds: short blocks would be looked at for longer than they take.
HOLDS_S = 10.0
# A wait is told again after so long.
TELL_EVERY_S = 30.0


class Passage(NamedTuple):
    """How a block began: on a quiet machine or not, and what a person should know of it (empty: nothing)."""

    quiet: bool
    note: str = ""


class QuietGate:
    """Looks at the machine before each block.

    Args:
        patience_s: how long to wait for quiet, over all blocks of this start; 0 looks and goes on.
        tell: is told that, and why, we wait.
        look: one look at the machine.
        clock: seconds.
        pause: sleeps between looks.
    """

    def __init__(
        self,
        patience_s: float,
        tell: Callable[[str], None],
        look: Callable[[], Look] = look,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._patience_s, self._tell, self._look = patience_s, tell, look
        self._clock, self._pause = clock, pause
        self._quiet_at: float | None = None

    def pass_(self, block: int, interrupted: Callable[[], bool]) -> Passage:
        """Look, and wait where the machine is busy and patience is left.

        Args:
            block: that would begin.
            interrupted: whether somebody wants us to stop waiting.
        """
        if self._quiet_at is not None and self._clock() - self._quiet_at < HOLDS_S:
            return Passage(True)
        began, seen = self._clock(), self._look()
        told = began - TELL_EVERY_S
        while not seen.quiet and not interrupted() and (waited := self._clock() - began) < self._patience_s:
            if self._clock() - told >= TELL_EVERY_S:
                left = format_duration(round(self._patience_s - waited))
                self._tell(f"waiting for a quiet machine before block {block + 1}, at most {left}: {seen}")
                told = self._clock()
            self._pause(PAUSE_S)
            seen = self._look()
        waited = self._clock() - began
        self._patience_s = max(0.0, self._patience_s - waited)
        self._quiet_at = self._clock() if seen.quiet else None
        return Passage(seen.quiet, _note(block, seen, waited))


def _note(block: int, seen: Look, waited: float) -> str:
    after = f" after waiting {format_duration(round(waited))}" if waited >= 2 else ""
    if not seen.quiet:
        return f"block {block + 1} began on a busy machine{after}: {seen}"
    return f"block {block + 1} began on a quiet machine{after}" if after else ""
