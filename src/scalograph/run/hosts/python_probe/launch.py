"""Start the processes of a specification and bring them to the gate."""

import json
import os
import pwd
import resource
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from scalograph.run.hosts.python_probe import tree
from scalograph.run.hosts.python_probe.lines import Speech
from scalograph.run.hosts.python_probe.spec import Command, CopyLostError, RefusalError, Spec

# Python has no name for SCHED_EXT.
_POLICIES = {"other": 0, "fifo": os.SCHED_FIFO, "rr": os.SCHED_RR, "batch": os.SCHED_BATCH, "idle": os.SCHED_IDLE}
_POLICIES["ext"] = 7
_OFFERED = {"SCALOGRAPH_EVENTS": "/dev/fd/3", "SCALOGRAPH_GO": "/dev/fd/4"}
_limit_before = resource.getrlimit(resource.RLIMIT_NOFILE)


@dataclass
class Copy:
    """One process, our ends of its pipes, and what is known of it."""

    index: int
    command_index: int
    command: Command
    mask: tuple[int, ...] | None
    program: bytes
    pid: int = 0
    pipes: dict[str, int] = field(default_factory=dict)  # stdout, stderr, events, go, status
    in_force: dict[str, Any] = field(default_factory=dict)
    at_end: dict[str, Any] = field(default_factory=dict)
    left: tuple[int, int, int] = (0, 0, 0)  # when it left the gate, user and system time until then, in ns
    refusal: str = ""  # of exec
    wait_status: int | None = None
    usage: resource.struct_rusage | None = None
    end_ns: int | None = None
    speech: Speech = field(default_factory=Speech)
    stdout: bytearray = field(default_factory=bytearray)
    truncated: bool = False
    stderr: bytes = b""

    @property
    def code(self) -> int | None:
        """Exit code, or the signal that ended it made negative; None while it runs."""
        return None if self.wait_status is None else os.waitstatus_to_exitcode(self.wait_status)


class GatePipe:
    """A pipe from which each copy reads the one deadline at which all leave."""

    def __init__(self) -> None:
        self.out, self.into = os.pipe()

    def open(self, n_copies: int) -> int:
        """Open the gate at a point ahead that every copy can be awake for, and return it."""
        deadline = time.monotonic_ns() + 2_000_000 + 100_000 * n_copies
        os.write(self.into, deadline.to_bytes(8) * n_copies)
        os.close(self.into)
        return deadline

    def wait(self) -> bytes:
        """Return at the deadline, in a copy: its time of leaving, user and system time until then, as a line."""
        if not (deadline := int.from_bytes(os.read(self.out, 8))):
            os._exit(127)  # the probe died before it opened the gate
        while (left := deadline - time.monotonic_ns()) > 0:
            time.sleep(left / 1e9)
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return b"[%d,%d,%d]\n" % (time.monotonic_ns(), int(usage.ru_utime * 1e9), int(usage.ru_stime * 1e9))


def plan(spec: Spec) -> list[Copy]:
    """Return all copies of all commands, with their programs found."""
    if spec.user is not None:
        try:
            _user_ids(spec.user)
        except KeyError:
            fix = "create the user or name another"
            raise RefusalError(3, "user", f"{spec.user!r}", "a user of this host", fix) from None
    if spec.stdout == "tty":
        fix = "install scalograph where cargo is"
        raise RefusalError(3, "stdout", "tty", "null, capture, pipe or a file: the Python probe has no terminal", fix)
    copies: list[Copy] = []
    for index, command in enumerate(spec.commands):
        program = _find_program(f"commands[{index}].argv", command)
        if command.stdin is not None and not os.access(command.stdin, os.R_OK):
            problem = f"{command.stdin}: cannot be read"
            raise RefusalError(3, f"commands[{index}].stdin", problem, "a file that can be read", "name another")
        copies += [Copy(len(copies) + k, index, command, mask, program) for k, mask in enumerate(command.masks)]
    return copies


def _user_ids(user: str) -> tuple[int, int]:
    entry = pwd.getpwuid(int(user)) if user.isdigit() else pwd.getpwnam(user)
    return entry.pw_uid, entry.pw_gid


def _find_program(where: str, command: Command) -> bytes:
    name = command.argv[0]
    for folder in [""] if "/" in name else command.env.get("PATH", "").split(":"):
        path = Path(command.cwd, folder, name)
        if os.access(path, os.X_OK) and path.is_file():
            return os.fsencode(path)
    expected = "an executable file" if "/" in name else "a program on the PATH of the command's env"
    raise RefusalError(3, where, f"no program {name!r:.200}", expected, "install it or correct its name")


