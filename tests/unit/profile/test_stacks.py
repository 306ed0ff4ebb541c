"""What the JDK's tool and `perf script` print, as samples and stacks; which configurations and runs are profiled."""

import io
import json
import os
import time
import xml.etree.ElementTree as ET
from itertools import islice, pairwise
from pathlib import Path

import pytest

from scalograph.errors import HostError, ProtocolError
from scalograph.profile import perf_runs
from scalograph.profile.perf_runs import INSTALL, PerfRun, Rates, make_time_filter, refuse_unable, split_repeats
from scalograph.profile.perf_trace import KERNEL, UNKNOWN, Frame, Stay, ThreadTrace, Trace
from scalograph.profile.recorder import count_tasks
from scalograph.profile.recording import (
    LOCK_SETTINGS,
    EventCounter,
    LockWaits,
    parse_events,
    parse_instant,
    parse_stack,
    profile_settings,
    read_lock_waits,
    recorder_options,
    why_unrecordable,
)
from scalograph.profile.recording_site import RecordingSite
from scalograph.profile.values import MAX_FRAMES, RecordedTasks, Stack, choose_configurations
from scalograph.protocol.facts import Jvm
from tests.kit import ROOT
from tests.kit.processes import write_program
from tests.kit.records import record
from tests.kit.refusals import refuses

RECORDED = ROOT / "tests" / "recorded" / "jfr-print.json"
TEXT = RECORDED.read_text(encoding="utf-8")


def counted(first: str = "2026-11-21T00:00:00Z", last: str = "2026-11-22T00:00:00Z") -> RecordedTasks:
    counting = EventCounter(lambda at: parse_instant(first) <= at <= parse_instant(last))
    assert counting.count(parse_events(io.StringIO(TEXT).read)) == 13
    return counting.summarize()


def test_the_predominant_stack_is_one_of_calls_not_of_lines() -> None:
    seen = counted()
    assert (seen.n_samples, seen.n_native) == (6, 1)
    assert seen.stacks[0] == Stack(n=3, share=0.5, frames=(
        "Steps.walk", "Part.add", "StreamVersion$$Lambda.accept", "java.util.stream.ReduceOps$10ReducingSink.accept",
        "java.util.stream.Streams$RangeLongSpliterator.forEachRemaining",
    ))  # fmt: skip
    methods = [(method.name, method.n) for method in seen.methods[:2]]
    assert methods == [("Steps.walk", 3), ("java.util.concurrent.ForkJoinPool.scan", 2)]


def test_parks_are_told_by_what_was_waited_for_within_the_window() -> None:
    parks = counted().parks
    assert parks.n == 7
    assert [(part.on, part.n) for part in parks.on] == [
        ("java.util.concurrent.ForkJoinPool", 4), ("", 2), ("java.util.stream.ReduceOps$ReduceTask", 1)
    ]  # fmt: skip
    pauses = (0.001091889 + 0.001087881) / 2
    assert parks.on[1].mean_s == pytest.approx(pauses)
    whole = 0.02117803 + 0.000011031 + 0.000045906 + 0.000044894 + 2 * pauses + 0.000197829
    assert parks.mean_s == pytest.approx(whole / 7)
    seen = counted("2026-11-21T20:23:15Z", "2026-11-21T20:23:16.7Z")
    assert (seen.n_samples, seen.n_native, seen.parks.n) == (2, 0, 3)
    assert counted("2026-11-21T20:24:00Z") == RecordedTasks()


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_pieces_of_any_size_make_the_same_events(size: int) -> None:
    stream = io.StringIO(TEXT)
    assert list(parse_events(lambda n: stream.read(size))) == json.loads(TEXT)["recording"]["events"]


def test_events_that_nobody_asks_for_are_not_read() -> None:
    one = '{"type": "jdk.ThreadPark", "values": {}}'
    pieces = iter(['{"recording": {"events": [' + one, ", " + one])
    assert len(list(islice(parse_events(lambda n: next(pieces)), 2))) == 2


