"""A disk of Debian with GRUB, sshd and two kernels, and the guest that boots from it: the machine of reboot_guest.

mmdebstrap makes the files, mke2fs a partition of them, both without mounts of the disk. The first boot is by QEMU
itself: in it grub-install and update-grub make the disk one that boots, as a person would.
"""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from scalograph.run.hosts.guests.kernel_packages import newest_package, offered_kernels
from scalograph.run.hosts.remote.ssh_client import NO_CONNECTION

NAME, DISK_BYTES, FIRST_SECTOR = "vm", 3 << 30, 2048
# Programs, and the packages of Debian that have them.
TOOLS = {
    "qemu-system-x86_64": "qemu-system-x86", "mmdebstrap": "mmdebstrap", "mke2fs": "e2fsprogs", "setpriv": "util-linux",
    "ssh": "openssh-client", "ssh-keygen": "openssh-client", "apt-cache": "apt",
}  # fmt: skip
PACKAGES = (
    "systemd-sysv", "udev", "dbus", "libpam-systemd", "openssh-server", "grub-pc-bin", "grub2-common",
    "initramfs-tools", "kexec-tools",
)  # fmt: skip
# What begins on its own and takes the CPU for minutes.
TIMERS = ("apt-daily", "apt-daily-upgrade", "dpkg-db-backup", "e2scrub_all", "fstrim")
# The words of docs/howto/another-machine.md.
BOOT = """\
#!/bin/sh
grub-reboot "Advanced options for Debian GNU/Linux>Debian GNU/Linux, with Linux $1" && systemctl reboot
"""
KEXEC = """\
#!/bin/sh
kexec -l "/boot/vmlinuz-$1" --initrd="/boot/initrd.img-$1" --reuse-cmdline && systemctl kexec
"""
GRUB = """\
GRUB_DEFAULT=saved
GRUB_TIMEOUT=1
GRUB_DISTRIBUTOR=Debian
GRUB_CMDLINE_LINUX="console=ttyS0 net.ifnames=0"
GRUB_TERMINAL=serial
GRUB_SERIAL_COMMAND="serial --unit=0 --speed=115200"
"""
NETWORK = "[Match]\nName=eth0\n[Network]\nDHCP=ipv4\n"
FILES = {"etc/hostname": "vm\n", "etc/default/grub": GRUB, "etc/systemd/network/eth0.network": NETWORK}
CLIENT = """\
Host vm
  HostName 127.0.0.1
  Port {port}
  User root
  IdentityFile {folder}/key
  IdentitiesOnly yes
  StrictHostKeyChecking accept-new
  UserKnownHostsFile {folder}/known
"""
# A first boot finds the disk by its place: it has no boot loader yet.
FIRST = "root=/dev/vda1 rw console=ttyS0 net.ifnames=0"
INSTALL = "grub-install /dev/vda && update-grub && grub-editenv - list"
UP_S, DOWN_S = 900.0, 180.0
# An emulated machine beside others may take a minute for one connection.
ATTEMPTS = 5


@dataclass(frozen=True)
class Disk:
    """A disk as it is kept: `folder` has it, the key of ssh, and the first boot's files by release."""

    folder: Path

    @property
    def image(self) -> Path:
        """The disk itself, which is there once it boots."""
        return self.folder / "disk.img"

    def releases(self) -> list[str]:
        """Kernels that it has."""
        return sorted(file.name.removeprefix("vmlinuz-") for file in self.folder.glob("vmlinuz-*"))


class Guest(NamedTuple):
    """A guest that is up: the words of ssh that reach it, and its process."""

    ssh: list[str]
    process: "subprocess.Popen[bytes]"


def missing_tools() -> list[str]:
    """What is not installed here, each with what installs it."""
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    return [
        f"{name}: apt-get install {package}" for name, package in TOOLS.items() if not shutil.which(name, path=path)
    ]


