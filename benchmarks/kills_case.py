"""One case of the campaign: a study that is started, harmed one to four times, and brought to its end."""

import os
import random
import re
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kills_checks import DONE, Fault, Machine, of_end, of_folders, of_journal, of_processes, of_runs, runs
from kills_harms import HUP, INT, Cut, Harm, Kill, draw, killed, whole
from kills_places import NOBODY, Place
from kills_start import Start
from kills_studies import PLANNERS, argv, folder_of, granted, write

from scalograph.protocol.results import is_begun
from scalograph.protocol.saved_documents import NAME as REPRODUCTION
from scalograph.run.hosts.python_probe.tree import become_subreaper

# What nobody uses is swept by a start some time later, and nobody waits for that here.
_OLD_S = 86400.0
# A step whose probe is killed is no run that can be lost: it ends the study, which is then gone on with.
STEP_LOST = re.compile(r"workload\.\w+: .*\bprobe\b")


@dataclass(frozen=True)
class Case:
    """What is done in one case; `nobody`: by a user without rights; `nohup`: with SIGINT and SIGHUP ignored."""

    number: int
    planner: str
    nobody: bool
    nohup: bool
    cold: bool
    harms: tuple[Harm, ...]


def drawn(seed: int, number: int, own: bool, only: Collection[str] = ()) -> Case:
    """The case of this number: a function of its seed, its planners, and what is granted (`own` users and disks)."""
    rng = random.Random(f"{seed}/{number}")
    nobody, nohup, cold = own and rng.random() < 0.35, rng.random() < 0.12, rng.random() < 0.15
    name = rng.choice([name for name in granted(nobody) if name in (only or PLANNERS)])
    planner = PLANNERS[name]
    harms = tuple(draw(rng, nohup, own, planner.native, planner.run_s) for _ in range(rng.choice([1, 2, 3, 3, 4])))
    return Case(number, name, nobody, nohup, cold, harms)


class Course:
    """A case under way.

    Attributes:
        done: rows of its harms, and whether each came in time.
        faults: what was found wrong, with the row of the harm before it.
    """

    def __init__(self, case: Case, place: Place) -> None:
        self._case, self._place = case, place
        self._probe = write(case.planner, place)
        place.give()
        self._results = place.disk / "results"
        self._folder = folder_of(case.planner, self._results)
        self.journal = self._folder / "journal.jsonl"
        self._machine = Machine(place)
        self._start: Start | None = None
        self._before, self._row = b"", "no harm"
        self._kills: list[Kill] = []  # of the start under way
        # Whether folders, settings or processes of a start that was killed are left to the next one.
        self._left = self._orphans = False
        self.done: list[tuple[str, bool]] = []
        self.faults: list[tuple[str, Fault]] = []

    def carry_out(self) -> None:
        """All harms, then starts until the study has come to its end."""
        for harm in self._case.harms:
            self.done.append((harm.row, self._harm(harm)))
        self._finish()
        self._begin()
        self._finish(last=True)

    def _harm(self, harm: Harm) -> bool:
        """Whether it came in time to do any."""
        if isinstance(harm, Kill):
            return self._strike(harm)
        self._finish()
        self._row = harm.row
        if isinstance(harm, Cut):
            # Without a line of its journal nothing goes on in a folder that holds findings.
            return harm.cut(self.journal, first_line=not (self._folder / "findings.json").exists())
        place = self._place
        filler = harm.fill({"disk": place.disk, "tmp": place.tmp, "state": place.state.parent}[harm.where])
        self._begin()
        # Where TMPDIR is full, Python takes the next folder for what is made for a while, and there it sweeps.
        self._finish(codes={3}, sweeps=harm.where != "tmp")
        filler.unlink()
        return True

    def _strike(self, kill: Kill) -> bool:
        start = self._begin()
        hit = kill.strike(start, self.journal, len(self._before))
        if hit:
            self._row = kill.row
            self._kills.append(kill)
        if start.ended() or (hit and kill.codes(start.ignored)):
            self._finish()
        return hit

    def _begin(self) -> Start:
        """Start, or go on with, the study, unless that is under way."""
        if self._start is None:
            self._let_a_day_pass()
            self._before, self._kills = whole(self.journal), []
            begun = is_begun(self.journal) or (self._results / REPRODUCTION).exists()
            command = argv(self._case.planner, self._results, begun)
            ignored = (INT, HUP) if self._case.nohup else ()
            self._start = Start(command, self._place, self._probe, self._case.cold, ignored)
        return self._start

    def _let_a_day_pass(self) -> None:
        old = time.time() - _OLD_S
        for path in (*self._place.leaves(), *self._place.tmp.iterdir()):
            os.utime(path, (old, old))

    def _finish(self, last: bool = False, codes: Collection[int] = (), sweeps: bool = True) -> None:
        """Wait for the end of the start under way, and check all that must hold then."""
        if self._start is None:
            return
        start, self._start = self._start, None
        code = start.finish()
        self._machine.look()
        journaled = whole(self.journal)[len(self._before) :]
        if journaled and sweeps:  # it had the lock, and so has put right what earlier ones left
            self._left = self._orphans = False
        victims = killed(self._kills)
        self._orphans |= {"runner", "probe", "guard"} <= victims
        # The kernel ends who has not begun to hear signals.
        self._left |= code < 0 or "runner" in victims or {"probe", "guard"} <= victims
        self._note(of_processes(self._place) if not self._orphans else ())
        expected = {code for kill in self._kills for code in kill.codes(start.ignored)}
        if any("probe" in kill.victims for kill in self._kills) and STEP_LOST.search(start.said()):
            expected.add(3)
        earlier = self._before if PLANNERS[self._case.planner].again else b""
        self._note(of_end(start, {*codes, *expected}, journaled, earlier))
        self._note(of_journal(self._before, self.journal))
        if not self._left:
            self._note(of_folders(self._place, self._folder))
            self._note(self._machine.changed())
        if last and code in DONE:
            self._note(of_runs(self._case.planner, self._folder))

    def _note(self, found: Iterable[Fault]) -> None:
        self.faults += [(self._row, fault) for fault in found]


def carry_out(case: Case, folder: Path, cache: Path) -> dict[str, Any]:
    """One case in this process, which must be a child made for it: it moves into mounts and a cgroup of its own.

    Returns:
        `done`: row of each harm, and whether it came in time; `faults`: row, class, text; `n_runs`; `seconds`.
    """
    become_subreaper()
    began = time.monotonic()
    course = Course(case, Place(folder, NOBODY if case.nobody else None, cache))
    course.carry_out()
    return {
        "done": course.done,
        "faults": [[row, *fault] for row, fault in course.faults],
        "n_runs": len(runs(course.journal)),
        "seconds": round(time.monotonic() - began, 2),
    }
