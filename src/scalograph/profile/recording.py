"""A flight recording: the options that make one, and its events by the JDK's own `jfr` tool beside the launcher."""

import os
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import IO

from scalograph.errors import HostError, ProtocolError
from scalograph.profile.stacks import (
    SAMPLES,
    WAITS,
    Counting,
    Event,
    Within,
    events,
)
from scalograph.profile.values import MAX_FRAMES, RecordedTasks
from scalograph.protocol.facts import Jvm

FIRST_RELEASE = 11
# A recording keeps its end where it grows larger; one event takes about 40 bytes there, and 1 KB as JSON.
MAX_RECORDING = "256m"
MAX_EVENTS, MAX_FILES = 400_000, 64
TIMEOUT_S = 300
# The tool is a JVM that lives for a second: most of its CPU time went to compiling what it would hardly use.
QUICK = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")
_SUMMARY_BYTES = 1 << 18
_COUNT = re.compile(r"^\s*(jdk\.\w{1,64})\s+(\d{1,18})\s", re.MULTILINE)


def refusal(jvm: Jvm) -> str | None:
    """Why this JVM can make no recording that could be read, or None."""
    if jvm.release < FIRST_RELEASE:
        return f"the JVM {jvm.name} is release {jvm.release}: a flight recorder is in JDK {FIRST_RELEASE} and later"
    if not os.access(tool(jvm), os.X_OK):
        return f"the JVM {jvm.name} has no program jfr beside its launcher: install a whole JDK of that release"
    return None


def tool(jvm: Jvm) -> Path:
    """The program that reads recordings of this JVM."""
    return Path(jvm.java).with_name("jfr")


def settings(period_s: float) -> str:
    """What is recorded: samples, and every wait however short, without its stack (there are thousands)."""
    sampled = {"enabled": "true", "period": f"{round(1000 * period_s)} ms"}
    waited = {"enabled": "true", "threshold": "0 ms", "stackTrace": "false"}
    parts = [_event(name, sampled) for name in SAMPLES] + [_event(name, waited) for name in WAITS]
    body = "\n".join(parts)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<configuration version="2.0" label="Scalograph">'
    return f"{head}\n{body}\n</configuration>\n"


def _event(name: str, values: Mapping[str, str]) -> str:
    parts = "".join(f'<setting name="{key}">{value}</setting>' for key, value in values.items())
    return f'  <event name="{name}">{parts}</event>'


def options(folder: Path, period_s: float) -> list[str]:
    """JVM options that leave one recording of each JVM in `folder`/recordings, and nothing elsewhere.

    Raises:
        HostError: the folder has a comma in its name, which ends a value there; or it cannot be written.
    """
    if "," in str(folder):
        raise HostError("scratch folder", f'"{folder}"', "a name without a comma", "set TMPDIR to another folder")
    file, into, parts = folder / "settings.jfc", folder / "recordings", folder / "parts"
    try:
        into.mkdir()
        parts.mkdir()
        file.write_text(settings(period_s), encoding="utf-8")
    except OSError as error:
        raise HostError(str(folder), f"cannot be written: {error.strerror}", "room in TMPDIR", "free some") from error
    recording = f"filename={into},settings={file},dumponexit=true,maxsize={MAX_RECORDING}"
    # Without the first the recorder would greet on standard output, where a study may look for its figures.
    quiet, kept = "-Xlog:jfr*=error", f"-XX:FlightRecorderOptions=repository={parts}"
    return [quiet, kept, f"-XX:StartFlightRecording={recording}"]


def read_recorded_tasks(files: Sequence[Path], jvm: Jvm, within: Within) -> RecordedTasks:
    """What the recordings of one run hold of the time that is looked at; of several JVMs together.

    Raises:
        HostError: the tool cannot be started, fails, or takes too long.
        ProtocolError: it wrote something else than events.
    """
    counting, n_lost = Counting(within), 0
    for file in sorted(files)[:MAX_FILES]:
        counts = summary(file, jvm)
        for kinds in (SAMPLES, tuple(WAITS)):
            if n := sum(counts.get(kind, 0) for kind in kinds):
                with printed(file, jvm, kinds) as every:
                    n_lost += max(0, n - counting.take(islice(every, MAX_EVENTS)))
    return counting.seen(n_lost)


def summary(file: Path, jvm: Jvm) -> dict[str, int]:
    """How many events of each kind a recording has; raises as `seen` does."""
    with _started([str(tool(jvm)), "summary", str(file)]) as stream:
        counts = {name: int(n) for name, n in _COUNT.findall(stream.read(_SUMMARY_BYTES))}
        if not counts:
            raise ProtocolError("jfr summary", "no count of events", "a summary", "try it by hand")
        return counts


@contextmanager
def printed(file: Path, jvm: Jvm, kinds: Sequence[str]) -> Iterator[Iterator[Event]]:
    """The events of these kinds; one need not read them all. Raises as `seen` does."""
    argv = [str(tool(jvm)), "print", "--json", "--stack-depth", str(MAX_FRAMES), "--events", ",".join(kinds), str(file)]
    with _started(argv) as stream:
        yield events(stream.read)


@contextmanager
def _started(argv: Sequence[str]) -> Iterator[IO[str]]:
    """The tool's output; the tool is gone at the end, or after TIMEOUT_S whoever still reads."""
    environ = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    try:
        process = subprocess.Popen(
            [argv[0], *QUICK, *argv[1:]], env=environ | {"LC_ALL": "C.UTF-8", "TZ": "UTC"}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8", errors="replace",
        )  # fmt: skip
    except OSError as error:
        raise HostError(argv[0], f"cannot be started: {error.strerror}", "the JDK's jfr", "install it again") from error
    watch = threading.Timer(TIMEOUT_S, process.kill)
    with process:
        watch.start()
        try:
            assert process.stdout is not None
            yield process.stdout
        except ProtocolError as error:
            with suppress(subprocess.TimeoutExpired):
                if code := process.wait(1):  # cut off because it failed, not because it writes something else
                    raise HostError(argv[0], f"exit code {code} at {argv[1]}", "0", "try it by hand") from error
            raise
        finally:
            watch.cancel()
            process.kill()
