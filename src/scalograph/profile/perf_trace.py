"""Read a perf recording of one run as a trace: when each task ran, what it waited for, who woke it."""

import re
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from scalograph.errors import HostError, ProtocolError
from scalograph.profile.perf_file import mend_recording
from scalograph.profile.recording import TIMEOUT_S, run_reader
from scalograph.profile.recording_site import HERE, RecordingSite

MAX_EVENTS, MAX_TASKS, MAX_STACKS, MAX_DEPTH = 3_000_000, 50_000, 200_000, 64
_NAME_CHARS, _MAX_LINE, _INLINE_S = 256, 1 << 16, 20
_FIELDS = "pid,tid,cpu,time,event,ip,sym,dso,trace"
_SCRIPT = ("script", "--ns", "--show-switch-events", "--show-task-events", "--show-lost-events", "--fields", _FIELDS)
_HEAD = re.compile(r"\s*(\d+)/(\d+)\s+\[(\d+)\]\s+(\d{1,12})\.(\d{9}):\s+(\S+)(.*)")
_FRAME = re.compile(r"\s+([0-9a-f]+) (.*) \((.*)\)\s*")
_WAKEE = re.compile(r"pid=(\d{1,10}) prio=")
_CHILD = re.compile(r"\((\d+):(\d+)\):\((\d+):(\d+)\)")
# What a compiler adds to the name of a function that it made a variant of, and the linker to one with versions.
_VARIANT = re.compile(r"(\.(isra|constprop|part|cold|lto_priv|llvm)\b.*|@@?[A-Z][\w.]*)$")
# A method as a JVM writes it for perf: "void Locked.insert(long)"; one as CPython does: "py::work:/prog.py".
_JAVA = re.compile(r"(?:py::|[\w.\[\]$]+ )([\w.$/<>]+)(?:\(.*\)|:/?.*)")
_INTERRUPT = re.compile(r"irq|sysvec|softirq|hrtimer|timer_fn|blk_|napi|tasklet")
KERNEL = "[kernel]"
UNKNOWN = "[unknown]"
COMPILED = "[compiled]"  # at run time, of any process
_MAP = re.compile(r"perf-\d+\.map")


class Frame(NamedTuple):
    """A function and the file that holds it; `KERNEL` for those of the kernel and its modules."""

    name: str
    module: str


Frames = tuple[Frame, ...]  # innermost first


class Stay(NamedTuple):
    """A stay on a CPU, in nanoseconds of the monotonic clock, and how it ended.

    Attributes:
        stack: where the task left the CPU, if that was sampled.
    """

    start: int
    end: int
    cpu: int
    was_preempted: bool
    stack: Frames | None


@dataclass
class ThreadTrace:
    """A thread: its stays on CPUs, who woke it when, and its samples there, each in order of time.

    `service` is the process of the study that it belongs to; empty where a run has only one.
    """

    pid: int
    born: int
    service: str = ""
    parent: int | None = None
    died: int | None = None
    stays: list[Stay] = field(default_factory=list)
    wakes: list[tuple[int, int | None]] = field(default_factory=list)
    samples: list[tuple[int, Frames]] = field(default_factory=list)


@dataclass
class Trace:
    """What a recording holds of a run, from its first task's exec to its last one's exit.

    Attributes:
        n_lost: records that perf lost, or that were too many to read.
        targets: what each process of a build works on, by process id.
        has_wakes: whether the recording holds who woke whom.
    """

    start: int
    end: int
    tasks: dict[int, ThreadTrace]
    n_lost: int = 0
    has_wakes: bool = False
    targets: Mapping[int, Frames] = field(default_factory=dict)

    def stacks(self) -> Iterator[Frames]:
        """Yield the stacks of all samples and departures."""
        for task in self.tasks.values():
            yield from (stack for _, stack in task.samples)
            yield from (stay.stack for stay in task.stays if stay.stack)

    def cut(self, processes: Mapping[int, str], start: int, end: int) -> "Trace":
        """Return the tasks of these processes, named by id, and of those that they started, from `start` to `end`."""
        start, end = max(start, self.start), min(end, self.end)
        names = {tid: processes[task.pid] for tid, task in self.tasks.items() if task.pid in processes}
        while more := {
            tid: names[task.parent] for tid, task in self.tasks.items() if task.parent in names and tid not in names
        }:
            names |= more
        ours: dict[int, ThreadTrace] = {}
        for tid in sorted(names):
            task = self.tasks[tid]
            stays = [stay for stay in task.stays if stay.start < end and stay.end > start]
            stays = [stay._replace(start=max(stay.start, start), end=min(stay.end, end)) for stay in stays]
            samples = [sample for sample in task.samples if start <= sample[0] <= end]
            ours[tid] = replace(task, born=max(task.born, start), service=names[tid], stays=stays, samples=samples)
        return replace(self, start=start, end=end, tasks=ours)


