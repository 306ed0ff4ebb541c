"""The CPU scheduler of the whole machine: the kernel's own, or a program of sched_ext that lives as long as a run.

Such a program loads its scheduler, and the kernel takes its own again when the program ends, however that is. So
nothing need be written ahead: the program ends with us. Some ship, as workloads: they are built when they are named.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from scalograph.control.control import HeldSetting, Level, LevelError
from scalograph.control.machine_control import MachineControl
from scalograph.control.store import Store
from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts
from scalograph.study.shipped import shipped_workloads
from scalograph.system.platform_facts import read_or_empty

# The kernel's own; what facts call a kernel that takes no other, and one that has taken another already.
DEFAULT, SCHEDULER, OTHER = "default", "scheduler", "another scheduler"
_HOME = "sys/kernel/sched_ext"
# What tells which scheduler is at work, and the name of one that is not the kernel's own; relative to a root.
STATE, OPERATIONS = f"{_HOME}/state", f"{_HOME}/root/ops"
# Where a program is that ships and was not built yet.
SHIPS = ""
_PROGRAM = re.compile(r"scx_[a-z0-9_]{1,40}", re.ASCII)
# What some append to the name of their scheduler: version and architecture.
_VERSION = re.compile(r"_\d+\..*", re.DOTALL)
_TIED = ("setpriv", "--pdeathsig", "KILL", "--")
FIX = "boot a kernel with CONFIG_SCHED_CLASS_EXT, or omit the level"
END_IT = "end it before"
# Loading one, which is verified by the kernel, takes some tenths of a second.
START_S, _END_S, _POLL_S = 20.0, 5.0, 0.02
_MAX_MESSAGE = 300


class SchedulerControl(MachineControl):
    """Levels are `default`, programs of sched_ext by name (`scx_simple`), or `false` for the active one."""

    def __init__(self) -> None:  # it is no file that is written, and has no record of a change
        self.name, self.label = "", SCHEDULER

    def check(self, value: str, facts: HostFacts) -> None:
        if value != DEFAULT and not _PROGRAM.fullmatch(value):
            raise LevelError(f"scheduler {value!r}", "default, or a program such as scx_simple", "correct it")
        if reason := facts.refused.get(OTHER):
            raise LevelError(f"scheduler {value} is refused here ({reason})", "false", END_IT)
        if value == DEFAULT:
            return
        if reason := facts.refused.get(SCHEDULER):
            raise LevelError(f"scheduler {value} is refused here ({reason})", DEFAULT, FIX)
        if facts.schedulers is not None and value not in facts.schedulers:
            names = ", ".join([DEFAULT, *facts.schedulers])
            raise LevelError(f"no program {value} on PATH", f"one of {names}", "install it, or omit the level")

    def program(self, level: Level, facts: HostFacts) -> str:
        """Return the path of a level's program, its name where that is unknown; empty for the kernel's own."""
        return "" if level == DEFAULT else (facts.schedulers or {}).get(str(level)) or str(level)

    @contextmanager
    def apply_settings(self, level: Level, facts: HostFacts) -> Iterator[HeldSetting | None]:
        """Start the program, prove by the kernel that its scheduler is active, and end it. Raises HostError."""
        if level is False:
            yield None
            return
        root = Store.locate().kernel
        held = HeldSetting(self.label, before=current_scheduler(root), asked=str(level))
        if reason := why_other_scheduler(root):
            raise HostError(SCHEDULER, reason, DEFAULT, END_IT)
        with _run_scheduler(str(level), self.program(level, facts), root):
            held.in_force = current_scheduler(root)
            yield held
            held.at_end = current_scheduler(root)
        held.after = current_scheduler(root)


def current_scheduler(root: Path = Path("/")) -> str:
    """Return the active scheduler by the name of its program; of one that is being loaded, its state.

    >>> current_scheduler(Path("/nonexistent"))
    'default'
    """
    return scheduler_name(read_or_empty(root / STATE), read_or_empty(root / OPERATIONS))


def scheduler_name(state: str, operations: str) -> str:
    """Return the name of the active scheduler from the kernel's state and operations.

    >>> scheduler_name("enabled", "lavd_1.0.8_x86_64"), scheduler_name("disabled", "")
    ('scx_lavd', 'default')
    >>> scheduler_name("enabling", "lavd")
    'enabling'
    """
    if state in ("", "disabled"):
        return DEFAULT
    return f"scx_{_VERSION.sub('', operations)}" if state == "enabled" else state


def why_no_scheduler(root: Path = Path("/")) -> str | None:
    """Explain why this kernel takes no scheduler but its own; None if it takes one."""
    return None if (root / STATE).exists() else "this kernel has no sched_ext"


def why_other_scheduler(root: Path = Path("/")) -> str | None:
    """Explain which scheduler others have started; None if the kernel's own is active."""
    scheduler = current_scheduler(root)
    return None if scheduler == DEFAULT else f"{scheduler} is at work, and not started by us"


def find_schedulers(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Find the programs of sched_ext by name: those on PATH with their path, others that ship with `SHIPS`."""
    programs = {name.replace("-", "_"): SHIPS for name in shipped_workloads() if name.startswith("scx-")}
    path = environ.get("PATH", "")
    for folder in filter(None, path.split(":")):
        with suppress(OSError):
            names = [file.name for file in Path(folder).glob("scx_*") if _PROGRAM.fullmatch(file.name)]
            programs |= {name: str(Path(at).absolute()) for name in names if (at := shutil.which(name, path=path))}
    return dict(sorted(programs.items()))


@contextmanager
def _run_scheduler(level: str, path: str, root: Path) -> Iterator[None]:
    if level == DEFAULT:
        yield
        return
    null = subprocess.DEVNULL
    with tempfile.TemporaryFile() as output:
        try:
            argv = [*_TIED, path]
            program = subprocess.Popen(argv, stdin=null, stdout=null, stderr=output, start_new_session=True, cwd="/")
        except OSError as error:
            raise HostError(SCHEDULER, f"setpriv: {error.strerror}", "that of util-linux", "install it") from error
        with program:
            try:
                _wait_until_active(level, root, program, output)
                yield
            finally:
                _end(program, root)


def _wait_until_active(level: str, root: Path, program: "subprocess.Popen[bytes]", output: IO[bytes]) -> None:
    until = time.monotonic() + START_S
    while current_scheduler(root) != level:
        ended = program.poll() is not None
        if ended or time.monotonic() > until:
            how = f"{level} ended with exit code {program.returncode}" if ended else f"not taken in {START_S:g} s"
            problem = f"{how}; it said: {_last_line(output)!a}"
            raise HostError(SCHEDULER, problem, f"{level} at work", "start it by hand, as root")
        time.sleep(_POLL_S)


def _end(program: "subprocess.Popen[bytes]", root: Path) -> None:
    """End the program, and wait for the kernel's own scheduler. Raises HostError where it does not come back."""
    program.send_signal(signal.SIGINT)
    try:
        program.wait(_END_S)
    except subprocess.TimeoutExpired:
        program.kill()
    until = time.monotonic() + _END_S
    while (left := current_scheduler(root)) != DEFAULT:
        if time.monotonic() > until:
            raise HostError(SCHEDULER, f"{left}, though its program has ended", DEFAULT, "look at the kernel's log")
        time.sleep(_POLL_S)


def _last_line(output: IO[bytes]) -> str:
    output.seek(max(0, output.seek(0, os.SEEK_END) - 4096))
    lines = output.read().decode(errors="replace").split("\n")
    return next((line.strip()[-_MAX_MESSAGE:] for line in reversed(lines) if line.strip()), "")
