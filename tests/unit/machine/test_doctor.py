"""What `doctor` says of recorded and made machines, of this one, and to nobody."""

import errno
import gzip
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from scalograph.control.capacity import cpu_quota
from scalograph.control.host_facts import read_host_facts
from scalograph.machine.doctor import check_machine_settings, examine
from scalograph.machine.examine import Check, check_disk
from scalograph.protocol.facts import Jvm
from tests.kit.processes import write_program
from tests.unit.control import paper_kernel
from tests.unit.control.conftest import nobody as nobody
from tests.unit.control.trees import bare, grown, hybrid, planted, two_sockets, write

NOTHING: dict[str, Any] = {"capabilities": []}


def checks(root: Path, said: dict[str, Any] = NOTHING, **more: Any) -> dict[str, Check]:
    facts = read_host_facts(root, more.pop("jvms", ()))
    more.setdefault("environ", {"PATH": "/nowhere", "HOME": str(root)})
    report = examine(facts, said, root, folder=root, **more)
    assert len({check.name for check in report.checks}) == len(report.checks)
    assert json.loads(json.dumps(asdict(report)))["checks"][0]["name"] == report.checks[0].name
    for check in report.checks:
        if check.status in ("refused", "warning"):
            assert check.why and check.fix, f"{check.name}: why, and what to do about it"
    return {check.name: check for check in report.checks}


def test_a_recorded_guest(tmp_path: Path) -> None:
    found = checks(planted(tmp_path, "two-cpu-guest"))
    expected = {
        "topology": "2 CPUs, 2 cores, 1 package, 1 NUMA node, 1 L3 cache; AMD EPYC", "governor": "not visible",
        "clock": "tsc", "hypervisor": "KVM", "autogroup": "on",
        "load now": "tasks waited for a CPU 55% of the last 10 s, load 3.55",
        "kernel command line": "mitigations=auto,no_guest_host psi=1 isolcpus=1",
    }  # fmt: skip
    assert {name: found[name].found for name in expected} == expected
    assert [found[name].status for name in ("clock", "autogroup", "load now")] == ["info", "warning", "warning"]
    assert found["autogroup"].fix == "turn off autogroup scheduling, or end other sessions"
    assert found["memory"].found.endswith("GiB free, nothing swapped out") or found["memory"].found == "not visible"
    assert found["control: isolation"].status == "refused"
    assert found["control: isolation"].why == "cgroup v1 has the cpuset controller (/sys/fs/cgroup/cpuset)"
    assert not {"SMT", "core speeds", "CPU quota"} & found.keys()


def test_two_sockets_of_which_what_is_well_is_no_warning(tmp_path: Path) -> None:
    root = grown(tmp_path, two_sockets())
    cpus, clock = root / "sys/devices/system/cpu", "sys/devices/system/clocksource/clocksource0/current_clocksource"
    write(cpus / "cpu0/cpufreq/scaling_governor", "powersave\n")
    write(cpus / "intel_pstate/no_turbo", "0\n")
    write(root / clock, "hpet\n")
    found = checks(root)
    assert found["topology"].found.startswith("32 CPUs, 16 cores, 2 packages, 2 NUMA nodes, 2 L3 caches; ")
    assert found["SMT"].fix == "make placement a factor: one-per-core against siblings"
    assert found["governor"].status == found["turbo"].status == found["clock"].status == "warning"
    assert "one-per-core up to 16" in found["control: placement"].found
    assert "siblings up to 32" in found["control: placement"].found
    (root / clock).unlink()
    write(cpus / "cpu0/cpufreq/scaling_governor", "performance\n")
    write(cpus / "intel_pstate/no_turbo", "1\n")
    write(root / "proc/sys/kernel/sched_autogroup_enabled", "0\n")
    write(root / "proc/loadavg", "0.10 0.10 0.10 1/100 1\n")
    write(root / "proc/meminfo", "MemTotal: 1000000 kB\nMemAvailable: 900000 kB\nSwapTotal: 10 kB\nSwapFree: 10 kB\n")
    found = checks(root)
    assert "turbo" not in found and found["load now"].found == "PSI is off, load 0.10"
    named = ("governor", "autogroup", "load now", "memory", "clock")
    assert {found[name].status for name in named} == {"info"}


