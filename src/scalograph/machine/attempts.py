"""Every control of a run attempted on this machine: granted, or refused with the kernel's reason and what would help.

A scheduler of sched_ext is not loaded for this, for it would be that of the whole machine: what it needs is looked at.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from scalograph.control.capacity import LEAST_CPUS, PERIOD_US
from scalograph.control.ext_scheduler import END_IT, OTHER, SCHEDULER
from scalograph.control.ext_scheduler import FIX as NO_EXT
from scalograph.control.isolation import Refusal
from scalograph.control.placement import PLACEMENTS, n_available
from scalograph.control.scheduler import (
    EXT,
    EXT_FIX,
    NEGATIVE_NICE,
    REAL_TIME,
    attempt,
)
from scalograph.machine.checks import Check
from scalograph.protocol.facts import HostFacts
from scalograph.text.cpu_list import format_cpu_list

_PRIVILEGE = "run as root or with CAP_SYS_NICE, or leave such levels out"


def attempted(facts: HostFacts, isolation: Refusal | None, quota: Refusal | str) -> Iterator[Check]:
    """One check for each control of the machine. Each attempt is made in a thread of its own, and ends with it.

    Args:
        facts: of the host.
        isolation: why exclusive CPUs are refused, None where they are not.
        quota: why quotas are refused, or what they are set with.
    """
    yield _cpus(facts)
    yield _placement(facts)
    yield _isolation(isolation)
    yield _quota(facts, quota)
    yield _policy("control: policy batch and idle", (os.SCHED_BATCH, os.SCHED_IDLE))
    yield _ext(facts)
    yield _scheduler(facts)
    yield _real_time(facts)
    yield _nice(facts)


def _cpus(facts: HostFacts) -> Check:
    refused = {cpu.cpu: why for cpu in facts.cpus if (why := attempt(partial(os.sched_setaffinity, 0, (cpu.cpu,))))}
    name = "control: cpus"
    if refused:
        found, why = f"CPUs {format_cpu_list(refused)} not to be had", "; ".join(sorted(set(refused.values())))
        return Check(name, "refused", found, why, "start scalograph with a mask of other CPUs (taskset)")
    return Check(name, "granted", f"1 to {facts.n_cpus}, each CPU alone")


def _placement(facts: HostFacts) -> Check:
    counts = {placement: n_available(placement, facts.cpus) for placement in PLACEMENTS}
    found = ", ".join(f"{placement} up to {count}" for placement, count in counts.items() if count)
    why = "" if counts["siblings"] else "no siblings: no core has two CPUs that we may use"
    return Check("control: placement", "granted", found, why)


def _isolation(refusal: Refusal | None) -> Check:
    name = "control: isolation"
    if refusal:
        return Check(name, "refused", "shared only", refusal.why, refusal.fix)
    return Check(name, "granted", "exclusive CPUs by a cgroup v2 partition, made when a run asks for it")


def _quota(facts: HostFacts, quota: Refusal | str) -> Check:
    name = "control: quota"
    if isinstance(quota, Refusal):
        return Check(name, "refused", "none to be had", quota.why, quota.fix)
    period = f"periods of {PERIOD_US / 1000:g} ms"
    return Check(name, "granted", f"{LEAST_CPUS} to {facts.n_cpus} CPUs' worth of time in {period}, by {quota}")


def limit_of_tasks(refusal: Refusal | None) -> Check:
    """The check of limits of tasks: why they are refused, None where they are not."""
    name = "control: tasks"
    if refusal:
        return Check(name, "refused", "none to be had", refusal.why, refusal.fix)
    return Check(name, "granted", "by a cgroup of our own, made when a run asks for it")


def _policy(name: str, policies: tuple[int, ...]) -> Check:
    def there_and_back(policy: int) -> None:
        os.sched_setscheduler(0, policy, os.sched_param(0))
        # An idle thread might wait long for its end on a busy machine; back from idle not everybody may.
        with suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))

    for policy in policies:
        if why := attempt(partial(there_and_back, policy)):
            return Check(name, "refused", "not to be had", why, "allow sched_setscheduler where seccomp filters it")
    return Check(name, "granted", "batch, idle")


def _ext(facts: HostFacts) -> Check:
    if why := facts.refused.get(EXT):
        return Check("control: policy ext", "refused", "no scheduler but the kernel's own", why, EXT_FIX)
    return Check("control: policy ext", "granted", "a sched_ext scheduler is at work")


def _scheduler(facts: HostFacts) -> Check:
    name = "control: scheduler"
    if why := facts.refused.get(SCHEDULER):
        return Check(name, "refused", "the kernel's own alone", why, NO_EXT)
    if why := facts.refused.get(OTHER):
        return Check(name, "refused", "what is at work alone", why, END_IT)
    if not facts.schedulers:
        return Check(name, "info", "no program of sched_ext on PATH", "", "install one, such as scx_simple")
    found = f"the kernel has sched_ext; programs: {', '.join(facts.schedulers)}"
    return Check(name, "info", found, "none was started: it would be that of the whole machine")


def _real_time(facts: HostFacts) -> Check:
    name, why = "control: policy fifo and rr", facts.refused.get(REAL_TIME, "")
    if facts.granted_priority == 0:
        return Check(name, "refused", "no real-time policy", why, _PRIVILEGE)
    return Check(name, "granted", f"priority 1 to {facts.granted_priority}", why)


def _nice(facts: HostFacts) -> Check:
    name, why = "control: nice", facts.refused.get(NEGATIVE_NICE, "")
    if facts.granted_nice >= 0:
        return Check(name, "refused", f"{facts.granted_nice} to 19 only", why, _PRIVILEGE)
    return Check(name, "granted", f"{facts.granted_nice} to 19", why)
