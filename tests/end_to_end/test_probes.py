"""Every probe against workloads whose right record is known, by the path that a measurement takes.

Nothing here asserts how fast something is: only lower bounds that hold by construction, states and counts.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from msgspec.structs import replace

from scalograph.errors import HostError
from scalograph.protocol.record import CopyEvent, Record
from scalograph.run.hosts.local.probe import DEGRADED, measure, read_capabilities
from scalograph.verdict.judge import judge
from tests.kit import EXAMPLES, ROOT
from tests.kit.probes import BOTH
from tests.kit.processes import pids_with, wait_until, write_program
from tests.kit.refusals import refuses
from tests.kit.workloads import words

SECOND = 1_000_000_000
CPUS = sorted(os.sched_getaffinity(0))
# CPU clocks of the kernel and of its accounting may differ by a scheduler tick.
NEARLY = 0.98
PATH = "/usr/local/bin:/usr/bin:/bin"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
# What a run is in the Python probe too has the mark BOTH: the rest is proved of the Rust probe alone.


def program(*argv: str, **fields: Any) -> dict[str, Any]:
    return {"argv": [*argv], "cwd": "/", "env": {"PATH": PATH}, **fields}


def python(code: str) -> dict[str, Any]:
    return program(sys.executable, "-c", code)


def spec(*commands: dict[str, Any], timeout_s: float = 60, **fields: Any) -> dict[str, Any]:
    return {"protocol": 1, "run": "r1", "commands": [*commands], "timeout_ns": int(timeout_s * SECOND), **fields}


@dataclass(frozen=True)
class Lab:
    """A probe, and the sanity workloads that it measures."""

    probe: Sequence[str]
    builds: Path

    def command(self, name: str, /, *, copies: int = 1, cpus: object = None, **chosen: object) -> dict[str, Any]:
        """Fill the template of a workload."""
        placed = {} if cpus is None else {"cpus": cpus}
        return program(*words(f"sanity/{name}", self.builds, **chosen), copies=copies, **placed)

    def measure(self, *commands: dict[str, Any], **fields: Any) -> Record:
        return measure(spec(*commands, **fields), self.probe)

    def complete(self, *commands: dict[str, Any], **fields: Any) -> Record:
        """Measure a run, which must end well."""
        record = self.measure(*commands, **fields)
        assert record.run.status == "ok", record.run.reason
        return record

    def answer(self, line: bytes) -> tuple[int, dict[str, Any]]:
        """Return the exit code of the probe, and its last event."""
        done = subprocess.run(self.probe, input=line, capture_output=True, timeout=60, check=False)
        return done.returncode, json.loads(done.stdout.splitlines()[-1])

    @contextmanager
    def started(self, *commands: dict[str, Any], before: Sequence[str] = ()) -> "Iterator[subprocess.Popen[bytes]]":
        """Start the probe on a run, in a session of its own."""
        argv = [*before, *self.probe]
        with subprocess.Popen(argv, stdin=-1, stdout=-1, start_new_session=True) as process:
            assert process.stdin is not None
            process.stdin.write(json.dumps(spec(*commands)).encode() + b"\n")
            process.stdin.close()
            yield process


@pytest.fixture
def lab(probe: Sequence[str], builds: Path) -> Lab:
    return Lab(probe, builds)


def values(record: Record, copy: int = 0) -> dict[str, list[float]]:
    return {name: list(v) for part in record.values if part.copy_index == copy for name, v in part.values.items()}


def only_copy(record: Record) -> CopyEvent:
    (copy,) = record.copies
    return copy


@pytest.fixture
def token() -> Iterator[str]:
    """A mark for command lines; whatever carries it at the end of a test is a failure, and is killed."""
    mark = f"sanity-{uuid4().hex}"
    yield mark
    left = pids_with(mark)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert left == []


@contextmanager
def once_marked(token: str, act: Callable[[], None]) -> Iterator[None]:
    thread = threading.Thread(target=lambda: (wait_until(lambda: pids_with(token)), act()))
    thread.start()
    yield
    thread.join()


@pytest.mark.parametrize("cpu", CPUS[:4])
def test_pinning_to_one_cpu(cpu: int, lab: Lab) -> None:
    record = lab.complete(lab.command("pinning", cpus=[cpu]), events=True)
    in_force = only_copy(record).in_force
    assert values(record) == {"cpu": [cpu], "allowed": [cpu]}
    assert in_force is not None and in_force.cpus == [cpu]


@BOTH
@pytest.mark.skipif(len(CPUS) < 2, reason="needs 2 CPUs")
def test_each_copy_has_its_own_mask_and_without_one_all_cpus(lab: Lab) -> None:
    masks = [[CPUS[1]], [CPUS[0]]]
    record = lab.measure(lab.command("pinning", copies=2, cpus=masks), events=True)
    assert [values(record, copy)["cpu"] for copy in (0, 1)] == masks
    assert values(lab.measure(lab.command("pinning", burn_ms=1), events=True))["allowed"] == CPUS


@BOTH
@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"policy": "batch", "nice": 7}, {"policy": "batch", "nice": 7, "priority": 0}),
        pytest.param({"policy": "fifo", "priority": 3}, {"policy": "fifo", "priority": 3}, marks=as_root),
    ],
)
def test_policy_nice_and_priority_are_in_force(asked: dict[str, Any], expected: dict[str, Any], lab: Lab) -> None:
    in_force = only_copy(lab.measure({**lab.command("exit-code", code=0), **asked})).in_force
    assert {name: getattr(in_force, name) for name in expected} == expected


@BOTH
@as_root
def test_another_user_can_open_the_event_descriptors(lab: Lab) -> None:
    says = 'echo ready > "$SCALOGRAPH_EVENTS"; head -c 1 "$SCALOGRAPH_GO" > /dev/null; echo value a 1 >&3; id -u'
    asked = program("sh", "-c", says)
    record = lab.measure(asked, user="nobody", events=True, timeout_s=20, stdout="capture")
    assert (record.run.status, values(record)) == ("ok", {"a": [1]}), only_copy(record).stderr_tail
    assert only_copy(record).stdout == "65534\n"


@BOTH
def test_no_copy_is_released_before_the_last_is_ready(lab: Lab) -> None:
    asked = [lab.command("gating", setup_ms=0, copies=2), lab.command("gating", setup_ms=200)]
    record = lab.complete(*asked, events=True)
    ready, released = ([values(record, copy)[name][0] for copy in range(3)] for name in ("ready_ns", "released_ns"))
    assert record.run.gate_ns is not None
    assert min(released) >= max(ready) >= record.run.gate_ns + 200_000_000
    assert [copy.command for copy in record.copies] == [0, 0, 1]
    # One that never asks for the gate does not hold the others.
    lab.complete(lab.command("gating"), lab.command("accounting", burn_ms=2), events=True)


@BOTH
def test_phases_and_histograms_arrive_on_the_clock_of_the_gate(lab: Lab) -> None:
    says = """
