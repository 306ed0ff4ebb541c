"""All promises, one after the other, on one machine."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from scalograph.control.isolation import refusal
from scalograph.errors import ScalographError
from scalograph.machine.proofs import proof_ends
from scalograph.machine.proofs.proof import (
    DisprovedError,
    NotProvableError,
    Proof,
    expect,
    figure,
    missing,
    nothing_left,
    went_well,
)
from scalograph.machine.proofs.proof_context import Bench, empty_leaves, homes, settings
from scalograph.machine.proofs.proof_run import Ran
from scalograph.run.hosts.base import Host
from scalograph.run.scratch import scratch
from scalograph.text.format import format_cpu_list

# Clocks of threads and of the wall are read one after the other.
PLAY = 1.05
# On-CPU time outside a mask: before it was set, a copy may have been elsewhere.
STRAY_NS = 1_000_000
# Copies that get ready closer together than this do not show that one waits for the other.
SPREAD_NS = 1_000_000


def pinning(bench: Bench) -> str:
    """Masks of several sizes from the first CPU on, and one of the last CPU alone."""
    runs = _pinned(bench)
    for ran in runs:
        _holds(ran)
    masks = dict.fromkeys(format_cpu_list(ran.cpus or ()) for ran in runs)
    return f"{len(runs)} runs under the masks {', '.join(masks)}: each was in force, and nothing ran outside it"


def _pinned(bench: Bench) -> list[Ran]:
    if bench.facts.n_cpus < 2:
        why = "this process may use one CPU only: there is none that a mask keeps it from"
        raise NotProvableError(why, "start it with more CPUs")
    last = bench.facts.model_copy(update={"cpus": bench.facts.cpus[-1:]})
    return bench.run("pinning") + bench.run("pinning", facts=last, label="pinning-last-cpu")


def _holds(ran: Ran) -> None:
    went_well(ran)
    asked, said = set(ran.cpus or ()), ran.values()
    expect(len(asked) == ran.treatment["cpus"], f"a mask of {len(asked)} CPUs", f"{ran.treatment['cpus']}")
    in_force = ran.record.copies[0].in_force
    _same("the kernel gave back the mask", in_force.cpus if in_force else (), asked)
    _same("the program saw the mask", said.get("allowed", ()), asked)
    used = {int(cpu) for cpu in said.get("cpu", ())}
    expect(bool(used) and used <= asked, f"ran on CPUs {_shown(used)}", f"some of {_shown(asked)}")


def _same(what: str, found: Iterable[float], asked: set[int]) -> None:
    cpus = {int(cpu) for cpu in found}
    expect(cpus == asked, f"{what} {_shown(cpus)}", _shown(asked))


def _shown(cpus: Iterable[int]) -> str:
    return format_cpu_list(sorted(cpus)) or "none"


def kernel_agrees(bench: Bench) -> str:
    """The kernel's switch records say the same as the program."""
    stray = 0
    for ran in _pinned(bench):
        went_well(ran)
        timeline = ran.record.timeline
        if timeline is None or timeline.source != "records":
            raise missing(ran.record, "records", "no switch records were kept")
        on = {cpu: sum(busy) for cpu, busy in zip(timeline.cpus, timeline.busy_ns, strict=True)}
        outside = sum(time for cpu, time in on.items() if cpu not in (ran.cpus or ()))
        inside = sum(on.values()) - outside
        expect(inside > 0 and outside <= STRAY_NS, f"{outside / 1e6:.3g} ms on CPUs outside the mask", "none")
        stray = max(stray, outside)
    return f"no run had more than {stray / 1e6:.3g} ms outside its mask by the kernel's records"


def cpu_count(bench: Bench) -> str:
    """Threads that only spin, under masks."""
    counts = []
    for ran in bench.run("cpu-count"):
        went_well(ran)
        n, said = ran.treatment["cpus"], ran.values()
        expect(said.get("believed_cpus") == [n], f"believes in {said.get('believed_cpus')} CPUs", str(n))
        had = figure(ran, "burnt_ns") / max(1.0, figure(ran, "spun_ns"))
        expect(had <= PLAY * n, f"used {had:.2f} CPUs", f"at most {n}")
        counts.append(f"{n}: used {had:.2f}")
    return f"programs believed in as many CPUs as they were given, and used no more ({'; '.join(counts)})"


