"""Build the archive that a guest boots from: busybox, the modules of its devices, and its first script."""

import lzma
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

# Of the devices that a guest has, and of what lies on them. What a kernel has built in, it has no module for.
MODULES = ("virtio_pci", "virtio_console", "virtiofs", "overlay")
_FOLDERS = ("bin", "dev", "proc", "sys", "modules", "host", "boot", "run", "writes", "root")

# The machine's files are below an overlay: what a run writes stays in the guest, unless it mounts them anew as root.
# Its folder is the machine's, with the name that it has there: `boot/folder` says it, and `boot/probe` names the
# program that makes the run.
INIT = """\
#!/bin/busybox sh
export PATH=/bin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
for module in /modules/*; do insmod "$module"; done
mount -t virtiofs boot /boot
mount -t virtiofs run /run
mount -t virtiofs -o ro host /host
mount -t tmpfs -o size=50% tmpfs /writes
mkdir /writes/upper /writes/work
mount -t overlay -o lowerdir=/host,upperdir=/writes/upper,workdir=/writes/work overlay /root
IFS= read -r folder < /boot/folder
IFS= read -r probe < /boot/probe
mount --move /run "/root$folder"
mount --move /proc /root/proc
mount --move /sys /root/sys
mount --move /dev /root/dev
mknod /dev/null c 1 3
ln -s /proc/self/fd /root/dev/fd
ln -s fd/0 /root/dev/stdin
ln -s fd/1 /root/dev/stdout
ln -s fd/2 /root/dev/stderr
mkdir -p /root/dev/shm /root/dev/pts
mount -t tmpfs tmpfs /root/dev/shm
mount -t devpts devpts /root/dev/pts
mount -t cgroup2 cgroup2 /root/sys/fs/cgroup
ifconfig lo 127.0.0.1
keep() {
    while read -r path value; do
        mkdir -p "/boot/$1/${path%/*}"
        cat "/root/$path" > "/boot/$1/$path"
    done < /boot/settings
}
keep before
while read -r path value; do
    [ -z "$value" ] || echo "$value" > "/root/$path"
done < /boot/settings
for port in /root/dev/vport*p1; do break; done
{ uname -r; cat /root/proc/cmdline /root/sys/devices/system/cpu/online; } > /boot/booted
mv /boot/booted /boot/up
IFS= read -r scheduler < /boot/scheduler
if [ "$scheduler" ]; then
    chroot /root "$scheduler" &
    started=$! tries=300
    until state=$(cat /root/sys/kernel/sched_ext/state 2>&1); [ "$state" = enabled ]; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] && kill -0 "$started" || poweroff -f
        sleep 0.1
    done
fi
keep in_force
chroot /root "$probe" <> "$port" >&0
code=$?
keep at_end
if [ "$scheduler" ]; then
    kill -TERM "$started"
    (sleep 10; kill -KILL "$started") &
    wait "$started"
fi
keep after
echo $code > /boot/exit
sync
poweroff -f
"""


def needed_modules(modules: Path) -> list[Path]:
    """Return the files of `MODULES` and of their dependencies in a folder lib/modules/RELEASE, in load order."""
    files = {file.name.split(".")[0].replace("-", "_"): file for file in sorted(modules.rglob("*.ko*"))}
    ordered = dict[str, Path]()

    def add(names: Iterable[str]) -> None:
        for name in names:
            if name in files and name not in ordered:
                if match := re.search(rb"\0depends=([^\0]*)\0", read_module(files[name])):
                    add(needed.replace("-", "_") for needed in match[1].decode().split(",") if needed)
                ordered[name] = files[name]

    add(MODULES)
    return list(ordered.values())


def read_module(module: Path) -> bytes:
    """Return a module's content, decompressed, as insmod takes it."""
    content = module.read_bytes()
    return lzma.decompress(content) if module.suffix == ".xz" else content


def initramfs(busybox: bytes, modules: Iterable[Path]) -> bytes:
    """Return the archive: `cpio` in the format that the kernel documents as newc.

    `busybox` needs no library; names of `modules` have the order in which they are loaded.
    """
    files = {"init": INIT.encode(), "bin/busybox": busybox}
    files |= {f"modules/{file.name}": file.read_bytes() for file in modules}
    return b"".join(_archive_entries(files))


def _archive_entries(files: Mapping[str, bytes]) -> Iterator[bytes]:
    for number, folder in enumerate(_FOLDERS, start=1):
        yield _entry(number, folder, 0o040755, b"")
    for number, (name, content) in enumerate(files.items(), start=len(_FOLDERS) + 1):
        yield _entry(number, name, 0o100755, content)
    yield _entry(0, "TRAILER!!!", 0, b"")


def _entry(number: int, name: str, mode: int, content: bytes) -> bytes:
    """Return one file or folder: 13 numbers of eight hexadecimal digits, name and content, padded to four bytes."""
    numbers = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08X" % value for value in numbers) + name.encode() + b"\0"
    return _pad(head) + _pad(content)


def _pad(content: bytes) -> bytes:
    return content + b"\0" * (-len(content) % 4)