class _Event(NamedTuple):
    pid: int
    tid: int
    cpu: int
    at: int
    name: str
    rest: str
    frames: list[str]


def read_trace(file: Path, pids: Collection[int] = (), site: RecordingSite = HERE) -> Trace:
    """Read a perf recording, without inlined functions.

    Of a recording of the machine, only stacks of `pids` and of what these started are read. `site` is where it lies:
    perf reads it there, beside the programs that it names.

    Raises HostError: perf left none, or cannot read it; ProtocolError: it holds no task.
    """
    with site.open_copy(file) as copy:
        if not copy.is_file():
            raise HostError("perf record", "no recording", "a recording of the run", "try it by hand")
        mend_recording(copy, pids)
    trace = _print_trace([*_SCRIPT, "--no-inline", "--input", str(file)], TIMEOUT_S, site)
    if trace is None:
        raise HostError("perf script", "failed", "a recording that it reads", "try it by hand")
    return trace


def read_inlined(file: Path, trace: Trace, site: RecordingSite = HERE) -> Trace | None:
    """Read what `trace` is of with inlined functions; None if that takes long: of a JVM it takes minutes."""
    modules = {frame.module for task in trace.tasks.values() for _, stack in task.samples for frame in stack}
    return None if "libjvm.so" in modules else _print_trace([*_SCRIPT, "--input", str(file)], _INLINE_S, site)


def _print_trace(argv: Sequence[str], limit_s: float, site: RecordingSite) -> Trace | None:
    """Parse what perf prints; None if it fails or takes longer."""
    with run_reader(site.tool(["perf", *argv]), {}, "perf on PATH", "apt install linux-perf") as process:
        late = threading.Timer(limit_s, process.kill)
        late.start()
        try:
            stream = process.stdout
            assert stream is not None
            trace = parse_trace(iter(lambda: stream.readline(_MAX_LINE), ""))
            return trace if process.wait(TIMEOUT_S) == 0 else None
        except ProtocolError:
            if process.wait(TIMEOUT_S) == 0:
                raise
            return None
        finally:
            late.cancel()


def parse_trace(lines: Iterable[str]) -> Trace:
    """Parse the output of `perf script` with the fields of `_FIELDS`.

    Raises ProtocolError: it holds no task.
    """
    return _TraceReader().read(_events(lines))


def _events(lines: Iterable[str]) -> Iterator[_Event]:
    event: _Event | None = None
    for line in lines:
        if head := _HEAD.match(line):
            if event:
                yield event
            pid, tid, cpu, seconds, ns, name, rest = head.groups()
            event = _Event(int(pid), int(tid), int(cpu), int(seconds) * 10**9 + int(ns), name, rest[:400], [])
        elif event and line.strip() and len(event.frames) < MAX_DEPTH:
            event.frames.append(line)
    if event:
        yield event


