"""One start of `scalograph`, in a session of its own: how it ended, what it said, what it took.

A warm start is a fork of a process that has imported everything, which saves most of a second; a cold one is a new
interpreter.
"""

import os
import re
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from kills_places import Place

# Beyond what it waited for a CPU.
LIMIT_S, LIMIT_BYTES = 10.0, 10**9
HANG_S = 120.0
_POLL_S = 0.001
_PROBE = re.compile(rb"scalograph-probe|python_probe")


class Start:
    """A start that is under way.

    Attributes:
        code: how it ended, a signal as a negative number; None while it runs.
        over_s: seconds of wall time, less those in which something of it waited for a CPU, or of CPU time.
        peak_bytes: the most memory that one of its processes had.
    """

    def __init__(
        self, argv: Sequence[str], place: Place, probe: str, cold: bool, ignored: Collection[signal.Signals] = ()
    ) -> None:
        self.argv, self._place, self.ignored = list(argv), place, ignored
        self.code: int | None = None
        self.over_s, self.peak_bytes = 0.0, 0
        self._said = place.folder / f"said-{time.monotonic_ns()}"
        self._began, self._stalled = time.monotonic(), place.stalled_s()
        sys.stdout.flush()
        sys.stderr.flush()
        heard, told = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            self._child(probe, cold, told)
        os.close(told)
        os.read(heard, 1)  # it is about to be the command, and no longer this program
        os.close(heard)

    def ended(self) -> bool:
        """Whether it has ended."""
        if self.code is None:
            pid, status, used = os.wait4(self.pid, os.WNOHANG)
            wall_s = time.monotonic() - self._began
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
                waiting_s = self._place.stalled_s() - self._stalled
                self.over_s = max(used.ru_utime + used.ru_stime, wall_s - waiting_s)
                self.peak_bytes = used.ru_maxrss * 1024
            elif wall_s > HANG_S:
                os.kill(self.pid, signal.SIGKILL)
        return self.code is not None

    def lasts(self, seconds: float, until: Callable[[], bool] = bool) -> bool:
        """Wait until something holds, at most so long; whether the start still runs then."""
        limit = time.monotonic() + seconds
        while not self.ended() and time.monotonic() < limit and not until():
            time.sleep(_POLL_S)
        return self.code is None

    def finish(self) -> int:
        """Wait for its end; its exit code."""
        self.lasts(2 * HANG_S)
        assert self.code is not None
        return self.code

    def probes(self) -> list[int]:
        """The probe that measures for it now, if there is one."""
        return [pid for pid in children(self.pid) if _PROBE.search(_words(pid))][:1]

    def said(self) -> str:
        """Both of its streams."""
        return self._said.read_text(errors="replace")

    def _child(self, probe: str, cold: bool, told: int) -> None:
        """Never returns."""
        code = 1
        try:
            self._settle()
            environment = self._place.environment(probe)
            if cold:
                os.execve(sys.executable, [sys.executable, "-m", "scalograph", *self.argv], environment)
            os.environ.clear()
            os.environ.update(environment)
            tempfile.tempdir = None  # that of this program
            os.close(told)
            code = _answer(self.argv)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _settle(self) -> None:
        """As a shell would start it."""
        os.setsid()
        said = os.open(self._said, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        for fd, target in ((os.open(os.devnull, os.O_RDONLY), 0), (said, 1), (said, 2)):
            os.dup2(fd, target)
        for number in (signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in self.ignored:
            signal.signal(number, signal.SIG_IGN)
        self._place.become_user()
        os.chdir(self._place.home)


def _answer(argv: Sequence[str]) -> int:
    """The exit code of the command in this process."""
    from scalograph.cli.main import main

    sys.argv = ["scalograph", *argv]
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def children(pid: int) -> list[int]:
    """Children of a process, eldest first; none where it has ended."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _words(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
