"""Every probe against workloads whose right record is known, by the path that a measurement takes.

Nothing here asserts how fast something is: only lower bounds that hold by construction, states and counts.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from msgspec.structs import replace

from scalograph.errors import HostError
from scalograph.protocol.record import CopyEvent, Record
from scalograph.run.hosts.local.probe import DEGRADED, PROGRAM, find_probe, measure, read_capabilities
from scalograph.verdict.judge import judge
from tests.kit import ROOT

SANITY = ROOT / "workloads" / "sanity"
SECOND = 1_000_000_000
CPUS = sorted(os.sched_getaffinity(0))
# CPU clocks of the kernel and of its accounting may differ by a scheduler tick.
NEARLY = 0.98


def native() -> tuple[str, ...] | None:
    if (found := find_probe()).warning is None:
        return found.argv
    built = [*(ROOT / "probe" / "target").glob(f"**/release/{PROGRAM}")]
    return (str(built[0]),) if built else None


@pytest.fixture
def probe(request: pytest.FixtureRequest) -> Sequence[str]:
    """The Rust probe, or the one that a test of both asks for."""
    found = DEGRADED if getattr(request, "param", "native") == "python" else native()
    if found is None:
        pytest.skip(f"{PROGRAM} is not built")
    return found


# What a run is in the Python probe too: the rest is proved of the Rust probe alone.
BOTH = pytest.mark.parametrize("probe", ["native", "python"], indirect=True)


@pytest.fixture(scope="session")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Compiles a sanity workload once."""
    done: dict[str, Path] = {}

    def build(name: str) -> Path:
        if name not in done:
            done[name] = tmp_path_factory.mktemp(name)
            declared = tomllib.loads((SANITY / name / "workload.toml").read_text())
            if "build" in declared:
                sources = [str(SANITY / name / source) for source in declared["build"]["sources"]]
                subprocess.run(["cc", *declared["build"]["flags"], "-o", done[name] / "main", *sources], check=True)
        return done[name]

    return build


@pytest.fixture
def command(builds: Callable[[str], Path]) -> Callable[..., dict[str, Any]]:
    """A command of a specification: the workload's template, filled."""

    def fill(name: str, /, **chosen: object) -> dict[str, Any]:
        declared = tomllib.loads((SANITY / name / "workload.toml").read_text())
        values = {key: value["default"] for key, value in declared.get("parameters", {}).items()}
        assert set(chosen) <= set(values)
        values |= chosen
        values |= {"python": DEGRADED[0], "here": SANITY / name, "build": builds(name)}
        argv = [item.format_map(values) for item in declared["argv"]]
        return {"argv": argv, "cwd": "/", "env": {"PATH": "/usr/local/bin:/usr/bin:/bin"}}

    return fill


def spec(*commands: dict[str, Any], timeout_s: float = 60, **fields: Any) -> dict[str, Any]:
    return {
        "protocol": 1,
        "run": "r1",
        "commands": list(commands),
        "timeout_ns": int(timeout_s * SECOND),
        **fields,
    }


def values(record: Record, copy: int = 0) -> dict[str, list[float]]:
    return {name: list(v) for part in record.values if part.copy_index == copy for name, v in part.values.items()}


