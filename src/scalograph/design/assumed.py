"""An assumed host: to plan for another machine, or without looking at this one."""

import re
from collections.abc import Iterator

from scalograph.protocol.facts import (
    LATEST,
    CpuFact,
    HostFacts,
    Jvm,
)
from scalograph.study.levels import parse_levels
from scalograph.study.model import Study
from scalograph.study.scalars import Level

# As a kernel tells its own: the three numbers that each has, and what its builder adds.
_RELEASE = re.compile(r"\d{1,3}\.\d{1,3}\.\d{1,3}[\w.+~-]{0,50}", re.ASCII)


def assumed(study: Study, n_cpus: int) -> HostFacts:
    """Return a host with so many CPUs; it grants everything and has the JVMs of the study.

    Each CPU is a core, but where a study compares CPUs that share one with others: there two are. Kernels that are
    named by their releases are those of another machine, which is booted with them; others are those of guests.
    """
    shared = any("siblings" in study.factors[name].levels for name in study.baseline)
    cpus = tuple(CpuFact(cpu=n, core=n // 2 if shared else n) for n in range(n_cpus))
    boots = any(factor.control in ("kernel", "boot-options") for factor in study.factors.values())
    facts = HostFacts(cpus=cpus, smt=shared, jvms=tuple(_jvms(study, n_cpus)))
    if releases := tuple(_releases(study)):
        return facts.model_copy(update={"reached": "ssh", "offered_kernels": releases})
    guests = {"accelerator": "kvm", "offered_kernels": ("6.1-cloud", "6.1-generic")}
    return facts.model_copy(update=guests) if boots else facts


def _releases(study: Study) -> Iterator[str]:
    for factor in study.factors.values():
        if factor.control == "kernel" and not isinstance(factor.levels, str):
            yield from (level for level in map(str, factor.levels) if _RELEASE.fullmatch(level))


def _jvms(study: Study, n_cpus: int) -> Iterator[Jvm]:
    # The first is the default one.
    for name in sorted(dict.fromkeys(map(str, _names(study, n_cpus))), key=lambda name: name != "assumed"):
        release = re.match(r"\d{1,3}", name, re.ASCII)
        known = int(release[0]) if release else LATEST
        yield Jvm(name=name, java=name, release=known, build="assumed")


def _names(study: Study, n_cpus: int) -> Iterator[Level]:
    """Yield the levels of the factors that choose a JVM; "assumed" stands for "all" and "default"."""
    for factor in study.factors.values():
        if factor.control == "jvm":
            levels = parse_levels(factor.levels, n_cpus) if isinstance(factor.levels, str) else factor.levels
            yield from ("assumed" if level in ("all", "default") else level for level in levels)
