"""A recording by `perf record` of a program that starts no JVM, and its samples as `perf script` prints them."""

import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

from scalograph.errors import HostError
from scalograph.profile.stacks import Counting, Within
from scalograph.profile.values import MAX_FRAMES, RecordedTasks

INSTALL = "apt install linux-perf"
MAX_SAMPLES = 400_000
TIMEOUT_S = 300
MAX_LINE, _NAME_CHARS = 1 << 16, 256
# A clock of the kernel, which every machine has: hardware counters are missing in most guests.
_RECORD = ("record", "--quiet", "--event", "cpu-clock", "--call-graph", "fp", "--clockid", "CLOCK_MONOTONIC")
_SCRIPT = ("script", "--ns", "--no-inline", "--fields", "tid,time,ip,sym,dso")
_HEAD = re.compile(r"\s*\d+\s+(\d{1,12}\.\d{1,9}):\s*")
_FRAME = re.compile(r"\s*[0-9a-f]+ (.*?) \(([/\[].*)\)\s*")
_UNKNOWN = "[unknown]"
# What a compiler adds to the name of a function that it made a variant of.
_VARIANT = re.compile(r"\.(isra|constprop|part|cold|lto_priv)\b.*")


class PerfSample(NamedTuple):
    """When a thread was seen on a CPU, in seconds of the monotonic clock, and its top frames, innermost first."""

    at_s: float
    frames: tuple[str, ...]


def refuse_unable(folder: Path) -> None:
    """Make a recording of a program that does nothing.

    Raises:
        HostError: perf is missing, or may not record here; with what it said.
    """
    if shutil.which("perf") is None:
        raise HostError("perf", "not on PATH", "the profiler of programs that start no JVM", INSTALL)
    file = folder / "attempt"
    done = subprocess.run(
        [*recorded(file, 0.01), "true"], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
        timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    if done.returncode or not file.exists():
        said = " ".join(done.stderr.split())[:300] or f"exit code {done.returncode}"
        fix = "run as root, or: sysctl kernel.perf_event_paranoid=1"
        raise HostError("perf record", said, "a recording", fix)
    file.unlink()


def recorded(file: Path, period_s: float) -> list[str]:
    """Return the words before a command of which a recording is made: samples of each thread that has a CPU."""
    return ["perf", *_RECORD, "--freq", str(round(1 / period_s)), "--output", str(file), "--"]


def seen(file: Path, within: Within) -> RecordedTasks:
    """Return what a recording holds of the time that is looked at.

    Args:
        file: what perf wrote.
        within: whether a time, in seconds since 1970, is looked at.

    Raises:
        HostError: perf cannot be started, fails, or takes too long.
    """
    offset_s = (time.time_ns() - time.monotonic_ns()) / 1e9
    counting = Counting(within)
    with _printed(file) as stream:
        every = samples(iter(lambda: stream.readline(MAX_LINE), ""))
        for one in islice(every, MAX_SAMPLES):
            counting.add(one.at_s + offset_s, one.frames)
        n_lost = sum(1 for _ in every)
    return counting.seen(n_lost)


def samples(lines: Iterable[str]) -> Iterator[PerfSample]:
    """Yield the samples that `perf script` printed: a line with the time, then one for each frame; others are no part.

    Frames end at the first whose function is not known, as above code without frame pointers; one on top is called by
    its file.

    >>> [*samples([" 7 12.5: ", "  9f work (/bin/prog)", "  a0 main (/bin/prog)", "  1 [unknown] (/bin/prog)", ""])]
    [PerfSample(at_s=12.5, frames=('work', 'main'))]
    """
    at_s, frames, is_open = 0.0, list[str](), False
    for line in lines:
        if head := _HEAD.fullmatch(line.rstrip("\n")):
            if frames:
                yield PerfSample(at_s, tuple(frames))
            at_s, frames, is_open = float(head[1]), [], True
        elif is_open and (found := _FRAME.fullmatch(line.rstrip("\n"))):
            is_known = found[1] != _UNKNOWN
            is_open = len(frames) + 1 < MAX_FRAMES and is_known
            if is_known or not frames:
                name = _VARIANT.sub("", found[1]) if is_known else f"[{Path(found[2]).name.partition('.')[0]}]"
                frames.append(name[:_NAME_CHARS])
    if frames:
        yield PerfSample(at_s, tuple(frames))


@contextmanager
def _printed(file: Path) -> Iterator[IO[str]]:
    """What perf prints of a recording; it is gone at the end, or after TIMEOUT_S whoever still reads."""
    environ = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    argv: Sequence[str] = ["perf", *_SCRIPT, "--input", str(file)]
    try:
        process = subprocess.Popen(
            argv, env=environ | {"LC_ALL": "C.UTF-8"}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, encoding="utf-8", errors="replace",
        )  # fmt: skip
    except OSError as error:
        raise HostError("perf", f"cannot be started: {error.strerror}", "perf on PATH", INSTALL) from error
    watch = threading.Timer(TIMEOUT_S, process.kill)
    with process:
        watch.start()
        try:
            assert process.stdout is not None
            yield process.stdout
            if code := process.wait(TIMEOUT_S):
                raise HostError("perf script", f"exit code {code}", "0", "try it by hand")
        finally:
            watch.cancel()
            process.kill()