def marked(token: str) -> list[int]:
    """Live processes with this text on their command line, this one and probes apart."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if token.encode() in (entry / "cmdline").read_bytes() and state(entry) != "Z":
                    found.append(int(entry.name))
    return found


def state(entry: Path) -> str:
    return (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]


@pytest.fixture
def token() -> Iterator[str]:
    """A mark for command lines; whatever carries it at the end of a test is a failure, and is killed."""
    mark = f"sanity-{uuid4().hex}"
    yield mark
    left = marked(mark)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert left == []


def eventually(true: Callable[[], object], limit_s: float = 30) -> bool:
    deadline = time.monotonic() + limit_s
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def one(record: Record) -> CopyEvent:
    assert len(record.copies) == 1
    return record.copies[0]


# --- placement and the gate


@pytest.mark.parametrize("cpu", CPUS[:4])
def test_pinning_to_one_cpu(cpu: int, probe: Sequence[str], command: Callable[..., dict[str, Any]]) -> None:
    record = measure(spec({**command("pinning"), "cpus": [cpu]}, events=True), probe)
    assert record.run.status == "ok", record.run.reason
    assert values(record) == {"cpu": [cpu], "allowed": [cpu]}
    assert one(record).in_force is not None
    assert one(record).in_force.cpus == [cpu]


@BOTH
@pytest.mark.skipif(len(CPUS) < 2, reason="needs 2 CPUs")
def test_each_copy_has_its_own_mask(probe: Sequence[str], command: Callable[..., dict[str, Any]]) -> None:
    masks = [[CPUS[1]], [CPUS[0]]]
    record = measure(spec({**command("pinning"), "copies": 2, "cpus": masks}, events=True), probe)
    assert [values(record, copy)["cpu"] for copy in (0, 1)] == masks


def test_without_a_mask_all_cpus_are_allowed(probe: Sequence[str], command: Callable[..., dict[str, Any]]) -> None:
    record = measure(spec(command("pinning", burn_ms=1), events=True), probe)
    assert values(record)["allowed"] == CPUS


@BOTH
def test_policy_and_nice_are_in_force(probe: Sequence[str], command: Callable[..., dict[str, Any]]) -> None:
    asked = {**command("exit-code", code=0), "policy": "batch", "nice": 7}
    placed = one(measure(spec(asked), probe)).in_force
    assert placed is not None
    assert (placed.policy, placed.nice, placed.priority) == ("batch", 7, 0)


@BOTH
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_real_time_priority_and_another_user(probe: Sequence[str], command: Callable[..., dict[str, Any]]) -> None:
    asked = {**command("exit-code", code=0), "policy": "fifo", "priority": 3}
    placed = one(measure(spec(asked), probe)).in_force
    assert placed is not None
    assert (placed.policy, placed.priority) == ("fifo", 3)
    whoami = {"argv": ["id", "-u"], "cwd": "/", "env": {"PATH": "/usr/bin:/bin"}}
    assert one(measure(spec(whoami, user="nobody", stdout="capture"), probe)).stdout == "65534\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_another_user_can_open_the_event_descriptors(probe: Sequence[str]) -> None:
    says = 'echo ready > "$SCALOGRAPH_EVENTS"; head -c 1 "$SCALOGRAPH_GO" > /dev/null; echo value a 1 >&3'
    shell = {"argv": ["sh", "-c", says], "cwd": "/", "env": {"PATH": "/usr/bin:/bin"}}
    record = measure(spec(shell, user="nobody", events=True, timeout_s=20), probe)
    assert (record.run.status, values(record)) == ("ok", {"a": [1]}), one(record).stderr_tail


@BOTH
def test_no_copy_is_released_before_the_last_is_ready(
    probe: Sequence[str], command: Callable[..., dict[str, Any]]
) -> None:
    asked = [{**command("gating", setup_ms=0), "copies": 2}, command("gating", setup_ms=200)]
    record = measure(spec(*asked, events=True), probe)
    assert record.run.status == "ok", record.run.reason
    said = [values(record, copy) for copy in range(3)]
    gate = record.run.gate_ns
    assert gate is not None
    assert min(s["released_ns"][0] for s in said) >= max(s["ready_ns"][0] for s in said)
    assert max(s["ready_ns"][0] for s in said) >= gate + 200_000_000
    assert [copy.command for copy in record.copies] == [0, 0, 1]


@BOTH
def test_phases_and_histograms_arrive_on_the_clock_of_the_gate(probe: Sequence[str]) -> None:
    says = """
import os, time
out, now = open(3, "w"), time.monotonic_ns()
print(f"phase warmup {now} {now}", f"phase steady {now} {now + 5}", sep="\\n", file=out)
for pairs in ("127:12 130:900", "130:1 7295:3"):
    print("histogram steady get", pairs, file=out)
