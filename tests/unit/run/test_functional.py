"""Where CPUs are emulated a record keeps what happened, and no figure of time reaches a score."""

from msgspec import to_builtins
from msgspec.structs import replace

from scalograph.protocol.record import Guest, Record
from scalograph.run.runner import drop_times
from scalograph.study.load import parse
from scalograph.verdict.judge import judge
from tests.kit.records import record
from tests.kit.studies import VALID

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


def booted(accelerator: str) -> Record:
    made = record(iterations=[(1.0, 1.0, 5)], values=VALUES, per_cpu_s=(1.0,))
    guest = Guest(kernel="6.1", command_line="", cpus="0", accelerator=accelerator, boot_ns=7)  # type: ignore[arg-type]
    return replace(made, guest=guest, run=replace(made.run, n_switches=12, max_rss_bytes=4096))


def test_no_time_is_left_of_an_emulated_run_and_times_of_real_cpus_stay() -> None:
    left = drop_times(booted("tcg"), STUDY)
    assert left.values[0].values == {"size": [4.0], "objects": [3.0]}
    assert (left.run.n_switches, left.run.max_rss_bytes, left.run.status) == (12, 4096, "ok")
    assert not left.iterations and left.timeline is None and left.copies[0].exit_code == 0
    plain = to_builtins([left.run, *left.copies])
    assert [key for part in plain for key, value in part.items() if key.endswith("_ns") and value is not None] == []
    assert left.guest and left.guest.boot_ns == 7, "what a boot takes is time of the machine"
    assert drop_times(booted("kvm"), STUDY) == booted("kvm") and drop_times(record(), STUDY) == record()


def test_its_verdict_says_so() -> None:
    judgment = judge(drop_times(booted("tcg"), STUDY))
    assert (judgment.verdict, judgment.causes[0].cause) == ("unverified", "functional")
    failed = judge(drop_times(booted("tcg").mark_failed("no memory"), STUDY))
    assert (failed.verdict, failed.causes[0].text) == ("failed", "no memory")
