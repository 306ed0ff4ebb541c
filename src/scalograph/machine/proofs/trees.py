"""Proofs about process trees: nothing survives a run, and all CPU time is counted, once."""

from scalograph.machine.proofs.bench import Bench
from scalograph.machine.proofs.common import (
    figure,
    missing,
    nothing_left,
    went_well,
)
from scalograph.machine.proofs.proof import expect
from scalograph.machine.proofs.ran import Ran

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
