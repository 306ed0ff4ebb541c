"""Settings of the machine that make runs differ or look alike, each with the command that sets it.

How much runs differ here `scalograph doctor --noise` measures; none is changed. A factor of the control that is named
sets it for the runs of a study. Source: `pyperf system tune` of V. Stinner, which looks at most of these.
"""

from collections.abc import Iterator
from pathlib import Path

from scalograph.control.cgroups import read
from scalograph.control.kernel_files import KERNEL, OnlineCpus
from scalograph.machine.checks import Check
from scalograph.protocol.facts import HostFacts

_CPUS = "sys/devices/system/cpu"
_LAYOUTS = {"0": "off", "1": "without the heap", "2": "on"}
# What moves interrupts between CPUs.
_BALANCER = "irqbalance"


def tuned(facts: HostFacts, root: Path) -> Iterator[Check]:
    """Yield a check for each setting that this machine has.

    Args:
        facts: of the machine.
        root: where /proc and /sys are.
    """
    yield from _smt(facts, root)
    yield _governor(facts)
    yield from _turbo(root)
    yield _autogroup(facts)
    yield from _huge_pages(root)
    yield from _layout(root)
    yield from _balancer(root)


def _smt(facts: HostFacts, root: Path) -> Iterator[Check]:
    if len({cpu.core for cpu in facts.cpus}) < len(facts.cpus):
        why = "two CPUs of one core share it: beyond the cores, a CPU more is worth a fraction"
        fix = "make placement a factor: one-per-core against siblings"
        if (root / _CPUS / "smt/control").exists():
            fix += f"; off: echo off > /{_CPUS}/smt/control"
        yield Check("SMT", "info", "on", why, fix)


def _governor(facts: HostFacts) -> Check:
    if facts.governor is None:
        return Check("governor", "info", "not visible", "no frequency control here, as in most guests")
    if facts.governor == "performance":
        return Check("governor", "info", "performance")
    why = "the clock follows the load: the first moments of a run are slower"
    fix = "cpupower frequency-set -g performance; for a study alone: a factor of control governor"
    return Check("governor", "warning", facts.governor, why, fix)


def _turbo(root: Path) -> Iterator[Check]:
    place = KERNEL["turbo"].place(root, "")
    assert not isinstance(place, OnlineCpus)
    try:
        found = place.value()
    except OSError:
        return
    if found == "on":
        why = "few busy cores run faster than many: one thread looks too good, and scaling too bad"
        off = "1" if place.path.name == "no_turbo" else "0"
        fix = f"echo {off} > /{place.path.relative_to(root)}; for a study alone: a factor of control turbo"
        yield Check("turbo", "warning", "on", why, fix)


def _autogroup(facts: HostFacts) -> Check:
    if not facts.autogroup:
        return Check("autogroup", "info", "not visible" if facts.autogroup is None else "off")
    why = "each session is one scheduling group: beside a busy one, many threads get no larger share than one"
    return Check("autogroup", "warning", "on", why, "sysctl kernel.sched_autogroup_enabled=0, or no neighbors")


def _huge_pages(root: Path) -> Iterator[Check]:
    try:
        found = KERNEL["thp"].place(root, "").value()
    except OSError:
        return
    if found != "always":
        yield Check("huge pages", "info", found)
        return
    why = "which memory gets them depends on what is free at the moment: runs of one program may differ"
    fix = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled; for a study alone: a factor of control thp"
    yield Check("huge pages", "info", found, why, fix)


def _layout(root: Path) -> Iterator[Check]:
    held = read(root / "proc/sys/kernel/randomize_va_space")
    if held == "2":
        yield Check("memory layout", "info", "random in each run")
    elif held in _LAYOUTS:
        why = "all runs have one layout of memory: what it does to them looks like what the program does"
        found = f"randomization {_LAYOUTS[held]}"
        yield Check("memory layout", "warning", found, why, "sysctl kernel.randomize_va_space=2")


def _balancer(root: Path) -> Iterator[Check]:
    """Of processes the names, which any user may read."""
    if any(read(file) == _BALANCER for file in root.glob("proc/[0-9]*/comm")):
        why = "it moves interrupts from one CPU to another while runs are made"
        fix = f"systemctl stop {_BALANCER}, and start it afterwards"
        yield Check("interrupts", "info", f"{_BALANCER} runs", why, fix)
