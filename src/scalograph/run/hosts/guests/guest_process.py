"""Run one guest as a probe process: QEMU boots a kernel, whose first program hands the line to the probe within.

Specification and record pass by a serial port. All else lies in a folder that the guest shares: `up` says what was
booted, `exit` how the probe ended.
"""

import os
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, Literal

from scalograph.protocol.bounded import read_below
from scalograph.protocol.record_processes import MAX_TEXT, Guest
from scalograph.run.hosts.guests.initramfs import initramfs
from scalograph.run.hosts.guests.kernel_packages import IMAGE, MODULES
from scalograph.run.hosts.local.probe_process import LostError, NotStartedError, ProbeAnswer, ProbeProcess
from scalograph.run.interrupts import run_contained

# What we start ends with us, however that is.
TIED = ("setpriv", "--pdeathsig", "KILL", "--")
_START_S = 10.0
# Of the successor of the one that came with QEMU, in its newer releases.
_READ_ONLY = "--readonly"
# Of what it said, the end; a pipe that nobody reads would stop it one day.
_TAIL, _FOLDER_SERVER_SHOWN_LINES = 4096, 300


class FolderServer:
    """virtiofsd and its log; kept open, for a name of it may be the guest's by now."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: BinaryIO) -> None:
        self._process, self._log = process, log

    def has_ended(self) -> bool:
        """Tell whether it serves no more."""
        return self._process.poll() is not None

    def has_failed(self) -> bool:
        """Tell whether it ended otherwise than when its guest goes."""
        return self.has_ended() and self._process.returncode != 0

    def last_line(self) -> str:
        """Return the end of the last line that it wrote; empty if it wrote none."""
        fd = self._log.fileno()
        lines = os.pread(fd, _TAIL, max(0, os.fstat(fd).st_size - _TAIL)).decode(errors="replace").strip().splitlines()
        return lines[-1][-_FOLDER_SERVER_SHOWN_LINES:] if lines else ""


@contextmanager
def serve_folder(virtiofsd: str, folder: Path, socket: Path, is_read_only: bool = False) -> Iterator[FolderServer]:
    """Serve a folder to one guest by `socket`, its log beside it. The server ends when the guest goes, and with us.

    `is_read_only`: nothing is written for the guest, if virtiofsd offers that.

    Raises NotStartedError: it does not come up, with its last line.
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
    refusing = (_READ_ONLY,) if is_read_only and _READ_ONLY in _read_help(virtiofsd) else ()
    return ("--shared-dir", str(folder), "--sandbox", "none", "--log-level", "error", f"--{kept}", *refusing)


def _read_help(virtiofsd: str) -> str:
    try:
        return run_contained([virtiofsd, "--help"], os.environ, _START_S).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _wait_for(socket: Path, server: FolderServer) -> None:
    until = time.monotonic() + _START_S
    while not socket.exists():
        if (server.has_ended() and not socket.exists()) or time.monotonic() > until:
            problem = f"virtiofsd: {server.last_line()!a}"
            raise NotStartedError("guest", problem, "its socket", "try it by hand, as root")
        time.sleep(0.01)


# What a guest may take to come up: emulated, on two CPUs at a load of 7 to 19, 20 to 60 s were seen.
BOOT_S = 120.0
_CODE = re.compile("[0-9]{1,3}")
_SHOWN_LINES, _SHOWN = 4, 160

Accelerator = Literal["kvm", "tcg"]


@dataclass(frozen=True)
class GuestPrograms:
    """Paths of the programs that guests need."""

    qemu: str
    virtiofsd: str
    busybox: str


@dataclass(frozen=True)
class GuestMachine:
    """A guest before it is started.

    Attributes:
        kernel: folder with its image and modules.
        options: words that are added to the command line of the kernel.
        accelerator: kvm or tcg.
        n_cpus: virtual CPUs that it has.
        memory_bytes: memory that it has.
        folder: of the run, the only one of the machine that it may change; it has the same name in the guest.
        probe: path of the program that makes the run.
        settings: files of /proc and /sys that it reads, and what it writes there (`guest_settings.lines`).
        scheduler: path of the program of sched_ext that it starts before its run; empty for none.
    """

    kernel: Path
    options: str
    accelerator: Accelerator
    n_cpus: int
    memory_bytes: int
    folder: Path
    probe: str
    settings: str = ""
    scheduler: str = ""


