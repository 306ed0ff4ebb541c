"""A folder of this machine in a guest: virtiofsd serves it for as long as the guest lives."""

import os
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from scalograph.run.contained import contained
from scalograph.run.hosts.probe_process import NotStartedError

# What we start ends with us, however that is.
TIED = ("setpriv", "--pdeathsig", "KILL", "--")
_START_S = 10.0
# Of the successor of the one that came with QEMU, in its newer releases.
_READ_ONLY = "--readonly"
# Of what it said, the end; a pipe that nobody reads would stop it one day.
_TAIL, _SHOWN = 4096, 300


class FolderServer:
    """virtiofsd, and the file that it complains to: a name of it may be the guest's by now, so it is kept open."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: BinaryIO) -> None:
        self._process, self._log = process, log

    def has_ended(self) -> bool:
        """Tell whether it serves no more."""
        return self._process.poll() is not None

    def has_failed(self) -> bool:
        """Tell whether it ended otherwise than it does when its guest goes."""
        return self.has_ended() and self._process.returncode != 0

    def last_line(self) -> str:
        """Return the end of the last line that it wrote; empty if it wrote none."""
        fd = self._log.fileno()
        lines = os.pread(fd, _TAIL, max(0, os.fstat(fd).st_size - _TAIL)).decode(errors="replace").strip().splitlines()
        return lines[-1][-_SHOWN:] if lines else ""


@contextmanager
def serving(virtiofsd: str, folder: Path, socket: Path, is_read_only: bool = False) -> Iterator[FolderServer]:
    """Serve a folder to one guest. It ends when the guest goes, and with us.

    Args:
        virtiofsd: the program.
        folder: what is served.
        socket: where it is reached; its log lies beside it.
        is_read_only: nothing is written for the guest, where virtiofsd offers that.

    Raises:
        NotStartedError: it does not come up, with its last line.
    """
    argv = [*TIED, virtiofsd, f"--socket-path={socket}", *_options(virtiofsd, folder, is_read_only)]
    null = subprocess.DEVNULL
    with (
        socket.with_suffix(".log").open("a+b") as log,
        subprocess.Popen(argv, stdin=null, stdout=null, stderr=log, start_new_session=True) as process,
    ):
        server = FolderServer(process, log)
        try:
            _wait_for(socket, server)
            yield server
        finally:
            process.kill()


def _options(virtiofsd: str, folder: Path, is_read_only: bool) -> Sequence[str]:
    # The machine's files are read again and again, compilers above all; nothing changes them for a guest.
    kept = "cache=always" if is_read_only else "cache=auto"
    # That of QEMU itself changes its root; its successor would need rights for that.
    if Path(virtiofsd).parent.name == "qemu":
        source = re.sub(r"[\\,]", r"\\\g<0>", str(folder))  # a comma alone would begin another option
        return ("-o", f"source={source}", "-o", "sandbox=chroot", "-o", "log_level=err", "-o", kept)
    refusing = (_READ_ONLY,) if is_read_only and _READ_ONLY in _help(virtiofsd) else ()
    return ("--shared-dir", str(folder), "--sandbox", "none", "--log-level", "error", f"--{kept}", *refusing)


def _help(virtiofsd: str) -> str:
    try:
        return contained([virtiofsd, "--help"], os.environ, _START_S).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _wait_for(socket: Path, server: FolderServer) -> None:
    until = time.monotonic() + _START_S
    while not socket.exists():
        if (server.has_ended() and not socket.exists()) or time.monotonic() > until:
            found = f"virtiofsd: {server.last_line()!a}"
            raise NotStartedError("guest", found, "its socket", "try it by hand, as root")
        time.sleep(0.01)
