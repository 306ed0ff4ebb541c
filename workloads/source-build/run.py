"""Builds a source tree once from a fresh state: run.py NAME=VALUE ... (workload.toml lists the names).

Copying the tree lies before `ready`, so that the window holds make alone: one call for the image, then one for each
directory of modules, if the tree has such. CPU time of an iteration is that of make and of all that it started, also of
what left it: orphans come to us and are waited for.
"""

import ctypes
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from trees import TREES, Tree

PR_SET_CHILD_SUBREAPER = 36


def refuse(text: str) -> NoReturn:
    """What cannot be done is said in one sentence (protocol/workload.md)."""
    print(text, file=sys.stderr)
    sys.exit(69)


class Build:
    """One tree, and how to make it."""

    def __init__(self, prepared: Path, source: str, target: str, jobs: int) -> None:
        own = prepared.name == "own"
        self.tree = Tree("", (target,) if target else ()) if own else TREES[prepared.name]
        self.source = Path(source) if own else prepared / "tree"
        self.config, self.jobs = prepared / "config", jobs
        if own and not source.startswith("/"):
            refuse(f'tree = own: found source = "{source}", expected the absolute path of a folder with a Makefile')
        if not any((self.source / name).is_file() for name in ("GNUmakefile", "makefile", "Makefile")):
            refuse(f"found no Makefile in {self.source}, expected a source tree")

    def fresh(self, place: Path) -> list[str]:
        """A state in which nothing is built; the call of make there, without what is to be made."""
        if self.tree.outside:
            place.mkdir()
            shutil.copyfile(self.config, place / ".config")
            make = ["make", "-C", str(self.source), f"O={place}"]
            carry_out([*make, "olddefconfig"])
        else:
            # Where the file system can, no byte is copied; times stay, or make would see a newer Makefile.
            carry_out(["cp", "-a", "--reflink=auto", str(self.source), str(place)])
            make = ["make", "-C", str(place)]
        return [*make, f"-j{self.jobs}"]

    def module_calls(self) -> list[tuple[str, ...]]:
        """Arguments of make for the modules, one directory after another."""
        folders = self.tree.directories
        # A version of the kernel may lack an option, and its directory is then no target.
        known = set(self.config.read_text(encoding="utf-8").splitlines()) if folders else set()
        kept = [(f"{folder}/",) for option, folder in folders.items() if f"CONFIG_{option}" in known]
        return [*kept, *(self.tree.modules or ())]


def carry_out(command: list[str]) -> None:
    """Run a command to its end; one that fails ends the run, with what it said last."""
    # A file and not a pipe: a pipe would be waited for until the last background process has closed it.
    with tempfile.TemporaryFile() as errors:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, check=False)
        if done.returncode:
            errors.seek(max(0, errors.seek(0, 2) - 600))
            said = errors.read().decode(errors="replace").strip().splitlines()[-3:]
            refuse(f"{command[0]} ended with exit code {done.returncode}: {' / '.join(said)[:300]}")


def objects(place: Path) -> int:
    """Files that a compiler made: the work that was done."""
    return sum(1 for _ in place.rglob("*.o"))


@dataclass(frozen=True)
class Moment:
    """A reading of the clock, and of the CPU time of every process that was waited for until then."""

    at_ns: int
    user_s: float
    system_s: float

    @classmethod
    def now(cls) -> "Moment":
        at_ns = time.monotonic_ns()
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return cls(at_ns, usage.ru_utime, usage.ru_stime)

    def cpu_s(self, earlier: "Moment") -> float:
        return self.user_s + self.system_s - earlier.user_s - earlier.system_s

    def wall_s(self, earlier: "Moment") -> float:
        return (self.at_ns - earlier.at_ns) / 1e9

    def cpu_percent(self, earlier: "Moment") -> float:
        return 100 * self.cpu_s(earlier) / self.wall_s(earlier)


def reap() -> None:
    """Wait for orphans that have ended; one that goes on living is the probe's to count."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def gate(stream: int | None) -> None:
    if stream is not None:
        os.write(stream, b"ready\n")
        with Path(os.environ["SCALOGRAPH_GO"]).open("rb", buffering=0) as go:
            go.read(1)


def once(build: Build, place: Path, index: int, stream: int | None) -> list[str]:
    """One build; its lines."""
    earliest = Moment.now()
    make = build.fresh(place)
    modules, before_objects = build.module_calls(), objects(place)
    if index == 0:
        gate(stream)
    begin = Moment.now()
    carry_out([*make, *build.tree.make])
    image = Moment.now()
    for call in modules:
        carry_out([*make, *call])
    end_ns = time.monotonic_ns()
    reap()
    end = replace(Moment.now(), at_ns=end_ns)
    work = objects(place) - before_objects
    return [
        f"iteration {index} {begin.at_ns} {end.at_ns} {work} {round(end.cpu_s(begin) * 1e9)}",
        f"value setup_cpu_s {begin.cpu_s(earliest):.6f}",
        f"value objects {work}",
        *(phases(begin, image, end, bool(modules)) if build.tree.modules is not None else []),
        *([f"value tree_peak_bytes {peak}"] if (peak := tree_peak()) else []),
    ]


def phases(begin: Moment, image: Moment, end: Moment, modules: bool) -> list[str]:
    """Lines of the image and of the modules, where there are any; without them the image is the whole."""
    image = image if modules else end
    found = [("image", begin, image), *([("modules", image, end)] if modules else [])]
    lines = [f"value image_end_ns {image.at_ns - begin.at_ns}"]
    for name, first, last in found:
        lines.append(f"value {name}_wall_s {last.wall_s(first):.6f}")
        lines.append(f"value {name}_cpu_percent {last.cpu_percent(first):.3f}")
    return lines


def tree_peak() -> int | None:
    """Most memory that our cgroup held at once, page cache included; None outside a cgroup of the run's own."""
    try:
        own = Path("/proc/self/cgroup").read_text(encoding="ascii").rpartition("::")[2].strip()
        if not own.rpartition("/")[2].startswith("scalograph-"):
            return None
        return int(Path(f"/sys/fs/cgroup{own}/memory.peak").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def main(words: list[str]) -> None:
    given = dict(word.split("=", 1) for word in words)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    build = Build(Path(given["prepared"]), given["source"], given["target"], int(given["jobs"]))
    stream = os.open(os.environ["SCALOGRAPH_EVENTS"], os.O_WRONLY) if "SCALOGRAPH_EVENTS" in os.environ else None
    lines: list[str] = []
    with tempfile.TemporaryDirectory(dir=".", prefix="build-") as folder:
        for index in range(int(given["iterations"])):
            place = Path(folder).resolve() / str(index)
            lines += once(build, place, index, stream)
            shutil.rmtree(place)
    text = "".join(f"{line}\n" for line in lines)
    if stream is None:
        sys.stdout.write(text)
    else:
        os.write(stream, text.encode())


if __name__ == "__main__":
    main(sys.argv[1:])