@pytest.mark.parametrize(("file", "text", "name", "status", "found", "command"), [
    ("cpu/cpufreq/boost", "1", "turbo", "warning", "on", "echo 0 > /sys/devices/system/cpu/cpufreq/boost"),
    ("cpu/intel_pstate/no_turbo", "0", "turbo", "warning", "on",
     "echo 1 > /sys/devices/system/cpu/intel_pstate/no"),
    ("cpu/cpufreq/boost", "0", "turbo", None, "", ""),
    ("cpu/smt/control", "on", "SMT", "info", "on", ""),
    ("thp", "[always] madvise never", "huge pages", "info", "always", "echo madvise > /sys/kernel/mm"),
    ("thp", "always madvise [never]", "huge pages", "info", "never", ""),
    ("aslr", "2", "memory layout", "info", "random in each run", ""),
    ("aslr", "0", "memory layout", "warning", "randomization off", "sysctl kernel.randomize_va_space=2"),
    ("aslr", "x", "memory layout", None, "", ""),
    ("comm", "irqbalance", "interrupts", "info", "irqbalance runs", "systemctl stop irqbalance"),
    ("comm", "sh", "interrupts", None, "", ""),
])  # fmt: skip
def test_a_setting_that_disturbs_is_told_with_the_command_that_sets_it(
    tmp_path: Path, file: str, text: str, name: str, status: str | None, found: str, command: str
) -> None:
    places = {
        "thp": "sys/kernel/mm/transparent_hugepage/enabled", "aslr": "proc/sys/kernel/randomize_va_space",
        "comm": "proc/42/comm",
    }  # fmt: skip
    root = grown(tmp_path, two_sockets())
    write(root / places.get(file, f"sys/devices/system/{file}"), f"{text}\n")
    check = checks(root).get(name)
    assert (check and check.status) == status
    assert check is None or (check.found == found and command in check.command and bool(check.command) == bool(command))


GEN, NATIVE = "CONFIG_VIRT_CPU_ACCOUNTING_GEN=y", "CONFIG_VIRT_CPU_ACCOUNTING_NATIVE=y"


@pytest.mark.parametrize(("packed", "plain", "cmdline", "found"), [
    (NATIVE, "", "", "measured"),
    ("", NATIVE, "", "measured"),
    (GEN, "", "quiet nohz_full=1-3", "measured"),
    ("", GEN, "nohz_full=1", "measured"),
    (GEN, "", "quiet", "sampled at the tick"),
    ("CONFIG_TICK_CPU_ACCOUNTING=y", NATIVE, "nohz_full=1", "sampled at the tick"),  # the running kernel's own counts
    ("", f"# {NATIVE.removesuffix('=y')} is not set", "nohz_full=1", "sampled at the tick"),
    (None, GEN, "nohz_full=1", "measured"),  # a broken file
    (None, "", "nohz_full=1", "not visible"),
    ("", "", "nohz_full=1", "not visible"),
])  # fmt: skip
def test_how_the_kernel_divides_cpu_time(
    tmp_path: Path, packed: str | None, plain: str, cmdline: str, found: str
) -> None:
    root = grown(tmp_path, two_sockets())
    write(root / "proc/sys/kernel/osrelease", "6.1.0\n")
    write(root / "proc/cmdline", f"{cmdline}\n")
    if packed != "":
        (root / "proc/config.gz").write_bytes(b"no gzip" if packed is None else gzip.compress(f"{packed}\n".encode()))
    if plain:
        write(root / "boot/config-6.1.0", f"{plain}\n")
        write(root / "boot/config-5.4.0", "CONFIG_TICK_CPU_ACCOUNTING=y\n")  # of another kernel
    words = {"measured": "precise", "sampled at the tick": "ticks", "not visible": None}
    assert read_host_facts(root, ()).cpu_accounting == words[found]
    check = checks(root)["user and system time"]
    assert (check.status, check.found, bool(check.fix)) == ("info", found, found == "sampled at the tick")