@pytest.mark.parametrize("text", [
    "", "{}", "jfr: no such file", TEXT[:-300], '{"events": [nonsense]}', '{"events": [' + "[" * 100_000,
    "x" * (3 << 20),
], ids=["nothing", "no events", "a complaint", "torn", "no JSON", "deep", "long"])  # fmt: skip
def test_what_is_no_print_is_refused(text: str) -> None:
    refuses(ProtocolError, "jfr print", list, parse_events(io.StringIO(text).read))


def test_an_event_without_its_time_is_refused() -> None:
    with pytest.raises(ProtocolError, match="startTime"):
        EventCounter(lambda at: True).count([{"type": "jdk.ThreadPark", "values": {"startTime": 5}}])


def test_names_are_bounded_broken_frames_survive_and_a_sample_without_a_stack_is_none() -> None:
    frame = {"method": {"type": {"name": "a/" + "b" * 5000}, "name": "c"}}
    long, broken, *_ = parse_stack({"frames": [frame, None, 3, {}, {"method": []}, frame]})
    assert len(long) == 256 and broken == "?.None"
    assert [parse_stack(trace) for trace in (None, {}, {"frames": None}, {"frames": []})] == [()] * 4


def test_tasks_of_a_recording_are_counted_by_stack_and_by_what_they_wait_for() -> None:
    lock = (Frame("futex_wait", KERNEL), Frame("pthread_mutex_lock", "libc.so.6"), Frame("insert", "prog"))
    nap = (Frame("hrtimer_nanosleep", KERNEL), Frame("usleep", "libc.so.6"))
    stays = [
        Stay(0, 10**9, 0, False, lock),
        Stay(3 * 10**9, 4 * 10**9, 0, True, lock),
        Stay(5 * 10**9, 6 * 10**9, 0, False, nap),
        Stay(7 * 10**9, 8 * 10**9, 0, False, lock),
    ]
    deep = tuple(Frame(f"f{i}", "prog") for i in range(100))
    task = ThreadTrace(1, 0, stays=stays, samples=[(5, deep), (6, deep), (7, (Frame(UNKNOWN, "libz.so.1"), deep[0]))])
    seen = count_tasks(PerfRun(record(), (Trace(0, 8 * 10**9, {1: task}, n_lost=3),), Rates(period=7)))
    assert [(stack.n, stack.frames) for stack in seen.stacks] == [
        (2, tuple(f"f{i}" for i in range(MAX_FRAMES))), (1, ("[libz]", "f0"))
    ]  # fmt: skip
    assert (seen.n_samples, seen.n_lost) == (3, 3)
    # Who gave way did not wait, and nobody knows how long the last wait took.
    assert [(part.on, part.n, part.mean_s) for part in seen.blocked.on] == [("insert", 7, 2.0)]
    assert [(part.on, part.n, part.mean_s) for part in seen.sleeps.on] == [("", 7, 1.0)]


def test_perf_that_is_missing_or_refused_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    refuses(HostError, f"perf: not on PATH, .*; {INSTALL}", refuse_unable, RecordingSite(tmp_path))
    write_program(tmp_path / "perf", "echo 'No permission to enable cpu-clock event' >&2\nexit 255")
    refuses(HostError, r"perf record: No permission to enable cpu-clock event", refuse_unable, RecordingSite(tmp_path))
    (tmp_path / "level").write_text("2\n")
    monkeypatch.setattr(perf_runs, "_PARANOID", tmp_path / "level")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    for is_wide, wanted in ((False, "1"), (True, "-1")):
        text = rf"perf record: no permission, since kernel\.perf_event_paranoid is 2; .*={wanted}$"
        refuses(HostError, text, refuse_unable, RecordingSite(tmp_path), is_wide)