def kernel_packages(levels: Sequence[str]) -> list[str]:
    """Packages of the newest kernels of two levels, else of the oldest and the newest cloud kernel that are offered."""
    found = list(levels) or [level for level in offered_kernels() if level.endswith("-cloud")]
    names = subprocess.run(["apt-cache", "pkgnames", "linux-image-"], capture_output=True, text=True, check=True)
    packages = list(dict.fromkeys(newest_package(level, names.stdout.split()) for level in (found[0], found[-1])))
    if len(packages) < 2:
        raise SystemExit(f"one kernel alone, {packages}; name two: --kernels 6.1-cloud,6.1-rt")
    return packages


def made(folder: Path, sources: Path, levels: Sequence[str]) -> Disk:
    """Return the disk in a folder, made if it is not there."""
    disk = Disk(folder)
    if disk.image.exists():
        return disk
    folder.mkdir(parents=True, exist_ok=True)
    files, raw = folder / "files", folder / "raw.img"
    shutil.rmtree(files, ignore_errors=True)
    (folder / "known").unlink(missing_ok=True)
    if not (folder / "key").exists():
        _carried_out("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / "key"))
    include = ",".join([*PACKAGES, *kernel_packages(levels)])
    release = _code_name()
    options = _apt_options(folder / "apt.conf")
    _carried_out(
        "mmdebstrap", "--variant=apt", f"--aptopt={options}", f"--include={include}", release, str(files), str(sources)
    )  # fmt: skip
    options.unlink()
    _filled(disk, files)
    _partitioned(files, raw)
    shutil.rmtree(files)
    with guest(disk, raw, disk.releases()[-1]) as up:
        print(answered(up.ssh, INSTALL), flush=True)
        subprocess.run([*up.ssh, "systemctl poweroff"], check=False)
        up.process.wait(DOWN_S)
    raw.rename(disk.image)
    return disk


def _apt_options(file: Path) -> Path:
    """How apt of this machine reaches its mirrors, for the apt of the disk."""
    done = subprocess.run(["apt-config", "dump", "Acquire"], capture_output=True, text=True, check=True)
    file.write_text(done.stdout)
    return file


def _code_name() -> str:
    lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    return next(line.partition("=")[2].strip('"') for line in lines if line.startswith("VERSION_CODENAME="))


def _filled(disk: Disk, files: Path) -> None:
    """Write what a person sets on a machine of their own; keep what QEMU boots at first."""
    units = {"multi-user.target.wants/systemd-networkd.service": "/lib/systemd/system/systemd-networkd.service"}
    for name, target in (units | {f"{name}.timer": os.devnull for name in TIMERS}).items():
        unit = files / "etc/systemd/system" / name
        unit.parent.mkdir(parents=True, exist_ok=True)
        unit.unlink(missing_ok=True)
        unit.symlink_to(target)
    key = (disk.folder / "key.pub").read_text()
    root = f"UUID={_uuid(disk)} / ext4 errors=remount-ro 0 1\n"
    for name, text in (FILES | {"root/.ssh/authorized_keys": key, "etc/fstab": root}).items():
        (files / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        (files / name).write_text(text)
    write_program(files / "usr/local/sbin/scalograph-boot", BOOT)
    for kernel in sorted((files / "boot").glob("vmlinuz-*")):
        for file in (kernel, kernel.with_name(kernel.name.replace("vmlinuz", "initrd.img"))):
            shutil.copy(file, disk.folder / file.name)


def write_program(file: Path, text: str) -> None:
    """Write a program."""
    file.write_text(text)
    file.chmod(0o755)


def _uuid(disk: Disk) -> str:
    """The name of the file system, drawn once."""
    file = disk.folder / "uuid"
    if not file.exists():
        file.write_text(Path("/proc/sys/kernel/random/uuid").read_text())
    return file.read_text().strip()


def _partitioned(files: Path, raw: Path) -> None:
    """One partition of the files behind a table of the BIOS's kind; before it is room for GRUB."""
    with raw.open("wb") as stream:
        stream.truncate(DISK_BYTES)
        n_sectors = DISK_BYTES // 512 - FIRST_SECTOR
        entry = (
            bytes([0x80, 0, 0, 0, 0x83, 0, 0, 0]) + FIRST_SECTOR.to_bytes(4, "little") + n_sectors.to_bytes(4, "little")
        )
        stream.seek(440)
        stream.write(os.urandom(4))
        stream.seek(446)
        stream.write(entry)
        stream.seek(510)
        stream.write(b"\x55\xaa")
    # GRUB of Debian 12 cannot read these two features.
    features = ("-O", "^metadata_csum_seed,^orphan_file", "-E", f"offset={FIRST_SECTOR * 512},root_owner=0:0")
    uuid = (raw.parent / "uuid").read_text().strip()
    size = f"{(DISK_BYTES >> 10) - FIRST_SECTOR // 2}k"
    _carried_out("mke2fs", "-q", "-F", "-t", "ext4", "-U", uuid, *features, "-d", str(files), str(raw), size)


@contextmanager
def guest(disk: Disk, image: Path, direct: str | None = None) -> Iterator[Guest]:
    """Run the guest; yield it once it is up. At the end its power is cut; what it wrote is kept if QEMU booted it.

    Args:
        disk: what it belongs to.
        image: the disk that it boots from.
        direct: release of a kernel that QEMU boots itself, without the boot loader of the disk.
    """
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    config = disk.folder / "config"
    config.write_text(CLIENT.format(port=port, folder=disk.folder))
    (disk.folder / "known").unlink(missing_ok=True)  # the port is another one each time
    ssh = ["ssh", "-F", str(config), "-o", "BatchMode=yes", "-o", "ConnectTimeout=60", "-o", "LogLevel=ERROR", NAME]
    with subprocess.Popen(qemu(disk, image, port, direct), stdin=subprocess.DEVNULL) as process:
        try:
            wait_up(ssh, process)
            yield Guest(ssh, process)
        finally:
            process.kill()


def qemu(disk: Disk, image: Path, port: int, direct: str | None) -> list[str]:
    """The guest's command: one emulated CPU, 1 GiB, a disk, a network that only this machine reaches, a console."""
    kernel = disk.folder / f"vmlinuz-{direct}", disk.folder / f"initrd.img-{direct}"
    own = ["-kernel", str(kernel[0]), "-initrd", str(kernel[1]), "-append", FIRST] if direct else []
    snapshot = "off" if direct else "on"
    return [
        "setpriv", "--pdeathsig", "KILL", "--", "nice", "-n", "10", "qemu-system-x86_64", "-nodefaults",
        "-no-user-config", "-display", "none", "-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", "1024",
        "-device", "virtio-rng-pci", "-drive", f"file={image},if=virtio,format=raw,snapshot={snapshot}",
        "-nic", f"user,model=virtio-net-pci,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22",
        "-chardev", f"file,id=console,path={disk.folder / 'console'}", "-serial", "chardev:console", *own,
    ]  # fmt: skip


def wait_up(ssh: Sequence[str], process: "subprocess.Popen[bytes] | None" = None) -> None:
    """Wait until the guest answers. Raises SystemExit where it does not in time."""
    until = time.monotonic() + UP_S
    while subprocess.run([*ssh, "true"], stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=False).returncode:
        if time.monotonic() > until or (process and process.poll() is not None):
            raise SystemExit("the guest did not come up: look at its console")
        time.sleep(1)


def answered(ssh: Sequence[str], text: str) -> str:
    """What a command in the guest prints, which is asked again where it cannot be reached. Raises SystemExit."""
    for _ in range(ATTEMPTS):
        done = subprocess.run([*ssh, text], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        if done.returncode != NO_CONNECTION:
            break
    if done.returncode:
        raise SystemExit(f"{text}: exit code {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout.strip()


def _carried_out(*argv: str) -> None:
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    done = subprocess.run(argv, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{argv[0]}: exit code {done.returncode}: {done.stderr.strip()[-600:]}")
