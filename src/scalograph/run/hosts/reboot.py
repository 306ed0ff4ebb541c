"""Another machine that is booted with the kernel of each run: its owner's program sets the next boot, and reboots.

Without that program nothing is booted, and it alone has the rights for it. What came up is proved by the release that
the kernel gives of itself and by a new boot_id. The study goes on in the same journal, and there in a folder made anew.
"""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from scalograph.control.apply import apply
from scalograph.control.control import HeldSetting, Launch
from scalograph.errors import HostError
from scalograph.protocol.events import Record
from scalograph.protocol.facts import HostFacts
from scalograph.run.hosts.base import Host, Specification, Tell
from scalograph.run.hosts.ssh import SshHost, machine_of
from scalograph.run.hosts.ssh_client import UnreachableError, call, last_line, script
from scalograph.run.hosts.ssh_machine import SshMachine
from scalograph.run.interrupts import interruption, kept
from scalograph.run.plan import Plan
from scalograph.study.treatment import Treatment

PROGRAM = "scalograph-boot"
# A server may test its memory for minutes; then what starts with it takes CPUs for a while.
BOOT_S, SETTLE_S, PAUSE_S = 900.0, 180.0, 5.0
_ASK_S = 60.0
_RELEASE = re.compile(r"[0-9][\w.+~-]{0,63}", re.ASCII)
_NOW = re.compile(r"([0-9][\w.+~-]{0,63})\n([0-9a-f-]{36})\n", re.ASCII)
NOW = "uname -r && cat /proc/sys/kernel/random/boot_id"
BOOT = f'exec {PROGRAM} "$1"'
_HOWTO = "see docs/howto/another-machine.md"


def _called(name: str) -> str:
    return f"--host reboot:{name}"


class Boot(NamedTuple):
    """A boot of the machine: the release of its kernel, and what the kernel calls that boot."""

    release: str
    boot_id: str


def connect(name: str, wait_s: float | None = None) -> Host:
    """Return the machine that ssh knows by a name, to be booted with the kernels that it has.

    Raises:
        StudyError: it is no such name.
        HostError: as of `ssh.connect`; or it has no program that boots it, or tells no kernels.
    """
    machine = machine_of(name, wait_s, "reboot")
    try:
        return RebootHost(machine)
    except BaseException:
        machine.close()
        raise


