"""Confirm a cause by an experiment: runs with one change, in pairs with runs without it."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scalograph.analysis.ratios import paired_ratio
from scalograph.control.capacity import NO_LIMIT, QUOTA
from scalograph.errors import StudyError
from scalograph.profile.perf_runs import add_prefix
from scalograph.profile.values import Configuration
from scalograph.protocol.explanation import MARGIN, Share, Trial
from scalograph.run.plan import Plan

PAIRS = 6
_ALLOCATORS = ("libjemalloc.so.2", "libmimalloc.so.2", "libtcmalloc_minimal.so.4")
_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "arenas": ("MALLOC_ARENA_MAX=1",),
    "wait-policy": ("OMP_WAIT_POLICY=passive", "GOMP_SPINCOUNT=0", "KMP_BLOCKTIME=0"),
    "placement": ("OMP_PROC_BIND=spread", "OMP_PLACES=cores"),
    "gc": ("JAVA_TOOL_OPTIONS=-XX:+UseParallelGC",),
    "heap": ("JAVA_TOOL_OPTIONS=-XX:InitialRAMPercentage=50 -XX:MaxRAMPercentage=50",),
}
LIFT_QUOTA = "quota"
NAMES = ("malloc", *_VARIABLES, LIFT_QUOTA)


@dataclass(frozen=True)
class Change:
    """One change that needs no edit of the program: what its command begins with, or that no quota holds."""

    name: str
    prefix: tuple[str, ...] = ()

    def apply(self, planned: Plan, configuration: Configuration) -> tuple[Plan, Configuration]:
        """Return the plan and the configuration with the change.

        Raises StudyError: there is no quota to lift, or who started this process set it.
        """
        if self.name == LIFT_QUOTA:
            return _lift_quota(planned, configuration)
        return add_prefix(planned, self.prefix), configuration


def _lift_quota(planned: Plan, configuration: Configuration) -> tuple[Plan, Configuration]:
    factors = planned.design.study.factors
    lifted = {name: NO_LIMIT if factors[name].control == QUOTA else level for name, level in configuration.items()}
    processes = tuple(replace(process, quota=None) for process in planned.program.processes)
    if lifted == configuration and processes == planned.program.processes:
        outside = planned.facts.cpu_quota
        what = "no quota holds" if outside is None else f"the quota of {outside:g} CPUs is none of the study"
        fix = "omit it" if outside is None else "start scalograph where no quota holds, and compare the two"
        raise StudyError.one("--try quota", what, "a study that sets one", fix)
    return replace(planned, program=replace(planned.program, processes=processes)), lifted


def changes(names: str | None, prefixes: Sequence[str], is_here: bool = True) -> list[Change]:
    """Return the changes of --try NAMES and of each --what-if PREFIX; programs are looked for if runs are made here.

    Raises StudyError: an unknown name, an allocator that is not installed, or a prefix that is no command.
    """
    listed = [name.strip() for name in names.split(",")] if names else []
    if unknown := next((name for name in listed if name not in NAMES), None):
        raise StudyError.one("--try", f'"{unknown}"', f"one of {', '.join(NAMES)}")
    if "malloc" in listed and not is_here:
        fix = "name its library: --what-if 'env LD_PRELOAD=PATH'"
        raise StudyError.one("--try", "malloc: an allocator is looked for on this machine only", "", fix)
    chosen = [Change(name) if name == LIFT_QUOTA else Change(name, _prefix_of(name)) for name in listed]
    for text in prefixes:
        try:
            prefix = tuple(shlex.split(text))
        except ValueError as error:
            raise StudyError.one("--what-if", f'"{text}"', "a command prefix", str(error)) from error
        if not prefix or (is_here and shutil.which(prefix[0]) is None):
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
        name=change.name,
        change=shlex.join(change.prefix)[:1000] or change.name,
        speed=speed,
        n_pairs=len(without),
        outcome=outcome,
    )
