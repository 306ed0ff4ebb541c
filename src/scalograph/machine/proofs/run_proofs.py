"""Check all guarantees, one after the other, on one machine."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from scalograph.control.isolation import find_isolation_refusal
from scalograph.errors import ScalographError
from scalograph.machine.proofs import proof_context
from scalograph.machine.proofs.proof import (
    DisprovedError,
    NotProvableError,
    Proof,
    ProofRun,
    expect,
    expect_no_processes,
    expect_success,
    missing_error,
    single_value,
)
from scalograph.machine.proofs.proof_context import ProofContext, find_empty_leaves, leaf_parents, read_settings
from scalograph.run.hosts.base import Host
from scalograph.system.private_dir import scratch
from scalograph.text.format import format_cpu_list

# Clocks of threads and of the wall are read one after the other.
CLOCK_TOLERANCE = 1.05
# On-CPU time outside a mask: before it was set, a copy may have been elsewhere.
STRAY_NS = 1_000_000
# Copies that get ready closer together than this do not show that one waits for the other.
SPREAD_NS = 1_000_000


def check_pinning(context: ProofContext) -> str:
    """Check masks of several sizes from the first CPU on, and one of the last CPU alone."""
    runs = _run_pinned(context)
    for ran in runs:
        _expect_pinned(ran)
    masks = dict.fromkeys(format_cpu_list(ran.cpus or ()) for ran in runs)
    return f"{len(runs)} runs under the masks {', '.join(masks)}: each was in force, and nothing ran outside it"


def _run_pinned(context: ProofContext) -> list[ProofRun]:
    if context.facts.n_cpus < 2:
        reason = "this process may use one CPU only: there is none that a mask keeps it from"
        raise NotProvableError(reason, "start it with more CPUs")
    last = context.facts.model_copy(update={"cpus": context.facts.cpus[-1:]})
    return context.run("pinning") + context.run("pinning", facts=last, label="pinning-last-cpu")


def _expect_pinned(ran: ProofRun) -> None:
    expect_success(ran)
    asked, values = set(ran.cpus or ()), ran.values()
    expect(len(asked) == ran.configuration["cpus"], f"a mask of {len(asked)} CPUs", f"{ran.configuration['cpus']}")
    in_force = ran.record.copies[0].in_force
    _expect_cpus("the kernel gave back the mask", in_force.cpus if in_force else (), asked)
    _expect_cpus("the program saw the mask", values.get("allowed", ()), asked)
    used = {int(cpu) for cpu in values.get("cpu", ())}
    expect(bool(used) and used <= asked, f"ran on CPUs {_format_cpus(used)}", f"some of {_format_cpus(asked)}")


def _expect_cpus(what: str, numbers: Iterable[float], asked: set[int]) -> None:
    cpus = {int(cpu) for cpu in numbers}
    expect(cpus == asked, f"{what} {_format_cpus(cpus)}", _format_cpus(asked))


def _format_cpus(cpus: Iterable[int]) -> str:
    return format_cpu_list(sorted(cpus)) or "none"


def check_kernel_records(context: ProofContext) -> str:
    """Check that the kernel's switch records agree with the program."""
    stray = 0
    for ran in _run_pinned(context):
        expect_success(ran)
        timeline = ran.record.timeline
        if timeline is None or timeline.source != "records":
            raise missing_error(ran.record, "records", "no switch records were saved")
        on = {cpu: sum(busy) for cpu, busy in zip(timeline.cpus, timeline.busy_ns, strict=True)}
        outside = sum(time for cpu, time in on.items() if cpu not in (ran.cpus or ()))
        inside = sum(on.values()) - outside
        expect(inside > 0 and outside <= STRAY_NS, f"{outside / 1e6:.3g} ms on CPUs outside the mask", "none")
        stray = max(stray, outside)
    return f"no run had more than {stray / 1e6:.3g} ms outside its mask by the kernel's records"


