"""Flight recordings: the JVM options that make one, and its events, read by the JDK's `jfr`."""

import json
import os
import re
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from scalograph.errors import HostError, ProtocolError
from scalograph.profile.values import (
    MAX_FRAMES,
    MAX_METHODS,
    MAX_OBJECTS,
    MAX_STACKS,
    ClassWaits,
    Method,
    RecordedTasks,
    Stack,
    Waits,
)
from scalograph.protocol.facts import Jvm

SAMPLES = ("jdk.ExecutionSample", "jdk.NativeMethodSample")
# Event -> the field of `RecordedTasks`, and the field of the event that names what was waited for.
WAITS: Mapping[str, tuple[str, str]] = {
    "jdk.ThreadPark": ("parks", "parkedClass"),
    "jdk.JavaMonitorEnter": ("blocked", "monitorClass"),
    "jdk.JavaMonitorWait": ("waits", "monitorClass"),
    "jdk.ThreadSleep": ("sleeps", ""),
}
MAX_EVENT_CHARS = 1 << 20
MAX_CLASSES = 10_000
_NAME_CHARS = 256
_CHUNK = 1 << 18
_DURATION = re.compile(r"PT(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?")
# A class that was made on the fly has a number that the next run gives to another one.
_NUMBERED = re.compile(r"(\$\$Lambda).*|[/+.]0x[0-9a-f]+.*")

Event = Mapping[str, Any]
TimeFilter = Callable[[float], bool]


def parse_events(read: Callable[[int], str]) -> Iterator[Event]:
    """Parse the output of `jfr print --json` one event at a time: all together may exceed memory.

    Raises ProtocolError: not what `jfr print --json` writes, or an event larger than 1 MiB.
    """
    decoder, text, at = json.JSONDecoder(), "", None
    for chunk in chain(iter(lambda: read(_CHUNK), ""), [""]):
        text += chunk
        at = _first_event(text) if at is None else at
        while at is not None:
            at = _skip_separators(text, at)
            if at < len(text) and text[at] == "]":
                return
            try:
                event, end = decoder.raw_decode(text, at)
            except (ValueError, RecursionError):
                break
            yield event if isinstance(event, dict) else {}
            at = end
        text, at = (text, None) if at is None else (text[at:], 0)
        if not chunk or len(text) > MAX_EVENT_CHARS + _CHUNK:
            raise ProtocolError("jfr print", ascii(text[:60]), "events as JSON", "try `jfr print --json` by hand")


def _first_event(text: str) -> int | None:
    match = re.search(r'"events"\s*:\s*\[', text)
    return match.end() if match else None