@pytest.mark.parametrize(("meminfo", "status"), [
    ("MemTotal: 1000000 kB\nMemAvailable: 90000 kB\n", "warning"),
    ("MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\nSwapTotal: 900000 kB\nSwapFree: 100 kB\n", "warning"),
    ("MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\nSwapTotal: 900000 kB\nSwapFree: 890000 kB\n", "info"),
    ("HugePages_Total:       0\n", "info"),
])  # fmt: skip
def test_memory(tmp_path: Path, meminfo: str, status: str) -> None:
    write(tmp_path / "proc/meminfo", meminfo)
    assert checks(tmp_path)["memory"].status == status


@pytest.mark.parametrize(("allowed", "found", "is_told"), [
    (None, "32 CPUs usable, all that are online", False), ("0-31", "32 CPUs usable, all that are online", False),
    ("2-3,18", "3 of 32 online CPUs usable; not usable: 0-1,4-17,19-31", True),
])  # fmt: skip
def test_cpus_that_are_ours_among_those_online(tmp_path: Path, allowed: str | None, found: str, is_told: bool) -> None:
    root = grown(tmp_path, two_sockets())
    if allowed:
        write(root / "proc/self/status", f"Cpus_allowed_list:\t{allowed}\n")
    check = checks(root)["CPUs"]
    assert (check.status, check.found, bool(check.fix)) == ("info", found, is_told)


@pytest.mark.parametrize(("stat", "hypervisor", "expected"), [
    ("cpu  600 0 300 9000 50 0 50 50 0 0\ncpu0 1\n", True, ("warning", "5.0% of the busy time since boot")),
    ("cpu  600 0 300 9000 50 0 50 50 0 0\n", False, ("warning", "5.0% of the busy time since boot")),
    ("cpu  900 0 0 9000 50 0 92 8 0 0\n", True, ("info", "0.8% of the busy time since boot")),
    ("cpu  900 0 0 9000 50 0 92 0 0 0\n", True, ("info", "0.0% of the busy time since boot")),
    ("cpu  900 0 0 9000 50 0 92 0 0 0\n", False, None),
    ("cpu  0 0 0 0 0 0 0 0 0 0\n", True, ("info", "0.0% of the busy time since boot")),
    ("cpu  1 2 3\n", True, None), ("cpu  a b c d e f g h i j\n", True, None), ("intr 1 2 3 4 5 6 7 8 9\n", True, None),
])  # fmt: skip
def test_stolen_time(tmp_path: Path, stat: str, hypervisor: bool, expected: tuple[str, str] | None) -> None:
    root = bare(tmp_path, 1)
    write(root / "proc/stat", stat)
    if hypervisor:
        write(root / "sys/hypervisor/type", "xen\n")
    check = checks(root).get("steal")
    assert (check and (check.status, check.found)) == expected


def test_room_is_told_where_folders_are_to_be_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    assert check_disk("disk: x", tmp_path / "not/yet").found == check_disk("disk: x", tmp_path).found
    environ = {"PATH": "", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "later")}
    assert checks(tmp_path, environ=environ)["disk: builds"].found.endswith("GiB free")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert checks(bare(tmp_path, 1), environ={"PATH": ""})["disk: builds"].fix == "set XDG_CACHE_HOME"
    monkeypatch.setattr("scalograph.control.host_facts.find_jvms", lambda cache: () if cache is None else (cache,))
    assert checks(tmp_path, environ={"PATH": ""}, jvms=None)["JVMs"].found == "none"