print("histogram steady put 0:1", f"value now {now}", sep="\\n", file=out)
"""
    shell = {"argv": [sys.executable, "-c", says], "cwd": "/", "env": {}}
    record = measure(spec(shell, events=True), probe)
    assert record.run.status == "ok", record.run.reason
    (phases,), since = record.phases, int(values(record)["now"][0]) - (record.run.gate_ns or 0)
    told = [(phase.name, phase.start_ns, phase.end_ns) for phase in phases.phases]
    assert told == [("warmup", since, since), ("steady", since, since + 5)]
    counts = {part.operation: dict(zip(part.index, part.count, strict=True)) for part in record.histograms}
    assert counts == {"get": {127: 12, 130: 901, 7295: 3}, "put": {0: 1}}
    assert {part.phase for part in record.histograms} == {"steady"}


@BOTH
def test_services_are_started_by_the_probe_or_refused_in_one_sentence(probe: Sequence[str]) -> None:
    plain = {"cwd": "/", "env": {"PATH": "/usr/bin:/bin"}}
    ready = {"argv": ["sh", "-c", "echo ready; sleep 1000"], "ready": {"line": "ready"}}
    service = {**plain, **ready, "name": "app", "role": "service"}
    driver = {**plain, "argv": ["true"], "name": "load"}
    if probe is DEGRADED:
        with pytest.raises(HostError, match="install scalograph where cargo is: services need its probe"):
            measure(spec(service, driver), probe)
        return
    record = measure(spec(service, driver), probe)
    assert record.run.status == "ok", record.run.reason
    assert [(p.name, p.role, p.stopped_by) for p in record.processes] == [
        ("app", "service", "TERM"),
        ("load", "driver", None),
    ]
    assert [copy.signal for copy in record.copies] == [signal.SIGTERM, None]
    cpu = [process.cpu_ns for process in record.processes]
    assert None not in cpu and record.run.cpu_ns == sum(filter(None, cpu))


@BOTH
def test_input_and_codes_that_are_no_failure(probe: Sequence[str], tmp_path: Path) -> None:
    (tmp_path / "input").write_text("one\n")
    command = {"argv": ["grep", "two"], "cwd": "/", "env": {"PATH": os.defpath}, "stdin": str(tmp_path / "input")}
    spec = {"protocol": 1, "run": "r1", "timeout_ns": 10 * SECOND, "commands": [command]}
    assert measure(spec, probe).run.status == "failed"
    record = measure({**spec, "commands": [{**command, "ok_exits": [0, 1]}]}, probe)
    assert (record.run.status, record.copies[0].exit_code) == ("ok", 1)
    with pytest.raises(HostError, match=r"commands\[0\]\.stdin"):
        measure({**spec, "commands": [{**command, "stdin": "/no/such"}]}, probe)


def test_a_copy_that_never_asks_for_the_gate_does_not_hold_the_others(
    probe: Sequence[str], command: Callable[..., dict[str, Any]]
) -> None:
    record = measure(spec(command("gating"), command("accounting", burn_ms=2), events=True), probe)
    assert record.run.status == "ok", record.run.reason


@BOTH
def test_a_workload_finds_no_descriptors_that_it_was_not_given(probe: Sequence[str]) -> None:
    lists = """
import os
def is_open(fd):
    try: return bool(os.fstat(fd))
    except OSError: return False
