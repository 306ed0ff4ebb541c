"""Boot another machine with the kernel of each run: its owner's program sets the next boot, and reboots.

Without that program nothing is booted, and it alone has the rights for it. What came up is proved by the release that
the kernel reports and by a new boot_id. The study goes on in the same journal, in a folder made anew there.
"""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from scalograph.control.apply import apply
from scalograph.control.control import HeldSetting, Launch
from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.record import Record
from scalograph.run.hosts.base import Host, Specification, Tell
from scalograph.run.hosts.remote.ssh import SshHost, open_machine
from scalograph.run.hosts.remote.ssh_client import UnreachableError, call, last_line, script
from scalograph.run.hosts.remote.ssh_machine import SshMachine
from scalograph.run.interrupts import make_interrupt, pending_signal
from scalograph.run.plan import Plan
from scalograph.study.levels import Configuration
from scalograph.text.units import format_duration

PROGRAM = "scalograph-boot"
HOWTO = "see docs/howto/another-machine.md"
_ASK_S = 60.0
_RELEASE = re.compile(r"[0-9][\w.+~-]{0,63}", re.ASCII)
_NOW = re.compile(r"([0-9][\w.+~-]{0,63})\n([0-9a-f-]{36})\n", re.ASCII)
NOW = "uname -r && cat /proc/sys/kernel/random/boot_id"
_PLACE = "umask 077; place=${XDG_STATE_HOME:-$HOME/.local/state}/scalograph; kept=$place/first-kernel\n"
# Two releases: of the kernel that was found at first, and of the one that was booted instead.
KEPT = f'{_PLACE}[ ! -f "$kept" ] || head -c 256 -- "$kept"'
FORGET = f'{_PLACE}rm -f -- "$kept"'
# $1 release, $2 that of the first kernel. What is kept is on the disk before the other one is booted.
BOOT = f"""\
{_PLACE}\
if [ "$1" = "$2" ]; then {PROGRAM} "$1" && rm -f -- "$kept"; exit; fi
mkdir -p -- "$place" && echo "$2 $1" >"$kept.new" && sync "$kept.new" && mv -f -- "$kept.new" "$kept" &&
  sync "$place" && exec {PROGRAM} "$1"
"""


class Boot(NamedTuple):
    """A boot of the machine: the release of its kernel, and the boot_id."""

    release: str
    boot_id: str


def reboot_name(name: str) -> str:
    """Return a machine that is booted as messages name it."""
    return f"--host reboot:{name}"


def installed_kernels(name: str) -> tuple[str, ...]:
    """Return the releases of the kernels in /boot of a machine. Raises HostError."""
    files = call(name, ("ls", "/boot")).splitlines()
    named = (file.removeprefix("vmlinuz-") for file in files if file.startswith("vmlinuz-"))
    return tuple(sorted(release for release in named if _RELEASE.fullmatch(release)))


def read_boot(name: str) -> Boot:
    """Return the boot that a machine is in. Raises UnreachableError, HostError."""
    answer = call(name, script(NOW), limit_s=_ASK_S)
    if (match := _NOW.fullmatch(answer)) is None:
        raise HostError(reboot_name(name), f"told {last_line(answer)}", "its kernel and its boot", HOWTO)
    return Boot(match[1], match[2])


def find_first_kernel(name: str, release: str) -> str | None:
    """Return the release that ran before a killed session booted the running one; None if none did.

    Raises HostError: no connection.
    """
    first, _, booted = call(name, script(KEPT)).strip().partition(" ")
    return first if booted == release != first and _RELEASE.fullmatch(first) else None


def begin_boot(name: str, release: str, first: str) -> None:
    """Boot a kernel, after saving there the release of the `first` one; if it is that one, nothing is saved any more.

    Raises HostError: the program there says why not, or its home cannot be written to.
    """
    try:
        call(name, script(BOOT, release, first), limit_s=_ASK_S)
    except UnreachableError:
        pass  # it may take the connection along
    except HostError as error:
        problem = f"{PROGRAM} {release}: {error.problems[0].found}"
        raise HostError(reboot_name(name), problem, "a reboot into that kernel", HOWTO) from None


# A server may test its memory for minutes; then what starts with it takes CPUs for a while.
BOOT_S, SETTLE_S, PAUSE_S = 900.0, 180.0, 5.0


def connect(name: str, wait_s: float | None = None) -> Host:
    """Return the machine that ssh knows by a name, to be booted with the kernels that it has.

    Raises StudyError: it is no such name. HostError: as of `ssh.connect`; or it has no program that boots it, or
    reports no kernels.
    """
    machine = open_machine(name, wait_s, "reboot")
    try:
        return RebootHost(machine)
    except BaseException:
        machine.close()
        raise