def test_cores_of_two_kinds_and_a_machine_that_tells_nothing(tmp_path: Path) -> None:
    assert checks(grown(tmp_path / "hybrid", hybrid()))["core speeds"].found == "3.8 GHz and 5.0 GHz"
    found = checks(bare(tmp_path / "bare", 1))
    assert found["topology"].found == "1 CPU, 1 core, 1 package, 1 NUMA node, L3 unknown; model unknown"
    assert found["control: isolation"].why == "no cgroup v2 is mounted"


def test_capabilities_of_the_probe_are_passed_on(tmp_path: Path) -> None:
    refused = {"name": "kernel records", "granted": False, "why": "EACCES", "fix": "sysctl"}
    granted = {"name": "negative nice", "granted": True, "why": None, "fix": None}
    found = checks(tmp_path, {"capabilities": [refused, granted]})
    expected = Check("probe: kernel records", "refused", "not granted", "EACCES", "sysctl")
    assert found["probe: kernel records"] == expected
    assert found["probe: negative nice"].status == "granted"


def test_jvms_and_compilers(tmp_path: Path) -> None:
    found = checks(tmp_path)
    assert [found[name].status for name in ("JVMs", "compiler: cc", "compiler: javac")] == ["warning"] * 3
    jvm = Jvm(name="17", java="/j/bin/java", release=17, build="17.0.1+2", javac="/j/bin/javac")
    write_program(tmp_path / "bin/cc", "")
    found = checks(tmp_path, jvms=(jvm,), environ={"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)})
    assert found["JVMs"].found == "17 (17.0.1+2, javac)"
    assert found["compiler: cc"].status == found["compiler: javac"].status == "info"


@pytest.mark.parametrize(("files", "quota"), [
    ({}, None),
    ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "150000 100000\n"}, 1.5),
    ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "max 100000\n"}, None),
    ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "50000 100000\n",
      "sys/fs/cgroup/a/b/cpu.max": "150000 100000\n"}, 0.5),
    ({"proc/self/cgroup": "4:cpu,cpuacct:/c\n0::/\n",
      "v1/cpu/c/cpu.cfs_quota_us": "200000\n", "v1/cpu/c/cpu.cfs_period_us": "100000\n",
      "v1/cpu/cpu.cfs_quota_us": "-1\n", "v1/cpu/cpu.cfs_period_us": "100000\n"}, 2.0),
])  # fmt: skip
def test_quota(tmp_path: Path, files: dict[str, str], quota: float | None) -> None:
    mounts = "1 2 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n1 2 0:2 / /v1/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
    for path, content in {"proc/self/mountinfo": mounts, **files}.items():
        write(tmp_path / path, content)
    assert cpu_quota(tmp_path) == quota


def test_runtimes_that_see_more_cpus_than_the_quota_are_a_warning(tmp_path: Path) -> None:
    root = planted(tmp_path, "two-cpu-guest")
    facts = read_host_facts(root, ()).model_copy(update={"cpu_quota": 0.5})
    for believed, status, command in (
        ({"Java": 1, "Python": 2}, "warning", "export PYTHON_CPU_COUNT=1"), ({"Java": 1}, "info", ""),
    ):  # fmt: skip
        report = examine(facts, NOTHING, root, {"PATH": "", "HOME": "/"}, root, believed=believed)
        (seen,) = (check for check in report.checks if check.name == "CPUs seen")
        assert (seen.status, seen.command) == (status, command) and seen.found.endswith("the quota is 0.5")
    report = examine(read_host_facts(root, ()), NOTHING, root, {"PATH": "", "HOME": "/"}, root, believed={"Java": 9})
    assert "CPUs seen" not in {check.name for check in report.checks}


