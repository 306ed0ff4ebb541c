"""From a planned copy to a process that stands at the gate."""

import json
import mmap
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from scalograph.run.hosts.python_probe import tree
from scalograph.run.hosts.python_probe.copies import Copy, ids
from scalograph.run.hosts.python_probe.spec import CopyLostError, RefusalError, Spec

_POLICIES = {
    "other": os.SCHED_OTHER,
    "batch": os.SCHED_BATCH,
    "idle": os.SCHED_IDLE,
    "fifo": os.SCHED_FIFO,
    "rr": os.SCHED_RR,
    "ext": 7,  # SCHED_EXT, which Python has no name for
}
_OFFERED = {"SCALOGRAPH_EVENTS": "/dev/fd/3", "SCALOGRAPH_GO": "/dev/fd/4"}
_limit_before = resource.getrlimit(resource.RLIMIT_NOFILE)


class Board:
    """Memory shared with the copies: the deadline of the gate; for each copy when it left, and its times until then."""

    def __init__(self, n_copies: int) -> None:
        self._cells = memoryview(mmap.mmap(-1, 8 * (1 + 3 * n_copies))).cast("q")
        self.gate_out, self.gate_in = os.pipe()

    def open(self, n_copies: int) -> int:
        """Open the gate at a point ahead that every copy can be awake for, and return it."""
        self._cells[0] = time.monotonic_ns() + 2_000_000 + 100_000 * n_copies
        os.close(self.gate_in)
        return self._cells[0]

    def pass_gate(self, index: int) -> None:
        """Return at the deadline, in a copy, with the time of leaving stored."""
        os.read(self.gate_out, 1)
        if self._cells[0] == 0:
            os._exit(127)  # the probe died before it opened the gate
        while (left := self._cells[0] - time.monotonic_ns()) > 0:
            time.sleep(left / 1e9)
        used = resource.getrusage(resource.RUSAGE_SELF)
        for cell, value in enumerate((time.monotonic_ns(), int(used.ru_utime * 1e9), int(used.ru_stime * 1e9))):
            self._cells[1 + 3 * index + cell] = value

    def left(self, index: int) -> tuple[int, int, int]:
        """Time of leaving (0: never), user and system time until then of a copy, in ns."""
        leaving, user, system = self._cells[1 + 3 * index : 4 + 3 * index]
        return leaving, user, system


def launch(spec: Spec, copies: list[Copy], board: Board) -> None:
    """Start every copy and wait until all stand at the gate; the first refusal, or loss, is raised."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (_limit_before[1],) * 2)
    while os.open("/dev/null", os.O_RDWR) < 9:
        pass  # descriptors 0 to 4 of a copy must not be the source of another one
    for copy in copies:
        try:
            _fork(spec, copy, board)
        except OSError as error:
            fix = "start fewer copies, or raise the limits of processes and open files"
            found = f"{error.strerror} at copy {copy.index}"
            raise RefusalError(3, f"commands[{copy.command_index}].copies", found, "a new process", fix) from None
    os.close(board.gate_out)
    for copy in copies:
        copy.in_force = _placement(copy)


def _fork(spec: Spec, copy: Copy, board: Board) -> None:
    names = ["stderr", "status"] + ["stdout"] * spec.capture + ["events", "go"] * spec.events
    ends = {name: os.pipe() for name in names}
    parent = os.getpid()
    copy.pid = os.fork()
    if copy.pid == 0:
        _become(spec, copy, board, {n: r if n == "go" else w for n, (r, w) in ends.items()}, parent)
    for name, (out, into) in ends.items():
        keep, give = (into, out) if name == "go" else (out, into)
        os.close(give)
        os.set_blocking(keep, name == "status")
        copy.pipes[name] = keep


def _become(spec: Spec, copy: Copy, board: Board, ends: Mapping[str, int], parent: int) -> NoReturn:
    """Take the copy's place, wait at the gate, become the program."""
    stage = "copies"
    try:
        os.close(board.gate_in)
        for name, take in _steps(spec, copy, ends):
            stage = name
            take()
        tree.die_with_parent(signal.SIGKILL)  # after the change of user, which forgets it
        if os.getppid() != parent:
            os._exit(127)
        os.write(ends["status"], json.dumps(read_back(0)).encode() + b"\n")
        board.pass_gate(copy.index)
        env = {**copy.command.env, **(_OFFERED if spec.events else {})}
        texts = [text.encode() for text in copy.command.argv]
        os.execve(copy.program, texts, {name.encode(): text.encode() for name, text in env.items()})  # noqa: S606
    except OSError as error:
        os.write(ends["status"], json.dumps({"stage": stage, "why": f"{error.strerror}"}).encode() + b"\n")
    finally:
        os._exit(127)