def test_a_run_that_is_repeated_is_one_trace_for_each_process_that_its_launcher_started() -> None:
    tasks = {
        1: ThreadTrace(1, 0),
        2: ThreadTrace(2, 10, parent=1, died=20),
        3: ThreadTrace(2, 12, parent=2, died=18),
        4: ThreadTrace(4, 30, parent=1, died=40),
    }
    traces = split_repeats(Trace(0, 50, tasks))
    assert [(trace.start, trace.end, [*trace.tasks]) for trace in traces] == [(10, 20, [2, 3]), (30, 40, [4])]
    assert split_repeats(Trace(0, 50, {1: ThreadTrace(1, 0)})) == (Trace(0, 50, {1: ThreadTrace(1, 0)}),)


def chosen(n: int, baseline: dict[str, int] | None = None) -> list[int]:
    return [int(levels["p"]) for levels in choose_configurations([{"p": p} for p in range(n)], {**(baseline or {})})]


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 30, 100])
def test_the_first_the_last_and_evenly_between(n: int) -> None:
    taken = chosen(n)
    assert len(taken) == min(n, 8) and taken[0] == 0 and taken[-1] == n - 1
    steps = [after - before for before, after in pairwise(taken)]
    assert all(step >= 1 for step in steps) and max(steps, default=0) - min(steps, default=0) <= 1


@pytest.mark.parametrize("baseline", range(30))
def test_a_baseline_is_among_them(baseline: int) -> None:
    taken = chosen(30, {"p": baseline})
    assert baseline in taken and len(set(taken)) == 8 and taken == sorted(taken)
    assert (taken[0], taken[-1]) == (0, 29)


def test_short_waits_are_recorded_without_stacks_and_samples_with(tmp_path: Path) -> None:
    recorder_options(tmp_path, profile_settings(0.01))
    events = ET.parse(tmp_path / "settings.jfc").getroot()
    found = {event.get("name"): {setting.get("name"): setting.text for setting in event} for event in events}
    assert found["jdk.ExecutionSample"] == {"enabled": "true", "period": "10 ms"}
    assert found["jdk.ThreadPark"] == {"enabled": "true", "threshold": "0 ms", "stackTrace": "false"}


MONITOR = {
    "startTime": "2026-11-21T20:00:00Z", "duration": "PT0.5S", "monitorClass": {"name": "a/Table"},
    "stackTrace": {"frames": [{"method": {"type": {"name": "a/Table"}, "name": "insert"}}]},
}  # fmt: skip


def park(on: str, seconds: str, *methods: tuple[str, str], **fields: object) -> dict[str, object]:
    frames = [{"method": {"type": {"name": owner}, "name": name}} for owner, name in methods]
    time = {"startTime": "2026-11-21T20:00:00Z", "duration": seconds, "parkedClass": on and {"name": on}}
    return {**time, "stackTrace": {"frames": frames}, **fields}


LOCKS = "java/util/concurrent/locks"
ASKED = (
    ("jdk/internal/misc/Unsafe", "park"), (f"{LOCKS}/LockSupport", "park"),
    *((f"{LOCKS}/AbstractQueuedSynchronizer", name) for name in ("acquire", "acquire")),
    (f"{LOCKS}/ReentrantLock$Sync", "lock"), (f"{LOCKS}/ReentrantLock", "lock"), ("a/Table", "put"), ("a/Main", "run"),
)  # fmt: skip
PARKS = [
    park(f"{LOCKS}/ReentrantLock$NonfairSync", "PT0.5S", *ASKED),
    park(f"{LOCKS}/ReentrantLock$FairSync", "PT1S", *ASKED, timeout="PT0.9S"),
    park("java/util/concurrent/Semaphore$NonfairSync", "PT2S", ASKED[0]),
    park(f"{LOCKS}/AbstractQueuedSynchronizer$ConditionObject", "PT4S", *ASKED[:3]),
    park("java/util/concurrent/CountDownLatch$Sync", "PT8S", *ASKED[:3], timeout="PT9S"),
    park("java/util/concurrent/ForkJoinPool", "PT16S", timeout="PT16S"),
    park("", "PT32S", timeout="PT-2562047788015215H-30M-8S"),
]