class _TraceReader:
    def __init__(self) -> None:
        self._tasks: dict[int, ThreadTrace] = {}
        self._since: dict[int, int] = {}
        self._left_at: dict[int, Frames] = {}
        self._stacks: dict[tuple[str, ...], Frames] = {}
        self._n_lost, self._has_wakes, self._end = 0, False, 0

    def read(self, events: Iterator[_Event]) -> Trace:
        start = None
        for n, event in enumerate(events):
            if n >= MAX_EVENTS or len(self._tasks) > MAX_TASKS:
                self._n_lost += 1
                continue
            if event.at:
                start = event.at if start is None else start
                self._end = max(self._end, event.at)
            self._add(event)
        if start is None or not self._tasks:
            raise ProtocolError("perf script", "no task", "a recording of a run", "try it by hand")
        for tid in [*self._since]:
            self._leave(tid, self._end, -1, False)
        for task in self._tasks.values():
            task.wakes.sort(key=lambda wake: wake[0])
        return Trace(start, self._end, self._tasks, self._n_lost, self._has_wakes)

    def _add(self, event: _Event) -> None:
        if event.name.startswith("PERF_RECORD_"):
            self._add_record(event)
        elif event.name.startswith("sched:sched_waking"):
            self._has_wakes = True
            if wakee := _WAKEE.search(event.rest):
                is_interrupt = any(_INTERRUPT.search(frame) for frame in event.frames)
                task = self._task(int(wakee[1]), 0, event.at) if int(wakee[1]) in self._tasks else None
                if task:
                    task.wakes.append((event.at, None if is_interrupt or not event.tid else event.tid))
        elif event.name.startswith("context-switches"):
            self._left_at[event.tid] = self._stack(event.frames)
        elif event.name.startswith("cpu-clock") and event.frames:
            task = self._task(event.tid, event.pid, event.at)
            task.samples.append((event.at, self._stack(event.frames)))
            self._since.setdefault(event.tid, event.at)

    def _add_record(self, event: _Event) -> None:
        kind = event.name.removeprefix("PERF_RECORD_").split("(")[0].rstrip(":")
        if kind in ("SWITCH", "SWITCH_CPU_WIDE"):
            if event.rest.split()[:1] == ["IN"]:
                self._task(event.tid, event.pid, event.at)
                self._since.setdefault(event.tid, event.at)
            else:
                self._leave(event.tid, event.at, event.cpu, "preempt" in event.rest)
        elif kind == "COMM" and event.rest.split()[:1] == ["exec:"]:
            # Whoever calls exec has a CPU; another image has other tasks' stacks, but is the same task.
            self._task(event.tid, event.pid, event.at)
            self._since.setdefault(event.tid, event.at)
        elif kind in ("FORK", "EXIT") and (ids := _CHILD.search(event.name + event.rest)):
            pid, tid, _, parent = map(int, ids.groups())
            if kind == "FORK":
                self._task(tid, pid, event.at).parent = parent
            elif tid in self._tasks:
                self._leave(tid, event.at, event.cpu, False)
                self._tasks[tid].died = event.at
        elif kind.startswith("LOST"):
            self._n_lost += 1

    def _task(self, tid: int, pid: int, at: int) -> ThreadTrace:
        task = self._tasks.get(tid)
        if task is None:
            task = self._tasks[tid] = ThreadTrace(pid, at)
        return task

    def _leave(self, tid: int, at: int, cpu: int, was_preempted: bool) -> None:
        start, stack = self._since.pop(tid, None), self._left_at.pop(tid, None)
        if start is not None:
            self._tasks[tid].stays.append(Stay(start, at, cpu, was_preempted, stack))

    def _stack(self, lines: list[str]) -> Frames:
        key = tuple(lines)
        stack = self._stacks.get(key)
        if stack is None:
            stack = parse_stack(lines)
            if len(self._stacks) < MAX_STACKS:
                self._stacks[key] = stack
        return stack


def parse_stack(lines: Iterable[str]) -> Frames:
    """Parse frames, innermost first; an inlined function lies in the file of the function that holds it.

    >>> lines = ["  9f spin (inlined)", "  9f work (/bin/prog)", "  a0 __GI_abort@@GLIBC_2.2.5 (/lib/libc.so.6)"]
    >>> _function("void Locked.insert(long)"), _function("py::work:/home/prog.py")
    ('Locked.insert', 'work')
    >>> [f"{frame.name} in {frame.module}" for frame in parse_stack(lines)]
    ['spin in prog', 'work in prog', 'abort in libc.so.6']
    """
    parsed = [match.groups() for line in lines if (match := _FRAME.fullmatch(line.rstrip("\n")))]
    stack: list[Frame] = []
    for _, group in groupby(parsed, key=lambda frame: frame[0]):
        frames = [*group]
        module = _module(next((dso for _, _, dso in frames if dso != "inlined"), ""))
        stack += [Frame(_function(name), module) for _, name, _ in frames]
    return tuple(stack)


def _module(path: str) -> str:
    if path.startswith(("[kernel", "[guest.kernel")) or path.endswith((".ko", ".ko.xz", ".ko.zst")):
        return KERNEL
    name = path.rpartition("/")[2][:_NAME_CHARS]
    return COMPILED if _MAP.fullmatch(name) else name


def _function(name: str) -> str:
    if java := _JAVA.fullmatch(name):
        name = java[1]
    return _VARIANT.sub("", name).removeprefix("__GI_")[:_NAME_CHARS] or UNKNOWN
