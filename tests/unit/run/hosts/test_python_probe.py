"""Parts of the Python probe that need no process: specification, workload lines, the tree in /proc."""

import json
import math
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalograph.run.hosts.python_probe import lines, spec, tree
from tests.kit.refusals import refuses

COMMAND = {"argv": ["a"], "cwd": "/", "env": {}}
GOOD: dict[str, Any] = {"protocol": 1, "run": "r", "commands": [COMMAND], "timeout_ns": 1}
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ["argv", "copies", "cwd", "env", "cpus", "policy", "priority", "nice", "name", "role"]
OF_A_SERVICE = ["ready", "ready_timeout_ns", "ports", "stop_signal", "stop_grace_ns"]
# Where a copy tells what is in force it has not reached the gate.
KILLED = """
import os, signal, sys
from scalograph.run.hosts.python_probe import __main__, launch
launch.read_back = lambda pid: os.kill(os.getpid(), signal.SIGKILL)
sys.exit(__main__.main([]))
"""


def changed(**fields: Any) -> dict[str, Any]:
    return {**GOOD, **fields}


def commanded(**fields: Any) -> dict[str, Any]:
    return changed(commands=[{**COMMAND, **fields}])


@pytest.mark.parametrize(("given_", "where"), [
    (changed(protocol=True), "protocol"),
    (changed(protocol=1.0), "protocol"),
    (changed(run=""), "run"),
    (changed(run="\ud800"), "run"),
    (changed(timeout_ns=True), "timeout_ns"),
    (changed(timeout_ns=2**63), "timeout_ns"),
    (changed(ready_timeout_ns=0), "ready_timeout_ns"),
    (changed(stdout_limit_bytes=-1), "stdout_limit_bytes"),
    (changed(stdout_limit_bytes=(8 << 20) + 1), "stdout_limit_bytes"),
    (changed(stderr_limit_bytes=(64 << 10) + 1), "stderr_limit_bytes"),
    (changed(stdout=[]), "stdout"),
    (changed(user=0), "user"),
    (changed(echo=1), "echo"),
    (changed(timeline=1), "timeline"),
    (changed(sentinel=1), "sentinel"),
    (changed(timeline_bins=7), "timeline_bins"),
    (changed(timeline_tasks=65), "timeline_tasks"),
    (changed(commands={}), "commands"),
    (changed(commands=["a"]), "commands[0]"),
    (commanded(argv="a"), "commands[0].argv"),
    (commanded(argv=[""]), "commands[0].argv"),
    (commanded(argv=["\udcff"]), "commands[0].argv"),
    (commanded(cwd="/\0"), "commands[0].cwd"),
    (commanded(env={"A=B": "c"}), "commands[0].env"),
    (commanded(env={"": "c"}), "commands[0].env"),
    (commanded(cpus=[8192]), "commands[0].cpus"),
    (commanded(cpus=[True]), "commands[0].cpus"),
    (commanded(cpus=[[0], []], copies=2), "commands[0].cpus"),
    (commanded(priority=1), "commands[0].priority"),
    (commanded(policy="fifo"), "commands[0].priority"),
    (commanded(policy="rr", priority=100), "commands[0].priority"),
    (commanded(nice=-21), "commands[0].nice"),
    (changed(commands=[{**COMMAND, "copies": 4096}, COMMAND]), "commands[1].copies"),
])  # fmt: skip
def test_a_mistake_is_named(given_: dict[str, Any], where: str) -> None:
    with pytest.raises(spec.RefusalError) as caught:
        spec.parse(given_)
    assert caught.value.fields["where"] == where


def test_null_is_absent_zero_is_not_and_masks_are_one_for_each_copy() -> None:
    found = spec.parse(changed(events=None, stdout=None, stdout_limit_bytes=0, stderr_limit_bytes=0, user=None))
    assert (found.events, found.stdout, found.user) == (False, "null", None)
    assert (found.stdout_limit_bytes, found.stderr_limit_bytes) == (0, 0)
    assert spec.parse(commanded(nice=0)).commands[0].nice == 0 and spec.parse(commanded()).commands[0].nice is None
    assert spec.parse(commanded(cpus=[1, 0, 1], copies=2)).commands[0].masks == [(0, 1), (0, 1)]
    assert spec.parse(commanded(cpus=[[1], [0]], copies=2)).commands[0].masks == [(1,), (0,)]
    assert spec.parse(commanded(copies=2)).commands[0].masks == [None, None]


@pytest.mark.parametrize(
    "text", [b"", b"\n", b"{", b"[]", b"\xff", b'{"a":NaN}', b"[" * 100_000, b'{"a":"' + b"x" * (1 << 20) + b'"}']
)
def test_what_is_no_object_is_refused(text: bytes) -> None:
    with pytest.raises(spec.RefusalError) as caught:
        spec.parse(spec.read(BytesIO(text)))
    assert caught.value.fields["where"] == "spec"


@given(st.sampled_from([*GOOD, "events", "stdout", "user", "backend", "timeline_bins"]), json_values)
def test_no_value_does_more_than_be_refused(name: str, value: Any) -> None:
    try:
        spec.parse(changed(**{name: value}))
    except spec.RefusalError as refusal:
        assert len(json.dumps(refusal.fields)) < 1000


