"""Call the system's ssh client, which asks nothing: a program on another machine, its words quoted by one function.

Names, users, keys and jumps are those of ~/.ssh/config.
"""

import os
import re
import select
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Protocol

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
# For an answer, and for the next piece of what is sent to be taken; for all that is sent.
_LIMIT_S, _SEND_S = 120.0, 3600.0
_MOST_BYTES, _MOST_SAID, _SHOWN = 8 << 20, 4096, 300
_CHUNK, _LOOK_S = 1 << 16, 1.0
# What we start ends with us, however that is: its connection closes, and with it what runs there.
_TIED = ("setpriv", "--pdeathsig", "KILL", "--")


class WritesBytes(Protocol):
    """A binary stream that can be written to."""

    def write(self, data: bytes, /) -> int:
        """Write all of it, and return its length."""


Sending = Callable[[WritesBytes], None]


class UnreachableError(HostError):
    """There is no connection: the machine is not known, does not answer, or refuses us."""


def is_name(text: str) -> bool:
    """Tell whether a text may name a machine: it is no option, and no shell reads anything in it.

    >>> is_name("me@build-1.example"), is_name("-oProxyCommand=x"), is_name("a;b"), is_name("")
    (True, False, False, False)
    """
    return _NAME.fullmatch(text) is not None


def quote_words(words: Sequence[str]) -> str:
    """Return words as the one text that ssh hands to the shell there, which reads each as it is.

    >>> quote_words(["sh", "-c", "echo $1", "sh", "a b; c"])
    "sh -c 'echo $1' sh 'a b; c'"
    """
    return shlex.join(words)


def script(text: str, *arguments: str) -> tuple[str, ...]:
    """Return the words of a script with its arguments, `$1` and so on: data are never part of its text."""
    return ("sh", "-c", text, "scalograph", *arguments)


def ssh_argv(name: str, words: Sequence[str]) -> tuple[str, ...]:
    """Return the local command that carries out a program there."""
    options = (part for option, value in _OPTIONS.items() for part in ("-o", f"{option}={value}"))
    tied = _TIED if shutil.which(_TIED[0]) else ()
    return (*tied, "ssh", *options, "--", name, quote_words(words))


def call(name: str, words: Sequence[str], send: Sending | None = None, limit_s: float = _LIMIT_S) -> str:
    """Carry out a program on a machine, and return its standard output.

    `send` writes its standard input. `limit_s` seconds are for the answer once all is sent, and for each piece to be
    read.

    Raises UnreachableError: no connection, or no answer in time; HostError: no ssh here, more than 8 MiB of output,
    nothing read in time, or an exit code other than 0.
    """
    with _start(name, words) as process:
        streams = _Streams(name, process, limit_s)
        with suppress(BrokenPipeError):  # it ended without reading: its exit code says why
            if send is not None:
                send(streams)
        code = streams.finish()
    refuse_failure(name, code, streams.said.decode(errors="replace"))
    return streams.out.decode(errors="replace")


class _Streams:
    """Streams of one call, within limits of time and memory.

    Attributes:
        out: its standard output.
        said: the end of its standard error.
    """

    def __init__(self, name: str, process: "subprocess.Popen[bytes]", limit_s: float) -> None:
        assert process.stdin and process.stdout and process.stderr
        self._name, self._process, self._limit_s = name, process, limit_s
        self._to, self._from = process.stdin, [process.stdout, process.stderr]
        self._until = time.monotonic() + _SEND_S
        self.out, self.said = bytearray(), b""
        for stream in (self._to, *self._from):
            os.set_blocking(stream.fileno(), False)

    def write(self, data: bytes, /) -> int:
        """Send all of it, and return its length. Raises BrokenPipeError, HostError."""
        left, until = memoryview(data), time.monotonic() + self._limit_s
        while left:
            if time.monotonic() > min(until, self._until):
                problem = f"what is sent was not read for {self._limit_s:g} s, or not in {_SEND_S:g} s"
                raise HostError(
                    machine_label(self._name), problem, "a machine that reads it", _manual_check(self._name)
                )
            if self._hear(until, [self._to])[1]:
                left, until = left[os.write(self._to.fileno(), left) :], time.monotonic() + self._limit_s
        return len(data)

    def finish(self) -> int:
        """Send no more, and return the exit code. Raises HostError."""
        self._to.close()
        until = time.monotonic() + self._limit_s
        while self._from and time.monotonic() < until:
            heard, _ = self._hear(until)
            if not heard and self._process.poll() is not None:
                break  # another program of this machine keeps them open
        try:
            return self._process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            problem = f"no answer in {self._limit_s:g} s"
            raise UnreachableError(machine_label(self._name), problem, "one", _manual_check(self._name)) from None

    def _hear(self, until: float, to: Sequence[IO[bytes]] = ()) -> tuple[list[IO[bytes]], list[IO[bytes]]]:
        """Wait a while, and read what came; return streams that were read, and those that can be written to."""
        wait_s = min(_LOOK_S, max(0.0, until - time.monotonic()))
        heard, ready, _ = select.select(self._from, to, [], wait_s)
        for stream in heard:
            self._keep(stream, os.read(stream.fileno(), _CHUNK))
        return heard, ready

    def _keep(self, stream: IO[bytes], chunk: bytes) -> None:
        if not chunk:
            self._from.remove(stream)
        elif stream is self._process.stderr:
            self.said = (self.said + chunk)[-_MOST_SAID:]
        else:
            self.out += chunk
        if len(self.out) > _MOST_BYTES:
            raise HostError(
                machine_label(self._name), f"more than {_MOST_BYTES} bytes", "less", _manual_check(self._name)
            )


@contextmanager
def _start(name: str, words: Sequence[str]) -> "Iterator[subprocess.Popen[bytes]]":
    """Start it, and kill it at the end."""
    try:
        pipe = subprocess.PIPE
        argv = ssh_argv(name, words)
        process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
    except OSError as error:
        raise no_client(name, error) from None
    with process:
        try:
            yield process
        finally:
            process.kill()


def machine_label(name: str) -> str:
    """Return a machine as messages name it, whichever host is on it."""
    return f"machine {name}"


def no_client(name: str, error: OSError) -> HostError:
    """Return the error if ssh cannot be started."""
    fix = "apt-get install openssh-client"
    return HostError(machine_label(name), f"ssh: {error.strerror}", "the client of OpenSSH", fix)


def refuse_failure(name: str, code: int, stderr: str) -> None:
    """Raise UnreachableError or HostError for an exit code other than 0, with the last line of stderr."""
    line = last_line(stderr)
    if code == NO_CONNECTION:
        expected = "a connection that asks nothing"
        raise UnreachableError(machine_label(name), line or "no connection", expected, _manual_check(name))
    if code:
        expected = "a machine that runs can be made on"
        raise HostError(machine_label(name), line or f"exit code {code}", expected, _manual_check(name))


def last_line(text: str) -> str:
    """Return the last line of a text, without what could steer a terminal.

    >>> last_line("one\\ntwo\\x1b[2J\\n\\n")
    'two\\\\x1b[2J'
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return ascii(lines[-1][:_SHOWN])[1:-1] if lines else ""


def _manual_check(name: str) -> str:
    return f"try it: ssh -o BatchMode=yes {name} true"
