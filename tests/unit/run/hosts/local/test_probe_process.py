"""Probes that misbehave: each ends in one error, in bounded time and memory, and leaves no process."""

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scalograph.errors import HostError, ProtocolError
from scalograph.protocol.record import Record
from scalograph.run.hosts.local import probe, probe_process
from scalograph.run.interrupts import Interrupts
from tests.kit import EXAMPLES
from tests.kit.processes import wait_until, write_program
from tests.kit.refusals import refuses

GOLDEN = (EXAMPLES / "probe_events.jsonl").read_text().splitlines()
SPEC: dict[str, Any] = json.loads((EXAMPLES / "probe_spec.jsonl").read_text().splitlines()[0])
ANSWER = "\n".join(GOLDEN[:6]) + "\n"
READS, ANSWERS = "sys.stdin.readline(); print(answer, end='')", "print(answer, end='')"
STOPPED = """
import json, sys
from scalograph.run.hosts.local import probe, probe_process
probe.GRACE_S = 0
print(probe.measure(json.loads(sys.argv[1]), sys.argv[2:]).run.status)
"""
INTERRUPTED = "print(answer.replace('\"ok\"', '\"interrupted\"'), end='', flush=True); os._exit(0)"


def fake(code: str) -> list[str]:
    """A probe that runs these lines of Python, `answer` being a right answer."""
    return [sys.executable, "-S", "-c", f"import os, sys, time\nanswer = {ANSWER!r}\n{code}"]


@pytest.mark.parametrize(("code", "changes"), [
    (READS, {}),
    (READS, {"timeout_ns": 30 * 366 * 86400 * 10**9}),  # thirty years
    (f"sys.stderr.write('x' * (8 << 20)); {ANSWERS}", {}),  # complaints that are read and not kept
])  # fmt: skip
def test_a_right_answer_becomes_a_record(code: str, changes: dict[str, Any]) -> None:
    run = probe.measure({**SPEC, **changes}, fake(code)).run
    assert (run.status, run.wall_ns) == ("ok", 530000000)


def test_the_specification_arrives_whole_also_from_a_thread_and_in_another_session() -> None:
    big = {**SPEC, "commands": [{"argv": ["x" * 500_000], "cwd": "/", "env": {}}]}
    code = "line = sys.stdin.readline(); print(answer if len(line) > 500000 and line[-1] == '\\n' else '', end='')"
    assert probe.measure(big, fake(code)).run.status == "ok"
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(probe.measure, SPEC, fake(ANSWERS)).result().run.status == "ok"
    code = "print(answer.replace('4711', str(os.getsid(0))), end='')"
    assert probe.measure(SPEC, fake(code)).copies[0].pid != os.getsid(0)


@pytest.mark.parametrize(("code", "words"), [
    ("pass", "no event"),
    ("print('hello')", "hello"),
    ("print(answer.replace('r1', 'r2'), end='')", "'r1'"),
    ("sys.stderr.write('because'); sys.exit(7)", "because"),
    ("sys.exit(3)", "JSON"),
    ("print('x' * (5 << 20))", "5242880 bytes"),
    ("os.close(0); time.sleep(0.1); sys.exit(9)", "exit code 9"),
])  # fmt: skip
def test_a_wrong_answer_is_one_error(code: str, words: str) -> None:
    refuses(ProtocolError, words, probe.measure, SPEC, fake(code))


