"""What is refused of a probe's answer, and that nothing that is right is."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalograph.errors import ProtocolError
from scalograph.protocol.events import convert_document, parse_event, parse_events
from scalograph.protocol.record import Record
from tests.kit import ROOT

EXAMPLES = ROOT / "protocol" / "examples"
GOLDEN = [json.loads(line) for line in (EXAMPLES / "probe_events.jsonl").read_text().splitlines()][:6]


def events(**changes: dict[str, Any]) -> list[str]:
    """The golden run, with some fields of some events changed."""
    return [json.dumps({**event, **changes.get(event["event"], {})}) for event in GOLDEN]


REPLAY = {"low_ns": 5, "high_ns": 5, "overlap_ns": 0, "sleep_ns": 0, "n_wakes": 0, "partners": []}


def refused(lines: list[str] | list[bytes], run: str | None = "r1") -> str:
    with pytest.raises(ProtocolError) as caught:
        parse_events(lines, run)
    return str(caught.value)


@pytest.mark.parametrize(("event", "fields", "where"), [
    ("header", {"protocol": 2}, "header.protocol"), ("header", {"kind": "wooden"}, "header.kind"),
    ("header", {"cgroup": "../../elsewhere"}, "header.cgroup"),
    ("header", {"degraded": [{"what": "x"}]}, "header.degraded[0].why"),
    ("copy", {"copy": 1}, "copy"), ("copy", {"copy": "0"}, "copy.copy"), ("copy", {"start_ns": 1.5}, "copy.start_ns"),
    ("copy", {"in_force": {"cpus": [0]}}, "copy.in_force.policy"),
    ("iterations", {"work": [1, 2]}, "iterations"), ("iterations", {"cpu_ns": [1, 2, -3]}, "iterations.cpu_ns[2]"),
    ("iterations", {"copy": 1}, "copy"), ("iterations", {"low_ns": [1, 2]}, "iterations"),
    ("iterations", {"high_ns": [1, 2, -3]}, "iterations.high_ns[2]"),
    ("values", {"values": {"Upper": [1]}}, "values.values"), ("values", {"values": {"a": ["1"]}}, "values.values"),
    ("timeline", {"bin_ns": 0}, "timeline.bin_ns"), ("timeline", {"busy_ns": [[1]]}, "timeline"),
    ("timeline", {"waiting_ns": [0] * 513}, "timeline.waiting_ns"),
    ("run", {"status": "splendid"}, "run.status"), ("run", {"wall_ns": -1}, "run.wall_ns"),
    ("run", {"wall_ns": True}, "run.wall_ns"), ("run", {"wall_ns": 10**30}, "run.wall_ns"),
    ("run", {"replay": REPLAY | {"high_ns": 4}}, "run.replay"),
    ("run", {"replay": REPLAY | {"sleep_ns": None}}, "run.replay.sleep_ns"),
    ("run", {"replay": REPLAY | {"partners": [{"pid": 7, "n_wakes": 1}]}}, "run.replay.partners[0].name"),
    ("run", {"run": "r2"}, "run"), ("run", {"run": None}, "run"), ("run", {"run": 1}, "run.run"),
])  # fmt: skip
def test_a_broken_field_is_named(event: str, fields: dict[str, Any], where: str) -> None:
    message = refused(events(**{event: fields}))
    assert where in message.partition(", expected")[0]
    assert ", expected " in message


@pytest.mark.parametrize("cut", range(6))
def test_no_answer_and_one_that_ends_early_are_refused(cut: int) -> None:
    assert ("no run event" if cut else "no event") in refused(events()[:cut])


@pytest.mark.parametrize(("first", "second"), [
    (0, 0), (1, 1), (4, 4), (5, 5), (1, 0), (2, 1), (5, 4),
], ids=["header twice", "copy twice", "bins twice", "run twice", "no header", "no copy", "after the run"])  # fmt: skip
def test_events_out_of_order_are_refused(first: int, second: int) -> None:
    lines = events()
    refused([*lines[:second], lines[first], *lines[second:]])


@pytest.mark.parametrize("line", [
    b"\xff\xfe", b"", b"[]", b"{", b'{"event":"header"', b'{"event":"dance","run":"r1"}',
    b'{"event":["header"],"run":"r1"}', b'{"event":"run","run":"r1","status":"ok","wall_ns":NaN}',
    b'{"event":"values","run":"r1","copy":0,"values":{"a":[1e999]}}',
    b'{"event":"values","run":"r1","copy":0,"values":{"a":[Infinity]}}',
    b'{"event":"header","run":"\xff"}', b"[" * 100_000,
])  # fmt: skip
def test_a_broken_line_is_refused(line: bytes) -> None:
    with pytest.raises(ProtocolError):
        parse_event(line)


def test_what_is_said_of_a_refused_answer() -> None:
    over_long = events(copy={"stderr_tail": "x" * (4 << 20)})[1]
    assert "4194304" in refused([events()[0], over_long])
    assert "\x1b" not in refused(["\x1b[31m"])
    error = {"event": "error", "run": "r1", "where": "a", "found": "b", "expected": "c", "fix": "d"}
    assert refused([json.dumps(error)]) == "probe: a: b, expected c; d"
    part = {name: [1] * 50_000 for name in ("index", "start_ns", "end_ns", "work", "cpu_ns")}
    line = json.dumps({"event": "iterations", "run": "r1", "copy": 0, **part})
    assert "1000000 iterations" in refused([*events()[:2], *[line] * 21, events()[5]])


def test_the_unchanged_run_is_accepted_and_absent_figures_are_none() -> None:
    assert parse_events(events(), "r1").run.wall_ns == 530000000
    lines = events(header={"colour": 1}, copy={"colour": 2}, run={"colour": 3})
    assert parse_events(lines) == parse_events(events())
    header = {"protocol": 1, "probe": "x", "kind": "degraded", "containment": "best effort", "backend": "plain"}
    run = convert_document({"header": header, "run": {"status": "ok", "wall_ns": 0}}, Record, "record").run
    assert (run.wall_ns, run.wait_ns, run.n_survivors) == (0, None, None)


def test_continued_iterations_are_one_list_of_their_copy_and_continued_output_one_text() -> None:
    lines, bounds = events(copy={"stdout": "a"}), {"sleep_ns": [1, 2, 3]}
    more = [json.dumps({"event": "output", "run": "r1", "copy": 0, "stdout": text}) for text in "bc"]
    first, second = (json.dumps({**GOLDEN[2], **bounds, "index": index}) for index in ([0, 1, 2], [3, 4, 5]))
    record = parse_events([*lines[:2], *more, first, second, *lines[3:]])
    (whole,) = record.iterations
    assert whole.index == [0, 1, 2, 3, 4, 5]
    lists = [getattr(whole, name) for name in whole.__struct_fields__ if name != "copy_index"]
    assert {len(values) for values in lists} == {6}
    without = {name: field for name, field in GOLDEN[2].items() if name != "low_ns"}
    assert "iterations.low_ns" in refused([*lines[:3], json.dumps(without), *lines[3:]])
    assert record.copies[0].stdout == "abc"


@given(st.binary(max_size=200))
def test_no_bytes_do_more_than_be_refused(line: bytes) -> None:
    with pytest.raises(ProtocolError):
        parse_events([line])


@given(st.sampled_from(range(6)), st.data())
def test_no_truncation_does_more_than_be_refused(index: int, data: st.DataObject) -> None:
    lines = events()
    cut = data.draw(st.integers(0, len(lines[index]) - 1))
    lines[index] = lines[index][:cut]
    refused(lines)