def check_cpu_count(context: ProofContext) -> str:
    """Check threads that only spin, under masks."""
    counts = []
    for ran in context.run("cpu-count"):
        expect_success(ran)
        n, values = ran.configuration["cpus"], ran.values()
        expect(values.get("believed_cpus") == [n], f"believes in {values.get('believed_cpus')} CPUs", str(n))
        had = single_value(ran, "burnt_ns") / max(1.0, single_value(ran, "spun_ns"))
        expect(had <= CLOCK_TOLERANCE * n, f"used {had:.2f} CPUs", f"at most {n}")
        counts.append(f"{n}: used {had:.2f}")
    return f"programs saw as many CPUs as they were given, and used no more ({'; '.join(counts)})"


def check_gate(context: ProofContext) -> str:
    """Check copies that get ready one after the other."""
    parts = []
    for ran in context.run("gating"):
        expect_success(ran)
        copies = range(ran.configuration["copies"])
        ready, released = ([single_value(ran, name, copy) for copy in copies] for name in ("ready_ns", "released_ns"))
        if max(ready) - min(ready) < SPREAD_NS:
            raise NotProvableError("all copies were ready at the same moment: none had to wait", "run it again")
        early = max(ready) - min(released)
        expect(early <= 0, f"a copy began {early / 1e6:.3g} ms before the last was ready", "none before")
        starts = [copy.start_ns for copy in ran.record.copies if copy.start_ns is not None]
        ends = [copy.end_ns for copy in ran.record.copies if copy.end_ns is not None]
        n = len(copies)
        expect(len(starts) == len(ends) == n, f"{len(starts)} starts and {len(ends)} ends", f"{n} of each")
        expect(max(starts) < min(ends), "a copy ended before another had started", "all at work together")
        waited, apart = max(ready) - min(ready), max(released) - min(released)
        parts.append(f"{len(copies)} copies waited up to {waited / 1e6:.3g} ms and began {apart / 1e6:.2g} ms apart")
    return "; ".join(parts)


_SETTLE_S = 1.0


def check_scheduling(context: ProofContext) -> str:
    """Check policy and nice value, as the kernel gave them back before the program began."""
    runs = _settings_runs(context, "shared")
    for ran in runs:
        expect_success(ran)
        expect(len(ran.record.copies) == 1, f"{len(ran.record.copies)} copies", "1")
        in_force, asked = ran.record.copies[0].in_force, ran.configuration
        had = (in_force.policy, in_force.nice) if in_force else None
        expect(had == (asked["policy"], asked["nice"]), f"in force {had}", f"{asked['policy']}, nice {asked['nice']}")
    policies = ", ".join(str(ran.configuration["policy"]) for ran in runs)
    return f"policies {policies}, nice {runs[0].configuration['nice']}: each was in force in its run"


def check_exclusive(context: ProofContext) -> str:
    """Check that a partition, which the control proves in each such run, is gone afterwards."""
    if refused := find_isolation_refusal():
        raise NotProvableError(refused.why, refused.fix)
    runs = _settings_runs(context, "exclusive")
    if not runs:
        raise NotProvableError("the machine must keep a CPU, and there is one only", "start it with more CPUs")
    for ran in runs:
        expect_success(ran)
    _expect_restored(context)
    return f"{len(runs)} runs had CPUs that nobody else might use; all CPUs were given back"


def _settings_runs(context: ProofContext, isolation: str) -> list[ProofRun]:
    return [ran for ran in context.run("exit-code", "settings.toml") if ran.configuration["isolation"] == isolation]


def check_cgroup_removed(context: ProofContext) -> str:
    """Check that the cgroup in which the probe held a run is removed with it."""
    records = [ran.record for ran in context.run("containment") + context.run("hang")]
    names = [record.header.cgroup for record in records if record.header.cgroup]
    if not names:
        raise missing_error(records[0], "cgroup", "runs have no cgroup of their own here")
    left = [name for name in names for home in leaf_parents() if (home / name).exists()]
    expect(not left, f"{len(left)} of {len(names)} cgroups are still there, first {left[:1]}", "none")
    return f"{len(names)} runs had a cgroup of their own; none is left"


def check_restored(context: ProofContext) -> str:
    """Check the settings after all studies: the last proof, and so about all of them."""
    check_scheduling(context)
    return f"{_expect_restored(context)} settings of this process and of the machine are as before all runs"


