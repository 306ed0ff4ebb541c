"""/proc/sys and /sys on paper: plain files, coupled as in a kernel. And a program that is killed there."""

import errno
import os
import signal
import sys
import time
from pathlib import Path

from scalograph.control import kernel_files
from scalograph.control.held_settings import KernelValue, hold_setting
from scalograph.control.settings import Setting
from scalograph.control.store import Store, lock_machine
from scalograph.control.sysctl import PAIRS
from tests.unit.control.trees import write

SYSCTLS = {
    "vm.swappiness": "60", "vm.dirty_ratio": "20", "vm.dirty_bytes": "0", "vm.dirty_background_ratio": "10",
    "vm.dirty_background_bytes": "0", "vm.lowmem_reserve_ratio": "256\t256\t32\t0\t0", "vm.min_free_kbytes": "67584",
    "vm.page-cluster": "3", "net.ipv4.tcp_congestion_control": "cubic",
}  # fmt: skip


def planted(root: Path, n_cpus: int = 4) -> Path:
    """Settings of a machine as it is found."""
    cpu, queue = "sys/devices/system/cpu", "sys/block/sda/queue"
    files = {f"proc/sys/{name.replace('.', '/')}": value for name, value in SYSCTLS.items()} | {
        "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never", f"{cpu}/cpufreq/boost": "1",
        f"{queue}/scheduler": "none [mq-deadline]", f"{queue}/nr_requests": "256",
        f"{queue}/iosched/read_expire": "500", f"{queue}/iosched/async_depth": "192",
        f"{cpu}/present": f"0-{n_cpus - 1}",
    }  # fmt: skip
    for n in range(n_cpus):
        policy = f"{cpu}/cpufreq/policy{n}"
        files |= {f"{policy}/scaling_governor": "schedutil", f"{policy}/energy_performance_preference": "balance_power"}
        files |= {f"{cpu}/cpu{n}/online": "1"} if n else {}
    for path, text in files.items():
        write(root / path, f"{text}\n")
    return root


def content(root: Path) -> dict[str, str]:
    """What all settings are; words in brackets apart, for these are a way of telling."""
    texts = {str(file.relative_to(root)): file.read_text() for file in sorted(root.rglob("*")) if file.is_file()}
    return {path: text.strip() for path, text in texts.items()}


def kernel_writes(file: Path, value: str) -> None:
    """Write as a kernel would: choices, couples, limits."""
    if not file.exists():
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")
    name = str(file).partition("/proc/sys/")[2].replace("/", ".")
    if value == "0" and name in PAIRS:
        raise OSError(errno.EINVAL, "Invalid argument")
    if file.name == "swappiness":
        value = str(min(200, int(value)))
    if file.name in ("scheduler", "enabled"):
        words = file.read_text().replace("[", "").replace("]", "").split()
        if value not in words:
            raise OSError(errno.EINVAL, "Invalid argument")
        if file.name == "scheduler":
            (file.parent / "iosched/read_expire").write_text("500\n")
            kernel_writes(file.parent / "nr_requests", "64" if value == "none" else "256")
        elif value == "always":
            (Path(str(file).partition("/sys/")[0]) / "proc/sys/vm/min_free_kbytes").write_text("90112\n")
        value = " ".join(f"[{word}]" if word == value else word for word in words)
    if file.name == "nr_requests":
        (file.parent / "iosched/async_depth").write_text(f"{value}\n")
    if file.name == "scaling_governor" and value == "performance":  # nothing sets it back
        file.with_name("energy_performance_preference").write_text("performance\n")
    file.write_text(value.replace(" ", "\t") + "\n" if file.name == "lowmem_reserve_ratio" else value + "\n")
    for other in (PAIRS.get(name), *(amount for amount, ratio in PAIRS.items() if ratio == name)):
        if other is not None:
            file.with_name(other.partition(".")[2]).write_text("0\n")


def store(folder: Path, kernel: Path) -> Store:
    """A store whose kernel is on paper; processes and the boot are those of this machine."""
    return Store(folder, None, kernel=kernel)


def die(folder: Path, root: Path, when: str) -> None:
    """Hold two settings, and be killed: `before` the second one is changed, or in the `middle`."""
    kernel_files._write = kernel_writes

    def changes(value: KernelValue) -> list[object]:
        if when == "before":
            print("held", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        return [value.change()]

    kept = store(folder, root)
    with (
        lock_machine(store=kept),
        hold_setting(KernelValue(Setting.SYSCTL, "vm.swappiness", kept), "10"),
        hold_setting(KernelValue(Setting.THP, "", kept), "never", changes),  # type: ignore[arg-type]
    ):
        print("held", flush=True)
        time.sleep(600)


if __name__ == "__main__":
    die(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
