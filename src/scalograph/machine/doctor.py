"""What this machine grants and refuses, what it is, and what to do about it. Reads and attempts; changes nothing."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scalograph.control import capacity, isolation, tasks
from scalograph.control.cache import cache
from scalograph.errors import HostError
from scalograph.machine import cpu_speed
from scalograph.machine.attempts import attempted, limit_of_tasks
from scalograph.machine.checks import Check, Report
from scalograph.machine.cpu_speed import Slices
from scalograph.machine.examine import disk, examined
from scalograph.machine.floor.kept_floor import KeptNoise, read_noise
from scalograph.machine.setting_attempts import settings_attempted
from scalograph.protocol.facts import HostFacts
from scalograph.text.quantities import two_digits

_PROGRAMS = {
    "cc": ("C workloads need a compiler", "apt install gcc"),
    "javac": ("Java workloads need a compiler", "apt install openjdk-17-jdk-headless"),
}


def examine(
    facts: HostFacts,
    probe_capabilities: Mapping[str, Any],
    root: Path = Path("/"),
    environ: Mapping[str, str] = os.environ,
    folder: Path = Path(),
    slices: Slices | None = None,
) -> Report:
    """Examine a machine.

    Args:
        facts: of the machine.
        probe_capabilities: what `scalograph-probe --capabilities` says (protocol/probe.md).
        root: where /proc and /sys are; a recorded tree in tests.
        environ: PATH and the XDG folders.
        folder: where results will be written.
        slices: of known work on some CPUs, as `cpu_speed.sampled` times them; None leaves out what they tell.
    """
    are_alike = len({cpu.max_khz for cpu in facts.cpus}) == 1
    found = (
        *examined(facts, root),
        *([cpu_speed.check(slices, facts.hypervisor is not None, are_alike)] if slices else ()),
        *attempted(facts, isolation.refusal(root), capacity.refusal(root) or capacity.granted_by(root)),
        limit_of_tasks(tasks.why_no_tasks(root)),
        *settings_attempted(root),
        *_probe(probe_capabilities),
        _jvms(facts),
        *_programs(facts, environ),
        _noise(facts, environ),
        disk("disk: results", folder),
        _builds(environ),
        disk("disk: scratch", Path(environ.get("TMPDIR") or "/tmp")),  # noqa: S108
    )
    return Report(found)


def _probe(said: Mapping[str, Any]) -> Iterator[Check]:
    for capability in said["capabilities"]:
        name, why, fix = f"probe: {capability['name']}", capability.get("why") or "", capability.get("fix") or ""
        if capability["granted"]:
            yield Check(name, "granted", "", why, fix)
        else:
            yield Check(name, "refused", "not granted", why, fix)


def _jvms(facts: HostFacts) -> Check:
    if not facts.jvms:
        fix = "apt install openjdk-17-jdk-headless"
        return Check("JVMs", "warning", "none", "studies of Java programs cannot run", fix)
    told = (f"{jvm.name} ({jvm.build}{', javac' if jvm.javac else ''})" for jvm in facts.jvms)
    return Check("JVMs", "info", ", ".join(told))


def _programs(facts: HostFacts, environ: Mapping[str, str]) -> Iterator[Check]:
    for program, (why, fix) in _PROGRAMS.items():
        by_jvm = program == "javac" and any(jvm.javac for jvm in facts.jvms)
        if by_jvm or shutil.which(program, path=environ.get("PATH", os.defpath)):
            yield Check(f"compiler: {program}", "info", "found")
        else:
            yield Check(f"compiler: {program}", "warning", "not found", why, fix)


def _builds(environ: Mapping[str, str]) -> Check:
    name = "disk: builds"
    try:
        return disk(name, cache(environ))
    except HostError:
        why = "workloads that are compiled have no place"
        return Check(name, "warning", "this user has no home folder", why, "set XDG_CACHE_HOME")


def _noise(facts: HostFacts, environ: Mapping[str, str]) -> Check:
    kept = read_noise(environ)
    fix = "measure it (about 80 s): scalograph doctor --noise"
    if kept is None:
        return Check("noise", "info", "not measured yet", "", fix)
    if not kept.is_of(facts):
        return Check("noise", "info", "measured on another machine only", "", fix)
    if kept.floor and kept.floor.warnings:
        return Check("noise", "warning", _in_words(kept), kept.floor.warnings[0], fix)
    return Check("noise", "info", _in_words(kept))


def _in_words(kept: KeptNoise) -> str:
    parts = kept.floor.parts if kept.floor else ()
    spreads = [(part.n_cpus, part.spread.sd_log_percent) for part in parts if part.spread]
    told = [f"{two_digits(sd)} % on {n} CPU{'s' * (n > 1)}" for n, sd in spreads]
    return (
        f"runs differ by {', '.join(told) or f'{two_digits(kept.sd_log_percent)} %'}: {kept.n} runs show effects from "
        f"{two_digits(kept.minimum_detectable_percent)} % ({kept.study}, {kept.at})"
    )