def _expect_restored(context: ProofContext) -> int:
    now = read_settings()
    for name in sorted(context.before.keys() | now.keys()):
        before, value = context.before.get(name, "absent"), now.get(name, "absent")
        expect(value == before, f"{name}: {value}", before)
    if new := find_empty_leaves() - context.leaves_before:
        time.sleep(_SETTLE_S)  # who measures without a lock may just have made one, and not be in it yet
    left = sorted(leaf.name for leaf in new & find_empty_leaves())
    expect(not left, f"{len(left)} cgroups that runs left empty, first {left[:1]}", "none")
    return len(now)


# CPU clocks of the kernel and of its accounting may differ by a scheduler tick.
MIN_SHARE = 0.98
# Linkers and forks need CPU time too. A second count of a child would be half of what is burnt, or all of it.
MAX_SHARE, STARTUP_NS = 1.1, 30_000_000


def check_daemon(context: ProofContext) -> str:
    """Check a process that has left its session and its parents."""
    for ran in context.run("containment"):
        _expect_survivors(ran, 1)
    return "a process that had left its session was counted as a survivor, and was gone when the record was written"


def check_children(context: ProofContext) -> str:
    """Check children that nobody waits for."""
    for ran in context.run("forks-and-leaves"):
        _expect_survivors(ran, ran.configuration["children"])
    return "children that were left behind were counted, and gone when the record was written"


def check_hops(context: ProofContext) -> str:
    """Check a process that forks on without rest: the record has that one was left, and it is gone."""
    for ran in context.run("hops"):
        expect_success(ran)
        expect_no_processes(ran)
        n_survivors = ran.record.run.n_survivors or 0
        expect(n_survivors >= 1, f"{n_survivors} survivors", "at least 1")
    containment = ran.record.header.containment
    return f"a process that forked and ended without rest was reported and ended (containment: {containment})"


def _expect_survivors(ran: ProofRun, n: int) -> None:
    expect_success(ran)
    expect_no_processes(ran)
    n_survivors = ran.record.run.n_survivors
    expect(n_survivors == n, f"{n_survivors} survivors", str(n))


def check_cpu_time(context: ProofContext, name: str) -> str:
    """Check a known CPU time: of "accounting" half is a child's, of "containment" all is a daemon's."""
    parts = []
    for ran in context.run(name):
        expect_success(ran)
        burnt, counted = single_value(ran, "burnt_ns"), ran.record.run.cpu_ns
        own = sum(ran.values().get("own_ns", ()))
        if counted is None:
            raise missing_error(ran.record, "CPU time", "the probe counts no CPU time here")
        least, most = MIN_SHARE * burnt, MAX_SHARE * (burnt + own) + STARTUP_NS
        expected = f"{least / 1e6:.0f} to {most / 1e6:.0f} ms: burnt were {burnt / 1e6:.0f}"
        expect(least <= counted <= most, f"{counted / 1e6:.1f} ms of CPU time", expected)
        parts.append(f"{counted / 1e6:.1f} ms of {burnt / 1e6:.0f} burnt")
    return "counted were " + ", ".join(parts)


@dataclass(frozen=True)
class GuaranteeCheck:
    """One property, as a short unique name and a sentence.

    `doubt` is what is not to be believed where it fails. `check` returns what was found, and raises DisprovedError or
    NotProvableError.
    """

    name: str
    what: str
    doubt: str
    check: Callable[[ProofContext], str]


_ENDS = "a run that goes wrong may count as a result"
_TIME = "do not use CPU time or efficiency"
_LEFT = "what one run leaves behind disturbs the next"