def gate(bench: Bench) -> str:
    """Copies that get ready one after the other."""
    told = []
    for ran in bench.run("gating"):
        went_well(ran)
        copies = range(ran.treatment["copies"])
        ready, released = ([figure(ran, name, copy) for copy in copies] for name in ("ready_ns", "released_ns"))
        if max(ready) - min(ready) < SPREAD_NS:
            raise NotProvableError("all copies were ready at the same moment: none had to wait", "run it again")
        early = max(ready) - min(released)
        expect(early <= 0, f"a copy began {early / 1e6:.3g} ms before the last was ready", "none before")
        _one_start(ran)
        waited, apart = max(ready) - min(ready), max(released) - min(released)
        told.append(f"{len(copies)} copies waited up to {waited / 1e6:.3g} ms and began {apart / 1e6:.2g} ms apart")
    return "; ".join(told)


def _one_start(ran: Ran) -> None:
    """All copies were there at once."""
    starts = [copy.start_ns for copy in ran.record.copies if copy.start_ns is not None]
    ends = [copy.end_ns for copy in ran.record.copies if copy.end_ns is not None]
    n = ran.treatment["copies"]
    expect(len(starts) == len(ends) == n, f"{len(starts)} starts and {len(ends)} ends", f"{n} of each")
    expect(max(starts) < min(ends), "a copy ended before another had started", "all at work together")


_SETTLE_S = 1.0


def in_force(bench: Bench) -> str:
    """Policy and nice value, as the kernel gave them back before the program began."""
    runs = _set(bench, "shared")
    for ran in runs:
        went_well(ran)
        expect(len(ran.record.copies) == 1, f"{len(ran.record.copies)} copies", "1")
        found, asked = ran.record.copies[0].in_force, ran.treatment
        had = (found.policy, found.nice) if found else None
        expect(had == (asked["policy"], asked["nice"]), f"in force {had}", f"{asked['policy']}, nice {asked['nice']}")
    policies = ", ".join(str(ran.treatment["policy"]) for ran in runs)
    return f"policies {policies}, nice {runs[0].treatment['nice']}: each was in force in its run"


def exclusive(bench: Bench) -> str:
    """A partition is made for each such run and proved by the control itself; here it must be gone."""
    if refused := refusal():
        raise NotProvableError(refused.why, refused.fix)
    runs = _set(bench, "exclusive")
    if not runs:
        raise NotProvableError("the machine must keep a CPU, and there is one only", "start it with more CPUs")
    for ran in runs:
        went_well(ran)
    _as_before(bench)
    return f"{len(runs)} runs had CPUs that nobody else might use; all CPUs were given back"


def _set(bench: Bench, isolation: str) -> list[Ran]:
    return [ran for ran in bench.run("exit-code", "settings.toml") if ran.treatment["isolation"] == isolation]


def leaf_gone(bench: Bench) -> str:
    """The cgroup in which the probe held a run is removed with it."""
    records = [ran.record for ran in bench.run("containment") + bench.run("hang")]
    names = [record.header.cgroup for record in records if record.header.cgroup]
    if not names:
        raise missing(records[0], "cgroup", "runs have no cgroup of their own here")
    left = [name for name in names for home in homes() if (home / name).exists()]
    expect(not left, f"{len(left)} of {len(names)} cgroups are still there, first {left[:1]}", "none")
    return f"{len(names)} runs had a cgroup of their own; none is left"


def as_before(bench: Bench) -> str:
    """After all studies. The last proof, and so about all of them."""
    in_force(bench)
    return f"{_as_before(bench)} settings of this process and of the machine are as before all runs"


