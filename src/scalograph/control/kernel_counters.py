"""What the kernel's memory and writing back did meanwhile, from /proc/vmstat: whether a setting moved anything at all.

The counters are of the whole machine, since boot. nr_throttled_written exists from Linux 5.18 on.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from scalograph.protocol.bounded import read_below
from scalograph.protocol.record_part import LAST
from scalograph.study.responses import COUNTERS

# Counted by zones of memory, and added up.
_SUMS = ("allocstall",)
# In pages, as they are; a background limit at or above the other is half of it, which the settings do not show.
LIMITS = ("nr_dirty_threshold", "nr_dirty_background_threshold")
# A guest may have written both: what is longer is no /proc/vmstat, and no count of 64 bits.
_MAX_BYTES, _COUNT = 64 << 10, re.compile("[0-9]{1,20}")


def read_counters(root: Path = Path("/")) -> dict[str, int] | None:
    """Return counters and limits; those that this kernel does not have are absent, None if it tells none."""
    try:
        lines = [line.split() for line in read_below(root, "proc/vmstat", _MAX_BYTES).splitlines()]
    except OSError:
        return None
    told = {words[0]: int(words[1]) for words in lines if len(words) == 2 and _COUNT.fullmatch(words[1])}
    found = {name: told[name] for name in COUNTERS if name in told}
    for name in _SUMS:
        parts = [count for key, count in told.items() if key == name or key.startswith(f"{name}_")]
        found |= {name: sum(parts)} if parts else {}
    return {name: min(count, LAST) for name, count in found.items()} or None


def passed(before: Mapping[str, int] | None, after: Mapping[str, int] | None) -> dict[str, int] | None:
    """Return what was counted between two readings, and the limits at the second one; None without both."""
    if before is None or after is None:
        return None
    counts = {name: max(0, after[name] - before[name]) for name in after if name in before and name not in LIMITS}
    return {**counts, **{name: after[name] for name in LIMITS if name in after}}
