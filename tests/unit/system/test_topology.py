"""Topology from folders that look like /sys."""

import os
from pathlib import Path

import pytest

from scalograph.protocol.facts import CpuFact
from scalograph.system.topology import parse_cpu_list, read_topology
from scalograph.text.format import format_cpu_list
from tests.unit.control.trees import bare, chiplets, grown, hybrid, planted, two_sockets, write


def test_two_sockets_with_smt_keep_equal_core_numbers_of_two_packages_apart(tmp_path: Path) -> None:
    root = grown(tmp_path, two_sockets())
    cpus = read_topology(root)
    assert [cpu.cpu for cpu in cpus] == list(range(32))
    assert {(cpu.package, cpu.node) for cpu in cpus} == {(0, 0), (1, 1)}
    assert {cpu.l3 for cpu in cpus} == {0, 8}
    assert cpus[31] == CpuFact(cpu=31, core=15, package=1, node=1, l2=15, l3=8, max_khz=3_500_000)
    for file in root.rglob("thread_siblings_list"):
        file.unlink()
    for seen in (cpus, read_topology(root)):  # core_id serves where no list of siblings is
        assert len({cpu.core for cpu in seen}) == 16
        assert seen[3].core == seen[19].core != seen[11].core


def test_small_cores_share_an_l2_and_have_their_own_clock_and_chiplets_have_an_l3_each(tmp_path: Path) -> None:
    cpus = read_topology(grown(tmp_path / "hybrid", hybrid()))
    assert [cpu.core for cpu in cpus] == [0, 0, 2, 2, 4, 5, 6, 7]
    assert [cpu.l2 for cpu in cpus] == [0, 0, 2, 2, 4, 4, 4, 4]
    assert {cpu.max_khz for cpu in cpus} == {5_000_000, 3_800_000}
    chips = read_topology(grown(tmp_path / "chiplets", chiplets()))
    assert [cpu.l3 for cpu in chips] == [0, 0, 0, 0, 4, 4, 4, 4, 8, 8]


def test_a_guest_this_machine_and_one_without_topology_files_of_which_nothing_is_guessed(tmp_path: Path) -> None:
    cpus = read_topology(planted(tmp_path / "guest", "two-cpu-guest"))
    assert cpus == (CpuFact(cpu=0, core=0, l2=0, l3=0), CpuFact(cpu=1, core=1, l2=1, l3=0))
    assert {cpu.cpu for cpu in read_topology()} == os.sched_getaffinity(0)
    cpus = read_topology(bare(tmp_path / "bare", 4))
    assert cpus == tuple(CpuFact(cpu=n, core=n) for n in range(4))
    assert cpus[0].l3 is None and cpus[0].max_khz is None


@pytest.mark.parametrize("garbage", ["", "x\n", "0-\n", "-1\n", "\xff\xfe"])
def test_garbage_is_as_good_as_nothing(tmp_path: Path, garbage: str) -> None:
    root = grown(tmp_path, chiplets())
    for name in ("thread_siblings_list", "core_id", "physical_package_id", "level", "cpuinfo_max_freq"):
        for file in root.rglob(name):
            file.write_bytes(garbage.encode("latin-1"))
    cpus = read_topology(root)
    assert [cpu.cpu for cpu in cpus] == list(range(10))
    assert {(cpu.package, cpu.l3) for cpu in cpus} == {(0, None)}


def test_only_cpus_that_are_online_and_allowed_count(tmp_path: Path) -> None:
    root = grown(tmp_path, two_sockets())
    write(root / "sys/devices/system/cpu/online", "0-15\n")
    write(root / "proc/self/status", "Name:\tx\nCpus_allowed_list:\t2-3,18\n")
    assert [cpu.cpu for cpu in read_topology(root)] == [2, 3]
    assert [cpu.cpu for cpu in read_topology(root, allowed=[18, 2])] == [2, 18]


@pytest.mark.parametrize("text", ["", "0", "0-3", "0-2,8", "1,3,5-6"])
def test_lists_of_cpus_both_ways(text: str) -> None:
    assert format_cpu_list(parse_cpu_list(text + "\n")) == text


NO_LISTS = ("a", "0-", "-", "1;2", "0-8192", "0-4095,0-4095,1", "0-99999999999999", "0-99999999999999999999")


@pytest.mark.parametrize("text", NO_LISTS)
def test_what_is_no_list_of_cpus(text: str) -> None:
    with pytest.raises(ValueError):
        parse_cpu_list(text)
