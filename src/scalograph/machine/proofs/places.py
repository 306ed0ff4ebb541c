"""Proofs of where and when copies run: masks, CPU counts, the gate."""

from collections.abc import Iterable

from scalograph.machine.proofs.bench import Bench
from scalograph.machine.proofs.common import figure, missing, went_well
from scalograph.machine.proofs.proof import NotProvableError, expect
from scalograph.machine.proofs.ran import Ran
from scalograph.text.cpu_list import format_cpu_list

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