import os, time
out, now = open(3, "w"), time.monotonic_ns()
print(f"phase warmup {now} {now}", f"phase steady {now} {now + 5}", sep="\\n", file=out)
for pairs in ("127:12 130:900", "130:1 7295:3"):
    print("histogram steady get", pairs, file=out)
print("histogram steady put 0:1", f"value now {now}", sep="\\n", file=out)
"""
    record = lab.complete(python(says), events=True)
    (phases,), since = record.phases, int(values(record)["now"][0]) - (record.run.gate_ns or 0)
    spans = [(phase.name, phase.start_ns, phase.end_ns) for phase in phases.phases]
    assert spans == [("warmup", since, since), ("steady", since, since + 5)]
    counts = {part.operation: dict(zip(part.index, part.count, strict=True)) for part in record.histograms}
    assert counts == {"get": {127: 12, 130: 901, 7295: 3}, "put": {0: 1}}
    assert {part.phase for part in record.histograms} == {"steady"}


@BOTH
def test_services_are_started_by_the_probe_or_refused_in_one_sentence(lab: Lab) -> None:
    ready = {"ready": {"line": "ready"}, "name": "app", "role": "service"}
    asked = program("sh", "-c", "echo ready; sleep 1000", **ready), program("true", name="load", role="driver")
    if lab.probe == tuple(DEGRADED):
        refuses(HostError, "install scalograph where cargo is: services need its probe", lab.measure, *asked)
        return
    record = lab.complete(*asked)
    ends = [(p.name, p.role, p.stopped_by) for p in record.processes]
    assert ends == [("app", "service", "TERM"), ("load", "driver", None)]
    assert [copy.signal for copy in record.copies] == [signal.SIGTERM, None]
    cpu = [process.cpu_ns for process in record.processes]
    assert None not in cpu and record.run.cpu_ns == sum(filter(None, cpu))


@BOTH
def test_input_and_codes_that_are_no_failure(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "input").write_text("one\n")
    command = program("grep", "two", stdin=str(tmp_path / "input"))
    assert lab.measure(command).run.status == "failed"
    assert only_copy(lab.complete({**command, "ok_exits": [0, 1]})).exit_code == 1
    refuses(HostError, r"commands\[0\]\.stdin", lab.measure, {**command, "stdin": "/no/such"})


@BOTH
def test_a_workload_finds_no_descriptors_that_it_was_not_given(lab: Lab) -> None:
    lists = """
