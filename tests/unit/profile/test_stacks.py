"""Events as the JDK's tool writes them, counted: every one, in any pieces, and only those of the time asked for."""

import io
import json
from itertools import islice

import pytest

from scalograph.errors import ProtocolError
from scalograph.profile.recording import EventCounter, parse_events, parse_instant, parse_stack
from scalograph.profile.values import RecordedTasks, Stack
from tests.kit import ROOT

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


def test_parks_by_what_was_waited_for() -> None:
    parks = counted().parks
    assert parks.n == 7
    assert [(part.on, part.n) for part in parks.on] == [
        ("java.util.concurrent.ForkJoinPool", 4), ("", 2), ("java.util.stream.ReduceOps$ReduceTask", 1)
    ]  # fmt: skip
    pauses = (0.001091889 + 0.001087881) / 2
    assert parks.on[1].mean_s == pytest.approx(pauses)
    whole = 0.02117803 + 0.000011031 + 0.000045906 + 0.000044894 + 2 * pauses + 0.000197829
    assert parks.mean_s == pytest.approx(whole / 7)


def test_what_began_before_or_after_does_not_count_event() -> None:
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
    with pytest.raises(ProtocolError, match="jfr print"):
        list(parse_events(io.StringIO(text).read))


def test_an_event_without_its_time_is_refused() -> None:
    with pytest.raises(ProtocolError, match="startTime"):
        EventCounter(lambda at: True).count([{"type": "jdk.ThreadPark", "values": {"startTime": 5}}])


def test_names_are_bounded_broken_frames_survive_and_a_sample_without_a_stack_is_none() -> None:
    frame = {"method": {"type": {"name": "a/" + "b" * 5000}, "name": "c"}}
    long, broken, *_ = parse_stack({"frames": [frame, None, 3, {}, {"method": []}, frame]})
    assert len(long) == 256 and broken == "?.None"
    assert [parse_stack(trace) for trace in (None, {}, {"frames": None}, {"frames": []})] == [()] * 4
