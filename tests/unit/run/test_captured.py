"""Figures in a program's output; and of emulated CPUs no figure of time."""

from typing import Any

import msgspec
import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from scalograph.protocol.record import Record
from scalograph.protocol.record_processes import Guest
from scalograph.run.runner import NoValueError, PrintedResponses, drop_times, read_value
from scalograph.study.fields import engine
from scalograph.study.load import parse
from scalograph.study.model import Response
from scalograph.verdict.judge import judge
from tests.kit.records import record, recorded
from tests.kit.refusals import refuses
from tests.kit.studies import VALID

OPS = VALID + '[responses.ops]\nfrom = "output"\npattern = "^ops: ([0-9.]+)$"\nbetter = "higher"\n'
MORE = """
[responses.speed]
from = "value.throughput"
unit = "ops/s"
[responses.size]
from = "value.size"
unit = "bytes"
"""
STUDY = parse(VALID + MORE)
VALUES = {
    "throughput": [9.0], "size": [4.0], "build_wall_s": [1.0], "objects": [3.0], "rate": [2.0], "cpu_percent": [50.0],
    "per_minute": [120.0], "rate_second": [2.0, 2.0],
}  # fmt: skip


def by_pattern(pattern: str, text: str) -> float:
    return read_value(Response(source="output", pattern=pattern), engine(pattern), text)


def by_pointer(pointer: str, text: str) -> float:
    return read_value(Response(source="output", pointer=pointer), None, text)


def test_a_figure_is_the_group_of_the_one_match_or_at_a_pointer() -> None:
    assert by_pattern(r"^ops: ([0-9.e+-]+)$", "start\nops: 1.5e3\nend\n") == 1500
    assert by_pattern(r"time (\S+)", "time 0.25") == 0.25
    text = '{"jobs": [{"iops": 12.5, "a/b": {"~": 3}}]}'
    assert by_pointer("/jobs/0/iops", text) == 12.5 and by_pointer("/jobs/0/a~1b/~0", text) == 3


@pytest.mark.parametrize(("pattern", "text", "why"), [
    (r"ops: (\d+)", "", r"found no match in no output, expected one of 'ops: \(\\d\+\)'$"),
    (r"ops: (\d+)", "ops: x\x1b[2J", r"found no match in 'ops: x\\x1b\[2J'"),
    (r"ops: (\d+)", "ops: 1\nops: 2", "found two matches, '1' and '2', expected one"),
    (r"ops: (\S+)", "ops: fast", "found 'fast', expected the figure as a finite number"),
    (r"ops: (\S+)", "ops: nan", "found 'nan'"),
    (r"ops: (\d+)|none", "none", "found 'None'"),
])  # fmt: skip
def test_what_is_no_figure(pattern: str, text: str, why: str) -> None:
    refuses(NoValueError, why, by_pattern, pattern, text)


def test_a_pattern_takes_time_in_proportion_to_the_text_only() -> None:
    # An engine that goes back would need 2^100000 steps here and never end.
    refuses(NoValueError, "no match", by_pattern, "^((?:a+)+)$", "a" * 100_000 + "b")


@pytest.mark.parametrize(("pointer", "text", "why"), [
    ("/a", "no json", "expected one JSON document"),
    ("/a", "[" * 200_000, "expected one JSON document"),
    ("/a", '{"b": 1}', 'found nothing at "/a"'),
    ("/0", "[]", 'found nothing at "/0"'),
    ("/a/b", '{"a": 1}', 'no "b"'),
    ("/a", '{"a": "1"}', "found text '1'"),
    ("/a", '{"a": true}', "found 'True'"),
    ("/a", '{"a": [1]}', "expected a number"),
    ("/a", '{"a": 1e999}', "finite"),
    ("/a", '{"a": 1' + "0" * 400 + "}", "finite"),
])  # fmt: skip
def test_what_a_pointer_does_not_find(pointer: str, text: str, why: str) -> None:
    refuses(NoValueError, why, by_pointer, pointer, text)


def read(stdout: str | None, truncated: bool = False, **changes: Any) -> Record:
    made = recorded(**changes)
    made["copies"][0] |= {"stdout": stdout, "stdout_truncated": truncated}
    return PrintedResponses(parse(OPS)).read(msgspec.convert(made, Record))


def test_a_run_keeps_the_figure_or_has_failed_and_keeps_its_reason() -> None:
    found = read("ops: 7\n")
    assert found.run.status == "ok" and found.values[0].values == {"output_ops": [7.0]}
    assert found.copies[0].stdout is None
    found = read("ops: 7\nops: 7\n")
    assert found.run.status == "failed"
    assert found.run.reason == "response ops: found two matches, '7' and '7', expected one"
    assert "more than 8 MiB of output" in str(read("ops: 7", truncated=True).run.reason)
    assert read(None, status="failed", reason="exit code 1").run.reason == "exit code 1"
    study = parse(OPS)
    assert study.responses["ops"].source == "value.output_ops"
    again = type(study).model_validate(study.model_dump(mode="json"), context={"journal": True})
    assert again == study


def booted(accelerator: str) -> Record:
    made = record(iterations=[(1.0, 1.0, 5)], values=VALUES, per_cpu_s=(1.0,))
    guest = Guest(kernel="6.1", command_line="", cpus="0", accelerator=accelerator, boot_ns=7)  # type: ignore[arg-type]
    return replace(made, guest=guest, run=replace(made.run, n_switches=12, max_rss_bytes=4096))


def test_no_time_is_left_of_an_emulated_run_and_its_verdict_says_so() -> None:
    left = drop_times(booted("tcg"), STUDY)
    assert left.values[0].values == {"size": [4.0], "objects": [3.0]}
    assert (left.run.n_switches, left.run.max_rss_bytes, left.run.status) == (12, 4096, "ok")
    assert not left.iterations and left.timeline is None and left.copies[0].exit_code == 0
    plain = to_builtins([left.run, *left.copies])
    assert [key for part in plain for key, value in part.items() if key.endswith("_ns") and value is not None] == []
    assert left.guest and left.guest.boot_ns == 7, "what a boot takes is time of the machine"
    assert drop_times(booted("kvm"), STUDY) == booted("kvm") and drop_times(record(), STUDY) == record()
    judgment = judge(drop_times(booted("tcg"), STUDY))
    assert (judgment.verdict, judgment.causes[0].cause) == ("unverified", "functional")
    failed = judge(drop_times(booted("tcg").mark_failed("no memory"), STUDY))
    assert (failed.verdict, failed.causes[0].text) == ("failed", "no memory")