import os
def is_open(fd):
    try: return bool(os.fstat(fd))
    except OSError: return False
print([fd for fd in range(1000) if is_open(fd)])
print({k: v for k, v in os.environ.items() if k != "LC_CTYPE"})"""
    asked = {"argv": [DEGRADED[0], "-S", "-c", lists], "cwd": "/tmp", "env": {"A": "b"}}
    copy = only_copy(lab.measure(asked, stdout="capture"))
    assert copy.stdout == "[0, 1, 2]\n{'A': 'b'}\n", copy.stderr_tail


# As under nohup, in a background job, or below a careless parent: a probe that inherits the worst of signals.
DEAF = [sys.executable, "-S", "-c", """
import os, signal, sys
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
os.execv(sys.argv[1], sys.argv[1:])"""]  # fmt: skip


@BOTH
@pytest.mark.parametrize("deaf", [[], DEAF], ids=["as we are", "deaf"])
def test_a_workload_ignores_and_blocks_no_signal_that_it_did_not_choose(lab: Lab, deaf: list[str]) -> None:
    asked = spec(program("grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"), stdout="capture")
    text = only_copy(measure(asked, [*deaf, *lab.probe])).stdout or ""
    assert [int(line.split()[1], 16) for line in text.splitlines()] == [0, 0]


@BOTH
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_a_probe_that_inherits_ignored_signals_can_be_stopped(number: int, token: str, lab: Lab) -> None:
    with lab.started(lab.command("hang", token=token), before=DEAF) as process:
        wait_until(lambda: pids_with(token))
        process.send_signal(number)
        assert process.stdout is not None
        end = json.loads(process.stdout.read().splitlines()[-1])
    assert (process.returncode, end["status"]) == (0, "interrupted")
    assert signal.Signals(number).name in end["reason"]
    assert pids_with(token) == []


@pytest.mark.parametrize(
    ("threads", "placed"), [(1, {}), (2, {}), (4, {}), (2, {"cpus": [CPUS[0]]})], ids=["1", "2", "4", "2 on one CPU"]
)
def test_spinning_threads_use_as_many_cpus_as_there_are(threads: int, placed: dict[str, list[int]], lab: Lab) -> None:
    record = lab.measure(lab.command("cpu-count", threads=threads, burn_ms=60, **placed), events=True)
    seen, burnt, cpus = values(record), threads * 60_000_000, placed.get("cpus", CPUS)
    assert seen["burnt_ns"] == [burnt] and (record.run.cpu_ns or 0) >= NEARLY * burnt
    assert set(seen["cpu"]) <= set(cpus)
    assert seen["spun_ns"][0] * len(cpus) >= NEARLY * burnt


@BOTH
def test_cpu_time_is_counted_with_that_of_children(lab: Lab) -> None:
    record = lab.measure(lab.command("accounting", copies=2), events=True)
    assert (record.run.cpu_ns or 0) >= NEARLY * 2 * 200_000_000
    for copy, part in zip(record.copies, record.iterations, strict=True):
        assert copy.user_ns is not None and copy.system_ns is not None
        assert copy.user_ns + copy.system_ns >= NEARLY * 200_000_000
        assert copy.start_ns is not None and copy.end_ns is not None
        assert copy.start_ns <= part.start_ns[0] <= part.end_ns[0] <= copy.end_ns
        assert part.cpu_ns == part.work == [200_000_000]


def test_the_walls_of_a_sleep_are_no_shorter_than_the_sleep(lab: Lab) -> None:
    run = lab.measure(program("sleep", "0.2", copies=2)).run
    assert run.wall_ns is not None and run.wall_outer_ns is not None and run.tree_wall_ns is not None
    assert 200_000_000 <= run.wall_ns <= min(run.wall_outer_ns, run.tree_wall_ns)
    assert run.start_skew_ns is not None and run.queue_drain_ns is not None


@pytest.mark.guarantee
@BOTH
def test_a_daemon_does_not_survive_and_is_counted(token: str, lab: Lab) -> None:
    record = lab.complete(lab.command("containment", token=token), events=True)
    assert (pids_with(token), record.run.n_survivors) == ([], 1)
    burnt = values(record)["burnt_ns"][0]
    # A survivor hides what the others used, where only the children that were waited for are counted.
    assert record.run.cpu_ns is None or record.run.cpu_ns >= NEARLY * burnt > 0


@pytest.mark.guarantee
def test_children_left_behind_are_counted_and_gone(token: str, lab: Lab) -> None:
    record = lab.complete(lab.command("forks-and-leaves", children=5, token=token))
    assert (pids_with(token), record.run.n_survivors) == ([], 5)


@pytest.mark.guarantee
@BOTH
def test_what_never_ends_is_ended(token: str, lab: Lab) -> None:
    record = lab.measure(lab.command("hang", token=token, copies=2), timeout_s=0.2)
    assert record.run.status == "timeout" and record.run.reason
    assert [(copy.signal, copy.exit_code) for copy in record.copies] == [(9, None)] * 2
    assert (record.run.wall_outer_ns or 0) >= 200_000_000
    assert pids_with(token) == []


# Workloads of one run, whose last never gets ready or hangs; its limits; words that its reason has, or has not.
LATE = [
    ([("containment", {"burn_ms": 1}), ("hang", {})], {"ready_timeout_ns": SECOND // 2, "timeout_s": 0.5}, [], []),
    ([("gating", None), ("never-ready", {})], {"ready_timeout_ns": SECOND // 2}, ["copy 1", "ready"], []),
    ([("never-ready", {})], {"ready_timeout_ns": 1, "timeout_s": 0.2}, [], ["ready"]),  # it is not held
]


@pytest.mark.parametrize(("asked", "limits", "words", "others"), LATE, ids=["hangs", "is ended", "is not held"])
def test_one_that_hangs_or_never_gets_ready_ends_the_run(
    asked: Any, limits: dict[str, Any], words: list[str], others: list[str], token: str, lab: Lab
) -> None:
    commands = [lab.command(name, **({} if more is None else {"token": token, **more})) for name, more in asked]
    run = lab.measure(*commands, events=True, **limits).run
    assert (run.status, pids_with(token)) == ("timeout", [])
    assert all(word in (run.reason or "") for word in words) and not any(word in (run.reason or "") for word in others)
    assert (run.wall_outer_ns or 0) >= 200_000_000


NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
# A user namespace in which no further namespace is granted.
ALONE = 'echo 0 > /proc/sys/user/max_pid_namespaces; echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'
CONTAINED = {
    "cgroup": [],
    "namespace": NOBODY,
    "best effort": [*NOBODY, "unshare", "--user", "--map-root-user", "sh", "-c", ALONE, "sh"],
}


@pytest.fixture
def everybodys(probe: Sequence[str]) -> Iterator[list[str]]:
    """The Rust probe where an ordinary user may start it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield [shutil.copy(probe[0], folder)]


