"""Confirm a cause by an experiment: runs with one change, in pairs with runs without it."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scalograph.analysis.ratios import paired_ratio
from scalograph.errors import StudyError
from scalograph.protocol.explanation import MARGIN, Share, Trial

PAIRS = 6
_ALLOCATORS = ("libjemalloc.so.2", "libmimalloc.so.2", "libtcmalloc_minimal.so.4")
_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "arenas": ("MALLOC_ARENA_MAX=1",),
    "wait-policy": ("OMP_WAIT_POLICY=passive", "GOMP_SPINCOUNT=0", "KMP_BLOCKTIME=0"),
    "placement": ("OMP_PROC_BIND=spread", "OMP_PLACES=cores"),
    "gc": ("JAVA_TOOL_OPTIONS=-XX:+UseParallelGC",),
    "heap": ("JAVA_TOOL_OPTIONS=-XX:InitialRAMPercentage=50 -XX:MaxRAMPercentage=50",),
}
NAMES = ("malloc", *_VARIABLES)


@dataclass(frozen=True)
class Change:
    """One change that needs no edit of the program: what its command begins with."""

    name: str
    prefix: tuple[str, ...]


def changes(names: str | None, prefixes: Sequence[str]) -> list[Change]:
    """Return the changes of --try NAMES and of each --what-if PREFIX.

    Raises StudyError: an unknown name, an allocator that is not installed, or a prefix that is no command.
    """
    listed = [name.strip() for name in names.split(",")] if names else []
    if unknown := next((name for name in listed if name not in NAMES), None):
        raise StudyError.one("--try", f'"{unknown}"', f"one of {', '.join(NAMES)}")
    chosen = [Change(name, _prefix_of(name)) for name in listed]
    for text in prefixes:
        try:
            prefix = tuple(shlex.split(text))
        except ValueError as error:
            raise StudyError.one("--what-if", f'"{text}"', "a command prefix", str(error)) from error
        if not prefix or shutil.which(prefix[0]) is None:
            raise StudyError.one("--what-if", f'"{text}"', "what the command begins with", "such as 'env NAME=VALUE'")
        chosen.append(Change(text, prefix))
    return chosen


def _prefix_of(name: str) -> tuple[str, ...]:
    if name != "malloc":
        return ("env", *_VARIABLES[name])
    listed = subprocess.run(
        [shutil.which("ldconfig") or "/sbin/ldconfig", "-p"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        errors="replace", timeout=60, check=False,
    ).stdout  # fmt: skip
    for library in _ALLOCATORS:
        if match := re.search(rf"^\s*{re.escape(library)} .*=> (/\S+)$", listed, re.MULTILINE):
            return ("env", f"LD_PRELOAD={match[1]}")
    raise StudyError.one("--try", "malloc, and no other allocator is installed", "one", "apt install libjemalloc2")


def judge_trial(change: Change, without: Sequence[float], with_it: Sequence[float], confidence: float) -> Trial:
    """Judge runs in pairs; times: the ratio is that of speed, above 1 where the change helps.

    >>> judge_trial(Change("malloc", ()), [2.0, 2.1, 1.9], [1.0, 1.05, 0.96], 0.95).outcome
    'confirmed'
    """
    ratio = paired_ratio(list(without), list(with_it), confidence)
    speed = Share(value=ratio.value or 0.0, low=ratio.low, high=ratio.high)
    low, high = ratio.low or 0.0, ratio.high if ratio.high is not None else float("inf")
    if low > 1 + MARGIN:
        outcome = "confirmed"
    elif high < 1 - MARGIN:
        outcome = "slower"
    else:
        outcome = "not the cause" if low > 1 - MARGIN and high < 1 + MARGIN else "inconclusive"
    return Trial(
        name=change.name, change=shlex.join(change.prefix)[:1000], speed=speed, n_pairs=len(without), outcome=outcome
    )
