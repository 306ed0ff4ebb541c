"""Where a case of the campaign runs: folders of its own, and as root mounts, small disks and a cgroup of its own.

The lock and the record of changes lie in /run for root, whatever the environment says. With mounts of its own a case
runs beside any other start of this machine; without them cases come one after the other.
"""

import ctypes
import os
import re
import shutil
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from scalograph.run.hosts.local.probe import find_probe
from scalograph.run.hosts.python_probe.tree import descendants, reap
from scalograph.system.cgroups import CgroupTree, cgroup2_mount

SOURCES = Path(__file__).resolve().parents[1] / "src"
NOBODY = 65534
ROOM = 8 << 20
_NEW_MOUNTS = 0x20000
_BIND, _PRIVATE_BELOW = 0x1000 | 0x4000, 0x40000 | 0x4000
_DUMPABLE = 4
_libc = ctypes.CDLL(None, use_errno=True)


class Place:
    """Folders of one case: `home`, where it is started, with the study; `disk` with its results; `tmp`, `run`, `cache`.

    Attributes:
        user: whom its starts belong to; None: ourselves.
        group: its cgroup v2, None where there is none.
    """

    def __init__(self, folder: Path, user: int | None, cache: Path) -> None:
        self.folder, self.user, self.group = folder, user, _group(folder.name)
        self.home, self.disk, self.tmp, self.run, self.cache = (
            folder / name for name in ("home", "disk", "tmp", "run", "cache")
        )
        for path in (self.home, self.disk, self.tmp, self.run, self.cache):
            path.mkdir(mode=0o700, parents=True)
        self._own_mounts()
        if cache.is_dir():  # filled once for all cases
            shutil.copytree(cache, self.cache / "scalograph")

    def _own_mounts(self) -> None:
        """Disks that can be filled, and a /run in which nobody else takes the lock. In place of the machine's."""
        if os.geteuid() != 0 or not own_mounts():
            return
        for path in (self.disk, self.tmp, self.run, Path("/run")):
            _mount(b"none", path, b"tmpfs", 0, f"size={ROOM},mode=755")
        Path("/run/lock").mkdir()
        Path("/run/lock").chmod(0o1777)
        if self.user is not None:
            _show(Path(sys.base_prefix), self.folder / "python")

    @property
    def state(self) -> Path:
        """The folder of the lock and of the changes that are to be undone."""
        return Path("/run/scalograph") if os.geteuid() == 0 and self.user is None else self.run / "scalograph"

    def give(self) -> None:
        """Everything in it to the user of the case."""
        if self.user is not None:
            for path in (self.home, self.disk, self.tmp, self.run, self.cache):
                for place in (path, *path.rglob("*")):
                    os.chown(place, self.user, self.user, follow_symlinks=False)

    def environment(self, probe: str) -> dict[str, str]:
        """What a start finds: nothing of ours but the interpreter and the probe."""
        path = (str(Path(sys.executable).parent), os.defpath, str(self.cache / "scalograph" / "bin"))
        return {
            "PATH": ":".join(path), "HOME": f"{self.home}", "LANG": "C.UTF-8",
            "TMPDIR": f"{self.tmp}", "XDG_RUNTIME_DIR": f"{self.run}", "XDG_CACHE_HOME": f"{self.cache}",
            "XDG_STATE_HOME": f"{self.home / 'state'}", "PYTHONPATH": f"{SOURCES}", "SCALOGRAPH_PROBE": probe,
            "OPENBLAS_NUM_THREADS": "1",
        }  # fmt: skip

    def stalled_s(self) -> float:
        """For how long some process of the case waited for a CPU, or the hypervisor had it, as far as is told."""
        stolen_s = float(Path("/proc/stat").read_text().split(None, 9)[8]) / os.sysconf("SC_CLK_TCK")
        stalled_s = stolen_s / (os.cpu_count() or 1)
        if self.group is not None and (file := self.group / "cpu.pressure").exists():
            found = re.search(r"^some .*total=(\d+)", file.read_text())
            stalled_s += int(found[1]) / 1e6 if found else 0.0
        return stalled_s

    def leaves(self) -> list[Path]:
        """Cgroups that runs of the case have left below its own."""
        return [path for path in self.group.glob("scalograph-*") if path.is_dir()] if self.group else []

    def become_user(self) -> None:
        """From here on this process is the user of the case."""
        if self.user is not None:
            os.setgroups([])
            os.setresgid(self.user, self.user, self.user)
            os.setresuid(self.user, self.user, self.user)
            _libc.prctl(_DUMPABLE, 1, 0, 0, 0)  # as after an exec: /proc/self is ours


def native_probe() -> str | None:
    """The probe of this machine; None where only the one in Python is there."""
    found = find_probe()
    return found.argv[0] if found.warning is None else None


def own_mounts() -> bool:
    """Let this process, and what it starts, see mounts that nobody else does. Tells whether that is granted."""
    return not _libc.unshare(_NEW_MOUNTS) and not _libc.mount(None, b"/", None, _PRIVATE_BELOW, None)


def has_own_mounts() -> bool:
    """Whether cases can have mounts of their own: a child tries."""
    if os.geteuid() != 0:
        return False
    child = os.fork()
    if child == 0:
        os._exit(0 if own_mounts() else 1)
    return os.waitpid(child, 0)[1] == 0


def _mount(what: bytes, where: Path, kind: bytes, flags: int, options: str = "") -> None:
    if _libc.mount(what, os.fsencode(where), kind, flags, options.encode()):
        raise OSError(ctypes.get_errno(), f"mount {where}: {os.strerror(ctypes.get_errno())}")


def _show(folder: Path, spare: Path) -> None:
    """A folder to users who may not enter one above it."""
    closed = next((path for path in reversed(folder.parents) if not path.stat().st_mode & 0o001), None)
    if closed is not None:
        spare.mkdir()
        _mount(os.fsencode(folder), spare, b"", _BIND)
        _mount(b"none", closed, b"tmpfs", 0, "mode=755")
        folder.mkdir(parents=True)
        _mount(os.fsencode(spare), folder, b"", _BIND)


def _group(name: str) -> Path | None:
    """A new cgroup v2 with this process in it: whatever the case starts is found there."""
    mount = cgroup2_mount()
    if mount is None or os.geteuid() != 0:
        return None
    folder = mount / name
    try:
        folder.mkdir()
        CgroupTree(mount).write(folder / "cgroup.procs", str(os.getpid()))
    except OSError:
        return None
    return folder


def remove_group(name: str) -> bool:
    """Kill what is left in the cgroup of a case that has ended, and remove it; whether it was empty."""
    mount = cgroup2_mount()
    if mount is None or not (mount / name).is_dir():
        return True
    folder, empty = mount / name, True
    for _ in range(100):
        with suppress(OSError):
            for path, _, _ in os.walk(folder, topdown=False):
                Path(path).rmdir()
            return empty
        empty = False
        with suppress(OSError):
            (folder / "cgroup.kill").write_text("1")
        time.sleep(0.02)
    return False


def processes() -> Mapping[int, str]:
    """Live processes below this one, with what they are."""
    reap()
    found = {}
    for pid in descendants(os.getpid()):
        with suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            found[pid] = words or "a process without arguments"
    return found