@given(st.booleans(), st.sampled_from([*FIELDS, *OF_A_SERVICE]), json_values)
def test_no_value_of_a_command_or_a_service_does_more_than_be_refused(of_service: bool, name: str, value: Any) -> None:
    service = {**COMMAND, "name": "app", "role": "service", name: value}
    try:
        spec.parse(
            changed(commands=[service, {**COMMAND, "name": "driver"}]) if of_service else commanded(**{name: value})
        )
    except spec.RefusalError as refusal:
        assert refusal.fields["where"].startswith("commands[0].") or (of_service and name == "role")


def said(*pieces: bytes) -> lines.Speech:
    speech, limits = lines.Speech(), lines.Limits()
    for piece in pieces:
        speech.feed(piece, limits)
    speech.finish()
    return speech


@given(st.lists(st.integers(0, 2**63 - 1), min_size=3, max_size=3), st.integers(1, 40))
def test_iterations_arrive_whole_however_they_are_cut(numbers: list[int], size: int) -> None:
    index, start, work = numbers
    text = f"iteration {index} {start} {2**63 - 1} {work}\nvalue a -3\nvalue a 2.5e3\n".encode()
    speech = said(*(text[at : at + size] for at in range(0, len(text), size)))
    assert speech.iterations == [(index, start, 2**63 - 1, work, None)] and speech.values == {"a": [-3, 2500.0]}


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_value_comes_back_as_it_was(number: float) -> None:
    assert said(f"value a {number!r}\n".encode()).values["a"][0] == number


@pytest.mark.parametrize("line", [
    b"iteration 0 1 2 3 4 5", b"iteration +0 1 2 3", b"iteration -1 1 2 3",
    b"iteration 0 1 9223372036854775808 3", b"iteration 0 1 2 18446744073709551615", b"iteration 0  1 2 3",
    b"iteration 0 1 2 3\r", b"value a 1e999", b"value a 1_000", b"value a 0x10", b"value a ", b"value a 1 2",
    b"value " + b"a" * 65 + b" 1", b"value \xc3\xa4 1", b"value a " + "\u0663".encode(), b" ready", b"",
    b"ready\nready", b"value a " + b"1" * 504, b"histogram a b 1:9223372036854775807 1:1",
])  # fmt: skip
def test_a_line_that_follows_no_form_is_broken(line: bytes) -> None:
    with pytest.raises(lines.BrokenLineError) as caught:
        said(line + b"\n")
    assert str(caught.value).isprintable()


def test_lines_names_and_numbers_have_limits_and_a_torn_line_is_broken() -> None:
    assert math.isfinite(said(b"value a 0." + b"1" * 501 + b"\n").values["a"][0])
    refuses(lines.BrokenLineError, "longer", said, b"value a 0." + b"1" * 502 + b"\n")
    refuses(lines.BrokenLineError, "newline", said, b"value a 1")
    limits = lines.Limits()
    for start in (0, 0, 128, 128):
        lines.Speech().feed(b"".join(b"value a%d 1\n" % i for i in range(start, start + 128)), limits)
    refuses(lines.BrokenLineError, "names", lines.Speech().feed, b"value b 1\n", limits)


def record_process(proc: Path, pid: int, parent: int, state: str = "S", name: str = "sleep") -> None:
    (proc / str(pid)).mkdir()
    (proc / str(pid) / "stat").write_text(f"{pid} ({name}) {state} {parent} {pid} {pid} 0 -1 4194560 0 0\n")


def test_descendants_of_a_recorded_tree(tmp_path: Path) -> None:
    record_process(tmp_path, 1, 0)
    record_process(tmp_path, 10, 1)
    record_process(tmp_path, 11, 10, name="a) Z 1 (b")
    record_process(tmp_path, 12, 11, state="Z")
    record_process(tmp_path, 13, 12)
    record_process(tmp_path, 20, 1)
    (tmp_path / "self").mkdir()
    (tmp_path / "14").mkdir()
    assert sorted(tree.descendants(10, tmp_path)) == [11, 13] and tree.descendants(20, tmp_path) == []


def test_a_copy_that_is_killed_before_the_gate_fails_its_run() -> None:
    asked = json.dumps(commanded(argv=["true"], env={"PATH": "/usr/bin:/bin"})) + "\n"
    done = subprocess.run([sys.executable, "-c", KILLED], input=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    run = json.loads(done.stdout.splitlines()[-1])
    assert (run["event"], run["status"]) == ("run", "not started")
    assert run["reason"] == "copy 0 was killed before the gate"


@pytest.mark.parametrize("asked", [True, False])
def test_it_measures_no_speed_of_cpus_and_says_so_if_asked(asked: bool) -> None:
    text = json.dumps(changed(sentinel=asked, timeout_ns=10**10, commands=[{**COMMAND, "argv": ["/bin/true"]}]))
    argv = [sys.executable, "-m", "scalograph.run.hosts.python_probe"]
    done = subprocess.run(argv, input=text, capture_output=True, text=True, check=True)
    header, *_, run = map(json.loads, done.stdout.splitlines())
    assert [row["what"] for row in header["degraded"]].count("sentinel") == asked
    assert run["status"] == "ok" and "speed" not in run