def _as_before(bench: Bench) -> int:
    now = settings()
    for name in sorted(bench.before.keys() | now.keys()):
        before, found = bench.before.get(name, "absent"), now.get(name, "absent")
        expect(found == before, f"{name}: {found}", before)
    left = _left(bench)
    expect(not left, f"{len(left)} cgroups that runs left empty, first {left[:1]}", "none")
    return len(now)


def _left(bench: Bench) -> list[str]:
    """Somebody who measures without a lock may have made a leaf at this moment, and not be in it yet."""
    new = empty_leaves() - bench.leaves_before
    if new:
        time.sleep(_SETTLE_S)
    return sorted(leaf.name for leaf in new & empty_leaves())


# CPU clocks of the kernel and of its accounting may differ by a scheduler tick.
NEARLY = 0.98
# Linkers and forks need CPU time too. A second count of a child would be half of what is burnt, or all of it.
MORE, START_NS = 1.1, 30_000_000


def daemon(bench: Bench) -> str:
    """A process that has left its session and its parents."""
    for ran in bench.run("containment"):
        went_well(ran)
        nothing_left(ran)
        _survivors(ran, 1)
    return "a process that had left its session was counted as a survivor, and was gone when the record was written"


def children(bench: Bench) -> str:
    """Children that nobody waits for."""
    for ran in bench.run("forks-and-leaves"):
        went_well(ran)
        nothing_left(ran)
        _survivors(ran, ran.treatment["children"])
    return "children that were left behind were counted, and gone when the record was written"


def hops(bench: Bench) -> str:
    """A process that is another one whenever somebody looks: the record tells that one was left, and it is gone."""
    for ran in bench.run("hops"):
        went_well(ran)
        nothing_left(ran)
        found = ran.record.run.n_survivors or 0
        expect(found >= 1, f"{found} survivors", "at least 1")
    containment = ran.record.header.containment
    return f"a process that forked and ended without rest was told and ended (containment: {containment})"


def _survivors(ran: Ran, n: int) -> None:
    found = ran.record.run.n_survivors
    expect(found == n, f"{found} survivors", str(n))


def time_of_children(bench: Bench) -> str:
    """Half of a known CPU time is a child's."""
    return _counted(bench.run("accounting"))


def time_of_daemons(bench: Bench) -> str:
    """All of a known CPU time is a daemon's, for which nobody waited."""
    return _counted(bench.run("containment"))


def _counted(runs: list[Ran]) -> str:
    told = []
    for ran in runs:
        went_well(ran)
        burnt, counted = figure(ran, "burnt_ns"), ran.record.run.cpu_ns
        own = sum(ran.values().get("own_ns", ()))
        if counted is None:
            raise missing(ran.record, "CPU time", "the probe counts no CPU time here")
        least, most = NEARLY * burnt, MORE * (burnt + own) + START_NS
        expected = f"{least / 1e6:.0f} to {most / 1e6:.0f} ms: burnt were {burnt / 1e6:.0f}"
        expect(least <= counted <= most, f"{counted / 1e6:.1f} ms of CPU time", expected)
        told.append(f"{counted / 1e6:.1f} ms of {burnt / 1e6:.0f} burnt")
    return "counted were " + ", ".join(told)


@dataclass(frozen=True)
class Promise:
    """One property.

    Attributes:
        name: short, unique.
        what: the property, one sentence.
        doubt: what is not to be believed where it fails.
        check: says what was found; raises DisprovedError or NotProvableError.
    """

    name: str
    what: str
    doubt: str
    check: Callable[[Bench], str]


_ENDS = "a run that goes wrong may count as a result"
_TIME = "believe no CPU time, and no efficiency"
_LEFT = "what one run leaves behind disturbs the next"

