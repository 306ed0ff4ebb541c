"""A probe on another machine as a process here: its line goes out and its answer comes back over ssh.

The connection is the run's life: where it ends, the probe there finds its reader gone, and ends the run.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from scalograph.errors import HostError
from scalograph.run.hosts.probe_process import LostError, NotStartedError, ProbeAnswer, ProbeProcess
from scalograph.run.hosts.ssh_client import CONNECT_S, NO_CONNECTION, called, last_line, script, ssh_argv
from scalograph.run.hosts.ssh_machine import PROBE, RUN_S, SshMachine

# Our folder is gone: that machine was booted.
GONE = 76
# $1 our folder, $2 that of the run, $3 that of the last one, which goes; $4 how long a run before may take to end.
START = f"""\
printf 'boot %s\\n' "$(cat /proc/sys/kernel/random/boot_id)" >&2
umask 077
[ -x "$1/{PROBE}" ] || exit {GONE}
[ -z "$3" ] || rm -rf -- "$3"
mkdir -p -- "$2" || exit 74
exec flock -o -w "$4" -E 75 "$1/run" "$1/{PROBE}"
"""
_OF_PROBE = (0, 1, 2, 3)
_WHY = {75: "the run before has not ended there", GONE: "our folder there is gone", NO_CONNECTION: "no connection"}
_BOOT = re.compile(rb"^boot ([0-9a-f-]{36})$", re.MULTILINE)


class SshProcess(ProbeProcess):
    """A probe of one run or step on another machine."""

    START_S = float(CONNECT_S + RUN_S)

    def __init__(self, machine: SshMachine, folder: str, last: str = "", fresh: bool = False) -> None:
        """Prepare it.

        Args:
            machine: where it runs.
            folder: there, in which it works; it is made if it is missing.
            last: folder of an earlier run, which is removed before.
            fresh: as of `ProbeProcess`.
        """
        self._machine = machine
        words = script(START, str(machine.folder), folder, last, str(RUN_S))
        super().__init__(ssh_argv(machine.name, words), fresh)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Start it, after the connection was made anew if it had been lost. Raises NotStartedError."""
        try:
            self._machine.ensure()
        except HostError as error:
            (problem,) = error.problems
            raise NotStartedError(problem.where, problem.found, problem.expected, problem.fix) from None
        with super().running():
            yield

    def exchange(self, line: bytes, limit_s: float) -> ProbeAnswer:
        """Hand the line over, and return the answer.

        Raises:
            NotStartedError: the probe did not begin: no connection, no room, or the run before has not ended.
            LostError: it began, and the connection did not last; or as of `ProbeProcess`.
        """
        answer = super().exchange(line, limit_s)
        code, said = answer.exit_code, last_line(_BOOT.sub(b"", answer.stderr.encode()).decode())
        if code in _OF_PROBE or code < 0:
            return answer
        if code == GONE:  # the next run makes it anew, with a connection that knows
            self._machine.close()
        where, found = called(self._machine.name), said or _WHY.get(code, f"exit code {code}")
        if self.first_line():
            raise LostError(
                where, f"the connection was lost: {found}", "one until the run has ended", "look at the network"
            )
        raise NotStartedError(where, f"the probe did not start: {found}", "a run", "look at that machine")

    def boot_id(self) -> str | None:
        """Return the boot in which the run was made; None where that was not told."""
        found = _BOOT.search(self._stderr)
        return found[1].decode() if found else None
