"""`scalograph` for scripts that start it often: forked from a process that has imported it, not started anew each time.

A program of that name hands its arguments, folder, environment and streams to a server, and ends with its exit code.
"""

import gc
import os
import socket
import sys
from ast import literal_eval
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from traceback import print_exc
from warnings import catch_warnings

from scalograph.cli.main import main

MOST_BYTES = 1 << 17
PROGRAM = f"""\
#!{sys.executable} -IS
import os, socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
    server.connect("SERVER")
    start = sys.argv[1:], os.getcwd(), dict(os.environ)
    socket.send_fds(server, [repr(start).encode()], [0, 1, 2])
    sys.exit(server.recv(1)[0])
"""


@contextmanager
def forking(folder: Path) -> Iterator[Path]:
    """A folder for PATH in which the program is, for as long as its server lives."""
    (folder / "bin").mkdir()
    program = folder / "bin" / "scalograph"
    program.write_text(PROGRAM.replace("SERVER", str(folder / "server")))
    program.chmod(0o755)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(folder / "server"))
        listener.listen()
        server = get_context("fork").Process(target=_serve, args=(listener,))
        with catch_warnings(action="ignore"):  # of threads: those of the tests hold nothing that a command needs
            server.start()
        try:
            yield program.parent
        finally:
            server.kill()
            server.join()


def _serve(listener: socket.socket) -> None:
    gc.freeze()  # what the tests left: no fork looks through it, and copies it by that
    while True:
        caller, _ = listener.accept()
        with caller:
            start, streams, *_ = socket.recv_fds(caller, MOST_BYTES, 3)
            if (pid := os.fork()) == 0:
                os._exit(_started(streams, *literal_eval(start.decode())))
            for stream in streams:
                os.close(stream)
            _, status = os.waitpid(pid, 0)
            caller.send(bytes([os.waitstatus_to_exitcode(status) % 256]))


def _started(streams: list[int], arguments: list[str], folder: str, environ: dict[str, str]) -> int:
    """The exit code of a command, in the process that it would have."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, 256)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = ["scalograph", *arguments]
    code = 1
    try:
        main()
    except SystemExit as ended:
        code = int(ended.code or 0)
    except BaseException:
        print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    return code
