"""The folder of a job: what it is given before it is submitted, and what it gives back; nodes and we share it."""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

from scalograph.errors import HostError
from scalograph.protocol.bounded import read_whole
from scalograph.protocol.record_processes import MAX_COPIES, JobStep
from scalograph.run.hosts.local.probe_process import MAX_RECORD_BYTES, ProbeAnswer
from scalograph.run.hosts.slurm.job_scripts import SCRIPTS

_SMALL, _TAIL = 1 << 20, 4096
_MOST_NODES = 4096
# Share by which a node is slower before it is named, and the fewest nodes of which most are alike.
SLOW, _LEAST_NODES = 0.05, 3


class NodeReference(NamedTuple):
    """What the reference run of a node gave: its boot, and nanoseconds of a piece of work (median; None: not timed)."""

    boot_id: str
    time_ns: int | None


@dataclass(frozen=True)
class JobFolder:
    """The files of one job. `path` lies in a folder with the scripts and the probe (`prepare_home`)."""

    path: Path

    @property
    def number(self) -> int:
        """Return the number of the job in its study."""
        return int(self.path.name.rpartition("-")[2])

    @property
    def name(self) -> str:
        """Return the name of the job in the queue, unique to this folder."""
        return self._text("name").strip()

    def create(self, name: str, runs: Iterable[str], lines: Mapping[str, bytes]) -> None:
        """Create the folder for runs in order, with the lines that probes read. Raises HostError: no room."""
        try:
            self.path.mkdir(mode=0o700)
            for line_name, line in lines.items():
                (self.path / f"{line_name}.line").write_bytes(line)
            (self.path / "name").write_text(f"{name}\n", encoding="utf-8")
            (self.path / "order").write_text("".join(f"{run}\n" for run in runs), encoding="utf-8")
        except OSError as error:
            raise _room_error(self.path, error) from error

    def runs(self) -> list[str]:
        """Return the names of its runs, in order; none if it was not written to the end."""
        return self._text("order").split()

    def line(self, run: str) -> bytes:
        """Return the line of a run; empty without one."""
        return self._bytes(f"{run}.line", _SMALL << 3)

    @property
    def id(self) -> str:
        """Return the id of the job that it was submitted as; empty if that is not known."""
        return self._text("id").strip()

    def save_id(self, job: str) -> None:
        """Keep the id of its job, so that a later session finds it. Raises HostError: no room."""
        try:
            (self.path / "id.ours").write_text(f"{job}\n", encoding="utf-8")
            (self.path / "id.ours").replace(self.path / "id")
        except OSError as error:
            raise _room_error(self.path, error) from error

    def close(self) -> None:
        """Let no later session look for its job: it has ended."""
        (self.path / "closed").touch()

    @property
    def is_closed(self) -> bool:
        """Tell whether its job is known to have ended."""
        return (self.path / "closed").exists() or (self.path / "ended").exists()

    def is_done(self, run: str) -> bool:
        """Tell whether a run and its steps were made."""
        return (self.path / f"{run}.done").exists()

    def answer(self, run: str) -> ProbeAnswer | None:
        """Return what the probe of a run or step answered; None if it was not asked. Raises HostError: too large."""
        file = self.path / f"{run}.answer"
        if not file.exists():
            return None
        output = self._bytes(file.name, MAX_RECORD_BYTES)
        code = self._text(f"{run}.code").strip()
        stderr = self._bytes(f"{run}.error", _SMALL)[-_TAIL:].decode(errors="replace")
        return ProbeAnswer(int(code) if code.lstrip("-").isdecimal() else 1, output, stderr)

    def task_answers(self, run: str) -> Iterator[tuple[int, str, ProbeAnswer]]:
        """Yield rank, node, and answer of each watched task of a run. Raises HostError: too large."""
        for file in sorted(self.path.glob(f"{run}.task.*"))[:MAX_COPIES]:
            rank, _, node = file.name.removeprefix(f"{run}.task.").partition(".")
            if rank.isdecimal() and node and file.suffix != ".part":
                yield int(rank), node, ProbeAnswer(0, self._bytes(file.name, _SMALL), "")

    def lost_reason(self) -> str:
        """Return what a launcher said where the cluster failed, not the program; empty if that was not so."""
        return self._text("lost").strip()[:200]

    def step(self, run: str) -> JobStep:
        """Return where a run was made, as far as the job told."""
        all_nodes, references = self._text("nodes").split()[:_MOST_NODES], dict(self._references())
        used = self._text(f"{run}.nodes").split()[:_MOST_NODES]
        boots = {references[node].boot_id for node in all_nodes if node in references}
        is_whole = references.keys() >= set(all_nodes)
        times = [references[node].time_ns if node in references else None for node in used]
        return JobStep(
            engine="slurm", job=self.id[:64], nodes=used, n_nodes=len(all_nodes),
            n_machines=len(boots) if is_whole and all_nodes else None, reference_ns=times,
        )  # fmt: skip

    def slow_nodes(self) -> dict[str, float]:
        """Return nodes that took at least `SLOW` longer than the median node for the same work alone: by how much.

        Empty where nodes are one machine, were not timed, or are fewer than three.
        """
        references = dict(self._references())
        times = {node: each.time_ns for node, each in references.items() if each.time_ns}
        if len(times) < _LEAST_NODES or len({each.boot_id for each in references.values()}) < len(references):
            return {}
        usual = median(times.values())
        return {node: time / usual - 1 for node, time in times.items() if time >= (1 + SLOW) * usual}

    def _references(self) -> Iterator[tuple[str, NodeReference]]:
        for file in sorted(self.path.glob("*.reference"))[:_MOST_NODES]:
            boot, *times = self._text(file.name).split() or [""]
            numbers = [int(time) for time in times if time.isdecimal()]
            # The first one also reads the program from the disk.
            yield file.stem, NodeReference(boot, round(median(numbers[1:] or numbers)) if numbers else None)

    def _text(self, name: str) -> str:
        return self._bytes(name, _SMALL).decode(errors="replace")

    def _bytes(self, name: str, most: int) -> bytes:
        file = self.path / name
        try:
            return read_whole(file, most)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise HostError(str(file), f"cannot be read: {error.strerror}", "a file", "look at that disk") from error


def prepare_home(home: Path, probe: Path) -> None:
    """Create the folder of all jobs of a study, with the scripts and the probe. Raises HostError: no room."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, text in SCRIPTS.items():
            _replace(home / name, text.encode())
        _replace(home / "probe", probe.read_bytes())
    except OSError as error:
        raise _room_error(home, error) from error


def _replace(file: Path, content: bytes) -> None:
    """Write a program anew under its name: a job may run the old one, which cannot be written to."""
    if file.exists() and file.read_bytes() == content:
        return
    beside = file.with_name(f"{file.name}.new")
    beside.write_bytes(content)
    beside.chmod(0o700)
    beside.replace(file)


def remove_home(home: Path) -> None:
    """Remove the folder of all jobs."""
    shutil.rmtree(home, ignore_errors=True)


def _room_error(path: Path, error: OSError) -> HostError:
    fix = "free some, or choose another -o: a folder that the nodes share"
    return HostError(str(path), f"cannot be written: {error.strerror}", "room for a job's files", fix)
