"""From a command to a process that stands at the gate."""

import json
import mmap
import os
import pwd
import resource
import signal
import stat
import struct
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from scalograph.run.hosts.python_probe import tree
from scalograph.run.hosts.python_probe.lines import Speech
from scalograph.run.hosts.python_probe.spec import Command, RefusalError, Spec

_POLICIES = {
    "other": os.SCHED_OTHER,
    "batch": os.SCHED_BATCH,
    "idle": os.SCHED_IDLE,
    "fifo": os.SCHED_FIFO,
    "rr": os.SCHED_RR,
    "ext": 7,  # SCHED_EXT, which Python has no name for
}
_SLOT = struct.Struct("=qqq")
_PREPARE_LIMIT_S = 30.0


@dataclass
class Copy:
    """One process to be, our ends of its pipes, and what is known of it."""

    index: int
    command_index: int
    command: Command
    mask: tuple[int, ...] | None
    program: bytes
    pid: int = 0
    pipes: dict[str, int] = field(default_factory=dict)  # stdout, stderr, events, go, status
    in_force: dict[str, Any] = field(default_factory=dict)
    exec_error: str | None = None
    wait_status: int | None = None
    usage: resource.struct_rusage | None = None
    start_ns: int | None = None
    end_ns: int | None = None
    before_us: tuple[int, int] = (0, 0)  # user and system time used up to the gate
    speech: Speech = field(default_factory=Speech)
    stdout: bytearray = field(default_factory=bytearray)
    truncated: bool = False
    stderr: bytes = b""


class Board:
    """Memory shared with the copies: the deadline of the gate, and for each copy when it left."""

    def __init__(self, n_copies: int) -> None:
        self.memory = mmap.mmap(-1, 8 + _SLOT.size * n_copies)
        self.gate_out, self.gate_in = os.pipe()

    def deadline(self) -> int:
        """CLOCK_MONOTONIC of the gate; 0 before it is opened."""
        return int(struct.unpack_from("=q", self.memory)[0])

    def open(self, n_copies: int) -> int:
        """Opens the gate at a point ahead that every copy can be awake for."""
        struct.pack_into("=q", self.memory, 0, time.monotonic_ns() + 2_000_000 + 100_000 * n_copies)
        os.close(self.gate_in)
        return self.deadline()

    def pass_gate(self, index: int) -> None:
        """Called by a copy: returns at the deadline, with the time of leaving stored."""
        os.read(self.gate_out, 1)
        deadline = self.deadline()
        if deadline == 0:
            os._exit(127)  # the probe died before it opened the gate
        while (left := deadline - time.monotonic_ns()) > 0:
            time.sleep(left / 1e9)
        used = resource.getrusage(resource.RUSAGE_SELF)
        times = time.monotonic_ns(), int(used.ru_utime * 1e6), int(used.ru_stime * 1e6)
        _SLOT.pack_into(self.memory, 8 + _SLOT.size * index, *times)

    def left(self, index: int) -> tuple[int, int, int]:
        """(time of leaving or 0, user us, system us) of a copy."""
        leaving, user, system = _SLOT.unpack_from(self.memory, 8 + _SLOT.size * index)
        return int(leaving), int(user), int(system)


def plan(spec: Spec) -> list[Copy]:
    """All copies of all commands, their programs found."""
    _find_user(spec.user)
    copies: list[Copy] = []
    for index, command in enumerate(spec.commands):
        program = find_program(f"commands[{index}].argv", command)
        for mask in command.masks:
            copies.append(Copy(len(copies), index, command, mask, program))
    return copies


def _find_user(name: str | None) -> None:
    try:
        if name is not None:
            _user(name)
    except KeyError:
        raise RefusalError(3, "user", f"{name!r}", "a user of this host", "create the user or name another") from None


def find_program(where: str, command: Command) -> bytes:
    """The file that exec will be given."""
    name = command.argv[0]
    folders = [""] if "/" in name else command.env.get("PATH", "").split(":")
    for folder in folders:
        place = Path(command.cwd, folder, name)
        try:
            mode = place.stat().st_mode
        except OSError:
            continue
        if stat.S_ISREG(mode) and mode & 0o111:
            return os.fsencode(place)
    expected = "an executable file" if "/" in name else "a program on the PATH of the command's env"
    raise RefusalError(3, where, f"no program {name!r:.200}", expected, "install it or correct its name")


def launch(spec: Spec, copies: list[Copy], board: Board) -> None:
    """Starts every copy and waits until all stand at the gate, or raises what the first refusal was."""
    _raise_descriptor_limit()
    for copy in copies:
        try:
            _fork(spec, copy, board)
        except OSError as error:
            fix = "start fewer copies, or raise the limits of processes and open files"
            found = f"{error.strerror} at copy {copy.index}"
            raise RefusalError(3, f"commands[{copy.command_index}].copies", found, "a new process", fix) from None
    os.close(board.gate_out)
    for copy in copies:
        copy.in_force = _report(copy)


def _raise_descriptor_limit() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    while os.open("/dev/null", os.O_RDWR) < 9:
        pass  # descriptors 0 to 4 of a copy must not be the source of another one


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