class RebootHost(SshHost):
    """Another machine, booted before a run that asks for another kernel, and at the end with the first one."""

    def __init__(self, machine: SshMachine) -> None:
        super().__init__(machine)
        self._tell: Tell | None = None
        if machine.find(machine.facts.environment.get("PATH", ""), [PROGRAM]) == [None]:
            problem, fix = f"no program {PROGRAM}", f"put it there: {HOWTO}"
            raise HostError(reboot_name(machine.name), problem, "one that boots a kernel by its release", fix)
        self._releases = installed_kernels(machine.name)
        if not self._releases:
            fix = "use --host ssh:NAME"
            raise HostError(reboot_name(machine.name), "no kernel in /boot", "files vmlinuz-RELEASE", fix)
        self._running = read_boot(machine.name)
        first = find_first_kernel(machine.name, self._running.release)
        self._first = first if first and first in self._releases else self._running.release
        self._boot_until = 0.0

    def facts(self) -> HostFacts:
        """Return what that machine is; its kernel and its boot are those of each run."""
        changes = {"offered_kernels": self._releases, "kernel": None, "boot_id": None}
        return super().facts().model_copy(update=changes)

    def ready(self, planned: Plan, tell: Tell) -> Plan:
        """Make ready as over ssh; report a kernel that a killed session has left running.

        Raises HostError: the study has a `setup`; or as of `SshHost`.
        """
        if "setup" in planned.program.steps:
            fix = "do it before each run: workload.prepare"
            raise HostError("workload.setup", "before reboots, which may undo it", "a study without", fix)
        self._tell = tell
        if self._first != self._running.release:
            left = f"{self._machine.name} runs kernel {self._running.release} since a start that was killed"
            tell(f"{left}: at the end {self._first} is booted, which ran before")
        return super().ready(planned, tell)

    @contextmanager
    def apply_settings(self, planned: Plan, configuration: Configuration) -> Iterator[list[HeldSetting]]:
        """Boot the kernel of a configuration, unless it runs.

        Raises HostError: it does not come up, or another one does; KeyboardInterrupt: a signal came meanwhile.
        """
        release = apply(planned.design.study, configuration, Launch(), planned.facts).kernel
        if release is not None and release != self._running.release:
            self._boot_kernel(release)
        with super().apply_settings(planned, configuration) as held:
            yield held

    def close(self) -> None:
        """End the connection; boot the first kernel, without waiting for it, if any run was asked for."""
        super().close()
        if self._tell is None:
            return
        try:
            if self._final_boot().release == self._first:
                call(self._machine.name, script(FORGET))
            else:
                self._begin(self._first)
        except HostError as error:
            self._report(f"it may still run another kernel than at first, {self._first}: {error}")

    def _final_boot(self) -> Boot:
        """Return what runs at the end; a boot in progress is waited for, as long as it may take."""
        if self._running.release == self._first:
            return self._running
        if time.monotonic() >= self._boot_until:
            return read_boot(self._machine.name)
        left = f"another Ctrl-C leaves it to the next start to boot kernel {self._first}"
        self._report(f"waiting until {self._machine.name} is up; {left}")
        return self._await_boot()

    def _report(self, text: str) -> None:
        if self._tell is not None:
            self._tell(text)

    def _begin(self, release: str) -> None:
        """Boot a kernel: of a boot that does not end, nothing is known. Raises HostError."""
        name = self._machine.name
        self._report(f"{name}: boots kernel {release}")
        self._running, self._boot_until = Boot("", self._running.boot_id), time.monotonic() + BOOT_S
        try:
            begin_boot(name, release, self._first)
        except HostError:
            self._boot_until = 0.0
            raise

    def _run_probe(self, spec: Specification, folder: Path) -> Record:
        record = super()._run_probe(spec, folder)
        if record.boot_id in (None, self._running.boot_id):
            return record
        self._running = Boot("", str(record.boot_id))  # of which kernel is asked before the next run
        return record.mark_failed("that machine was booted anew, and not by us")

    def _boot_kernel(self, release: str) -> None:
        """Boot a kernel, and create the folder there anew. The lock there is held until that machine goes down."""
        self._running = read_boot(self._machine.name)
        if self._running.release != release:
            began = time.monotonic()
            self._begin(release)
            self._machine.close()
            if self._await_boot().release != release:
                problem = f"{PROGRAM} {release} booted {self._running.release}"
                raise HostError(reboot_name(self._machine.name), problem, f"kernel {release}", HOWTO)
            self._report(f"{self._machine.name}: up after {format_duration(time.monotonic() - began)}")
        self._machine.close()
        self._machine.ensure()
        self._refuse_other_cpus(release)
        self._await_quiet()

    def _await_boot(self) -> Boot:
        """Return the boot that comes up, of whichever kernel. On its way down and up a machine says many things.

        Raises HostError: none does in time; KeyboardInterrupt: a signal came meanwhile.
        """
        before, answer = self._running.boot_id, "it goes on as before"
        while time.monotonic() < self._boot_until:
            if (number := pending_signal()) is not None:
                raise make_interrupt(number)
            time.sleep(PAUSE_S)
            try:
                now = read_boot(self._machine.name)
            except HostError as error:
                answer = error.problems[0].found
                continue
            if now.boot_id != before:
                self._running, self._boot_until = now, 0.0
                return now
        problem = f"not booted {BOOT_S:g} s after {PROGRAM}: {answer}"
        raise HostError(reboot_name(self._machine.name), problem, "an answer from a new boot", "look at its console")

    def _refuse_other_cpus(self, release: str) -> None:
        """Refuse a kernel under which masks would mean other CPUs."""
        before, now = (
            [cpu.cpu for cpu in facts.cpus] for facts in (self._machine.facts, self._machine.read_current_facts())
        )
        if before != now:
            problem = f"CPUs {now} under kernel {release}"[:200]
            raise HostError(reboot_name(self._machine.name), problem, f"{before}"[:200], "leave that kernel out")

    def _await_quiet(self) -> None:
        """Wait until what starts with the machine leaves its CPUs, within a limit."""
        until = time.monotonic() + SETTLE_S
        while not (seen := self.sample_load()).quiet and pending_signal() is None:
            if time.monotonic() > until:
                self._report(f"{self._machine.name} is busy {SETTLE_S:g} s after its boot: {seen}")
                return
            time.sleep(PAUSE_S)
