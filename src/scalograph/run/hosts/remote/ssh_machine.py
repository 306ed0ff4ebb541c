"""Hold a private folder on another machine, as long as one connection lives, and the machine's lock with it.

Two studies at once would measure each other. With the connection, however it ends, the folder goes; the next run makes
both anew.
"""

import hashlib
import os
import re
import secrets
import select
import struct
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts
from scalograph.run.hosts.remote import ssh_client
from scalograph.run.hosts.remote.ssh_copy import write_archive
from scalograph.run.hosts.remote.ssh_facts import FACTS, RemoteFacts, parse_answer, parse_capabilities, read_facts

PROBE = "scalograph-probe"
# For another start there to end; and for a run whose connection was lost, before the next one or the folder's end.
LOCK_S, RUN_S = 10.0, 30
# The lock of a lost connection is held until the run that it leaves has ended, and the folder is gone.
_CLOSE_S = RUN_S + 5.0
_MOST_SAID = 4096
# $1 folder, $2 how long to wait, $3 what is done with the lock. It is the one of `scalograph.control.shared`; what is
# there already is no link.
HOLD = """\
umask 077
for place in /run/lock /tmp; do [ -k "$place" ] && [ -w "$place" ] && break; done
lock=$place/scalograph.lock
[ -e "$lock" ] || (umask 022; set -C; : >"$lock") 2>/dev/null
[ ! -L "$lock" ] && exec 9<"$lock" || { echo "$lock: no plain file" >&2; exit 3; }
flock -w "$2" -E 75 /proc/self/fd/9 sh -c "$3" scalograph "$1"
code=$?
[ $code != 75 ] || echo 'another start measures there' >&2
exit $code
"""
# $1 folder, which a boot may have left. `flock` lives as long as this: who starts there finds it as the lock's holder.
KEEP = f"""\
rm -rf -- "$1"
mkdir -- "$1" || exit 3
trap 'flock -w {RUN_S} "$1/run" true; rm -rf -- "$1"' EXIT
trap 'exit 0' HUP INT TERM PIPE
echo held
cat >/dev/null
"""
# $1 folder: a tar archive on standard input.
UNPACK = 'umask 077; exec tar -xf - -C "$1"'
# $1 folder: checksum of the probe, then what it is granted.
CHECK = f'sha256sum <"$1/{PROBE}" && exec "$1/{PROBE}" --capabilities'
# $1 PATH, then names of programs: for each its size, checksum and place, or `-`.
FIND = """\
set -f
path=$1
shift
for name; do
  found=
  case "$name" in
    */*) [ -f "$name" ] && [ -x "$name" ] && found=$name ;;
    *) IFS=:; for place in $path; do [ -f "$place/$name" ] && [ -x "$place/$name" ] && found=$place/$name && break; done
       unset IFS ;;
  esac
  if [ -z "$found" ]; then echo -; continue; fi
  found=$(readlink -f -- "$found")
  sum=$(sha256sum <"$found" 2>/dev/null)
  printf '%s %s %s\\n' "$(wc -c <"$found" 2>/dev/null || echo 0)" "${sum%% *}" "$found"
done
"""
# A program that may be started and not read has no checksum.
_FOUND = re.compile(r"([0-9]{1,18}) ([0-9a-f]{64}|) (/.{1,4095})", re.ASCII)
# ELF's numbers of instruction sets, as uname calls them.
_ELF = {3: "i686", 21: "ppc64le", 22: "s390x", 62: "x86_64", 183: "aarch64", 243: "riscv64", 258: "loongarch64"}


class FoundProgram(NamedTuple):
    """A program there: its path, size and checksum."""

    path: str
    n_bytes: int
    sha256: str