class RebootHost(SshHost):
    """Another machine, booted before a run that asks for another kernel, and at the end with the first one again."""

    def __init__(self, machine: SshMachine) -> None:
        super().__init__(machine)
        self._tell: Tell = lambda text: None
        if machine.find(machine.facts.environment.get("PATH", ""), [PROGRAM]) == [None]:
            found, fix = f"no program {PROGRAM}", f"put it there: {_HOWTO}"
            raise HostError(_called(machine.name), found, "one that boots a kernel by its release", fix)
        files = call(machine.name, ("ls", "/boot")).splitlines()
        named = (file.removeprefix("vmlinuz-") for file in files if file.startswith("vmlinuz-"))
        self._releases = tuple(sorted(release for release in named if _RELEASE.fullmatch(release)))
        if not self._releases:
            raise HostError(_called(machine.name), "no kernel in /boot", "files vmlinuz-RELEASE", "use --host ssh:NAME")
        self._first = self._running = self._asked()

    def facts(self) -> HostFacts:
        """Return what that machine is; its kernel and its boot are those of each run."""
        known = {"offered_kernels": self._releases, "kernel": None, "boot_id": None}
        return super().facts().model_copy(update=known)

    def ready(self, planned: Plan, tell: Tell) -> Plan:
        """Do so as over ssh.

        Raises:
            HostError: the study has a `setup`; or as of `SshHost`.
        """
        if "setup" in planned.program.steps:
            fix = "do it before each run: workload.prepare"
            raise HostError("workload.setup", "before reboots, which may undo it", "a study without", fix)
        self._tell = tell
        return super().ready(planned, tell)

    @contextmanager
    def hold(self, planned: Plan, treatment: Treatment) -> Iterator[list[HeldSetting]]:
        """Boot the kernel of a treatment, unless it runs.

        Raises:
            HostError: it does not come up, or another one does.
            KeyboardInterrupt: a signal came meanwhile.
        """
        release = apply(planned.design.study, treatment, Launch(), planned.facts).kernel
        if release is not None and release != self._running.release:
            self._booted(release)
        with super().hold(planned, treatment) as held:
            yield held

    def close(self) -> None:
        """End the connection, and boot the kernel that was found at first, without waiting for it."""
        super().close()
        if self._running.release == self._first.release:
            return
        try:
            if self._asked().release != self._first.release:
                self._start(self._first.release)
        except HostError as error:
            self._tell(f"it may still run another kernel than at first, {self._first.release}: {error}")

    def _start(self, release: str) -> None:
        """Have the kernel booted. Raises HostError where the program there says why not."""
        self._tell(f"{self._machine.name}: boots kernel {release}")
        try:
            call(self._machine.name, script(BOOT, release), limit_s=_ASK_S)
        except UnreachableError:
            pass  # it may take the connection along
        except HostError as error:
            found = f"{PROGRAM} {release}: {error.problems[0].found}"
            raise HostError(_called(self._machine.name), found, "a reboot into that kernel", _HOWTO) from None

    def _measured(self, spec: Specification, folder: Path) -> Record:
        record = super()._measured(spec, folder)
        if record.boot_id in (None, self._running.boot_id):
            return record
        self._running = Boot("", str(record.boot_id))  # of which kernel is asked before the next run
        return record.failed("that machine was booted anew, and not by us")

    def _booted(self, release: str) -> None:
        """Boot a kernel, and make the folder there anew. The lock there is held until that machine goes down."""
        before = self._asked()
        if before.release != release:
            self._running = Boot("", before.boot_id)  # of a boot that does not end, nothing is known
            self._start(release)
            self._machine.close()
            before = self._back(release, before.boot_id)
        self._running = before
        self._machine.close()
        self._machine.ensure()
        self._refuse_other_cpus(release)
        self._settled()

    def _asked(self) -> Boot:
        answer = call(self._machine.name, script(NOW), limit_s=_ASK_S)
        if (found := _NOW.fullmatch(answer)) is None:
            raise HostError(_called(self._machine.name), f"told {last_line(answer)}", "its kernel and its boot", _HOWTO)
        return Boot(found[1], found[2])

    def _back(self, release: str, boot_id: str) -> Boot:
        """Return the boot that came up, once it answers."""
        until = time.monotonic() + BOOT_S
        while time.monotonic() < until:
            if (number := kept()) is not None:
                raise interruption(number)
            time.sleep(PAUSE_S)
            with suppress(UnreachableError):
                if (now := self._asked()).boot_id != boot_id:
                    return self._as_asked(release, now)
        found = f"not booted {BOOT_S:g} s after {PROGRAM} {release}"
        raise HostError(_called(self._machine.name), found, "an answer from a new boot", "look at its console")

    def _as_asked(self, release: str, now: Boot) -> Boot:
        self._running = now
        if now.release != release:
            found = f"{PROGRAM} {release} booted {now.release}"
            raise HostError(_called(self._machine.name), found, f"kernel {release}", _HOWTO)
        return now

    def _refuse_other_cpus(self, release: str) -> None:
        """Refuse a kernel under which masks would mean other CPUs."""
        before, now = ([one.cpu for one in facts.cpus] for facts in (self._machine.facts, self._machine.told()))
        if before != now:
            found = f"CPUs {now} under kernel {release}"[:200]
            raise HostError(_called(self._machine.name), found, f"{before}"[:200], "leave that kernel out")

    def _settled(self) -> None:
        """Wait until nothing that starts with the machine has its CPUs, within a limit."""
        until = time.monotonic() + SETTLE_S
        while not (seen := self.look()).quiet and kept() is None:
            if time.monotonic() > until:
                self._tell(f"{self._machine.name} is busy {SETTLE_S:g} s after its boot: {seen}")
                return
            time.sleep(PAUSE_S)
