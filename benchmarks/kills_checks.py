"""What must hold after every harm, each fault with its class; the classes are the columns that must all be 0."""

import json
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from kills_harms import whole
from kills_places import Place, processes
from kills_start import LIMIT_BYTES, LIMIT_S, Start
from kills_studies import BUDGET, PLANNERS

from scalograph.control.store import CHANGES
from scalograph.machine.proofs.proof_context import read_settings
from scalograph.protocol.results import RESERVED
from scalograph.system.cgroups import LEAF, cpu_tree

FAULTS = (
    "lost", "doubled", "not as planned", "left behind", "not restored", "exit code", "traceback", "above 10 s",
    "above 1 GB", "campaign",
)  # fmt: skip
Fault = tuple[str, str]
# Of a study that came to its end; `ab` says with 7 and 8 how it ended.
DONE = {0, 4, 5, 7, 8}
UNHEARD = {-signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP}
# The guard and the kernel clear a tree after the probe has gone.
SETTLE_S = 5.0
_TRACE = re.compile(r"Traceback \(most recent|Exception ignored|panicked at|core dumped")
# Names of ours in folders for what is made for a while, and in caches.
_TEMPORARY = re.compile(r"scalograph-.*|\..*")


def of_end(start: Start, codes: Collection[int], journaled: bytes, earlier: bytes = b"") -> Iterator[Fault]:
    """How a start ended, what it said and took; `codes` beside those of a study that came to its end.

    Args:
        earlier: the journal before it, of a part of a reproduction: one that is complete is not begun again.
    """
    if _is_pythons_own(start):
        return
    told = f"{' '.join(start.argv)}: exit code {start.code}"
    reasons = [event["reason"] for event in _events(journaled or earlier) if event["event"] == "end"]
    if start.code in DONE and reasons[-1:] not in (["complete"], ["budget"], ["busy"]):
        yield "exit code", f"{told}, but the journal says that it ended {reasons}"
    if start.code in UNHEARD and journaled:
        yield "exit code", f"{told}, ended by the kernel although it had begun"
    if start.code not in {*DONE, *codes}:
        yield "exit code", f"{told}, expected {sorted({*DONE, *codes})}: {start.said()[-400:]!r}"
    if start.code in (130, 143) and journaled and reasons[-1:] == ["interrupted"] and "--resume" not in start.said():
        yield "exit code", f"{told}, without the command that goes on: {start.said()[-400:]!r}"
    if _TRACE.search(start.said()):
        yield "traceback", f"{told}: {start.said()[-1200:]}"
    if start.over_s > LIMIT_S:
        yield "above 10 s", f"{told} after {start.over_s:.1f} s"
    if start.peak_bytes > LIMIT_BYTES:
        yield "above 1 GB", f"{told} with {start.peak_bytes / 1e9:.2f} GB"


def _is_pythons_own(start: Start) -> bool:
    """Whether Ctrl-C came before the interpreter had got to a line of ours."""
    said = start.said()
    return "Traceback" in said and "KeyboardInterrupt" in said and "scalograph" not in said


def of_journal(before: bytes, journal: Path) -> Iterator[Fault]:
    """What was on the disk is there still, byte for byte, and no run is there twice."""
    after = whole(journal)
    if not after.startswith(before):
        at = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(after))
        yield "lost", f"the journal differs from byte {at} of {len(before)}: {after[at : at + 100]!r}"
    for name, n in Counter(runs(journal)).items():
        if n > 1:
            yield "doubled", f"run {name} {n} times"


def of_runs(planner: str, results: Path) -> Iterator[Fault]:
    """At the end: exactly the planned runs."""
    kind, journal = PLANNERS[planner].runs, results / "journal.jsonl"
    lines = (results / "design.jsonl").read_text().splitlines()[1:]
    planned = [json.loads(line)["run"] for line in lines]
    made = [run for run in runs(journal) if "r" not in run]  # a disturbed one is repeated as NAMEr1
    left = iter(planned)
    holds = {
        "all": made == planned,
        "some": all(run in left for run in made) and len(made) > len(planned) / 2,
        "pairs": len(made) % 2 == 0 and made[: len(planned)] == planned[: len(made)] and len(made) > len(planned) / 2,
        "search": len(made) <= BUDGET and ({*planned} <= {*made} or len(made) == BUDGET),
    }[kind]
    reason = [event for event in _events(whole(journal)) if event["event"] == "end"][-1]["reason"]
    if kind == "search" and reason == "busy":  # others measured here too, and it gave up
        return
    if not holds:
        yield "not as planned", f"{len(made)} runs, planned {kind} of {len(planned)}: {made}"
    if reason not in ({"complete", "budget"} if kind == "search" else {"complete"}):
        yield "not as planned", f"ended as {reason}"


def of_processes(place: Place) -> Iterator[Fault]:
    """Nothing runs on below this process, for longer than it waits for a CPU."""
    began, stalled = time.monotonic(), place.stalled_s()
    while (found := processes()) and time.monotonic() - began < SETTLE_S + place.stalled_s() - stalled:
        time.sleep(0.005)
    for pid, what in found.items():
        yield "left behind", f"process {pid} still runs: {what[:200]}"
        os.kill(pid, 9)


def of_folders(place: Place, results: Path) -> Iterator[Fault]:
    """No scratch folder, no half-made folder of a cache, no part of a file, no cgroup."""
    for folder in (place.tmp, *(path for path in place.cache.glob("scalograph/*") if path.is_dir())):
        for path in folder.iterdir():
            if _TEMPORARY.fullmatch(path.name):
                within = [str(one.relative_to(path)) for one in path.rglob("*")]
                yield "left behind", f"{path.relative_to(place.folder)} {within}"
    for path in results.glob("*"):
        if path.name not in RESERVED:
            yield "left behind", f"{path.relative_to(place.folder)}"
    for leaf in place.leaves():
        yield "left behind", f"cgroup {leaf.name}, {(leaf / 'cgroup.events').read_text().split()}"


class Machine:
    """Settings of the machine as they were before a case."""

    def __init__(self, place: Place) -> None:
        self._place, self._before, self._named = place, read_settings(), set[Path]()

    def changed(self) -> Iterator[Fault]:
        """What differs now, read back."""
        now = read_settings()
        for name in sorted(self._before.keys() | now.keys()):
            was, found = self._before.get(name, "absent"), now.get(name, "absent")
            if was != found:
                yield "not restored", f"{name}: {found}, before it was {was}"
        if self._record().exists():
            yield "not restored", "the record of changes is still there"
        for leaf in sorted(self._named & quota_leaves()):
            yield "not restored", f"cgroup {leaf} is there, without a process"

    def look(self) -> None:
        """Remember which cgroups the record of changes names: others measure here too, and have their own."""
        record = self._record().read_text() if self._record().exists() else ""
        if tree := cpu_tree():
            self._named |= {tree.mount / name for name in LEAF.findall(record)}

    def _record(self) -> Path:
        return self._place.state / CHANGES


def quota_leaves() -> set[Path]:
    """Cgroups with a quota that hold no process."""
    tree = cpu_tree()
    found = tree.mount.glob("scalograph-*") if tree else ()
    return {leaf for leaf in found if leaf.is_dir() and not _populated(leaf)}


def _populated(leaf: Path) -> bool:
    try:
        return bool((leaf / "cgroup.procs").read_text().strip())
    except OSError:
        return True  # gone meanwhile


def _events(journaled: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journaled.splitlines()]


def runs(journal: Path) -> list[str]:
    """Names of the finished runs, in order."""
    return [str(event["run"]) for event in _events(whole(journal)) if event["event"] == "run"]