@pytest.mark.parametrize("containment", [*CONTAINED, "python"])
def test_a_process_that_hops_from_pid_to_pid_is_ended(containment: str, token: str, everybodys: list[str]) -> None:
    """It is another one whenever somebody looks."""
    argv = DEGRADED if containment == "python" else [*CONTAINED[containment], *everybodys]
    if argv[0] == NOBODY[0] and os.geteuid() != 0:
        pytest.skip("needs root to stop being root")
    # For a minute only: where the test is killed, one that nobody can catch would take both CPUs for ever.
    hop = (
        "import os, time\nend = time.monotonic() + 60\n"
        "while time.monotonic() < end:\n    if os.fork(): os._exit(0)\n    os.setsid()"
    )
    interpreter = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    record = measure(spec({"argv": [interpreter, "-S", "-c", hop, token], "cwd": "/", "env": {}}), argv)
    assert record.run.status == "ok", record.run.reason
    if containment not in (record.header.containment, "python"):
        pytest.skip(f"contained otherwise here: {record.header.containment}")
    assert record.run.n_survivors and pids_with(token) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_and_keeps_its_record(number: int, token: str, lab: Lab) -> None:
    with once_marked(token, lambda: os.kill(os.getpid(), number)):
        record = lab.measure(lab.command("hang", token=token))
    assert record.run.status == "interrupted" and record.run.reason
    assert (only_copy(record).signal, pids_with(token)) == (9, [])


