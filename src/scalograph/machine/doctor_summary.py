"""Summarize the checks of a machine: five lines that say whether it can measure, and what to do first."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from scalograph.machine.examine import Check, Report
from scalograph.protocol.facts import HostFacts

_N_FIRST = 3
_CHECKED = "runs are then checked for interference"
# A check -> what its remedy gains, the largest gain first.
_GAINS = {
    "control: cpus": "every CPU of a study is then usable", "disk: results": "results can then be saved",
    "disk: scratch": "programs can then write temporary files", "probe": _CHECKED, "probe: switch records": _CHECKED,
    "probe: kernel records": _CHECKED, "load now": "fewer runs are then disturbed and excluded",
    "memory": "runs then neither swap nor get killed", "CPU quota": "threads are then not throttled",
    "CPUs seen": "programs then start no more threads than the quota carries",
    "CPU speed": "slow phases average out", "steal": "CPU steal averages out",
    "core speeds": "all CPUs are then equally fast", "turbo": "one thread then has the same clock as many",
    "governor": "the clock is then constant", "autogroup": "other sessions then cannot limit the CPU time of a run",
    "memory layout": "results then cover many memory layouts",
    "noise": "you then know which differences runs here can detect",
    "clock": "reading the time then needs no system call", "disk: builds": "workloads can then be compiled",
    "probe: names of interfering programs": "reports then name the programs that interfered",
    "compiler: cc": "C workloads can then be compiled", "JVMs": "studies of Java programs can then run",
    "compiler: javac": "Java workloads can then be compiled",
}  # fmt: skip
_PERMISSIONS = {
    "isolation": "exclusive CPUs", "policy fifo and rr": "real-time policies", "nice": "negative nice",
    "policy ext": "sched_ext", "scheduler": "sched_ext", "sysctl": "kernel settings", "io-scheduler": "kernel settings",
    "thp": "kernel settings", "governor": "kernel settings", "turbo": "kernel settings", "online": "kernel settings",
}  # fmt: skip


@dataclass(frozen=True)
class SummaryLine:
    """One property of the machine; `is_good` where nothing has to be done about it."""

    name: str
    state: str
    text: str
    is_good: bool


@dataclass(frozen=True)
class Remedy:
    """What to do, what it gains, and the command that does it."""

    what: str
    gain: str
    command: str


@dataclass(frozen=True)
class Summary:
    """Five lines, and at most three remedies, the one that gains most first."""

    summary: tuple[SummaryLine, ...]
    first: tuple[Remedy, ...]


def summarize(report: Report, facts: HostFacts) -> Summary:
    checks = {check.name: check for check in report.checks}
    lines = _cpus(checks, facts), _probe(checks), _interference(checks), _permissions(report), _load(checks)
    return Summary(lines, tuple(_remedies(checks))[:_N_FIRST])


def is_wrong(check: Check | None) -> bool:
    """Tell whether a check found something to improve."""
    return check is not None and check.status in ("refused", "warning")


def _cpus(checks: dict[str, Check], facts: HostFacts) -> SummaryLine:
    wrong = next((check for name in ("control: cpus", "CPU quota") if is_wrong(check := checks.get(name))), None)
    usable = checks["CPUs"].found.partition(";")[0]
    guest = f", {facts.hypervisor} guest" if facts.hypervisor else ""
    if wrong:
        limit = "quota of " * (wrong.name == "CPU quota") + wrong.found
        return SummaryLine("CPUs", "limited", f"{usable}; {limit}", is_good=False)
    return SummaryLine("CPUs", "ok", f"{usable}; {facts.cpu_model or 'unknown model'}{guest}", is_good=True)


def _probe(checks: dict[str, Check]) -> SummaryLine:
    check = checks["probe"]
    return SummaryLine("probe", "limited" if is_wrong(check) else "ok", check.found, not is_wrong(check))


def _interference(checks: dict[str, Check]) -> SummaryLine:
    name = "interference"
    for needed in ("probe: kernel records", "probe: switch records"):
        if is_wrong(checks.get(needed)):
            return SummaryLine(name, "no", "not checked, so every run is unverified", is_good=False)
    if is_wrong(checks.get("probe: names of interfering programs")):
        return SummaryLine(name, "ok", "checked in every run; other programs are not named", is_good=True)
    return SummaryLine(name, "ok", "checked in every run; other programs are named", is_good=True)


def _permissions(report: Report) -> SummaryLine:
    need_root, missing = dict[str, None](), dict[str, None]()
    for check in report.checks:
        if check.name.startswith("control: ") and check.name != "control: cpus" and is_wrong(check):
            name = check.name.removeprefix("control: ")
            is_for_root = os.geteuid() != 0 and check.why.startswith(("EACCES", "EPERM"))
            (need_root if is_for_root else missing)[_PERMISSIONS.get(name, name)] = None
    parts = [f"needs root: {', '.join(need_root)}"] if need_root else []
    parts += [f"not available here: {', '.join(missing)}"] if missing else []
    state = "user" if os.geteuid() else "root"
    return SummaryLine("rights", state, "; ".join(parts) or "every control is available", is_good=not need_root)


def _load(checks: dict[str, Check]) -> SummaryLine:
    load, speed = checks["load now"], checks.get("CPU speed")
    if is_wrong(load):
        return SummaryLine("load", "busy", load.found, is_good=False)
    if (changing := next((c for c in (speed, checks.get("steal")) if is_wrong(c)), None)) is not None:
        steal = "CPU steal: " * (changing.name == "steal")
        return SummaryLine("load", "unsteady", f"{load.found}; {steal}{changing.found}", is_good=False)
    return SummaryLine("load", "quiet", load.found, is_good=True)


def _remedies(checks: dict[str, Check]) -> Iterator[Remedy]:
    """Yield what can be done, each gain and each command once."""
    seen = {""}
    for name, gain in _GAINS.items():
        check = checks.get(name)
        is_due = is_wrong(check) or (check is not None and check.name == "noise" and check.fix)
        if check and is_due and not {gain, check.command} & seen:
            seen |= {gain, check.command}
            yield Remedy(check.fix, gain, check.command)