GUARANTEES = (
    GuaranteeCheck("pinning", "A run uses the CPUs that were asked for and no other",
        "do not use curves over CPUs", check_pinning),
    GuaranteeCheck("pinning: kernel", "The kernel's own records show no run outside its mask",
        "do not use curves over CPUs", check_kernel_records),
    GuaranteeCheck("CPU count", "A program believes in as many CPUs as it was given, and uses no more",
        "do not use curves over CPUs", check_cpu_count),
    GuaranteeCheck("gate", "No copy begins before the last one is ready",
        "do not use studies with several copies", check_gate),
    GuaranteeCheck("containment: daemon", "A process that leaves its session ends with its run", _LEFT, check_daemon),
    GuaranteeCheck("containment: children", "Children that nobody waits for end with their run", _LEFT, check_children),
    GuaranteeCheck("containment: hops", "A process that forks without rest ends with its run", _LEFT, check_hops),
    GuaranteeCheck("containment: cgroup", "The cgroup of a run is removed with it", _LEFT, check_cgroup_removed),
    GuaranteeCheck("CPU time: children", "The CPU time of children is counted, once",
        _TIME, partial(check_cpu_time, name="accounting")),
    GuaranteeCheck("CPU time: daemon", "The CPU time of a process that nobody waits for is counted, once",
        _TIME, partial(check_cpu_time, name="containment")),
    GuaranteeCheck("crash", "A crash names its signal and has failed", _ENDS, proof_context.check_crash),
    GuaranteeCheck("exit code", "An exit code arrives, and is a failure unless it is 0",
        _ENDS, proof_context.check_exit_code),
    GuaranteeCheck("garbage", "A broken line ends its run, which has failed", _ENDS, proof_context.check_garbage),
    GuaranteeCheck("hang", "What never ends is ended at its timeout, and has failed",
        _ENDS, partial(proof_context.check_timeout, name="hang")),
    # Nobody else waits for it, so it is not held.
    GuaranteeCheck("never ready", "What never says ready is not held, and ends at its timeout",
        _ENDS, partial(proof_context.check_timeout, name="never-ready")),
    GuaranteeCheck("much output", "Output without end is read and not saved",
        "long runs may be held up by their output", proof_context.check_much_output),
    GuaranteeCheck("many iterations", "All iterations arrive in order; other counts than asked for are a failure",
        "do not use values of single iterations", proof_context.check_iterations),
    GuaranteeCheck("settings in force", "Policy and nice value are those that were asked for",
        "do not use studies of policies or nice values", check_scheduling),
    GuaranteeCheck("exclusive CPUs", "Exclusive CPUs are to be had, and are given back",
        "leave isolation out of studies", check_exclusive),
    GuaranteeCheck("settings restored", "Afterwards this process and the machine are set as before",
        "look at the setting and put it right", check_restored),
)  # fmt: skip


def prove(host: Host, tell: Callable[[str], None] = lambda text: None) -> list[Proof]:
    """Run the studies of the sanity workloads, about 20 s, and check each guarantee. The machine must be locked.

    Results lie in a temporary folder; only those that a failed proof rests on are kept, and its `fix` says where.
    `tell` gets the name of each study that begins.

    Raises HostError: there is no room for results; KeyboardInterrupt: somebody ended it.
    """
    kept = set[Path]()
    with scratch("sanity") as folder:
        with ProofContext(host, folder, tell) as context:
            proofs = [judge(promise, context, kept) for promise in GUARANTEES]
        if not kept:
            return proofs
        target = Path(tempfile.mkdtemp(prefix="scalograph-sanity-"))
        for path in kept:
            shutil.move(path, target)
        return [replace(proof, fix=proof.fix.replace(str(folder), str(target))) for proof in proofs]


def judge(promise: GuaranteeCheck, context: ProofContext, kept: set[Path]) -> Proof:
    """Judge a guarantee; folders that a failure rests on are added to `kept`. Never raises a ScalographError."""
    context.used.clear()
    try:
        return Proof(promise.name, promise.what, "proved", promise.check(context))
    except NotProvableError as error:
        return Proof(promise.name, promise.what, "not provable", error.why, fix=error.fix)
    except DisprovedError as error:
        observed, expected, fix = error.found, error.expected, promise.doubt
    except ScalographError as error:
        first = error.problems[0]
        observed, expected, fix = f"{first.where}: {first.found}", first.expected, first.fix or promise.doubt
    folders = sorted(path for path in context.used if path.is_dir())
    kept |= set(folders)
    paths = ", ".join(map(str, folders))
    return Proof(promise.name, promise.what, "failed", observed, expected, f"{fix}; kept: {paths}" if paths else fix)