def test_parks_for_locks_are_told_from_others_which_a_waker_ended(tmp_path: Path) -> None:
    events = [{"type": "jdk.ThreadPark", "values": values} for values in PARKS]
    (tmp_path / "events").write_text(json.dumps({"recording": {"events": events}}))
    write_program(tmp_path / "jfr", f"cat {tmp_path}/events")
    jvm = Jvm(name="17", java=str(tmp_path / "java"), release=17, build="17")
    waits = read_lock_waits([tmp_path / "a.jfr"], jvm, lambda at: True)
    assert waits == LockWaits(
        parked={("Semaphore", ""): 2.0, ("ReentrantLock", "a.Table.put"): 1.5}, other_s=4.0 + 8.0 + 32.0
    )


def test_waits_for_monitors_are_summed_by_class_and_method(tmp_path: Path) -> None:
    other = {**MONITOR, "duration": "PT2S", "monitorClass": {"name": "java/lang/Object"}, "stackTrace": None}
    late = {**MONITOR, "startTime": "2026-11-22T20:00:00Z"}
    events = [{"type": "jdk.JavaMonitorEnter", "values": values} for values in (MONITOR, other, MONITOR, late)]
    (tmp_path / "events").write_text(json.dumps({"recording": {"events": events}}))
    write_program(tmp_path / "jfr", f"cat {tmp_path}/events")
    jvm = Jvm(name="17", java=str(tmp_path / "java"), release=17, build="17")
    waits = read_lock_waits([tmp_path / "a.jfr"], jvm, lambda at: at < parse_instant("2026-11-22T00:00:00Z"))
    assert waits == LockWaits(monitors={("java.lang.Object", ""): 2.0, ("a.Table", "a.Table.insert"): 1.0})


def test_all_files_of_the_recorder_lie_in_one_folder_whose_name_ends_no_value(tmp_path: Path) -> None:
    words = recorder_options(tmp_path, LOCK_SETTINGS)
    assert any(word.startswith("-XX:StartFlightRecording=") and "dumponexit=true" in word for word in words)
    parts = [part for word in words for part in word.replace(",", "=").split("=")]
    assert all(part.startswith(str(tmp_path)) for part in parts if "/" in part)
    assert "<" in (tmp_path / "settings.jfc").read_text()
    (tmp_path / "a,b").mkdir()
    with pytest.raises(HostError, match="without a comma"):
        recorder_options(tmp_path / "a,b", LOCK_SETTINGS)


def test_a_jvm_without_a_recorder_is_named(tmp_path: Path) -> None:
    java = str(tmp_path / "java")
    assert "JVM 8" in str(why_unrecordable(Jvm(name="8", java=java, release=8, build="8")))
    jvm = Jvm(name="17-other", java=java, release=17, build="17")
    assert "17-other has no program jfr" in str(why_unrecordable(jvm))
    (tmp_path / "jfr").touch(mode=0o755)
    assert why_unrecordable(jvm) is None


def test_iterations_after_the_warmup_count() -> None:
    made = record(iterations=[(1.0, 1.0, 1), (2.0, 1.0, 1), (4.0, 1.0, 1)], wall_s=9.0)
    gate_s = (time.time_ns() - time.monotonic_ns()) / 1e9
    counts = make_time_filter(made, 1)
    assert [counts(gate_s + at) for at in (0.5, 1.5, 6.5, 7.5)] == [False, True, True, False]
    whole = make_time_filter(record(wall_s=9.0), 0)
    assert [whole(gate_s + at) for at in (-0.5, 0.5, 8.5, 9.5)] == [False, True, True, False]