def launch(spec: Spec, copies: list[Copy], gate: GatePipe) -> None:
    """Start every copy and wait until all stand at the gate; the first refusal, or loss, is raised."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (_limit_before[1],) * 2)
    while os.open("/dev/null", os.O_RDWR) < 9:
        pass  # descriptors 0 to 4 of a copy must not be the source of another one
    for copy in copies:
        try:
            _fork(spec, copy, gate)
        except OSError as error:
            where, problem = f"commands[{copy.command_index}].copies", f"{error.strerror} at copy {copy.index}"
            fix = "start fewer copies, or raise the limits of processes and open files"
            raise RefusalError(3, where, problem, "a new process", fix) from None
    for copy in copies:
        copy.in_force = _receive_placement(copy)


def _fork(spec: Spec, copy: Copy, gate: GatePipe) -> None:
    names = ["stderr", "status"] + ["stdout"] * (spec.stdout in ("capture", "pipe")) + ["events", "go"] * spec.events
    pipes = {name: os.pipe() for name in names}
    ours = {name: into if name == "go" else out for name, (out, into) in pipes.items()}
    theirs = {name: out if name == "go" else into for name, (out, into) in pipes.items()}
    parent = os.getpid()
    copy.pid = os.fork()
    if copy.pid == 0:
        _become(spec, copy, gate, theirs, parent)
    copy.pipes = ours
    for name, fd in ours.items():
        os.close(theirs[name])
        os.set_blocking(fd, name == "status")


def _become(spec: Spec, copy: Copy, gate: GatePipe, pipes: Mapping[str, int], parent: int) -> NoReturn:
    """Take the copy's place, wait at the gate, become the program."""
    stage = "copies"
    try:
        os.close(gate.into)
        for stage in _set_up(spec, copy, pipes):  # noqa: B007
            pass
        tree.die_with_parent(signal.SIGKILL)  # after the change of user, which forgets it
        if os.getppid() != parent:
            os._exit(127)
        argv = [text.encode() for text in copy.command.argv]
        texts = {**copy.command.env, **(_OFFERED if spec.events else {})}
        env = {name.encode(): text.encode() for name, text in texts.items()}
        os.write(pipes["status"], json.dumps(read_back(0)).encode() + b"\n")
        os.write(pipes["status"], gate.wait())
        os.execve(copy.program, argv, env)  # noqa: S606
    except OSError as error:
        os.write(pipes["status"], json.dumps({"stage": stage, "why": f"{error.strerror}"}).encode() + b"\n")
    finally:
        os._exit(127)


def _set_up(spec: Spec, copy: Copy, pipes: Mapping[str, int]) -> Iterator[str]:
    """Set this process up in the order that privileges allow; yield which field the next step may have refused."""
    command, ids = copy.command, None if spec.user is None else _user_ids(spec.user)
    yield "cgroup"
    for folder in [command.cgroup] if isinstance(command.cgroup, str) else command.cgroup or ():
        (Path(folder) / "cgroup.procs").write_text("0")
    yield "copies"
    tree.reset_signals()
    os.setsid()
    _take_descriptors(pipes, ids, command.stdin, spec.stdout)
    yield "cpus"
    if copy.mask is not None:
        os.sched_setaffinity(0, copy.mask)
    yield "policy"
    if command.policy is not None:
        os.sched_setscheduler(0, _POLICIES[command.policy], os.sched_param(command.priority))
    yield "nice"
    if command.nice is not None:
        os.setpriority(os.PRIO_PROCESS, 0, command.nice)
    yield "user"
    if ids is not None:
        uid, gid = ids
        os.setgroups([gid])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    yield "cwd"
    os.chdir(command.cwd)


def _take_descriptors(pipes: Mapping[str, int], owner: tuple[int, int] | None, stdin: str | None, stdout: str) -> None:
    null = os.open("/dev/null", os.O_RDWR)
    source = null if stdin is None else os.open(stdin, os.O_RDONLY)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    written = os.open(stdout, flags, 0o666) if stdout.startswith("/") else null
    outputs = [pipes.get("stdout", written), pipes["stderr"]] + [
        pipes[name] for name in ("events", "go") if name in pipes
    ]
    for target, fd in enumerate([source, *outputs]):
        os.dup2(fd, target)
        if owner and fd in pipes.values():
            os.fchown(fd, *owner)  # /dev/fd/3 opens the pipe anew, which asks for the owner
    resource.setrlimit(resource.RLIMIT_NOFILE, _limit_before)


def read_back(pid: int) -> dict[str, Any]:
    """Read what is in force for a process, 0 being this one; one that has ended tells until it is waited for."""
    policy = os.sched_getscheduler(pid) & ~os.SCHED_RESET_ON_FORK
    return {
        "cpus": sorted(os.sched_getaffinity(pid)),
        "policy": next((name for name, number in _POLICIES.items() if number == policy), str(policy)),
        "priority": os.sched_getparam(pid).sched_priority,
        "nice": os.getpriority(os.PRIO_PROCESS, pid),
    }


def _receive_placement(copy: Copy) -> dict[str, Any]:
    """Read what the copy reports of itself; the pipe then stays for when it left the gate, and an error of exec."""
    line = b""
    while not line.endswith(b"\n") and (part := os.read(copy.pipes["status"], 1 << 16)):
        line += part
    os.set_blocking(copy.pipes["status"], False)
    if not line:
        raise CopyLostError(f"copy {copy.index} was killed before the gate")
    placement: dict[str, Any] = json.loads(line)
    stage, mask, where = placement.get("stage"), copy.mask, f"commands[{copy.command_index}]"
    if mask is not None and (stage == "cpus" or (stage is None and placement["cpus"] != list(mask))):
        allowed = ",".join(map(str, sorted(os.sched_getaffinity(0))))
        fix = "lower the level or choose another host"
        raise RefusalError(3, f"{where}.cpus", f"CPUs {list(mask)}", f"CPUs of this host: {allowed}", fix)
    if stage is not None:
        where, fix = stage if stage == "user" else f"{where}.{stage}", "ask for less, or run as a user who may"
        raise RefusalError(3, where, placement["why"], "to be granted by the kernel", fix)
    return placement
