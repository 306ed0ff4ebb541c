"""The system's ssh client, which asks nothing: a program on another machine, its words quoted by one function.

What ssh does for a person it does here: names, users, keys and jumps are those of ~/.ssh/config.
"""

import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO

from scalograph.errors import HostError

CONNECT_S = 20
# What ssh exits with where there is no connection, or none any more; no script of ours does.
NO_CONNECTION = 255
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@:%-]{0,254}", re.ASCII)
_OPTIONS = {
    "BatchMode": "yes", "ConnectTimeout": CONNECT_S, "ServerAliveInterval": 15, "ServerAliveCountMax": 3,
    # One that was opened for us alone would outlive us; one that is open already is used.
    "ControlMaster": "no",
    "ClearAllForwardings": "yes", "ForwardAgent": "no", "ForwardX11": "no", "PermitLocalCommand": "no",
    "RequestTTY": "no", "LogLevel": "ERROR",
}  # fmt: skip
_LIMIT_S = 120.0
_MOST_BYTES, _SHOWN = 8 << 20, 300
# What we start ends with us, however that is: its connection closes, and with it what runs there.
_TIED = ("setpriv", "--pdeathsig", "KILL", "--")

Sending = Callable[[IO[bytes]], None]


class UnreachableError(HostError):
    """There is no connection: the machine is not known, does not answer, or refuses us."""


def is_name(text: str) -> bool:
    """Tell whether a text may name a machine: it is no option, and no shell reads anything in it.

    >>> is_name("me@build-1.example"), is_name("-oProxyCommand=x"), is_name("a;b"), is_name("")
    (True, False, False, False)
    """
    return _NAME.fullmatch(text) is not None


def quoted(words: Sequence[str]) -> str:
    """Return words as the one text that ssh hands to the shell there, which reads each of them as it is.

    >>> quoted(["sh", "-c", "echo $1", "sh", "a b; c"])
    "sh -c 'echo $1' sh 'a b; c'"
    """
    return shlex.join(words)


def script(text: str, *arguments: str) -> tuple[str, ...]:
    """Return the words of a script of ours with its arguments, `$1` and so on: data are never part of its text."""
    return ("sh", "-c", text, "scalograph", *arguments)


def ssh_argv(name: str, words: Sequence[str]) -> tuple[str, ...]:
    """Return the command here that carries out a program there."""
    options = (part for option, value in _OPTIONS.items() for part in ("-o", f"{option}={value}"))
    tied = _TIED if shutil.which(_TIED[0]) else ()
    return (*tied, "ssh", *options, "--", name, quoted(words))


def call(name: str, words: Sequence[str], send: Sending | None = None, limit_s: float = _LIMIT_S) -> str:
    """Carry out a program there, and return what it wrote to its standard output.

    Args:
        name: of the machine, as ssh knows it.
        words: program and arguments.
        send: writes its standard input; nothing if None.
        limit_s: how long it may take once it has all of that.

    Raises:
        UnreachableError: no connection.
        HostError: no ssh here, more than 8 MiB of output, no end in time, or an exit code other than 0.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, _started(name, words, out, err) as process:
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # it ended without reading: its exit code says why
            if send is not None:
                send(process.stdin)
            process.stdin.close()
        try:
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            raise HostError(called(name), f"no answer in {limit_s:g} s", "one", _by_hand(name)) from None
        refuse_failure(name, code, _read(err))
        out.seek(0)
        answer = out.read(_MOST_BYTES + 1)
    if len(answer) > _MOST_BYTES:
        raise HostError(called(name), f"more than {_MOST_BYTES} bytes", "less", _by_hand(name))
    return answer.decode(errors="replace")


@contextmanager
def _started(name: str, words: Sequence[str], out: IO[bytes], err: IO[bytes]) -> "Iterator[subprocess.Popen[bytes]]":
    """Start it, and leave nothing of it behind."""
    try:
        process = subprocess.Popen(
            ssh_argv(name, words), stdin=subprocess.PIPE, stdout=out, stderr=err, start_new_session=True
        )
    except OSError as error:
        raise no_client(name, error) from None
    with process:
        try:
            yield process
        finally:
            process.kill()
            with suppress(BrokenPipeError):  # of what was not sent, the rest
                if process.stdin:
                    process.stdin.close()


def called(name: str) -> str:
    """Return a machine as a message names it."""
    return f"--host ssh:{name}"


def no_client(name: str, error: OSError) -> HostError:
    """Return the error where ssh cannot be started."""
    return HostError(called(name), f"ssh: {error.strerror}", "the client of OpenSSH", "apt-get install openssh-client")


def refuse_failure(name: str, code: int, said: str) -> None:
    """Raise for an exit code that is not 0, with the last line that was said. Raises UnreachableError, HostError."""
    line = last_line(said)
    if code == NO_CONNECTION:
        raise UnreachableError(called(name), line or "no connection", "a connection that asks nothing", _by_hand(name))
    if code:
        raise HostError(called(name), line or f"exit code {code}", "a machine that runs can be made on", _by_hand(name))


def last_line(said: str) -> str:
    """Return the last line of a text, without what could steer a terminal.

    >>> last_line("one\\ntwo\\x1b[2J\\n\\n")
    'two\\\\x1b[2J'
    """
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return ascii(lines[-1][:_SHOWN])[1:-1] if lines else ""


def _by_hand(name: str) -> str:
    return f"try it: ssh -o BatchMode=yes {name} true"


def _read(stream: IO[bytes]) -> str:
    """Return the end of what was written."""
    size = stream.seek(0, 2)
    stream.seek(max(0, size - 4096))
    return stream.read().decode(errors="replace")
