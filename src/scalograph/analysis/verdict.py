"""Was this run disturbed, and by what? Causes are measured, never inferred from the value of the run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# A disturbance below this share of the CPU time that the run could have had is not blamed.
SHARE = 0.02
_TICK_NS = 10_000_000


@dataclass(frozen=True)
class Judgment:
    """Verdict of one run: clean, contaminated, undecided, impossible or failed; with causes and their amounts."""

    verdict: str
    causes: list[dict[str, Any]] = field(default_factory=list)


def judge(record: Mapping[str, Any]) -> Judgment:
    """The verdict on a run's record (protocol/journal.md).

    `contaminated`: a task of the run was ready and someone else had its CPU, or the hypervisor took the CPU away, for
    at least 2 % of the CPU time that the run could have had. `impossible`: it used more CPU time than there was.
    `undecided`: nothing was measured that could tell.
    """
    run = record["run"]
    if run["status"] != "ok":
        return Judgment("failed", [_cause("status", None, "", run["reason"] or run["status"])])
    capacity = (run["wall_ns"] or 0) * n_cpus(record)
    if run["cpu_ns"] is not None and run["cpu_ns"] > 1.05 * capacity + 2 * _TICK_NS:
        text = f"{run['cpu_ns'] / 1e9:.3g} s of CPU time in {capacity / 1e9:.3g} CPU seconds"
        return Judgment("impossible", [_cause("CPU time", run["cpu_ns"] / capacity, "of capacity", text)])
    causes = [*_neighbor(run, capacity), *_steal(run, capacity)]
    if causes:
        return Judgment("contaminated", causes)
    if run["neighbor_ns"] is None:
        return Judgment("undecided", [_cause("no switch records", None, "", _why_not(record))])
    return Judgment("clean")


def _why_not(record: Mapping[str, Any]) -> str:
    """Why waiting for a CPU was not measured, in the probe's words."""
    told = (*(record["run"].get("degraded") or ()), *record["header"]["degraded"])
    reasons = [part["why"] for part in told if "records" in part["what"]]
    return reasons[0] if reasons else "waiting for a CPU was not measured"


def n_cpus(record: Mapping[str, Any]) -> int:
    """CPUs that the copies of a run were allowed to use, together."""
    masks = [set(copy["in_force"]["cpus"]) for copy in record["copies"] if copy["in_force"]]
    return len(set().union(*masks)) or max(1, len(record["run"]["per_cpu_ns"] or ()))


def _neighbor(run: Mapping[str, Any], capacity: float) -> list[dict[str, Any]]:
    share = (run["neighbor_ns"] or 0) / capacity if capacity else 0.0
    if share < SHARE:
        return []
    return [_cause("neighbor", share, "of capacity", f"someone else had its CPU for {100 * share:.1f} % of the time")]


def _steal(run: Mapping[str, Any], capacity: float) -> list[dict[str, Any]]:
    stolen = run["steal_ns"] or 0
    share = stolen / capacity if capacity else 0.0
    # Steal is counted in ticks: a single one says nothing about a short run.
    if share < SHARE or stolen < 3 * _TICK_NS:
        return []
    return [_cause("steal", share, "of capacity", f"the hypervisor took the CPU for {100 * share:.1f} % of the time")]


def _cause(cause: str, amount: float | None, unit: str, text: str) -> dict[str, Any]:
    return {"cause": cause, "amount": amount, "unit": unit, "text": text}