def test_a_quota_below_the_cpus_is_a_warning(tmp_path: Path) -> None:
    root = bare(tmp_path, 4)
    write(root / "proc/self/mountinfo", "1 2 0:1 / /cg rw - cgroup2 cgroup2 rw\n")
    write(root / "proc/self/cgroup", "0::/\n")
    for quota, found in ((150000, "1.5 of 4 CPUs"), (400000, None)):
        write(root / "cg/cpu.max", f"{quota} 100000\n")
        check = checks(root).get("CPU quota")
        assert (check and check.found) == found


@pytest.mark.xdist_group("machine")
def test_this_machine_is_looked_at_and_unchanged() -> None:
    before = os.sched_getaffinity(0), os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)
    report = examine(read_host_facts(jvms=()), NOTHING)
    assert (os.sched_getaffinity(0), os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)) == before
    found = {check.name: check for check in report.checks}
    assert found["control: cpus"].status == "granted"
    assert found["control: cpus"].found == f"1 to {len(before[0])}, each CPU alone"
    json.dumps(asdict(report))


NOBODY = """
import json
from dataclasses import asdict
from pathlib import Path
from scalograph.machine.doctor import examine
from scalograph.control.host_facts import read_host_facts
print(json.dumps(asdict(examine(read_host_facts(jvms=()), {"capabilities": []}, environ={"PATH": "", "HOME": "/"}))))
"""


def test_nobody_is_refused_by_name_and_errno(nobody: Any) -> None:
    said = {check["name"]: Check(**check) for check in json.loads(nobody(NOBODY))["checks"]}
    real_time, nice = said["control: policy fifo and rr"], said["control: nice"]
    assert (real_time.status, real_time.found) == ("refused", "no real-time policy")
    assert real_time.why == "EPERM: Operation not permitted"
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert (nice.status, nice.found, nice.why) == ("refused", f"{own} to 19 only", "EACCES: Permission denied")
    assert said["control: isolation"].status == "refused"
    assert said["control: cpus"].status == said["control: policy batch and idle"].status == "granted"
    assert real_time.fix == nice.fix == "run as root or with CAP_SYS_NICE, or leave out such levels"


def test_a_scheduler_that_was_not_started_is_not_granted(tmp_path: Path) -> None:
    root = bare(tmp_path, 1)
    write(root / "sys/kernel/sched_ext/state", "disabled\n")
    facts = read_host_facts(root, ()).model_copy(update={"schedulers": {"scx_simple": "/bin/true"}})
    (found,) = (c for c in examine(facts, NOTHING, root, {"PATH": ""}, root).checks if c.name == "control: scheduler")
    assert (found.status, found.found) == ("info", "the kernel has sched_ext; programs: scx_simple")


def test_nothing_heavy_is_imported() -> None:
    code = "import sys, scalograph.machine.doctor; print({'numpy', 'scipy', 'polars'} & set(sys.modules))"
    home = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": home}, capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr


def test_settings_of_the_machine_are_opened_and_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = paper_kernel.content(kernel := paper_kernel.planted(tmp_path))
    found = {check.name: (check.status, check.found) for check in check_machine_settings(kernel)}
    assert found == {
        "control: sysctl": ("granted", "vm.swappiness, with --machine-wide"),
        "control: io-scheduler": ("granted", "sda, with --machine-wide"),
        "control: thp": ("granted", "always, madvise, never, with --machine-wide"),
        "control: governor": ("granted", "as cpupower frequency-info lists them, with --machine-wide"),
        "control: turbo": ("granted", "on, off, with --machine-wide"),
        "control: online": ("granted", "CPUs 1-3, with --machine-wide"),
    }
    assert paper_kernel.content(kernel) == before
    monkeypatch.setattr(os, "open", lambda *_: (_ for _ in ()).throw(OSError(errno.EROFS, "Read-only file system")))
    refused = {check.name: (check.status, check.why) for check in check_machine_settings(kernel)}
    assert set(refused.values()) == {("refused", "EROFS: Read-only file system")}
    assert {check.status for check in check_machine_settings(tmp_path / "none")} == {"info"}
