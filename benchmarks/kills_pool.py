"""Cases of the campaign in children, as many side by side as are wanted; none of them outlives it."""

import gc
import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kills_case import Case, carry_out
from kills_checks import quota_leaves
from kills_places import remove_group
from kills_studies import fill_cache
from kills_table import HARMLESS

from scalograph.run.hosts.python_probe.tree import become_subreaper, kill_all, reap

# Beyond that a case is given up. A machine without time for us makes it long.
CASE_S = 900.0


@dataclass(frozen=True)
class Child:
    """A case under way."""

    case: Case
    folder: Path
    until: float


def carried_out(cases: Iterator[Case], folder: Path, jobs: int, enough: Callable[[], bool]) -> Iterator[dict[str, Any]]:
    """Carry out cases until there are no more, or enough.

    Yields:
        What `kills_case.carry_out` returns, with the fields of the case.
    """
    cache = folder / "cache"
    fill_cache(cache)
    become_subreaper()
    gc.freeze()
    running: dict[int, Child] = {}
    before = quota_leaves()
    try:
        while True:
            while len(running) < jobs and not enough() and (case := next(cases, None)):
                name = f"kills-{os.getpid()}-{case.number}"
                child = Child(case, folder / name, time.monotonic() + CASE_S)
                running[_start(child, cache)] = child
            if not running:
                break
            if (pid := _ended(running)) in running:
                yield _outcome(running.pop(pid))
        if new := quota_leaves() - before:
            yield {"case": -1, "planner": "quota", **_broken(f"left behind: {sorted(map(str, new))}")}
    finally:
        kill_all(reap)


def _start(child: Child, cache: Path) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    if pid := os.fork():
        return pid
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        child.folder.mkdir(mode=0o755)
        outcome = carry_out(child.case, child.folder, cache)
    except BaseException:
        outcome = _broken(traceback.format_exc())
    with suppress(OSError):
        child.folder.with_suffix(".json").write_text(json.dumps(outcome))
    os._exit(0)


def _ended(running: dict[int, Child]) -> int:
    """The number of a child that has ended; 0 where none has for a moment."""
    pid, _ = os.waitpid(-1, os.WNOHANG)
    if not pid:
        time.sleep(0.02)
    for late in (child for child, one in running.items() if time.monotonic() > one.until):
        os.kill(late, signal.SIGKILL)
    return pid


def _outcome(child: Child) -> dict[str, Any]:
    case, file = child.case, child.folder.with_suffix(".json")
    outcome = json.loads(file.read_text()) if file.exists() else _broken("it was killed, or took too long")
    if not remove_group(child.folder.name):
        outcome["faults"].append([HARMLESS, "left behind", "a process in the cgroup of the case"])
    shutil.rmtree(child.folder, ignore_errors=True)
    return {
        "case": case.number, "planner": case.planner, "nobody": case.nobody, "nohup": case.nohup, "cold": case.cold,
        **outcome,
    }  # fmt: skip


def _broken(why: str) -> dict[str, Any]:
    return {"done": [], "faults": [[HARMLESS, "campaign", why]], "n_runs": 0, "seconds": 0.0}
