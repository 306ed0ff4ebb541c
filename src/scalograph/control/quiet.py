"""Is the machine quiet now? A short look while no run of ours is active."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

# The length of a look. /proc/stat counts ticks of 10 ms: one is 2 % of half a second.
LOOK_S = 0.5
# A look without a tick until then ends: a neighbor with a tenth of a CPU would have two or three.
GLANCE_S = 0.25
# Below this, a look cannot distinguish a neighbor from the ticks of any machine.
BUSY = 0.10
_HZ = os.sysconf("SC_CLK_TCK")

Ticks = Mapping[int, tuple[int, int]]


@dataclass(frozen=True)
class Look:
    """Shares of one look: `busy` of each CPU that we may use, the work of others and of the hypervisor together."""

    busy: Mapping[int, float]

    @property
    def quiet(self) -> bool:
        """Whether no CPU was used by others for a tenth of the look."""
        return max(self.busy.values(), default=0.0) < BUSY

    def __str__(self) -> str:
        told = [f"CPU {cpu} {100 * share:.0f} %" for cpu, share in self.busy.items() if share >= BUSY]
        more = f" and {len(told) - 4} more" if len(told) > 4 else ""
        return f"used by others: {', '.join(told[:4])}{more}" if told else "quiet"


def look(sleep: Callable[[float], None] = time.sleep, root: Path = Path("/")) -> Look:
    """Look for at most `LOOK_S` seconds at the CPUs that this process may use.

    Args:
        sleep: how to wait; tests pass time by hand.
        root: where /proc is.
    """
    before, began = _ticks(root), time.monotonic()
    sleep(GLANCE_S)
    if (after := _ticks(root)) != before:
        sleep(LOOK_S - GLANCE_S)
        after = _ticks(root)
    passed = max(LOOK_S, time.monotonic() - began) * _HZ
    used = {cpu: sum(after[cpu]) - sum(before[cpu]) for cpu in before if cpu in after}
    return Look({cpu: min(1.0, max(0.0, ticks / passed)) for cpu, ticks in used.items()})


def _ticks(root: Path) -> Ticks:
    """Return (busy, stolen) ticks of each CPU that we may use, since boot; empty if /proc/stat cannot be read."""
    try:
        lines = (root / "proc/stat").read_text().splitlines()
    except OSError:
        return {}
    mine = {f"cpu{cpu}": cpu for cpu in sorted(os.sched_getaffinity(0))}
    return {mine[words[0]]: _of(words[1:]) for words in map(str.split, lines) if words and words[0] in mine}


def _of(fields: list[str]) -> tuple[int, int]:
    user, nice, system, _idle, _iowait, irq, softirq, stolen = map(int, fields[:8])
    return user + nice + system + irq + softirq, stolen
