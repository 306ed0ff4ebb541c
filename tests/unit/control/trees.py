"""Folders that look like /proc and /sys of other machines: recorded ones, and ones made to measure."""

import json
from dataclasses import dataclass
from pathlib import Path

from scalograph.text.format import format_cpu_list
from tests.kit import ROOT

RECORDED = ROOT / "tests" / "recorded"


def planted(folder: Path, name: str) -> Path:
    """A recorded machine, laid out in a folder."""
    for path, content in json.loads((RECORDED / f"{name}.json").read_text()).items():
        write(folder / path, content)
    return folder


def write(file: Path, content: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)


@dataclass(frozen=True)
class Made:
    """One logical CPU of a machine that was made: numbers as its kernel would give them."""

    cpu: int
    package: int
    core_id: int
    siblings: tuple[int, ...]
    l2: tuple[int, ...]
    l3: tuple[int, ...]
    node: int
    max_khz: int | None = None


def two_sockets() -> list[Made]:
    """2 packages = 2 nodes, 8 cores each, SMT. Numbered as Linux does: first threads of all cores, then second ones.

    core_id starts at 0 in each package.
    """
    made = []
    for cpu in range(32):
        core = cpu % 16
        package, siblings = core // 8, (core, core + 16)
        own = tuple(n for n in range(32) if n % 16 // 8 == package)
        made.append(Made(cpu, package, core % 8, siblings, siblings, own, package, 3_500_000))
    return made


def hybrid() -> list[Made]:
    """2 large cores with SMT (CPUs 0-3), 4 small ones (4-7) that share an L2."""
    small = (4, 5, 6, 7)
    everything = tuple(range(8))
    made = [Made(n, 0, n // 2 * 4, (n & ~1, n | 1), (n & ~1, n | 1), everything, 0, 5_000_000) for n in range(4)]
    return made + [Made(n, 0, n + 4, (n,), small, everything, 0, 3_800_000) for n in small]


def chiplets() -> list[Made]:
    """One package and node, 3 chiplets with an L3 each: 4, 4 and 2 cores without SMT."""
    groups = ((0, 1, 2, 3), (4, 5, 6, 7), (8, 9))
    return [Made(n, 0, n, (n,), (n,), group, 0, 4_000_000) for group in groups for n in group]


def four_nodes() -> list[Made]:
    """2 packages with two nodes each (nodes 0, 1 and 2, 3), two cores a node."""
    made = []
    for n in range(8):
        package = n // 4
        made.append(Made(n, package, n % 4, (n,), (n,), tuple(range(package * 4, package * 4 + 4)), n // 2))
    return made


MACHINES = {"two sockets": two_sockets, "hybrid": hybrid, "chiplets": chiplets, "four nodes": four_nodes}


def grown(folder: Path, cpus: list[Made]) -> Path:
    """/sys of a machine that was made."""
    home = folder / "sys/devices/system/cpu"
    write(home / "online", format_cpu_list(made.cpu for made in cpus) + "\n")
    for made in cpus:
        own = home / f"cpu{made.cpu}"
        write(own / "topology/physical_package_id", f"{made.package}\n")
        write(own / "topology/core_id", f"{made.core_id}\n")
        write(own / "topology/thread_siblings_list", format_cpu_list(made.siblings) + "\n")
        caches = ((1, "Data", made.siblings), (1, "Instruction", made.siblings), (2, "Unified", made.l2))
        for index, (level, kind, shared) in enumerate((*caches, (3, "Unified", made.l3))):
            write(own / f"cache/index{index}/level", f"{level}\n")
            write(own / f"cache/index{index}/type", f"{kind}\n")
            write(own / f"cache/index{index}/shared_cpu_list", format_cpu_list(shared) + "\n")
        (own / f"node{made.node}").mkdir()
        if made.max_khz:
            write(own / "cpufreq/cpuinfo_max_freq", f"{made.max_khz}\n")
    return folder


def bare(folder: Path, n_cpus: int) -> Path:
    """A machine whose kernel tells nothing but the numbers of its CPUs."""
    for n in range(n_cpus):
        (folder / f"sys/devices/system/cpu/cpu{n}").mkdir(parents=True)
    (folder / "sys/devices/system/cpu/cpuidle").mkdir()
    return folder