class GuestProcess(ProbeProcess):
    """QEMU, from its start to the end of its guest. The console is its standard error."""

    START_S = BOOT_S
    _boot_s: float | None

    def __init__(self, programs: GuestPrograms, machine: GuestMachine, boot: Path, limit_s: float = BOOT_S) -> None:
        """Prepare a guest.

        `boot` is an empty folder for its start, which it may write to; `limit_s` the seconds it may take to come up.
        """
        self._programs, self._machine, self._boot, self._limit_s = programs, machine, boot, limit_s
        self._shares = {"host": Path("/"), "boot": boot, "run": machine.folder}
        self._began, self._boot_s, self._servers = 0.0, None, list[FolderServer]()
        super().__init__((*TIED, *self._qemu()))

    @contextmanager
    def running(self) -> Iterator[None]:
        """Share the folders and start the guest; at the end, on whatever way, both are gone.

        Raises NotStartedError: a folder cannot be shared, or QEMU is not there.
        """
        self._write_boot_files()
        with ExitStack() as held:
            for tag, folder in self._shares.items():
                server = serve_folder(self._programs.virtiofsd, folder, self._boot / f"{tag}.sock", tag == "host")
                self._servers.append(held.enter_context(server))
            self._began = time.monotonic()
            with super().running():
                yield

    def check(self) -> None:
        """Raise LostError where the guest did not come up in time."""
        if self._boot_s is not None:
            return
        waited = time.monotonic() - self._began
        if (self._boot / "up").exists():
            self._boot_s = waited
        elif waited > self._limit_s:
            raise LostError("guest", f"did not boot within {self._limit_s:g} s", "a run", "look at its kernel")

    def end(self, stream: IO[bytes]) -> None:
        """Close a stream, but for the serial port's: QEMU would then take it away from the guest."""
        if stream is not self.process.stdin:
            super().end(stream)

    def exchange(self, line: bytes, limit_s: float) -> ProbeAnswer:
        """Hand the line in and return the answer, as the probe in the guest ended.

        Raises LostError: the guest did not boot, ended before the probe did, or gave no answer in time; with the last
        that it said.
        """
        try:
            answer = super().exchange(line, limit_s)
        except LostError as error:
            raise self._lost_error(error.problems[0].found) from None
        code = self._read_boot_file("exit").strip()
        if not _CODE.fullmatch(code):
            up = "ended before its run did" if (self._boot / "up").exists() else "did not boot"
            raise self._lost_error(up)
        return ProbeAnswer(int(code), answer.output, answer.stderr)

    def guest(self) -> Guest | None:
        """Return what was booted, as the guest reports it; None if it did not come up."""
        lines = self._read_boot_file("up").splitlines()
        if len(lines) < 3 or self._boot_s is None:
            return None
        return Guest(
            kernel=lines[0], command_line=lines[1], cpus=lines[2], accelerator=self._machine.accelerator,
            boot_ns=round(1e9 * self._boot_s),
        )  # fmt: skip

    def _read_boot_file(self, name: str) -> str:
        """Return what the guest wrote to its boot folder; empty if that is no file of a few lines."""
        with suppress(OSError):
            return read_below(self._boot, name, MAX_TEXT)
        return ""

    def _write_boot_files(self) -> None:
        machine = self._machine
        words = {"folder": machine.folder, "probe": machine.probe, "scheduler": machine.scheduler}
        texts = {name: f"{line}\n" for name, line in words.items()} | {"settings": machine.settings}
        for name, text in texts.items():
            (self._boot / name).write_text(text, encoding="utf-8")
        modules = sorted((self._machine.kernel / MODULES).iterdir())
        (self._boot / "initramfs").write_bytes(initramfs(Path(self._programs.busybox).read_bytes(), modules))

    def _lost_error(self, how: str) -> LostError:
        lines = [line.strip()[:_SHOWN] for line in self._stderr.decode(errors="replace").splitlines() if line.strip()]
        # What follows a panic is where it came from.
        grave = [line for line in lines if "panic" in line or "Out of memory" in line]
        output = " | ".join(grave[:_SHOWN_LINES] or lines[-_SHOWN_LINES:])
        failed = [f"virtiofsd: {server.last_line()!a}" for server in self._servers if server.has_failed()]
        problem = "; ".join([how, *failed[:1], f"it said: {output!a}"])
        return LostError("guest", problem, "a run", "look at its kernel and its memory")

    def _qemu(self) -> Iterator[str]:
        machine, memory = self._machine, f"{self._machine.memory_bytes >> 20}M"
        options = f"console=ttyS0 panic=-1 loglevel=4 {machine.options}".strip()
        yield self._programs.qemu
        yield from ("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-nic", "none")
        yield from ("-accel", machine.accelerator, "-cpu", "host" if machine.accelerator == "kvm" else "max")
        yield from ("-smp", f"cpus={machine.n_cpus},sockets=1,cores={machine.n_cpus},threads=1", "-m", memory)
        yield from ("-object", f"memory-backend-memfd,id=memory,size={memory},share=on")
        yield from ("-machine", "pc,memory-backend=memory", "-kernel", str(machine.kernel / IMAGE))
        yield from ("-initrd", str(self._boot / "initramfs"), "-append", options)
        yield from ("-chardev", "file,id=console,path=/dev/stderr", "-serial", "chardev:console")
        yield from ("-chardev", "stdio,id=probe,signal=off", "-device", "virtio-serial-pci")
        yield from ("-device", "virtserialport,chardev=probe,name=probe")
        for tag in self._shares:
            socket = f"{self._boot / tag}.sock".replace(",", ",,")  # one comma would begin another option
            yield from ("-chardev", f"socket,id={tag},path={socket}")
            yield from ("-device", f"vhost-user-fs-pci,chardev={tag},tag={tag}")
