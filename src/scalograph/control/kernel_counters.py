"""What the kernel's memory and writing back did meanwhile, from /proc/vmstat: whether a setting moved anything at all.

The counters are of the whole machine, since boot. nr_throttled_written exists from Linux 5.18 on.
"""

from collections.abc import Mapping
from pathlib import Path

from scalograph.control.cgroups import read
from scalograph.study.responses import COUNTERS

# Counted by zones of memory, and added up.
_SUMS = ("allocstall",)
# In pages, as they are; a background limit at or above the other is half of it, which the settings do not show.
LIMITS = ("nr_dirty_threshold", "nr_dirty_background_threshold")


def read_counters(root: Path = Path("/")) -> dict[str, int] | None:
    """Return counters and limits; those that this kernel does not have are absent, None if it tells none."""
    lines = (line.split() for line in (read(root / "proc/vmstat") or "").splitlines())
    told = {words[0]: int(words[1]) for words in lines if len(words) == 2 and words[1].isdecimal()}
    found = {name: told[name] for name in COUNTERS if name in told}
    for name in _SUMS:
        parts = [count for key, count in told.items() if key == name or key.startswith(f"{name}_")]
        found |= {name: sum(parts)} if parts else {}
    return found or None


def passed(before: Mapping[str, int] | None, after: Mapping[str, int] | None) -> dict[str, int] | None:
    """Return what was counted between two readings, and the limits at the second one; None without both."""
    if before is None or after is None:
        return None
    counts = {name: max(0, after[name] - before[name]) for name in after if name in before and name not in LIMITS}
    return {**counts, **{name: after[name] for name in LIMITS if name in after}}
