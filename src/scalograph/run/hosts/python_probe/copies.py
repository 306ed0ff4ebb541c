"""What is to be started: the copies of all commands, with program and user found."""

import os
import pwd
import resource
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scalograph.run.hosts.python_probe.lines import Speech
from scalograph.run.hosts.python_probe.spec import Command, RefusalError, Spec


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
    at_end: dict[str, Any] = field(default_factory=dict)
    refusal: bytes = b""  # of exec
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


def plan(spec: Spec) -> list[Copy]:
    """All copies of all commands, their programs found."""
    if spec.user is not None:
        try:
            ids(spec.user)
        except KeyError:
            fix = "create the user or name another"
            raise RefusalError(3, "user", f"{spec.user!r}", "a user of this host", fix) from None
    copies: list[Copy] = []
    for index, command in enumerate(spec.commands):
        program = _find_program(f"commands[{index}].argv", command)
        if command.stdin is not None and not os.access(command.stdin, os.R_OK):
            found = f"{command.stdin}: cannot be read"
            raise RefusalError(3, f"commands[{index}].stdin", found, "a file that can be read", "name another")
        copies += [Copy(len(copies) + k, index, command, mask, program) for k, mask in enumerate(command.masks)]
    return copies


def ids(user: str) -> tuple[int, int]:
    """User and group number of a user, by name or number."""
    entry = pwd.getpwuid(int(user)) if user.isdigit() else pwd.getpwnam(user)
    return entry.pw_uid, entry.pw_gid


def _find_program(where: str, command: Command) -> bytes:
    name = command.argv[0]
    for folder in [""] if "/" in name else command.env.get("PATH", "").split(":"):
        place = Path(command.cwd, folder, name)
        try:
            mode = place.stat().st_mode
        except OSError:
            continue
        if stat.S_ISREG(mode) and mode & 0o111:
            return os.fsencode(place)
    expected = "an executable file" if "/" in name else "a program on the PATH of the command's env"
    raise RefusalError(3, where, f"no program {name!r:.200}", expected, "install it or correct its name")
