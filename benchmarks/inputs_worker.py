"""Reads inputs of the campaign one after the other in this process, each under its limits, and tells how each ended.

`main` takes FIRST and LAST from the command line, and writes one JSON line before and one after each seed.
"""

import contextlib
import gc
import io
import json
import os
import re
import resource
import shutil
import signal
import socket
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inputs_cases import HOST, STUDY, UNREADABLE, Case, case

CPU_S, MEMORY_BYTES = 10, 1 << 30
# Exit codes that come with a message.
REFUSALS = (STUDY, HOST, UNREADABLE)
# Escapes, bells and marks of direction: nothing that a terminal without colors is told.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# What takes a process some hundred milliseconds and the first input would be charged for.
FIRST = (
    "scalograph.cli.main",
    "scalograph.questions.assemble",
    "scalograph.report.html",
    "polars",
    "scipy.stats",
    "rich",
)


class StartedError(BaseException):
    """A command line was right and would now take the machine: this campaign measures nothing."""


class SlowError(BaseException):
    """An input took its CPU time."""


def main() -> None:
    """Read all inputs of some seeds."""
    first, last = map(int, sys.argv[1:3])
    told = os.fdopen(os.dup(1), "w")
    prepare()
    for seed in range(first, last):
        print(json.dumps({"begun": seed}), file=told, flush=True)
        print(json.dumps({"seed": seed, **read(case(seed))}), file=told, flush=True)


def prepare() -> None:
    """Import all, then bound this process and take the machine away."""
    import importlib

    for name in FIRST:
        importlib.import_module(name)
    limit()
    withhold_machine()
    warnings.simplefilter("always")
    gc.freeze()


def limit() -> None:
    """Bound this process's memory to what it has by now and a gigabyte."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    now = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmSize:"))
    resource.setrlimit(resource.RLIMIT_AS, (1024 * now + MEMORY_BYTES, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def withhold_machine() -> None:
    """End every start where it would take the machine, look at it, or ask the probe."""
    from scalograph.cli import pipeline
    from scalograph.run.hosts import host_names

    def started(*_: object, **__: object) -> Any:
        raise StartedError

    pipeline.lock_machine = started  # type: ignore[assignment]
    host_names.open_host = started  # type: ignore[assignment]


def read(given: Case) -> dict[str, Any]:
    """How an input ends: exit code, CPU time, kind of defect (empty: none) and what tells it from others."""
    folder = Path(tempfile.mkdtemp(prefix="inputs-"))
    before = Path.cwd()
    try:
        write(given, folder)
        os.chdir(folder)
        return _judged(given, *_ended(given))
    finally:
        gc.collect()  # a command has a process of its own
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)


def write(given: Case, folder: Path) -> None:
    """Make the files of an input, and what lies in place of files."""
    for name, content in given.files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    for name, kind in given.nodes.items():
        path, target = folder / name, kind.removeprefix("link:")
        match kind:
            case "fifo":
                os.mkfifo(path)
            case "socket":
                with socket.socket(socket.AF_UNIX) as held, contextlib.chdir(folder):
                    held.bind(name)
            case "folder":
                path.mkdir()
            case "link:self":
                path.symlink_to(name)
            case "link:other":
                path.symlink_to("around")
                (folder / "around").symlink_to(name)
            case _:
                path.symlink_to(target)


def _ended(given: Case) -> tuple[int, float, str, str]:
    """Exit code, seconds of CPU time, what was said on stderr, and where a traceback or an injection begins."""
    out, err, place, code = _Text(), _Text(), "", 1
    begin = time.process_time()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _bounded():
        try:
            code = answer(given)
        except (StartedError, KeyboardInterrupt):
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        except SlowError:
            place = f"over {CPU_S} s"
        except MemoryError as error:
            place = f"over 1 GB: {_place(error)}"
        except BaseException as error:
            place = _place(error)
    used = time.process_time() - begin
    return code, used, err.getvalue(), place or _injected(out.getvalue() + err.getvalue())


def _injected(shown: str) -> str:
    """Where a text of the input would command a terminal, or a page or Markdown that was written."""
    if found := _COMMANDS.search(shown):
        return f"injection: terminal, {shown[max(0, found.start() - 60) : found.end() + 20]!r}"
    for path in (path for kind in ("html", "md", "xml") for path in Path().glob(f"*.{kind}")):
        if "<script>alert(1)" in path.read_text(encoding="utf-8", errors="replace"):
            return f"injection: {path.suffix}"
    return ""


def answer(given: Case) -> int:
    """The exit code that an input gets where nothing is raised."""
    from scalograph.cli.main import main as scalograph
    from scalograph.errors import ScalographError

    if given.call is not None:
        try:
            given.call()
        except ScalographError as error:
            return int(error.exit_code)
        return 0
    sys.argv = ["scalograph", *given.argv]
    scalograph()
    return 0


class _Text(io.StringIO):
    """A terminal that keeps what it is told, like one that knows UTF-8."""

    encoding = "utf-8"  # type: ignore[assignment]


@contextlib.contextmanager
def _bounded() -> Iterator[None]:
    """At most 10 s of CPU time: by a signal that Python handles, and by one that it cannot."""

    def slow(*_: object) -> None:
        raise SlowError

    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    resource.setrlimit(resource.RLIMIT_CPU, (int(used) + CPU_S + 3, resource.RLIM_INFINITY))
    signal.signal(signal.SIGPROF, slow)
    signal.setitimer(signal.ITIMER_PROF, CPU_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _place(error: BaseException) -> str:
    """Kind of an error, and the innermost line of ours that it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [
        f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames if "scalograph" in frame.filename
    ]
    return f"{type(error).__name__} {str(error)[:100]!r} at {' < '.join(reversed(ours[-3:]))}"


def _judged(given: Case, code: int, cpu_s: float, said: str, place: str) -> dict[str, Any]:
    defect = ""
    if place:
        kinds = ("over 10 s", "over 1 GB", "injection")
        defect = next((kind for kind in kinds if place.startswith(kind)), "traceback")
    elif code not in given.codes:
        defect, place = "wrong exit code", f"{code} in place of {given.codes}: {given.argv[:1]} {said[:120]!r}"
    elif code in REFUSALS and not said.strip() and given.call is None:
        defect, place = "no message", f"{code}: {given.argv[:1]}"
    elif "Warning: " in said:
        defect, place = "warning of a library", said[said.find("Warning: ") - 60 :][:200]
    return {"code": code, "cpu_s": round(cpu_s, 4), "defect": defect, "place": place}