print([fd for fd in range(1000) if is_open(fd)])
print({k: v for k, v in os.environ.items() if k != "LC_CTYPE"})"""
    asked = {"argv": [DEGRADED[0], "-S", "-c", lists], "cwd": "/tmp", "env": {"A": "b"}}
    record = measure(spec(asked, stdout="capture"), probe)
    assert one(record).stdout == "[0, 1, 2]\n{'A': 'b'}\n", one(record).stderr_tail


# As under nohup, in a background job, or below a careless parent: a probe that inherits the worst of signals.
DEAF = """
import os, signal, sys
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
os.execv(sys.argv[1], sys.argv[1:])"""


@BOTH
@pytest.mark.parametrize("deaf", [[], [sys.executable, "-S", "-c", DEAF]], ids=["as we are", "deaf"])
def test_a_workload_ignores_and_blocks_no_signal_that_it_did_not_choose(probe: Sequence[str], deaf: list[str]) -> None:
    asked = {"argv": ["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"], "cwd": "/", "env": {"PATH": "/usr/bin:/bin"}}
    text = one(measure(spec(asked, stdout="capture"), [*deaf, *probe])).stdout or ""
    assert [int(line.split()[1], 16) for line in text.splitlines()] == [0, 0]


@BOTH
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_a_probe_that_inherits_ignored_signals_can_be_stopped(
    number: int, token: str, probe: Sequence[str], command: Callable[..., dict[str, Any]]
) -> None:
    deaf = [sys.executable, "-S", "-c", DEAF, *probe]
    with subprocess.Popen(deaf, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(spec(command("hang", token=token))).encode() + b"\n")
        process.stdin.close()
        assert eventually(lambda: marked(token))
        process.send_signal(number)
        assert process.stdout is not None
        said = json.loads(process.stdout.read().splitlines()[-1])
    assert (process.returncode, said["status"]) == (0, "interrupted")
    assert signal.Signals(number).name in said["reason"]
    assert marked(token) == []


# --- CPU time


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_spinning_threads_use_as_many_cpus(
    threads: int, probe: Sequence[str], command: Callable[..., dict[str, Any]]
) -> None:
    record = measure(spec(command("cpu-count", threads=threads, burn_ms=60), events=True), probe)
    said, cpu = values(record), record.run.cpu_ns
    assert cpu is not None
    assert said["burnt_ns"] == [threads * 60_000_000]
    assert cpu >= NEARLY * said["burnt_ns"][0]
    assert set(said["cpu"]) <= set(CPUS)
    assert said["spun_ns"][0] * len(CPUS) >= NEARLY * said["burnt_ns"][0]


def test_one_cpu_gives_no_more_than_one(probe: Sequence[str], command: Callable[..., dict[str, Any]]) -> None:
    asked = {**command("cpu-count", threads=2, burn_ms=60), "cpus": [CPUS[0]]}
    said = values(measure(spec(asked, events=True), probe))
    assert said["spun_ns"][0] >= NEARLY * said["burnt_ns"][0]


@BOTH
def test_cpu_time_is_counted_with_that_of_children(
    probe: Sequence[str], command: Callable[..., dict[str, Any]]
) -> None:
    record = measure(spec({**command("accounting"), "copies": 2}, events=True), probe)
    assert record.run.cpu_ns is not None
    assert record.run.cpu_ns >= NEARLY * 2 * 200_000_000
    for copy, part in zip(record.copies, record.iterations, strict=True):
        assert copy.user_ns is not None
        assert copy.system_ns is not None
        assert copy.user_ns + copy.system_ns >= NEARLY * 200_000_000
        assert copy.start_ns is not None
        assert copy.end_ns is not None
        assert copy.start_ns <= part.start_ns[0] <= part.end_ns[0] <= copy.end_ns
        assert part.cpu_ns == part.work == [200_000_000]


def test_the_walls_of_a_sleep_are_no_shorter_than_the_sleep(probe: Sequence[str]) -> None:
    sleep = {"argv": ["sleep", "0.2"], "cwd": "/", "env": {"PATH": "/usr/bin:/bin"}}
    run = measure(spec({**sleep, "copies": 2}), probe).run
    assert run.wall_ns is not None
    assert run.wall_outer_ns is not None
    assert run.tree_wall_ns is not None
    assert 200_000_000 <= run.wall_ns <= run.wall_outer_ns
    assert run.tree_wall_ns >= run.wall_ns
    assert run.start_skew_ns is not None
    assert run.queue_drain_ns is not None


# --- containment


@pytest.mark.guarantee
@BOTH
def test_a_daemon_does_not_survive_and_is_counted(
    token: str, probe: Sequence[str], command: Callable[..., dict[str, Any]]
) -> None:
    record = measure(spec(command("containment", token=token), events=True), probe)
    assert record.run.status == "ok", record.run.reason
    assert marked(token) == []
    assert record.run.n_survivors == 1
    assert record.run.cpu_ns is not None
    assert record.run.cpu_ns >= NEARLY * values(record)["burnt_ns"][0]


@pytest.mark.guarantee
def test_children_left_behind_are_counted_and_gone(
    token: str, probe: Sequence[str], command: Callable[..., dict[str, Any]]
) -> None:
    record = measure(spec(command("forks-and-leaves", children=5, token=token)), probe)
    assert (record.run.status, record.run.n_survivors) == ("ok", 5)
    assert marked(token) == []


@pytest.mark.guarantee
@BOTH
def test_what_never_ends_is_ended(token: str, probe: Sequence[str], command: Callable[..., dict[str, Any]]) -> None:
    record = measure(spec({**command("hang", token=token), "copies": 2}, timeout_s=0.2), probe)
    assert record.run.status == "timeout"
    assert record.run.reason
    assert [(copy.signal, copy.exit_code) for copy in record.copies] == [(9, None)] * 2
    assert record.run.wall_outer_ns is not None
    assert record.run.wall_outer_ns >= 200_000_000
    assert marked(token) == []


def test_one_that_hangs_ends_the_others_too(
    token: str, probe: Sequence[str], command: Callable[..., dict[str, Any]]
) -> None:
    asked = [command("containment", token=token, burn_ms=1), command("hang", token=token)]
    record = measure(spec(*asked, events=True, ready_timeout_ns=SECOND // 2, timeout_s=0.5), probe)
    assert record.run.status == "timeout"
    assert marked(token) == []


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


def hopping(token: str, argv: Sequence[str]) -> Record:
    """Measure a process that is another one whenever somebody looks."""
    hop = "import os\nwhile True:\n    if os.fork(): os._exit(0)\n    os.setsid()"
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    record = measure(spec({"argv": [python, "-S", "-c", hop, token], "cwd": "/", "env": {}}), argv)
    assert record.run.status == "ok", record.run.reason
    return record


@pytest.mark.parametrize("containment", CONTAINED)
def test_a_process_that_hops_from_pid_to_pid_is_told_and_ended(
    containment: str, token: str, everybodys: list[str]
) -> None:
    if CONTAINED[containment] and os.geteuid() != 0:
        pytest.skip("needs root to stop being root")
    record = hopping(token, [*CONTAINED[containment], *everybodys])
    if record.header.containment != containment:
        pytest.skip(f"contained otherwise here: {record.header.containment}")
    assert record.run.n_survivors
    assert marked(token) == []


def test_the_python_probe_tells_and_ends_it_too(token: str) -> None:
    assert hopping(token, DEGRADED).run.n_survivors
    assert marked(token) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_and_keeps_its_record(
    number: int, token: str, probe: Sequence[str], command: Callable[..., dict[str, Any]]
) -> None:
    def interrupt() -> None:
        eventually(lambda: marked(token))
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=interrupt)
    thread.start()
    record = measure(spec(command("hang", token=token)), probe)
    thread.join()
    assert record.run.status == "interrupted"
    assert record.run.reason
    assert one(record).signal == 9
    assert marked(token) == []


@pytest.mark.guarantee
@BOTH
def test_a_probe_that_is_killed_leaves_nothing(
    token: str, probe: Sequence[str], command: Callable[..., dict[str, Any]]
) -> None:
    asked = spec(*(command(workload, token=token) for workload in ("hang", "containment", "forks-and-leaves")))
    with subprocess.Popen(probe, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(asked).encode() + b"\n")
        process.stdin.close()
        assert eventually(lambda: len(marked(token)) >= 5)
        time.sleep(0.3)  # orphans are the harder case: let the ancestors end
        process.kill()
    assert eventually(lambda: not marked(token))


@pytest.mark.guarantee
def test_a_killed_probe_is_a_failed_run(
    token: str, probe: Sequence[str], command: Callable[..., dict[str, Any]]
) -> None:
    def kill() -> None:
        eventually(lambda: marked(token))
        for child in children(os.getpid()):
            os.kill(child, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    found = measure(spec(command("hang", token=token)), probe)
    assert found.run.status == "failed" and "signal 9" in (found.run.reason or "")
    thread.join()
    assert eventually(lambda: not marked(token))


@pytest.mark.guarantee
def test_a_caller_that_is_killed_leaves_nothing(
    token: str, probe: Sequence[str], command: Callable[..., dict[str, Any]]
) -> None:
    asked = spec(command("containment", token=token), command("hang", token=token))
    code = f"from scalograph.run.hosts.local.probe import measure; measure({asked!r}, {list(probe)!r})"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen([DEGRADED[0], "-c", code], start_new_session=True, env=environment) as caller:
        # The command line of the caller carries the token too.
        assert eventually(lambda: len(marked(token)) >= 3)
        caller.kill()
    assert eventually(lambda: not marked(token))


def children(parent: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def test_many_copies_start_and_end(probe: Sequence[str], command: Callable[..., dict[str, Any]]) -> None:
    shell = {"argv": ["sh", "-c", "echo value a 1 >&3"], "cwd": "/", "env": {"PATH": "/usr/bin:/bin"}}
    record = measure(spec({**shell, "copies": 300}, events=True), probe)
    assert record.run.status == "ok", record.run.reason
    assert [copy.exit_code for copy in record.copies] == [0] * 300
    assert [part.copy_index for part in record.values] == list(range(300))


# --- ends and words of a workload


@pytest.mark.parametrize("number", [6, 9, 11, 15])
def test_a_crash_names_its_signal(number: int, probe: Sequence[str], command: Callable[..., dict[str, Any]]) -> None:
    record = measure(spec(command("crash", signal=number)), probe)
    assert record.run.status == "signal"
    assert (one(record).signal, one(record).exit_code) == (number, None)
    assert one(record).stderr_tail == "about to crash\n"
    assert str(number) in (record.run.reason or "") or signal.Signals(number).name in (record.run.reason or "")


@pytest.mark.parametrize("code", [0, 1, 69, 127, 255])
def test_every_exit_code_arrives(code: int, probe: Sequence[str], command: Callable[..., dict[str, Any]]) -> None:
    record = measure(spec(command("exit-code", code=code)), probe)
    assert record.run.status == ("ok" if code == 0 else "failed")
    assert (one(record).exit_code, one(record).signal) == (code, None)
    if code == 69:
        assert "asked to end with 69" in (record.run.reason or "")
    assert (record.run.reason is None) == (code == 0)


@pytest.mark.parametrize("kind", ["text", "binary", "long", "endless", "torn", "backwards"])
def test_broken_lines_end_the_run(kind: str, probe: Sequence[str], command: Callable[..., dict[str, Any]]) -> None:
    record = measure(spec(command("garbage", kind=kind), events=True), probe)
    assert record.run.status == "protocol"
    assert (record.run.reason or "").isprintable()
    assert record.run.reason
    if kind == "text":
        assert "hello" in record.run.reason


def python(code: str) -> dict[str, Any]:
    return {"argv": [sys.executable, "-c", code], "cwd": "/", "env": {"PATH": os.environ["PATH"]}}


@BOTH
def test_half_a_line_of_one_that_dies_hides_no_cause(probe: Sequence[str]) -> None:
    died = measure(
        spec(python("import os; os.write(3, b'value x 1\\nval'); os.kill(os.getpid(), 11)"), events=True), probe
    )
    assert (died.run.status, one(died).signal) == ("signal", 11)
    refused = measure(spec(python("import os; os.write(3, b'val'); os._exit(69)"), events=True), probe)
    assert refused.run.status == "failed" and "69" in (refused.run.reason or "")


def test_a_copy_that_closed_its_pipe_holds_nobody(probe: Sequence[str], command: Callable[..., dict[str, Any]]) -> None:
    silent = python("import os, time; os.close(3); os.close(4); time.sleep(0.1)")
    asked = spec(command("gating"), silent, events=True, ready_timeout_ns=600 * SECOND, timeout_s=1000)
    record = measure(asked, probe)
    assert record.run.status == "ok", record.run.reason
    assert (record.run.wall_outer_ns or 0) < 600 * SECOND, "it waited for the silent one"


def test_a_copy_that_fills_its_own_gate_is_ended_all_the_same(probe: Sequence[str]) -> None:
    code = """
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
    record = measure(spec(python(code), events=True, timeout_s=0.5), probe)
    assert record.run.status == "timeout"
    assert (record.run.wall_outer_ns or 0) < 600 * SECOND, "it waited for its end"