@pytest.mark.parametrize(("code", "error"), [(2, ProtocolError), (3, HostError)])
def test_a_refusal_keeps_its_four_texts(code: int, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        probe.measure(SPEC, fake(f"print({GOLDEN[-1]!r}); sys.exit({code})"))
    expected = "commands[0].cpus: CPU 64, expected a CPU of this host: 0-1; lower the level or choose another host"
    assert str(caught.value) == expected


def failed(record: Record) -> str:
    assert (record.run.status, record.copies) == ("failed", [])
    return record.run.reason or ""


@pytest.mark.parametrize(("code", "words"), [
    ("while True: print('x' * 1000)", "at most 1048576 bytes"),
    ("while True: sys.stderr.write('x' * 1000)", "no end after 0.3 s"),
])  # fmt: skip
def test_what_has_no_end_is_cut_off_and_fails_the_run(monkeypatch: pytest.MonkeyPatch, code: str, words: str) -> None:
    monkeypatch.setattr(probe_process, "MAX_RECORD_BYTES", 1 << 20)
    monkeypatch.setattr(probe, "GRACE_S", 0.2)
    monkeypatch.setattr(probe_process, "_LATE_S", 0.01)
    limit_ns = 100_000_000 if "stderr" in code else SPEC["timeout_ns"]
    assert words in failed(probe.measure({**SPEC, "timeout_ns": limit_ns}, fake(code)))


@pytest.mark.guarantee
def test_a_killed_probe_is_a_failed_run_that_tells_who_measured() -> None:
    killed = probe.measure(SPEC, fake("os.kill(os.getpid(), 9)"))
    assert "signal 9" in failed(killed) and killed.header.probe == "unknown"
    late = probe.measure(SPEC, fake("print(answer.splitlines()[0], flush=True); os.kill(os.getpid(), 9)"))
    assert "signal 9" in failed(late) and late.header.probe == json.loads(GOLDEN[0])["probe"]


@pytest.mark.parametrize(("code", "words"), [
    ("print(answer[:900], end='')", "without its newline"),
    ("print(answer.splitlines()[0])", "no run event"),
    ("print(answer.splitlines()[0] + '\\nhello')", "hello"),
    ("print(answer, end=''); print(answer.splitlines()[-1])", "nothing after the run event"),
    ("print(answer, end=''); sys.exit(1)", "exit code 1"),
    (f"print(answer.splitlines()[0]); print({GOLDEN[-1]!r})", "commands[0].cpus"),
])  # fmt: skip
def test_an_answer_that_breaks_off_after_its_header_is_a_failed_run(code: str, words: str) -> None:
    """A run of the same user can write into the pipe of its probe."""
    record = probe.measure(SPEC, fake(code))
    assert words in failed(record) and "the answer of its probe was broken" in failed(record)
    assert record.header.probe == json.loads(GOLDEN[0])["probe"]


def answer_with(status: str) -> str:
    before = '"ok","reason":null'
    assert before in ANSWER
    return f"print(answer.replace({before!r}, {status!r}), end='')"


def test_a_probe_that_is_told_to_end_fails_its_run_or_ends_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    said = answer_with('"interrupted","reason":"SIGTERM"')
    record = probe.measure(SPEC, fake(said))
    assert (record.run.status, record.run.reason) == ("failed", "another program ended its probe: SIGTERM")
    # Not `time.sleep` itself: other threads of the tests sleep, too.
    told = SimpleNamespace(monotonic=time.monotonic, sleep=lambda s: os.kill(os.getpid(), signal.SIGTERM))
    monkeypatch.setattr(probe, "time", told)
    with Interrupts() as interrupts:
        record = probe.measure(SPEC, fake(answer_with('"interrupted","reason":"SIGTERM"')))
    assert (record.run.status, interrupts.number) == ("interrupted", signal.SIGTERM)


def test_a_stopped_probe_is_given_up_but_not_after_one_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_process, "_LOOK_S", 0.1)
    code = f"""
import signal
signal.signal(signal.SIGTERM, lambda n, f: (open({str(tmp_path / "told")!r}, "w").close(), os._exit(0)))
print(answer.splitlines()[0], flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
time.sleep(600)"""
    assert "stopped by a signal" in failed(probe.measure({**SPEC, "timeout_ns": 600 * 10**9}, fake(code)))
    assert (tmp_path / "told").exists()
    look, stopped = os.waitid, []

    def waking(kind: int, pid: int, how: int) -> os.waitid_result | None:
        if (seen := look(kind, pid, how)) is not None and how & os.WSTOPPED:
            stopped.append(pid)
            os.kill(pid, signal.SIGCONT)
        return seen

    monkeypatch.setattr(os, "waitid", waking)
    monkeypatch.setattr(probe_process, "_LOOK_S", 0.1)
    code = "import signal\nos.kill(os.getpid(), signal.SIGSTOP)\nprint(answer, end='')"
    assert probe.measure(SPEC, fake(code)).run.status == "ok" and len(stopped) == 1


def test_an_answer_that_came_while_we_were_stopped_is_read() -> None:
    """The deadline has passed when we go on: a part of the answer lies in the pipe, the rest is written as we read."""
    code = (
        "answer = answer.replace('\"stdout\":null', '\"stdout\":\"' + 'x' * (1 << 20) + '\"', 1)\nprint(answer, end='')"
    )
    process = probe.ProbeProcess(fake(code))
    with process.running():
        assert select.select([process.process.stdout], [], [], 30)[0]
        assert len(process.exchange(b"", -1.0).output) > 1 << 20


def test_a_run_that_ended_while_we_were_stopped_is_no_timeout(tmp_path: Path) -> None:
    (tmp_path / "answer").write_text(ANSWER)
    spec, began = json.dumps({**SPEC, "timeout_ns": 1_500_000_000}), tmp_path / "began"
    slow = ["sh", "-c", f"touch {began}; sleep 0.3; cat {tmp_path}/answer; touch {tmp_path}/ended"]
    argv = [sys.executable, "-c", STOPPED, spec, *slow]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as runner:
        wait_until(began.exists)
        runner.send_signal(signal.SIGSTOP)
        wait_until((tmp_path / "ended").exists)
        time.sleep(1.6)
        runner.send_signal(signal.SIGCONT)
        assert runner.communicate()[0] == "ok\n"