@pytest.mark.guarantee
@BOTH
def test_a_probe_that_is_killed_leaves_nothing(token: str, lab: Lab) -> None:
    asked = (lab.command(workload, token=token) for workload in ("hang", "containment", "forks-and-leaves"))
    with lab.started(*asked) as process:
        wait_until(lambda: len(pids_with(token)) >= 5)
        time.sleep(0.3)  # orphans are the harder case: let the ancestors end
        process.kill()
    wait_until(lambda: not pids_with(token))


@pytest.mark.guarantee
def test_a_killed_probe_is_a_failed_run(token: str, lab: Lab) -> None:
    def kill_children() -> None:
        for child in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)

    with once_marked(token, kill_children):
        record = lab.measure(lab.command("hang", token=token))
        assert record.run.status == "failed" and "signal 9" in (record.run.reason or "")
    wait_until(lambda: not pids_with(token))


@pytest.mark.guarantee
def test_a_caller_that_is_killed_leaves_nothing(token: str, lab: Lab) -> None:
    asked = spec(lab.command("containment", token=token), lab.command("hang", token=token))
    code = f"from scalograph.run.hosts.local.probe import measure; measure({asked!r}, {list(lab.probe)!r})"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen([DEGRADED[0], "-c", code], start_new_session=True, env=environment) as caller:
        # The command line of the caller carries the token too.
        wait_until(lambda: len(pids_with(token)) >= 3)
        caller.kill()
    wait_until(lambda: not pids_with(token))


def test_many_copies_start_and_end(lab: Lab) -> None:
    record = lab.complete(program("sh", "-c", "echo value a 1 >&3", copies=300), events=True)
    assert [copy.exit_code for copy in record.copies] == [0] * 300
    assert [part.copy_index for part in record.values] == list(range(300))


