"""Facts of a host: from a recorded tree, from one without anything, from this machine."""

from pathlib import Path

import pytest

from scalograph.control.host_facts import read_host_facts
from scalograph.protocol.facts import CpuFact, HostFacts
from scalograph.system.platform_facts import compiler
from tests.kit.processes import write_program
from tests.unit.control.trees import bare, grown, planted, two_sockets, write


def test_a_recorded_guest(tmp_path: Path) -> None:
    facts = read_host_facts(planted(tmp_path, "two-cpu-guest"), jvms=())
    expected = {
        "memory_bytes": 24682416 * 1024, "kernel": "6.18.44", "cpu_model": "AMD EPYC", "microcode": "0x1000065",
        "clocksource": "tsc", "hypervisor": "KVM", "autogroup": True, "smt": False, "governor": None,
        # Only words that are allowed.
        "kernel_command_line": ("mitigations=auto,no_guest_host", "psi=1", "isolcpus=1"),
    }  # fmt: skip
    assert {name: getattr(facts, name) for name in expected} == expected
    assert facts.refused["isolation"] == "cgroup v1 has the cpuset controller (/sys/fs/cgroup/cpuset)"
    assert not any(word in str(facts.machine()) for word in ("somebody", "/dev/vda1", "/sbin/init"))


def test_nothing_readable_is_none_and_hosts_that_differ_compare_unequal(tmp_path: Path) -> None:
    plain = read_host_facts(bare(tmp_path / "bare", 3), jvms=()).machine()
    assert plain.pop("n_cpus") == 3
    plain.pop("topology")
    assert set(map(str, plain.values())) == {"None", "()", "{}"}
    one, root = (planted(tmp_path / name, "two-cpu-guest") for name in "ab")
    before = read_host_facts(root, jvms=())
    assert before == read_host_facts(one, jvms=())
    write(root / "proc/meminfo", "MemTotal:       1024 kB\n")
    assert read_host_facts(root, jvms=()) != before


@pytest.mark.parametrize(("cpuinfo", "model"), [
    ("processor\t: 0\nmodel name\t: Intel(R) Xeon(R) X\ncpu family\t: 6\n", "Intel(R) Xeon(R) X"),
    ("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n", "ARM implementer 0x41 part 0xd0c"),
    ("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", "POWER9, altivec supported"),
    ("processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nuarch\t\t: sifive,u74-mc\n", "sifive,u74-mc"),
    ("", None),
])  # fmt: skip
def test_names_of_cpus(tmp_path: Path, cpuinfo: str, model: str | None) -> None:
    write(tmp_path / "proc/cpuinfo", cpuinfo)
    assert read_host_facts(tmp_path, jvms=()).cpu_model == model


def test_hypervisors(tmp_path: Path) -> None:
    assert read_host_facts(tmp_path, jvms=()).hypervisor is None
    for file, text, hypervisor in (
        ("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor\n", "unknown"),
        ("sys/class/dmi/id/sys_vendor", "QEMU\n", "QEMU"), ("sys/hypervisor/type", "xen\n", "xen"),
    ):  # fmt: skip
        write(tmp_path / file, text)
        assert read_host_facts(tmp_path, jvms=()).hypervisor == hypervisor


def test_a_large_machine_and_this_one(tmp_path: Path) -> None:
    root = grown(tmp_path, two_sockets())
    write(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n")
    write(root / "sys/devices/system/cpu/smt/active", "1\n")
    facts = read_host_facts(root, jvms=())
    assert (facts.n_cpus, facts.governor, facts.smt) == (32, "performance", True)
    own = read_host_facts(jvms=())
    assert isinstance(own, HostFacts) and all(isinstance(cpu, CpuFact) for cpu in own.cpus)
    assert own.n_cpus >= 1 and own.memory_bytes and own.kernel
    assert not {"refused", "granted_priority", "granted_nice"} & set(own.machine())


def test_what_readers_of_results_ask(tmp_path: Path) -> None:
    root = planted(tmp_path, "two-cpu-guest")
    before = read_host_facts(root, jvms=())
    unknown = (before.clock_mhz, before.caches, before.distribution, before.compiler, before.disk_rotational)
    assert unknown == (None, {}, None, None, None)
    for index, size in enumerate(("48K", "32K", "1280K", "48M")):
        write(root / f"sys/devices/system/cpu/cpu0/cache/index{index}/size", size)
    write(root / "proc/cpuinfo", "processor\t: 0\nmodel name\t: X\ncpu MHz\t\t: 2793.436\n")
    write(root / "proc/sys/kernel/arch", "x86_64\n")
    write(root / "etc/os-release", 'NAME="D"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n')
    facts = read_host_facts(root, jvms=())
    assert list(facts.caches.values()) == [48 << 10, 32 << 10, 1280 << 10, 48 << 20]
    assert (facts.clock_mhz, facts.architecture) == (2793.436, "x86_64")
    assert facts.distribution == "Debian GNU/Linux 12 (bookworm)"


@pytest.mark.parametrize(("told", "rotates"), [("1\n", True), ("0\n", False), (None, None)])
def test_the_disk_of_the_root(tmp_path: Path, told: str | None, rotates: bool | None) -> None:
    """The queue is of the disk, / on one of its partitions; a mount over / hides the one before."""
    mounts = ("1 0 0:2 / / rw - rootfs rootfs rw", "22 1 254:1 / / rw - ext4 /dev/vda1 rw")
    write(tmp_path / "proc/self/mountinfo", "\n".join(mounts))
    write(tmp_path / "sys/devices/vda/vda1/dev", "254:1\n")
    if told is not None:
        write(tmp_path / "sys/devices/vda/queue/rotational", told)
    (tmp_path / "sys/dev/block").mkdir(parents=True)
    (tmp_path / "sys/dev/block/254:1").symlink_to("../../devices/vda/vda1")
    assert read_host_facts(tmp_path, jvms=()).disk_rotational is rotates


def test_a_compiler_that_says_nothing_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert compiler() is None
    for text, said in (("echo 'cc 12'\necho more", "cc 12"), ("exit 1", None)):
        write_program(tmp_path / "cc", text)
        assert compiler() == said