@pytest.mark.parametrize("code", ["time.sleep(600)", "os.close(1); os.close(2); time.sleep(600)"])
def test_a_silent_probe_is_given_up_and_gone(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "GRACE_S", 0.5)
    began, end = list[int](), probe.ProbeProcess._end

    def noted_end(self: probe.ProbeProcess) -> None:
        began.append(self.process.pid)
        end(self)

    monkeypatch.setattr(probe.ProbeProcess, "_end", noted_end)
    record = probe.measure({**SPEC, "timeout_ns": 100_000_000}, fake(code))
    assert "no end after 0.6 s" in failed(record)
    (pid,) = began
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def at_work(folder: Path, number: int, body: str) -> list[str]:
    """A probe that does this when a signal comes, until then nothing; `began` and `heard` are files of its folder."""
    heard = "\n    ".join([f"open({str(folder / 'heard')!r}, 'w').close()", *body.split("; ")])
    waits = f"signal.signal({int(number)}, hear)\nopen({str(folder / 'began')!r}, 'w').close()"
    return fake(f"import signal\ndef hear(number, frame):\n    {heard}\n{waits}\nwhile True: time.sleep(60)")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_goes_to_the_probe_and_its_record_still_comes(number: signal.Signals, tmp_path: Path) -> None:
    told, sent = list[int](), signal.SIGTERM if number == signal.SIGHUP else number
    before = signal.getsignal(number)
    with sending(number, tmp_path / "began"):
        record = probe.measure(SPEC, at_work(tmp_path, sent, INTERRUPTED), told.append)
    assert (record.run.status, told) == ("interrupted", [sent]) and signal.getsignal(number) is before


def test_a_signal_while_the_probe_was_started_goes_to_it_too() -> None:
    with Interrupts(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
        probe.measure(SPEC, fake("time.sleep(60)"))


@pytest.mark.parametrize("late", ["print(answer, end='', flush=True); os._exit(0)", "os._exit(1)"])
def test_a_signal_at_the_wrong_time_is_not_lost(late: str, tmp_path: Path) -> None:
    with sending(signal.SIGINT, tmp_path / "began"), pytest.raises(KeyboardInterrupt):
        probe.measure(SPEC, at_work(tmp_path, signal.SIGINT, late))


@pytest.mark.guarantee
def test_a_second_ctrl_c_kills_the_probe(tmp_path: Path) -> None:
    twice = sending(signal.SIGINT, tmp_path / "began"), sending(signal.SIGINT, tmp_path / "heard")
    with twice[0], twice[1], pytest.raises(KeyboardInterrupt):
        probe.measure(SPEC, at_work(tmp_path, signal.SIGINT, "pass"))


@pytest.mark.guarantee
def test_a_second_sighup_kills_no_probe(tmp_path: Path) -> None:
    with sending(signal.SIGHUP, tmp_path / "began"), sending(signal.SIGHUP, tmp_path / "heard"):
        record = probe.measure(SPEC, at_work(tmp_path, signal.SIGTERM, f"time.sleep(0.5); {INTERRUPTED}"))
    assert record.run.status == "interrupted"


@contextmanager
def sending(number: int, file: Path) -> Iterator[None]:
    def send() -> None:
        wait_until(file.exists)
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def test_a_probe_is_found_by_name_then_beside_then_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    path = {"PATH": str(tmp_path / "path")}
    fallback = probe.find_probe(path)
    assert fallback.argv == probe.DEGRADED and fallback.warning is not None
    on_path = write_program(tmp_path / "path" / probe.PROGRAM, "")
    assert probe.find_probe(path) == probe.ProbeProgram((str(on_path),))
    beside = write_program(tmp_path / "prefix" / "bin" / probe.PROGRAM, "")
    assert probe.find_probe(path) == probe.ProbeProgram((str(beside),))
    named = write_program(tmp_path / "named", "")
    assert probe.find_probe({**path, "SCALOGRAPH_PROBE": str(named)}) == probe.ProbeProgram((str(named),))
    refuses(HostError, "SCALOGRAPH_PROBE", probe.find_probe, {**path, "SCALOGRAPH_PROBE": str(tmp_path)})
    refuses(HostError, "No such file", probe.measure, SPEC, [str(tmp_path / "nothing")])


@pytest.mark.parametrize("code", ["pass", "print(answer)", "sys.exit(1)", "print('{}')"])
def test_capabilities_that_are_none_are_refused(code: str) -> None:
    with pytest.raises(ProtocolError):
        probe.read_capabilities(fake(code))