def _steps(spec: Spec, copy: Copy, ends: Mapping[str, int]) -> Iterator[tuple[str, Callable[[], object]]]:
    """(what is refused if it fails, what is to be done), in the order that privileges allow."""
    command, mask, user = copy.command, copy.mask, spec.user
    if (cgroup := command.cgroup) is not None:
        yield "cgroup", lambda: (Path(cgroup) / "cgroup.procs").write_text("0")
    yield "copies", tree.default_signals
    yield "copies", os.setsid
    yield "copies", lambda: _take_descriptors(ends, None if user is None else ids(user), command.stdin)
    if mask is not None:
        yield "cpus", lambda: os.sched_setaffinity(0, mask)
    if command.policy is not None:
        policy, priority = _POLICIES[command.policy], os.sched_param(command.priority)
        yield "policy", lambda: os.sched_setscheduler(0, policy, priority)
    if (nice := command.nice) is not None:
        yield "nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, nice)
    if user is not None:
        yield "user", lambda: _drop(*ids(user))
    yield "cwd", lambda: os.chdir(command.cwd)


def _take_descriptors(ends: Mapping[str, int], owner: tuple[int, int] | None, stdin: str | None) -> None:
    null = os.open("/dev/null", os.O_RDWR)
    read = null if stdin is None else os.open(stdin, os.O_RDONLY)
    given = [ends.get("stdout", null), ends["stderr"]] + [ends[name] for name in ("events", "go") if name in ends]
    for target, source in enumerate([read, *given]):
        os.dup2(source, target)
        if owner and source not in (null, read):
            os.fchown(source, *owner)  # /dev/fd/3 opens the pipe anew, which asks for the owner
    resource.setrlimit(resource.RLIMIT_NOFILE, _limit_before)


def _drop(uid: int, gid: int) -> None:
    os.setgroups([gid])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def read_back(pid: int) -> dict[str, Any]:
    """Read what is in force for a process, 0 being this one; one that has ended tells until it is waited for."""
    policy = os.sched_getscheduler(pid) & ~os.SCHED_RESET_ON_FORK
    return {
        "cpus": sorted(os.sched_getaffinity(pid)),
        "policy": next((name for name, number in _POLICIES.items() if number == policy), str(policy)),
        "priority": os.sched_getparam(pid).sched_priority,
        "nice": os.getpriority(os.PRIO_PROCESS, pid),
    }


def _placement(copy: Copy) -> dict[str, Any]:
    """Read what the copy says of itself; the pipe then stays for an error of exec."""
    line = b""
    while not line.endswith(b"\n") and (part := os.read(copy.pipes["status"], 1 << 16)):
        line += part
    os.set_blocking(copy.pipes["status"], False)
    where = f"commands[{copy.command_index}]"
    if not line:
        raise CopyLostError(f"copy {copy.index} was killed before the gate")
    said: dict[str, Any] = json.loads(line)
    stage, mask = said.get("stage"), copy.mask
    if mask is not None and (stage == "cpus" or (stage is None and said["cpus"] != list(mask))):
        allowed = ",".join(map(str, sorted(os.sched_getaffinity(0))))
        fix = "lower the level or choose another host"
        raise RefusalError(3, f"{where}.cpus", f"CPUs {list(mask)}", f"CPUs of this host: {allowed}", fix)
    if stage is not None:
        place = stage if stage == "user" else f"{where}.{stage}"
        raise RefusalError(
            3, place, said["why"], "to be granted by the kernel", "ask for less, or run as a user who may"
        )
    return said