class SshMachine:
    """A machine that ssh knows by a name, and our folder there.

    Attributes:
        name: as ssh knows it.
        facts: what it is.
        folder: there; the same one after a lost connection.
    """

    def __init__(self, name: str, probe: Path, wait_s: float = LOCK_S) -> None:
        """Connect, waiting `wait_s` seconds for another session there, and prove that the probe runs there.

        Raises HostError: no connection, not Linux, another instruction set than the probe's, no room, or another
        session measures there.
        """
        self.name, self._probe = name, probe.resolve()  # a link would be copied as one
        self._wait_s = wait_s
        self._holder: subprocess.Popen[bytes] | None = None
        self._files: dict[str, Path] = {PROBE: self._probe}
        remote = parse_answer(name, ssh_client.call(name, ssh_client.script(FACTS)))
        if remote.system != "Linux":
            problem = f"a machine of {ssh_client.last_line(remote.system)}"
            raise HostError(ssh_client.machine_label(name), problem, "Linux", "use another machine")
        _refuse_other(name, remote.architecture, self._probe)
        parent = remote.environment.get("TMPDIR", "")
        self.folder = Path(parent if parent.startswith("/") else "/tmp", f"scalograph-{secrets.token_hex(12)}")  # noqa: S108
        try:
            self.ensure()
            self.facts = self._check_probe(remote)
        except BaseException:
            self.close()
            raise

    def read_current_facts(self) -> HostFacts:
        """Return what it is now: `facts` are those of the start. Raises HostError."""
        return self._check_probe(parse_answer(self.name, ssh_client.call(self.name, ssh_client.script(FACTS))))

    def _check_probe(self, remote: RemoteFacts) -> HostFacts:
        answer = ssh_client.call(self.name, ssh_client.script(CHECK, str(self.folder)))
        self._refuse_changed(answer.partition("\n")[0])
        return read_facts(self.name, remote, parse_capabilities(self.name, answer))

    def ensure(self) -> None:
        """Reconnect if the connection was lost, and copy again what lay there. Raises HostError."""
        if self._holder is not None and self._holder.poll() is None:
            return
        wait_s = self._wait_s + (0.0 if self._holder is None else RUN_S)
        self.close()
        self._open_connection(wait_s)
        self._send(self._files)

    def put(self, files: Mapping[str, Path]) -> None:
        """Copy files, links and folders there by these names, folders without their content.

        Raises HostError: one cannot be read, or there is no room there.
        """
        self.ensure()
        if new := {name: path for name, path in files.items() if name not in self._files}:
            self._send(new)
            self._files |= new

    def find(self, path: str, programs: Sequence[str]) -> list[FoundProgram | None]:
        """Return each of the programs (names or paths), None if it is not there; `path` is searched as PATH.

        Raises HostError: no connection.
        """
        lines = ssh_client.call(self.name, ssh_client.script(FIND, path, *programs)).splitlines()
        located: list[FoundProgram | None] = []
        for line in lines[: len(programs)]:
            match = _FOUND.fullmatch(line)
            located.append(FoundProgram(match[3], int(match[1]), match[2]) if match else None)
        return located + [None] * (len(programs) - len(located))

    def close(self) -> None:
        """Release folder and lock; wait no longer than what ends there may take."""
        holder, self._holder = self._holder, None
        if holder is None:
            return
        assert holder.stdin is not None
        with holder:
            try:
                with suppress(subprocess.TimeoutExpired, BrokenPipeError):
                    holder.stdin.close()
                    holder.wait(_CLOSE_S)
            finally:
                holder.kill()

    def _open_connection(self, wait_s: float) -> None:
        """Create the folder, by a connection that stays, once the lock there is ours."""
        argv = ssh_client.ssh_argv(self.name, ssh_client.script(HOLD, str(self.folder), f"{wait_s:.3f}", KEEP))
        pipe = subprocess.PIPE
        try:
            holder = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
        except OSError as error:
            raise ssh_client.no_client(self.name, error) from None
        self._holder = holder
        if _first_line(holder.stdout, 3 * ssh_client.CONNECT_S + wait_s) != b"held":
            holder.kill()
            holder.wait()
            ssh_client.refuse_failure(self.name, max(holder.returncode, 1), _read_rest(holder.stderr))

    def _send(self, files: Mapping[str, Path]) -> None:
        # As long as it is: a connection that stands still ends by itself.
        ssh_client.call(self.name, ssh_client.script(UNPACK, str(self.folder)), partial(write_archive, files))

    def _refuse_changed(self, line: str) -> None:
        """Refuse a probe that did not arrive as it is here."""
        with self._probe.open("rb") as stream:
            expected = hashlib.file_digest(stream, "sha256").hexdigest()
        if (digest := line.split(" ")[0]) != expected:
            problem = f"a probe of checksum {ssh_client.last_line(digest)[:16]}"
            raise HostError(ssh_client.machine_label(self.name), problem, expected[:16], "try again")


def _first_line(stream: IO[bytes] | None, limit_s: float) -> bytes:
    """Return the first line, or what came of it in that time."""
    assert stream is not None
    line, until = b"", time.monotonic() + limit_s
    while not line.endswith(b"\n") and len(line) < 80:
        ready, _, _ = select.select([stream], [], [], max(0.0, until - time.monotonic()))
        byte = stream.raw.read(1) if ready else b""  # type: ignore[attr-defined]
        if not byte:
            break
        line += byte
    return line.strip()


def _read_rest(stream: IO[bytes] | None) -> str:
    """Return what an ended program wrote, as far as it is there; nobody else with its stream is waited for."""
    assert stream is not None
    os.set_blocking(stream.fileno(), False)
    with suppress(BlockingIOError):
        return os.read(stream.fileno(), _MOST_SAID).decode(errors="replace")
    return ""


def _refuse_other(name: str, architecture: str, probe: Path) -> None:
    """Refuse a machine on which the probe cannot start; what is no ELF file (a script) may run anywhere."""
    with probe.open("rb") as stream:
        head = stream.read(20)
    if head[:4] != b"\x7fELF" or len(head) < 20:
        return
    own = _ELF.get(struct.unpack("<H" if head[5] == 1 else ">H", head[18:20])[0], "another one")
    if architecture != own:
        fix = f"set SCALOGRAPH_PROBE to a probe for {ssh_client.last_line(architecture)}"
        problem = f"a machine of {ssh_client.last_line(architecture)}"
        raise HostError(ssh_client.machine_label(name), problem, f"{own}, as {probe.name} is", fix)