# A workload, what is chosen of it, the status of its run, what its reason says, and what its copy tells.
ENDS = [
    *(("crash", {"signal": n}, "signal", f"{n}|{signal.Signals(n).name}",
       {"signal": n, "exit_code": None, "stderr_tail": "about to crash\n"}) for n in (6, 9, 11, 15)),
    ("exit-code", {"code": 0}, "ok", None, {"exit_code": 0, "signal": None}),
    *(("exit-code", {"code": n}, "failed", "", {"exit_code": n, "signal": None}) for n in (1, 127, 255)),
    ("exit-code", {"code": 69}, "failed", "asked to end with 69", {"exit_code": 69, "signal": None}),
    *(("garbage", {"kind": kind}, "protocol", "hello" if kind == "text" else ".", {})
      for kind in ("text", "binary", "long", "endless", "torn", "backwards")),
    ("many-iterations", {"iterations": 1_000_001}, "protocol", "iterations", {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "chosen", "status", "reason", "told"), ENDS)
def test_how_a_workload_ends_is_named(
    name: str, chosen: dict[str, Any], status: str, reason: str | None, told: dict[str, Any], lab: Lab
) -> None:
    record = lab.measure(lab.command(name, **chosen), events=name in ("garbage", "many-iterations"))
    assert record.run.status == status, record.run.reason
    if reason is None:
        assert record.run.reason is None
    else:
        assert record.run.reason is not None and re.search(reason, record.run.reason)
        assert name != "garbage" or record.run.reason.isprintable()
    assert {key: getattr(only_copy(record), key) for key in told} == told


@BOTH
@pytest.mark.parametrize(
    ("code", "status", "number", "word"),
    [
        ("os.write(3, b'value x 1\\nval'); os.kill(os.getpid(), 11)", "signal", 11, ""),
        ("os.write(3, b'val'); os._exit(69)", "failed", None, "69"),
    ],
)
def test_half_a_last_line_hides_no_cause(code: str, status: str, number: int | None, word: str, lab: Lab) -> None:
    record = lab.measure(python(f"import os; {code}"), events=True)
    assert (record.run.status, only_copy(record).signal) == (status, number) and word in (record.run.reason or "")


FILLS = """
import fcntl, os, time
gate = os.open("/dev/fd/4", os.O_WRONLY | os.O_NONBLOCK)
fcntl.fcntl(4, fcntl.F_SETPIPE_SZ, 4096)
try:
    while True:
        os.write(gate, b"g" * 4096)
except BlockingIOError:
    pass
os.write(3, b"ready\\n")
time.sleep(600)
"""


def test_a_copy_that_closes_its_pipe_or_fills_its_own_gate_holds_nobody(lab: Lab) -> None:
    silent = python("import os, time; os.close(3); os.close(4); time.sleep(0.1)")
    record = lab.complete(lab.command("gating"), silent, events=True, ready_timeout_ns=600 * SECOND, timeout_s=1000)
    assert (record.run.wall_outer_ns or 0) < 600 * SECOND, "it waited for the silent one"
    run = lab.measure(python(FILLS), events=True, timeout_s=0.5).run
    assert run.status == "timeout"
    assert (run.wall_outer_ns or 0) < 600 * SECOND, "it waited for its end"


@BOTH
def test_a_missing_interpreter_is_not_started(tmp_path: Path, lab: Lab) -> None:
    script = write_program(tmp_path / "script", "#!/no/such/interpreter\n")
    run = lab.measure({"argv": [str(script)], "cwd": "/", "env": {}}).run
    assert run.status == "not started" and run.reason


@BOTH
def test_the_beginning_of_stdout_and_the_end_of_stderr_are_kept(lab: Lab) -> None:
    limits = {"stdout": "capture", "stdout_limit_bytes": 1000, "stderr_limit_bytes": 100}
    copy = only_copy(lab.measure(lab.command("much-output", mib=2), **limits))
    whole = "".join(f"{0:015d}\n" * 4096)
    assert (copy.stdout, copy.stdout_truncated) == (whole[:1000], True)
    assert len(copy.stderr_tail) == 100 and copy.stderr_tail.endswith("the last line\n")


def test_output_within_its_limit_is_whole_and_control_characters_make_no_line_too_long(lab: Lab) -> None:
    copy = only_copy(lab.measure(lab.command("much-output", mib=5), stdout="capture"))
    assert (len(copy.stdout or ""), copy.stdout_truncated) == (5 << 20, False)
    zeros = program("head", "-c", "3000000", "/dev/zero")
    assert only_copy(lab.measure(zeros, stdout="capture")).stdout == "\0" * 3_000_000


def test_endless_output_takes_no_memory(lab: Lab) -> None:
    bounded = Lab(["sh", "-c", 'ulimit -v 400000; exec "$@"', "sh", *lab.probe], lab.builds)
    record = bounded.measure(lab.command("much-output", mib=0), stdout="capture", timeout_s=1)
    copy = only_copy(record)
    assert (record.run.status, len(copy.stdout or ""), copy.stdout_truncated) == ("timeout", 8 << 20, True)


@BOTH
def test_many_iterations_arrive_in_order(lab: Lab) -> None:
    n = 100_000
    parts = lab.complete(lab.command("many-iterations", iterations=n), events=True).iterations
    assert [i for part in parts for i in part.index] == list(range(n))
    assert [work for part in parts for work in part.work] == list(range(n))
    starts = [start for part in parts for start in part.start_ns]
    assert [start - starts[0] for start in starts] == list(range(n))


TRUE = program("true")
REJECTED = [json.loads(line) for line in (EXAMPLES / "probe_spec_rejected.jsonl").read_text().splitlines()]
NOT_HERE = [
    (spec({**TRUE, "argv": ["no-such-program"]}), "commands[0].argv"),
    (spec({**TRUE, "argv": ["/"]}), "commands[0].argv"),
    (spec({**TRUE, "env": {}}), "commands[0].argv"),
    (spec(TRUE, {**TRUE, "cwd": "/no/such/folder"}), "commands[1].cwd"),
    (spec({**TRUE, "cpus": [8000]}), "commands[0].cpus"),
    (spec({**TRUE, "cpus": [CPUS[0], 8000]}), "commands[0].cpus"),
    (spec(TRUE, user="no-such-user"), "user"),
]
# What a probe is given, its exit code, and what its last event says: wrong words, what the host refuses, a failed run.
ANSWERS = [
    *((line, 2, {"event": "error"}) for line in (b"", b"\n", b"{", b"\xff\n", b'"' + b"x" * (1 << 20) + b'"\n')),
    *((golden["spec"], 2, {"event": "error", "where": golden["where"]}) for golden in REJECTED),
    *((asked, 3, {"event": "error", "run": "r1", "where": where}) for asked, where in NOT_HERE),
    (spec(program("false")), 0, {"event": "run", "status": "failed"}),
]


@pytest.mark.parametrize(("given", "code", "expected"), ANSWERS)
def test_a_probe_ends_with_its_code_and_says_what_to_do(
    given: bytes | dict[str, Any], code: int, expected: dict[str, Any], lab: Lab
) -> None:
    ended, event = lab.answer(given if isinstance(given, bytes) else json.dumps(given).encode() + b"\n")
    assert (ended, {key: event[key] for key in expected}) == (code, expected)
    assert code == 0 or all(event[name] for name in ("found", "expected", "fix"))


@as_root
def test_an_ordinary_user_can_measure_and_what_it_may_not_ends_with_3(lab: Lab) -> None:
    unprivileged = Lab([*NOBODY, *lab.probe], lab.builds)
    record = unprivileged.complete(TRUE)
    assert record.run.degraded or record.header.kind == "native"
    for asked in ({"nice": -5}, {"policy": "fifo", "priority": 1}):
        code, event = unprivileged.answer(json.dumps(spec({**TRUE, **asked})).encode() + b"\n")
        assert (code, event["where"]) == (3, f"commands[0].{next(iter(asked))}")


def test_capabilities_say_why_and_what_to_do(probe: Sequence[str]) -> None:
    capabilities = read_capabilities(probe)["capabilities"]
    assert capabilities and all(entry["granted"] or (entry["why"] and entry["fix"]) for entry in capabilities)


@BOTH
def test_the_header_says_which_probe_it_was_and_the_python_one_decides_nothing(lab: Lab) -> None:
    record = lab.measure(TRUE, backend="plain")
    is_native = lab.probe != tuple(DEGRADED)
    assert (record.header.kind, record.header.backend) == ("native" if is_native else "degraded", "plain")
    assert record.run.wall_source == "gate" and (is_native or record.run.degraded)
    if not is_native:
        record = measure(spec(TRUE), DEGRADED)
        # Long enough for ticks to tell, where they are read.
        long = replace(record.run, wall_ns=10 * SECOND, cpu_ns=10 * SECOND)
        assert judge(replace(record, run=long)).verdict == "unverified"