def test_one_that_never_gets_ready_is_ended(
    token: str, probe: Sequence[str], command: Callable[..., dict[str, Any]]
) -> None:
    asked = [command("gating"), command("never-ready", token=token)]
    record = measure(spec(*asked, events=True, ready_timeout_ns=SECOND // 2), probe)
    assert record.run.status == "timeout"
    assert "copy 1" in (record.run.reason or "")
    assert "ready" in (record.run.reason or "")
    assert marked(token) == []


def test_one_that_never_gets_ready_is_not_held(
    token: str, probe: Sequence[str], command: Callable[..., dict[str, Any]]
) -> None:
    asked = spec(command("never-ready", token=token), events=True, ready_timeout_ns=1, timeout_s=0.2)
    run = measure(asked, probe).run
    assert run.status == "timeout"
    assert "ready" not in (run.reason or "")
    assert (run.wall_outer_ns or 0) >= 200_000_000


@BOTH
def test_a_missing_interpreter_is_not_started(
    tmp_path: Path, probe: Sequence[str], command: Callable[..., dict[str, Any]]
) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    record = measure(spec({"argv": [str(script)], "cwd": "/", "env": {}}), probe)
    assert record.run.status == "not started"
    assert record.run.reason


@BOTH
def test_the_beginning_of_stdout_and_the_end_of_stderr_are_kept(
    probe: Sequence[str], command: Callable[..., dict[str, Any]]
) -> None:
    limits = {"stdout": "capture", "stdout_limit_bytes": 1000, "stderr_limit_bytes": 100}
    copy = one(measure(spec(command("much-output", mib=2), **limits), probe))
    whole = "".join(f"{0:015d}\n" * 4096)
    assert copy.stdout == whole[:1000]
    assert copy.stdout_truncated
    assert len(copy.stderr_tail) == 100
    assert copy.stderr_tail.endswith("the last line\n")


def test_output_within_its_limit_is_whole(probe: Sequence[str], command: Callable[..., dict[str, Any]]) -> None:
    copy = one(measure(spec(command("much-output", mib=5), stdout="capture"), probe))
    assert len(copy.stdout or "") == 5 << 20
    assert not copy.stdout_truncated


def test_control_characters_may_not_make_a_line_too_long(probe: Sequence[str]) -> None:
    zeros = {"argv": ["head", "-c", "3000000", "/dev/zero"], "cwd": "/", "env": {"PATH": "/usr/bin:/bin"}}
    assert one(measure(spec(zeros, stdout="capture"), probe)).stdout == "\0" * 3_000_000


def test_endless_output_takes_no_memory(probe: Sequence[str], command: Callable[..., dict[str, Any]]) -> None:
    bounded = ["sh", "-c", 'ulimit -v 400000; exec "$@"', "sh", *probe]
    record = measure(spec(command("much-output", mib=0), stdout="capture", timeout_s=1), bounded)
    assert record.run.status == "timeout"
    assert len(one(record).stdout or "") == 8 << 20
    assert one(record).stdout_truncated


@BOTH
def test_many_iterations_arrive_in_order(probe: Sequence[str], command: Callable[..., dict[str, Any]]) -> None:
    n = 100_000
    record = measure(spec(command("many-iterations", iterations=n), events=True), probe)
    assert record.run.status == "ok", record.run.reason
    assert [i for part in record.iterations for i in part.index] == list(range(n))
    assert [work for part in record.iterations for work in part.work] == list(range(n))
    starts = [start for part in record.iterations for start in part.start_ns]
    assert [start - starts[0] for start in starts] == list(range(n))


def test_more_than_a_million_iterations_break_the_protocol(
    probe: Sequence[str], command: Callable[..., dict[str, Any]]
) -> None:
    record = measure(spec(command("many-iterations", iterations=1_000_001), events=True), probe)
    assert record.run.status == "protocol"
    assert "iterations" in (record.run.reason or "")


# --- the probe's own exit codes


def answer(probe: Sequence[str], line: bytes) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(probe, input=line, capture_output=True, timeout=60, check=False)
    return done.returncode, json.loads(done.stdout.splitlines()[-1])


def rejected() -> list[dict[str, Any]]:
    lines = (ROOT / "protocol" / "examples" / "probe_spec_rejected.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("golden", rejected(), ids=lambda golden: golden["where"])
def test_a_wrong_specification_ends_with_2(golden: dict[str, Any], probe: Sequence[str]) -> None:
    code, event = answer(probe, json.dumps(golden["spec"]).encode() + b"\n")
    assert (code, event["event"], event["where"]) == (2, "error", golden["where"])
    assert all(event[name] for name in ("found", "expected", "fix"))


@pytest.mark.parametrize("line", [b"", b"\n", b"{", b"\xff\n", b'"' + b"x" * (1 << 20) + b'"\n'])
def test_no_specification_ends_with_2(line: bytes, probe: Sequence[str]) -> None:
    code, event = answer(probe, line)
    assert (code, event["event"]) == (2, "error")


TRUE: dict[str, Any] = {"argv": ["true"], "cwd": "/", "env": {"PATH": "/usr/bin:/bin"}}


@pytest.mark.parametrize(
    ("asked", "where"),
    [
        (spec({**TRUE, "argv": ["no-such-program"]}), "commands[0].argv"),
        (spec({**TRUE, "argv": ["/"]}), "commands[0].argv"),
        (spec({**TRUE, "env": {}}), "commands[0].argv"),
        (spec(TRUE, {**TRUE, "cwd": "/no/such/folder"}), "commands[1].cwd"),
        (spec({**TRUE, "cpus": [8000]}), "commands[0].cpus"),
        (spec({**TRUE, "cpus": [CPUS[0], 8000]}), "commands[0].cpus"),
        (spec(TRUE, user="no-such-user"), "user"),
    ],
)
def test_what_the_host_refuses_ends_with_3(asked: dict[str, Any], where: str, probe: Sequence[str]) -> None:
    code, event = answer(probe, json.dumps(asked).encode() + b"\n")
    assert (code, event["event"], event["run"], event["where"]) == (3, "error", "r1", where)
    assert all(event[name] for name in ("found", "expected", "fix"))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to stop being root")
@pytest.mark.parametrize("asked", [{"nice": -5}, {"policy": "fifo", "priority": 1}], ids=["nice", "policy"])
def test_what_an_ordinary_user_may_not_ends_with_3(asked: dict[str, Any], probe: Sequence[str]) -> None:
    dropped = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *probe]
    code, event = answer(dropped, json.dumps(spec({**TRUE, **asked})).encode() + b"\n")
    assert (code, event["where"]) == (3, f"commands[0].{next(iter(asked))}")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to stop being root")
def test_an_ordinary_user_can_measure(probe: Sequence[str]) -> None:
    dropped = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *probe]
    record = measure(spec(TRUE), dropped)
    assert record.run.status == "ok", record.run.reason
    assert record.run.degraded or record.header.kind == "native"


def test_a_run_that_fails_ends_with_0(probe: Sequence[str]) -> None:
    code, event = answer(probe, json.dumps(spec({**TRUE, "argv": ["false"]})).encode() + b"\n")
    assert (code, event["event"], event["status"]) == (0, "run", "failed")


def test_capabilities_say_why_and_what_to_do(probe: Sequence[str]) -> None:
    found = read_capabilities(probe)
    assert found["capabilities"]
    for entry in found["capabilities"]:
        assert entry["granted"] or (entry["why"] and entry["fix"])


@BOTH
def test_the_header_says_which_probe_it_was(probe: Sequence[str]) -> None:
    record = measure(spec(TRUE, backend="plain"), probe)
    assert record.header.kind == ("degraded" if probe is DEGRADED else "native")
    assert record.header.backend == "plain"
    assert record.run.wall_source == "gate"
    assert record.header.kind == "native" or record.run.degraded


def test_no_verdict_on_a_run_of_the_python_probe_is_better_than_undecided() -> None:
    record = measure(spec(TRUE), DEGRADED)
    # Long enough for ticks to tell, where they are read.
    long = replace(record.run, wall_ns=10 * SECOND, cpu_ns=10 * SECOND)
    assert judge(replace(record, run=long)).verdict == "unverified"
