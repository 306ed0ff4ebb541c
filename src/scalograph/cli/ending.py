"""Run a command line to its exit code: every failure is one message, only a bug is a traceback."""

import errno
import io
import os
import re
import select
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, TextIO

import typer

from scalograph.cli.app import app
from scalograph.cli.console import complain
from scalograph.errors import Exit, HostError, ScalographError, StudyError, Terminated, raised_signal
from scalograph.text.escape import is_text, shorten

# A reader who has left (`| head`) and a terminal that was closed want nothing more: no failure.
LEFT = (errno.EPIPE, errno.EIO)


class Unfailing(io.FileIO):
    """A stream whose writes never fail; `lost` is the first error."""

    lost: OSError | None = None

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Write all data, waiting for a slow reader."""
        if self.lost is None:
            try:
                while (n := super().write(data)) is None:  # another program has made it non-blocking
                    select.select([], [self], [])
                return n
            except OSError as error:
                self.lost = error
        return len(data)


def guard() -> Unfailing | None:
    """Replace the standard streams that nobody else has replaced; return that of stdout, if it was."""
    _open_closed()
    guarded = [_guard_stream(name, fd) for name, fd in (("stdout", 1), ("stderr", 2))]
    return guarded[0]


def _open_closed() -> None:
    """Open closed standard streams: the next file would get their number, and what others write there."""
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def _guard_stream(name: str, fd: int) -> Unfailing | None:
    before: TextIO | None = getattr(sys, name)
    if before is not getattr(sys, f"__{name}__"):
        return None
    raw = Unfailing(fd if before is None else before.fileno(), "w", closefd=False)
    encoding, errors = (before.encoding, before.errors) if before else ("utf-8", "backslashreplace")
    lines = name == "stderr" or raw.isatty() or getattr(before, "write_through", False)
    setattr(sys, name, io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=lines))
    return raw


def refusal(answer: Unfailing | None) -> OSError | None:
    """Return why the answer did not arrive, unless its reader left."""
    with suppress(ValueError):
        sys.stdout.flush()
    lost = answer.lost if answer else None
    return None if lost is None or lost.errno in LEFT else lost


# With less address space the math library neither starts nor ends.
LEAST_BYTES = 512 << 20
# The class of all usage errors, wherever this release of typer keeps it.
_UsageError = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
# That of a command without arguments, whose message is its help.
_HELP = "NoArgsIsHelpError"
# Of the loader of libraries.
_NO_ROOM = os.strerror(errno.ENOMEM)
# What the system says of a command line or of us, and not of one file that a message could name.
_LIMITS: dict[int | None, ScalographError] = {
    errno.ENOMEM: HostError("memory", "too little", "room for this command", "free some, or raise ulimit -v"),
    errno.EAGAIN: HostError("processes and threads", "no more may start", "room for some ten", "raise ulimit -u"),
    errno.EMFILE: HostError("open files", "too many", "room for some fifty", "raise the limit: ulimit -n 1024"),
    errno.ENFILE: HostError("open files", "too many on this machine", "room for some fifty", "end other programs"),
    errno.ENAMETOOLONG: StudyError.one("arguments", "a path that is too long", "the path of a file", "correct it"),
}


def run_guarded(arguments: list[str]) -> int:
    """Run a command whose streams may be closed, full or without a reader; return its exit code."""
    answer = guard()
    code = execute(arguments)
    if lost := refusal(answer):
        fix = "make room there, or write the output to another place"
        code = code or _report_error(HostError("standard output", lost.strerror or str(lost), "", fix))
    return code


_SIDES = {"greater": "more", "less": "less"}
_NUMBERS = {"a valid integer": "a whole number", "a valid number": "a number"}


def execute(arguments: list[str]) -> int:
    """Run a command and return its exit code."""
    try:
        _refuse(arguments)
        code = int(app.main(arguments, prog_name="scalograph", standalone_mode=False) or 0)
        # Outside a command typer takes SIGTERM for Ctrl-C.
        return int(raised_signal() or code) if code == Exit.INTERRUPTED else code
    except Exception as error:
        number = raised_signal()
        return _report_failure(error, arguments) if number is None else int(number)


def _report_failure(error: Exception, arguments: list[str]) -> int:
    """Print the one message of a failure and return its exit code; a bug is raised again."""
    if isinstance(error, ScalographError):
        return _report_error(error)
    if isinstance(error, typer.Abort):
        return int(Exit.TERMINATED if isinstance(error.__cause__, Terminated) else Exit.INTERRUPTED)
    if isinstance(error, PermissionError) and error.filename is not None:
        fix = "get access to it, or name another place"
        return _report_error(HostError(str(error.filename), "permission denied", "a place that you may use", fix))
    if (number := _limit(error)) in _LIMITS:
        return _report_error(_LIMITS[number])
    if not isinstance(error, _UsageError):
        raise error
    if type(error).__name__ == _HELP:
        error.show()  # type: ignore[attr-defined]
        return int(Exit.STUDY)
    return _report_error(_usage_error(error, arguments))


def _limit(error: Exception) -> int | None:
    """Return the error number of the limit that was met, whichever exception the interpreter made of it."""
    if isinstance(error, MemoryError) or (isinstance(error, ImportError) and _NO_ROOM in str(error)):
        return errno.ENOMEM
    if isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        return errno.EAGAIN
    return error.errno if isinstance(error, OSError) else None


def _usage_error(error: Any, arguments: list[str]) -> StudyError:
    """Return a usage error with a hint: the name that was meant, -- before the measured command, or the help."""
    is_unknown = type(error).__name__ == "NoSuchOption"
    what, _, hint = shorten(error.message if is_unknown else error.format_message()).partition(". ")
    if wrong := re.match(
        "Invalid value for '(.*?)'.*?: Input should be (?:(greater|less) than or equal to )?(.*)", what
    ):
        typed, side = _typed_option(error.param.opts, arguments) or wrong[1], _SIDES.get(wrong[2])
        if side:
            return StudyError.one("", f"{typed} is out of range", "", f"use {wrong[3]} or {side}")
        return StudyError.one(
            "", f"{typed} is not valid", "", f"use {_NUMBERS.get(wrong[3].partition(',')[0], wrong[3])}"
        )
    what = re.sub("^Invalid value for '(.*?)'.*?: ", r"\1: ", what).rstrip(".")
    if is_unknown:
        takes_command = any(parameter.name == "command" for parameter in error.ctx.command.params)
        if takes_command and "--" not in arguments:
            hint = "if it belongs to the measured command, write -- before that command"
        elif error.possibilities:
            hint = f"did you mean {error.possibilities[0]}?"
    hint = hint or f"see {error.ctx.command_path if error.ctx else 'scalograph'} --help"
    return StudyError.one("", f"{what[:1].lower()}{what[1:]}", "", f"{hint[:1].lower()}{hint[1:]}")


def _typed_option(names: Sequence[str], arguments: list[str]) -> str:
    """Return an option with its value as it was typed, whichever of its names was; empty where it is not found."""
    typed = (f"{name} {value}" for name, value in pairwise([*arguments, ""]) if name in names)
    joined = (
        argument.replace("=", " ", 1)
        for argument in arguments
        if argument.partition("=")[0] in names and "=" in argument
    )
    return next(chain(joined, typed), "")


def _report_error(error: ScalographError) -> int:
    complain(error)
    return int(error.exit_code)


def _most_bytes() -> int | None:
    """Return the limit of address space; None without one, or on a system that has none."""
    try:
        import resource
    except ImportError:
        return None
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if most == resource.RLIM_INFINITY else most


def _refuse(arguments: list[str]) -> None:
    """Refuse a removed current folder, arguments that are no UTF-8, and too little memory."""
    try:
        folder = str(Path.cwd())
    except FileNotFoundError:
        raise HostError("the current folder", "was removed", "one that exists", "cd to another one") from None
    if (most := _most_bytes()) is not None and most < LEAST_BYTES:
        raise HostError("memory", f"at most {most >> 20} MiB", f"{LEAST_BYTES >> 20} MiB", "raise the limit: ulimit -v")
    named = {"the current folder": folder, **{f"argument {n}": text for n, text in enumerate(arguments, 1)}}
    for where, text in named.items():
        if not is_text(text):
            invalid = f"{text[:80]!a}, bytes that are no UTF-8"
            raise StudyError.one(where, invalid, "text", "give it another name")