def _skip_separators(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n,":
        at += 1
    return at


class EventCounter:
    """Count samples by stack and waits by class within a time window (seconds since 1970)."""

    def __init__(self, within: TimeFilter) -> None:
        self._within = within
        self._stacks: Counter[tuple[str, ...]] = Counter()
        self._n_native = 0
        self._waits: dict[str, dict[str, tuple[int, float]]] = {field: {} for field, _ in WAITS.values()}

    def count(self, every: Iterable[Event]) -> int:
        """Count events; return how many were read, those outside the window included.

        Raises ProtocolError: an event lacks its time.
        """
        n = 0
        for event in every:
            n += 1
            values = _part(event, "values")
            if self._within(parse_instant(values.get("startTime"))):
                self._count_event(str(event.get("type")), values)
        return n

    def add_sample(self, frames: tuple[str, ...]) -> None:
        """Count a sample by its top frames, innermost first."""
        self._stacks[frames] += 1

    def add_wait(self, field: str, on: str, seconds: float, times: int = 1) -> None:
        """Count a wait that a field of `RecordedTasks` counts, for what it waited; `times` over."""
        kinds = self._waits[field]
        on = on if on in kinds or len(kinds) < MAX_CLASSES else "other"
        n, total = kinds.get(on, (0, 0.0))
        kinds[on] = n + times, total + times * seconds

    def _count_event(self, kind: str, values: Event) -> None:
        if kind in WAITS:
            field, key = WAITS[kind]
            self.add_wait(field, _class_name(values.get(key)), parse_duration(values.get("duration")))
        elif kind in SAMPLES and (frames := parse_stack(values.get("stackTrace"))):
            self.add_sample(frames)
            self._n_native += kind == SAMPLES[1]

    def summarize(self, n_lost: int = 0) -> RecordedTasks:
        """Return the counts; `n_lost` events were not read."""
        n, methods = self._stacks.total(), Counter[str]()
        for frames, times in self._stacks.items():
            methods[frames[0]] += times
        return RecordedTasks(
            n_samples=n, n_native=self._n_native, n_lost=n_lost,
            stacks=tuple(Stack(frames=f, n=k, share=k / n) for f, k in self._stacks.most_common(MAX_STACKS)),
            methods=tuple(Method(name=m, n=k, share=k / n) for m, k in methods.most_common(MAX_METHODS)),
            **{field: _waits(kinds) for field, kinds in self._waits.items()},
        )  # fmt: skip


def _waits(kinds: Mapping[str, tuple[int, float]]) -> Waits:
    n, total = sum(times for times, _ in kinds.values()), sum(part for _, part in kinds.values())
    most = sorted(kinds.items(), key=lambda item: -item[1][0])[:MAX_OBJECTS]
    on = tuple(ClassWaits(on=name, n=times, mean_s=part / times) for name, (times, part) in most)
    return Waits(n=n, mean_s=total / n if n else None, on=on)


def parse_stack(trace: Any, most: int = MAX_FRAMES) -> tuple[str, ...]:
    """Return the top frames, innermost first, each `package.Class.method` without line numbers.

    >>> frame = {"method": {"type": {"name": "java/lang/Thread"}, "name": "run"}}
    >>> parse_stack({"frames": [frame]})
    ('java.lang.Thread.run',)
    """
    frames = trace.get("frames") if isinstance(trace, dict) else None
    methods = (_part(frame, "method") for frame in (frames if isinstance(frames, list) else [])[:most])
    return tuple(f"{_class_name(m.get('type')) or '?'}.{m.get('name')}"[:_NAME_CHARS] for m in methods)


def _class_name(of: Any) -> str:
    name = of.get("name") if isinstance(of, dict) else None
    return _NUMBERED.sub(r"\1", name).replace("/", ".")[:_NAME_CHARS] if isinstance(name, str) else ""


def _part(of: Any, key: str) -> Event:
    part = of.get(key) if isinstance(of, dict) else None
    return part if isinstance(part, dict) else {}


def parse_duration(text: Any) -> float:
    """Return the seconds of an ISO 8601 duration of Java; 0 if no thread can wait that long.

    >>> parse_duration("PT0.02117803S"), parse_duration("PT1M2.5S"), parse_duration("PT-2562047788015215H-30M-8S")
    (0.02117803, 62.5, 0.0)
    """
    match = _DURATION.fullmatch(text) if isinstance(text, str) else None
    hours, minutes, seconds = (float(part or 0) for part in match.groups()) if match else (0.0, 0.0, 0.0)
    return 3600 * hours + 60 * minutes + seconds


def parse_instant(text: Any) -> float:
    """Return the seconds since 1970 of a time with a zone. Raises ProtocolError: it is none."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except (TypeError, ValueError, OverflowError) as error:
        raise ProtocolError("jfr print", f"startTime {text!r:.60}", "a time of day", "report this") from error


FIRST_RELEASE = 11
# A recording keeps its end where it grows larger; one event takes about 40 bytes there, and 1 KB as JSON.
MAX_RECORDING = "256m"
MAX_EVENTS, MAX_FILES = 400_000, 64
TIMEOUT_S = 300
_PASSED = ("PATH", "HOME", "TMPDIR", "SSH_AUTH_SOCK")  # the last one for a reader on another machine
# The tool is a JVM that lives for a second: most of its CPU time went to compiling what it would hardly use.
QUICK = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")
_SUMMARY_BYTES = 1 << 18
_COUNT = re.compile(r"^\s*(jdk\.\w{1,64})\s+(\d{1,18})\s", re.MULTILINE)


def why_unrecordable(jvm: Jvm) -> str | None:
    """Return why this JVM cannot make a readable recording, or None."""
    if jvm.release < FIRST_RELEASE:
        return f"the JVM {jvm.name} is release {jvm.release}: a flight recorder is in JDK {FIRST_RELEASE} and later"
    if not os.access(jfr_tool(jvm), os.X_OK):
        return f"the JVM {jvm.name} has no program jfr beside its launcher: install a whole JDK of that release"
    return None


def jfr_tool(jvm: Jvm) -> Path:
    """Return the path of the program that reads recordings of this JVM."""
    return Path(jvm.java).with_name("jfr")


def profile_settings(period_s: float) -> dict[str, Mapping[str, str]]:
    """Return the events of a profile: samples with stacks, and every wait without its stack."""
    sampled = {"enabled": "true", "period": f"{round(1000 * period_s)} ms"}
    waited = {"enabled": "true", "threshold": "0 ms", "stackTrace": "false"}
    return {**dict.fromkeys(SAMPLES, sampled), **dict.fromkeys(WAITS, waited)}


def _settings_file(events: Mapping[str, Mapping[str, str]]) -> str:
    body = "\n".join(_event_setting(name, values) for name, values in events.items())
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<configuration version="2.0" label="Scalograph">'
    return f"{head}\n{body}\n</configuration>\n"


def _event_setting(name: str, values: Mapping[str, str]) -> str:
    parts = "".join(f'<setting name="{key}">{value}</setting>' for key, value in values.items())
    return f'  <event name="{name}">{parts}</event>'


# Of waits whose site perf does not see: compiled code has no frame that it could follow.
MONITOR_EVENT, PARK_EVENT = "jdk.JavaMonitorEnter", "jdk.ThreadPark"
_EACH_WITH_STACK = {"enabled": "true", "threshold": "0 ms", "stackTrace": "true"}
LOCK_SETTINGS = {MONITOR_EVENT: _EACH_WITH_STACK, PARK_EVENT: _EACH_WITH_STACK}
_MOST_LOCKS, _LOCK_DEPTH = 20_000, 14  # waits that are read of one recording, and frames of each
_PARKED_LOCK = re.compile(
    r"java\.util\.concurrent\.(?:locks\.)?(ReentrantLock|ReentrantReadWriteLock|StampedLock|Semaphore)\b"
)
_PARKING = ("java.util.concurrent.", "jdk.internal.", "sun.misc.")  # packages of what parks, not of who asks for it

LockSites = dict[tuple[str, str], float]


def recorder_options(folder: Path, events: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return JVM options that leave one recording of each JVM in `folder`/recordings, with these events.

    Raises HostError: the folder has a comma in its name, which ends a value there; or it cannot be written.
    """
    if "," in str(folder):
        raise HostError("scratch folder", f'"{folder}"', "a name without a comma", "set TMPDIR to another folder")
    file, into, parts = folder / "settings.jfc", folder / "recordings", folder / "parts"
    try:
        into.mkdir()
        parts.mkdir()
        file.write_text(_settings_file(events), encoding="utf-8")
    except OSError as error:
        raise HostError(str(folder), f"cannot be written: {error.strerror}", "room in TMPDIR", "free some") from error
    recording = f"filename={into},settings={file},dumponexit=true,maxsize={MAX_RECORDING}"
    # Without the first the recorder would greet on standard output, where a study may look for its values.
    quiet, kept = "-Xlog:jfr*=error", f"-XX:FlightRecorderOptions=repository={parts}"
    return [quiet, kept, f"-XX:StartFlightRecording={recording}"]


def read_recorded_tasks(files: Sequence[Path], jvm: Jvm, within: TimeFilter) -> RecordedTasks:
    """Read the recordings of one run within a time window, all its JVMs together.

    Raises HostError: the tool cannot be started, fails, or takes too long; ProtocolError: it wrote something else than
    events.
    """
    counting, n_lost = EventCounter(within), 0
    for file in sorted(files)[:MAX_FILES]:
        counts = count_events(file, jvm)
        for kinds in (SAMPLES, tuple(WAITS)):
            if n := sum(counts.get(kind, 0) for kind in kinds):
                with print_events(file, jvm, kinds) as every:
                    n_lost += max(0, n - counting.count(islice(every, MAX_EVENTS)))
    return counting.summarize(n_lost)


@dataclass
class LockWaits:
    """Seconds that threads of Java waited for locks, by class of the lock and method that takes it.

    Attributes:
        parked: locks of `java.util.concurrent`; `other_s`: parked for anything else, until another thread ended it.
    """

    monitors: LockSites = field(default_factory=dict)
    parked: LockSites = field(default_factory=dict)
    other_s: float = 0.0

    def add(self, kind: str, values: Event) -> None:
        """Add an event; a park that only its timeout ended is no wait for anybody."""
        seconds, frames = parse_duration(values.get("duration")), parse_stack(values.get("stackTrace"), _LOCK_DEPTH)
        if kind == MONITOR_EVENT:
            site = _class_name(values.get("monitorClass")), (*frames, "")[0]
            self.monitors[site] = self.monitors.get(site, 0.0) + seconds
        elif match := _PARKED_LOCK.match(_class_name(values.get("parkedClass"))):
            site = match[1], next((frame for frame in frames if not frame.startswith(_PARKING)), "")
            self.parked[site] = self.parked.get(site, 0.0) + seconds
        elif not 0 < parse_duration(values.get("timeout")) <= seconds:
            self.other_s += seconds


def read_lock_waits(files: Sequence[Path], jvm: Jvm, within: TimeFilter) -> LockWaits:
    """Return waits for monitors and for locks of `java.util.concurrent` within a time window.

    Raises as `read_recorded_tasks` does.
    """
    waits = LockWaits()
    for file in sorted(files)[:MAX_FILES]:
        with print_events(file, jvm, (*LOCK_SETTINGS,), _LOCK_DEPTH) as every:
            for event in islice(every, _MOST_LOCKS):
                values = _part(event, "values")
                if within(parse_instant(values.get("startTime"))):
                    waits.add(str(event.get("type")), values)
    return LockWaits(_largest(waits.monitors), _largest(waits.parked), waits.other_s)


def _largest(sites: LockSites) -> LockSites:
    return dict(sorted(sites.items(), key=lambda item: -item[1])[:MAX_STACKS])


def count_events(file: Path, jvm: Jvm) -> dict[str, int]:
    """Count the events of a recording by kind; raises as `read_recorded_tasks` does."""
    with _run_tool([str(jfr_tool(jvm)), "summary", str(file)]) as stream:
        counts = {name: int(n) for name, n in _COUNT.findall(stream.read(_SUMMARY_BYTES))}
        if not counts:
            raise ProtocolError("jfr summary", "no count of events", "a summary", "try it by hand")
        return counts


@contextmanager
def print_events(file: Path, jvm: Jvm, kinds: Sequence[str], depth: int = MAX_FRAMES) -> Iterator[Iterator[Event]]:
    """Yield the events of these kinds; raises as `read_recorded_tasks` does."""
    shown = ["--stack-depth", str(depth), "--events", ",".join(kinds)]
    argv = [str(jfr_tool(jvm)), "print", "--json", *shown, str(file)]
    with _run_tool(argv) as stream:
        yield parse_events(stream.read)


@contextmanager
def run_reader(
    argv: Sequence[str], zone: Mapping[str, str], expected: str, fix: str
) -> Iterator[subprocess.Popen[str]]:
    """Run a program whose output is read; kill it at the end, or after TIMEOUT_S whoever still reads."""
    environ = {name: os.environ[name] for name in _PASSED if name in os.environ}
    try:
        process = subprocess.Popen(
            argv, env=environ | {"LC_ALL": "C.UTF-8", **zone}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, encoding="utf-8", errors="replace",
        )  # fmt: skip
    except OSError as error:
        raise HostError(argv[0], f"cannot be started: {error.strerror}", expected, fix) from error
    watch = threading.Timer(TIMEOUT_S, process.kill)
    with process:
        watch.start()
        try:
            yield process
        finally:
            watch.cancel()
            process.kill()


@contextmanager
def _run_tool(argv: Sequence[str]) -> Iterator[IO[str]]:
    command = [argv[0], *QUICK, *argv[1:]]
    with run_reader(command, {"TZ": "UTC"}, "the JDK's jfr", "install it again") as process:
        try:
            assert process.stdout is not None
            yield process.stdout
        except ProtocolError as error:
            with suppress(subprocess.TimeoutExpired):
                if code := process.wait(1):  # cut off because it failed, not because it writes something else
                    raise HostError(argv[0], f"exit code {code} at {argv[1]}", "0", "try it by hand") from error
            raise
