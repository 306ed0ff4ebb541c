"""What is done to a study: signals to its processes at a drawn moment, a full disk, a journal cut at a drawn byte."""

import os
import random
import signal
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kills_places import ROOM
from kills_start import Start, children
from kills_studies import RUN_S

from scalograph.protocol.journal import MAX_LINE_BYTES

KILL, TERM, INT, HUP = signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP
IGNORED = "INT or HUP, ignored"
# From the start of the command to its first run, about.
START_S = 1.0
# Where a machine has no time for us, a moment is waited for so long.
LONG_S = 60.0


@dataclass(frozen=True)
class Kill:
    """Signals to processes of a start, when its journal has so many further lines and some time has passed.

    Attributes:
        row: what it is called in the table.
        victims: of "runner", "group" (as Ctrl-C: the runner with the steps around its runs), "probe", "guard".
        number: the signal.
        lines: of the journal since the start began; 0: the moment lies before the first.
        delay_s: from then on, and where a probe is needed from the moment at which there is one.
        times: so often.
    """

    row: str
    victims: tuple[str, ...]
    number: signal.Signals
    lines: int
    delay_s: float
    times: int = 1

    def strike(self, start: Start, journal: Path, n_bytes: int) -> bool:
        """Wait for the moment and send the signals; False where the start had ended before.

        Args:
            start: that is to get them.
            journal: of its study.
            n_bytes: of the journal, when it began.
        """
        further = Lines(journal, n_bytes)
        if self.lines and not start.lasts(LONG_S, lambda: further.n() >= self.lines):
            return False
        first = self._probe(start)
        if not start.lasts(self.delay_s):
            return False
        # The run that it measured may have ended by now.
        probe = first if first in children(start.pid) else self._probe(start)
        if start.ended():
            return False
        targets = [target for victim in self.victims for target in _targets(victim, start, probe)]
        for _ in range(self.times):
            for target in targets:
                with suppress(ProcessLookupError):
                    os.kill(target, self.number)
        return bool(targets)

    def _probe(self, start: Start) -> int | None:
        """The probe of the run under way, or of the next one; None where there is none any more, or none is needed."""
        found: list[int] = []
        if {"probe", "guard"} & {*self.victims}:
            start.lasts(LONG_S, lambda: bool(found.extend(start.probes()) or found))
        return found[0] if found else None

    def codes(self, ignored: Collection[signal.Signals]) -> set[int]:
        """How a start may end that got it, beside having come to its end before."""
        if {"runner", "group"} & {*self.victims}:
            if self.number in ignored:
                return set()
            # Before anything of the command has been imported, the kernel ends it.
            return {-self.number, {INT: 130, KILL: -KILL}.get(self.number, 143)}
        return set() if self.number == KILL else {130}


def killed(kills: Iterable[Kill]) -> set[str]:
    """The victims that had no time to put anything back."""
    return {victim for kill in kills if kill.number == KILL or kill.times > 1 for victim in kill.victims}


@dataclass(frozen=True)
class FullDisk:
    """A disk on which so many bytes are free for the next start."""

    row: str
    where: str
    free_bytes: int

    def fill(self, folder: Path) -> Path:
        """Fill it up to that; the file that takes the room."""
        status = os.statvfs(folder)
        assert status.f_blocks * status.f_frsize <= ROOM, f"{folder}: not one of our small disks"
        file = folder / "filler"
        file.touch()
        with file.open("wb") as stream:
            os.posix_fallocate(stream.fileno(), 0, max(1, status.f_bavail * status.f_frsize - self.free_bytes))
        return file


@dataclass(frozen=True)
class Cut:
    """A journal of which this share of bytes is left."""

    row: str
    share: float

    def cut(self, journal: Path, first_line: bool) -> bool:
        """Cut it, behind its first line unless that may go too; whether there was one."""
        if not journal.exists() or not (size := journal.stat().st_size):
            return False
        low = 0 if first_line else len(whole(journal).partition(b"\n")[0]) + 1
        os.truncate(journal, low + round(self.share * max(0, size - low)))
        return True


Harm = Kill | FullDisk | Cut
# Rows of the table: victims, signal, and how often each is drawn among the others.
ROWS: dict[str, tuple[tuple[str, ...], signal.Signals, int]] = {
    "runner KILL": (("runner",), KILL, 6),
    "runner TERM": (("runner",), TERM, 4),
    "runner INT": (("runner",), INT, 3),
    "runner HUP": (("runner",), HUP, 2),
    "runner INT twice": (("runner",), INT, 2),
    "group INT (Ctrl-C)": (("group",), INT, 2),
    "probe KILL": (("probe",), KILL, 2),
    "probe TERM": (("probe",), TERM, 2),
    "probe INT": (("probe",), INT, 1),
    "guard KILL": (("guard",), KILL, 1),
    "runner and probe KILL": (("runner", "probe"), KILL, 4),
    "probe and runner TERM": (("probe", "runner"), TERM, 1),
    "probe and guard KILL": (("guard", "probe"), KILL, 2),
    "runner, probe and guard KILL": (("runner", "guard", "probe"), KILL, 4),
}
DISKS = {"results": "disk", "scratch": "tmp", "changes": "state"}


def draw(rng: random.Random, nohup: bool, disks: bool, guarded: bool, run_s: float = RUN_S) -> Harm:
    """A harm: of ten, one is no kill. Where no guard outlives the probe, none is killed."""
    lot = rng.random()
    if lot < 0.05:
        return Cut("journal cut", rng.random())
    if lot < 0.10 and disks:
        where = rng.choice(["results", "results", "scratch", "changes"])
        return FullDisk(f"disk full: {where}", DISKS[where], round(10 ** rng.uniform(0, 5)))
    weights = {row: weight for row, (victims, _, weight) in ROWS.items() if guarded or "guard" not in victims}
    row = rng.choices([*weights], [*weights.values()])[0]
    return kill(rng, row, nohup, run_s=run_s)


def kill(rng: random.Random, row: str, nohup: bool, most_lines: int = 30, run_s: float = RUN_S) -> Kill:
    """A kill of this row at a drawn moment: one of five before the first run."""
    victims, number, _ = ROWS[row]
    lines = 0 if rng.random() < 0.2 else rng.randint(1, most_lines)
    needs_probe = bool({"probe", "guard"} & {*victims})
    delay = rng.uniform(0, START_S if not lines and not needs_probe else run_s)
    ignored = nohup and number in (INT, HUP) and "probe" not in victims
    return Kill(IGNORED if ignored else row, victims, number, lines, delay, 2 if row.endswith("twice") else 1)


def whole(journal: Path) -> bytes:
    """The whole lines of a journal; nothing where there is none."""
    try:
        content = journal.read_bytes()
    except FileNotFoundError:
        return b""
    assert len(content) < 16 * MAX_LINE_BYTES
    return content[: content.rfind(b"\n") + 1]


class Lines:
    """The lines that a journal gets from now on."""

    def __init__(self, journal: Path, n_bytes: int) -> None:
        self._journal, self._at, self._n = journal, n_bytes, 0

    def n(self) -> int:
        """How many there are so far."""
        with suppress(FileNotFoundError), self._journal.open("rb") as stream:
            stream.seek(self._at)
            new = stream.read()
            self._at, self._n = self._at + len(new), self._n + new.count(b"\n")
        return self._n


def _targets(victim: str, start: Start, probe: int | None) -> list[int]:
    """What a signal goes to: a process, or as a negative number a group."""
    if victim in ("runner", "group"):
        return [start.pid if victim == "runner" else -start.pid]
    if probe is None:
        return []
    return [probe] if victim == "probe" else children(probe)[:1]