PROMISES = (
    Promise("pinning", "A run uses the CPUs that were asked for and no other", "believe no curve over CPUs",
          pinning),
    Promise("pinning: kernel", "The kernel's own records show no run outside its mask", "believe no curve over CPUs",
          kernel_agrees),
    Promise("CPU count", "A program believes in as many CPUs as it was given, and uses no more",
          "believe no curve over CPUs", cpu_count),
    Promise("gate", "No copy begins before the last one is ready", "believe no study with several copies",
          gate),
    Promise("containment: daemon", "A process that leaves its session ends with its run", _LEFT, daemon),
    Promise("containment: children", "Children that nobody waits for end with their run", _LEFT, children),
    Promise("containment: hops", "A process that forks without rest ends with its run", _LEFT, hops),
    Promise("containment: cgroup", "The cgroup of a run is removed with it", _LEFT, leaf_gone),
    Promise("CPU time: children", "The CPU time of children is counted, once", _TIME, time_of_children),
    Promise("CPU time: daemon", "The CPU time of a process that nobody waits for is counted, once", _TIME,
          time_of_daemons),
    Promise("crash", "A crash names its signal and has failed", _ENDS, proof_ends.crash),
    Promise("exit code", "An exit code arrives, and is a failure unless it is 0", _ENDS, proof_ends.exit_code),
    Promise("garbage", "A broken line ends its run, which has failed", _ENDS, proof_ends.garbage),
    Promise("hang", "What never ends is ended at its timeout, and has failed", _ENDS, proof_ends.hang),
    Promise("never ready", "What never says ready is not held, and ends at its timeout", _ENDS, proof_ends.never_ready),
    Promise("much output", "Output without end is read and not kept", "long runs may be held up by their output",
          proof_ends.much_output),
    Promise("many iterations", "All iterations arrive in order; other counts than asked for are a failure",
          "believe no figure of a single iteration", proof_ends.iterations),
    Promise("settings in force", "Policy and nice value are those that were asked for",
          "believe no study of policies or nice values", in_force),
    Promise("exclusive CPUs", "Exclusive CPUs are to be had, and are given back", "leave isolation out of studies",
          exclusive),
    Promise("settings restored", "Afterwards this process and the machine are set as before",
          "look at the setting and put it right", as_before),
)  # fmt: skip


def prove(host: Host, tell: Callable[[str], None] = lambda text: None) -> list[Proof]:
    """Run the studies of the sanity workloads, about 20 s, and judge each promise. The machine must be locked.

    Results lie in a temporary folder; only those that a failed proof rests on are kept, and its `fix` says where.

    Args:
        host: to prove.
        tell: is told which study begins.

    Raises:
        HostError: there is no room for results.
        KeyboardInterrupt: somebody ended it.
    """
    kept = set[Path]()
    with scratch("sanity") as folder:
        with Bench(host, folder, tell) as bench:
            proofs = [judged(promise, bench, kept) for promise in PROMISES]
        return _kept(proofs, kept, folder) if kept else proofs


def _kept(proofs: list[Proof], kept: set[Path], folder: Path) -> list[Proof]:
    """The proofs, once what they rest on is where it stays."""
    place = Path(tempfile.mkdtemp(prefix="scalograph-sanity-"))
    for path in kept:
        shutil.move(path, place)
    return [replace(proof, fix=proof.fix.replace(str(folder), str(place))) for proof in proofs]


def judged(promise: Promise, bench: Bench, kept: set[Path]) -> Proof:
    """Judge a promise; folders that a failure rests on are added to `kept`. Never raises a ScalographError."""
    bench.used.clear()
    try:
        return Proof(promise.name, promise.what, "proved", promise.check(bench))
    except NotProvableError as error:
        return Proof(promise.name, promise.what, "not provable", error.why, fix=error.fix)
    except DisprovedError as error:
        found, expected, fix = error.found, error.expected, promise.doubt
    except ScalographError as error:
        first = error.problems[0]
        found, expected, fix = f"{first.where}: {first.found}", first.expected, first.fix or promise.doubt
    folders = sorted(path for path in bench.used if path.is_dir())
    kept |= set(folders)
    told = ", ".join(map(str, folders))
    return Proof(promise.name, promise.what, "failed", found, expected, f"{fix}; kept: {told}" if told else fix)
