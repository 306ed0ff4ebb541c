"""Was this run disturbed, and by what? Causes are measured, never inferred from the value of the run.

A disturbance is weighed against the CPU time that the run wanted: what it used and what was taken from it while it was
ready. A thread that loses 2 % of its CPU is as disturbed on one CPU as on sixteen. What a run does to itself (512
threads wait for each other on 2 CPUs) is none: only time counts in which a CPU ran nobody of the run while someone of
it was ready there. docs/decisions/0007-what-disturbs-a-run.md says why, and what this cannot see.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# A disturbance below this share of the CPU time that the run wanted is not blamed: quiet machines show about 0.5 %.
SHARE = 0.02
# Nor one below this share of the time that it took: of the little that a sleeping program wants any tick is a lot.
OF_WALL = 0.005
# CPU time may exceed what there was by this much: the clocks of parts of a kernel do not agree to the last tick.
PLAY = 1.05
_TICK_NS = 10_000_000
# Steal is counted in ticks: a single one says nothing about a short run.
_STEAL_TICKS = 3
# Busy time is read at both ends of the window, on each CPU, in ticks.
_BUSY_TICKS = 2
# Ticks are samples: over less than this they say little about who had the CPU.
_BUSY_NS = 2_000_000_000
# A machine this busy had no idle CPU on which a neighbor could have run without harm.
_SATURATED = 0.95


@dataclass(frozen=True)
class Judgment:
    """Verdict of one run: clean, contaminated, undecided, impossible or failed; with causes and their amounts."""

    verdict: str
    causes: list[dict[str, Any]] = field(default_factory=list)


Judging = Callable[[Mapping[str, Any]], Judgment]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a study asks of each run, as far as a record can be held against it.

    Attributes:
        iterations: that each copy reports, where it reports any.
        windows: whether a response reads the iterations' windows.
    """

    iterations: int
    windows: bool


def judge(record: Mapping[str, Any], asked: Asked | None = None) -> Judgment:
    """The verdict on a run's record (protocol/journal.md).

    `failed`: no success, or not the iterations that were asked for. `impossible`: it used more CPU time than there was.
    `contaminated`: a neighbor or the hypervisor took at least 2 % of the CPU time that it wanted. `undecided`: nothing
    was measured that could tell; where something bounds it, the bound is told.

    Args:
        record: of the run.
        asked: what the study asks of it; None judges the machine alone.
    """
    run = record["run"]
    if run["status"] != "ok":
        return Judgment("failed", [_cause("status", None, "", run["reason"] or run["status"])])
    if asked and (wrong := _not_as_asked(record.get("iterations") or (), asked)):
        return Judgment("failed", [_cause("iterations", None, "", wrong)])
    if too_much := list(_impossible(run, n_cpus(record))):
        return Judgment("impossible", too_much)
    if causes := [*_neighbor(run), *_steal(run)]:
        return Judgment("contaminated", causes)
    if run["neighbor_ns"] is None:
        return _without_records(record)
    return Judgment("clean")


def _not_as_asked(iterations: Sequence[Mapping[str, Any]], asked: Asked) -> str:
    """A run with other iterations than asked for measured something else."""
    counts = {len(part["index"]) for part in iterations}
    wrong = sorted(counts - {asked.iterations})
    if wrong:
        return f"reported {wrong[0]} of {asked.iterations} iterations"
    if not counts and asked.windows and asked.iterations > 1:
        return f"reported no iteration, asked for {asked.iterations}"
    return ""


def _impossible(run: Mapping[str, Any], cpus: int) -> Iterator[dict[str, Any]]:
    # Until the last of the tree had ended: what a survivor used belongs to the whole time that it had.
    capacity = max(run["wall_ns"] or 0, run.get("tree_wall_ns") or 0) * cpus
    if run["cpu_ns"] is not None and run["cpu_ns"] > PLAY * capacity + 2 * _TICK_NS:
        text = f"{run['cpu_ns'] / 1e9:.3g} s of CPU time in {capacity / 1e9:.3g} CPU seconds"
        yield _cause("CPU time", run["cpu_ns"] / capacity if capacity else None, "of capacity", text)


def _wanted(run: Mapping[str, Any], taken: float) -> float:
    return float((run["cpu_ns"] or 0) + taken)


def _neighbor(run: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    # What the probe itself needed to watch is no neighbor: with hundreds of threads it is half of what was taken.
    taken = max(0, (run["neighbor_ns"] or 0) - (run.get("observer_ns") or 0))
    if blamed(taken, run):
        share = taken / _wanted(run, taken)
        text = f"preempted by someone else for {100 * share:.1f} % of the CPU time that it wanted"
        yield _cause("neighbor", share, "of wanted", text)


def _steal(run: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    stolen = run["steal_ns"] or 0
    if stolen >= _STEAL_TICKS * _TICK_NS and blamed(stolen, run):
        share = stolen / _wanted(run, stolen)
        text = f"the hypervisor took the CPU for {100 * share:.1f} % of the CPU time that it wanted"
        yield _cause("steal", share, "of wanted", text)


def blamed(taken_ns: float, run: Mapping[str, Any]) -> bool:
    """Whether so much taken CPU time disturbs a run with these figures."""
    wall = run["wall_ns"] or 0
    return taken_ns > 0 and taken_ns >= SHARE * _wanted(run, taken_ns) and taken_ns >= OF_WALL * wall


def _without_records(record: Mapping[str, Any]) -> Judgment:
    """Without switch records, the busy time of the CPUs bounds what neighbors can have had; enough from 2 s on."""
    run, why = record["run"], _why_not(record)
    busy, used = run.get("machine_busy_ns"), run["cpu_ns"]
    if busy is None or not used:
        return Judgment("undecided", [_cause("no switch records", None, "", why)])
    cpus, wall = n_cpus(record), run["wall_ns"] or 0
    play = _BUSY_TICKS * cpus * _TICK_NS
    others, most = busy - used - play, max(0, busy - used) + play
    if wall >= _BUSY_NS and busy >= _SATURATED * cpus * wall and blamed(others, run):
        share = others / _wanted(run, others)
        text = f"someone else used CPUs that were never idle: at least {100 * share:.1f} % of what it wanted"
        return Judgment("contaminated", [_cause("neighbor", share, "of wanted", text)])
    if wall >= _BUSY_NS and not blamed(most, run):
        return Judgment("clean")
    bound = most / _wanted(run, most)
    text = f"{why}; others used the CPUs for less than {100 * bound:.0f} % of the CPU time that it wanted"
    return Judgment("undecided", [_cause("no switch records", bound, "of wanted, at most", text)])


def _why_not(record: Mapping[str, Any]) -> str:
    """Why waiting for a CPU was not measured, in the probe's words."""
    told = (*(record["run"].get("degraded") or ()), *record["header"]["degraded"])
    reasons = [part["why"] for part in told if "records" in part["what"]]
    return reasons[0] if reasons else "waiting for a CPU was not measured"


def n_cpus(record: Mapping[str, Any]) -> int:
    """CPUs that the copies of a run were allowed to use, together."""
    masks = [set(copy["in_force"]["cpus"]) for copy in record["copies"] if copy["in_force"]]
    return len(set().union(*masks)) or max(1, len(record["run"]["per_cpu_ns"] or ()))


def _cause(cause: str, amount: float | None, unit: str, text: str) -> dict[str, Any]:
    return {"cause": cause, "amount": amount, "unit": unit, "text": text}