def _become(spec: Spec, copy: Copy, board: Board, ends: dict[str, int], parent: int) -> NoReturn:
    """Runs in the copy: takes its place, waits at the gate, becomes the program."""
    stage = "copies"
    try:
        os.close(board.gate_in)
        _plain_signals()
        os.setsid()
        _take_descriptors(spec, ends)
        for name, take in _placements(spec, copy):
            stage = name
            take()
        tree.die_with_parent(signal.SIGKILL)  # after the change of user, which forgets it
        if os.getppid() != parent:
            os._exit(127)
        os.write(ends["status"], json.dumps(_read_back()).encode() + b"\n")
        board.pass_gate(copy.index)
        stage = "exec"
        env = {name.encode(): value.encode() for name, value in _environment(spec, copy).items()}
        os.execve(copy.program, [text.encode() for text in copy.command.argv], env)  # noqa: S606
    except OSError as error:
        report = {"stage": stage, "why": f"{error.strerror}"}
        os.write(ends["status"], json.dumps(report).encode() + b"\n")
    finally:
        os._exit(127)


def _plain_signals() -> None:
    """What is ignored or blocked would stay so after exec: by Python (SIGPIPE), by a shell's `&` (SIGINT, SIGQUIT)."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    tree.default_internal_signals()
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def _take_descriptors(spec: Spec, ends: dict[str, int]) -> None:
    null = os.open("/dev/null", os.O_RDWR)
    sources = [null, ends.get("stdout", null), ends["stderr"]] + [ends[n] for n in ("events", "go") if n in ends]
    for target, source in enumerate(sources):
        os.dup2(source, target)
    if spec.user is not None:
        # /dev/fd/3 opens the pipe anew, which asks for the owner.
        for source in sources[1:]:
            if source != null:
                os.fchown(source, *_user(spec.user))
    soft, hard = _limit_before
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


_limit_before = resource.getrlimit(resource.RLIMIT_NOFILE)


def _placements(spec: Spec, copy: Copy) -> list[tuple[str, Any]]:
    """(field of the command, what makes it so), in the order that privileges allow."""
    command, steps = copy.command, []
    if (mask := copy.mask) is not None:
        steps.append(("cpus", lambda: os.sched_setaffinity(0, mask)))
    if command.policy is not None:
        policy, param = _POLICIES[command.policy], os.sched_param(command.priority)
        steps.append(("policy", lambda: os.sched_setscheduler(0, policy, param)))
    if (nice := command.nice) is not None:
        steps.append(("nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, nice)))
    if (user := spec.user) is not None:
        steps.append(("user", lambda: _drop(user)))
    steps.append(("cwd", lambda: os.chdir(command.cwd)))
    return steps


def _user(name: str) -> tuple[int, int]:
    entry = pwd.getpwuid(int(name)) if name.isdigit() else pwd.getpwnam(name)
    return entry.pw_uid, entry.pw_gid


def _drop(name: str) -> None:
    uid, gid = _user(name)
    os.setgroups([gid])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def _read_back() -> dict[str, Any]:
    policy = os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK
    names = [name for name, number in _POLICIES.items() if number == policy]
    return {
        "cpus": sorted(os.sched_getaffinity(0)),
        "policy": names[0] if names else str(policy),
        "priority": os.sched_getparam(0).sched_priority,
        "nice": os.getpriority(os.PRIO_PROCESS, 0),
    }


def _environment(spec: Spec, copy: Copy) -> dict[str, str]:
    offered = {"SCALOGRAPH_EVENTS": "/dev/fd/3", "SCALOGRAPH_GO": "/dev/fd/4"}
    return {**copy.command.env, **(offered if spec.events else {})}


def _report(copy: Copy) -> dict[str, Any]:
    """What the copy says of its placement; the pipe then stays for an error of exec."""
    line = os.read(copy.pipes["status"], 1 << 16)
    os.set_blocking(copy.pipes["status"], False)
    where = f"commands[{copy.command_index}]"
    said: dict[str, Any] = json.loads(line) if line else {"stage": "copies", "why": "it died before the gate"}
    if said.get("stage") == "cpus" and copy.mask is not None:
        raise outside(where, copy.mask)
    if "stage" in said:
        fix = "ask for less, or run as a user who may"
        stage = said["stage"]
        place = stage if stage == "user" else f"{where}.{stage}"
        raise RefusalError(3, place, said["why"], "to be granted by the kernel", fix)
    if copy.mask is not None and said["cpus"] != list(copy.mask):
        raise outside(where, copy.mask)
    return said


def outside(where: str, mask: tuple[int, ...]) -> RefusalError:
    """A mask the host cannot give."""
    allowed = os.sched_getaffinity(0)
    missing = [cpu for cpu in mask if cpu not in allowed]
    found = f"CPU {missing[0]}" if missing else f"CPUs {list(mask)}"
    expected = "a CPU of this host: " + ",".join(map(str, sorted(allowed)))
    return RefusalError(3, f"{where}.cpus", found, expected, "lower the level or choose another host")
