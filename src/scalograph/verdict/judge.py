"""Was this run disturbed, and by what? Causes are measured, never inferred from the value of the run.

A disturbance is weighed against the CPU time that the run wanted: what it used, and what was taken from it while it was
ready. A thread that loses 2 % of its CPU is as disturbed on one CPU as on sixteen. What a run does to itself (512
threads wait for each other on 2 CPUs) is no disturbance: only the time counts in which a CPU ran no task of the run
while one was ready there. docs/decisions/0007-what-disturbs-a-run.md says why, and what this cannot see.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from msgspec import Struct

from scalograph.protocol.record import CopyEvent, Iterations, Record
from scalograph.study.model import Study
from scalograph.text.quantities import percent_at_most
from scalograph.verdict.cause import TICK_NS, Cause
from scalograph.verdict.coverage import is_sparse, small, unplaced
from scalograph.verdict.impossible import impossible
from scalograph.verdict.mask import left_its_cpus, left_its_quota
from scalograph.verdict.preemption import (
    blamed,
    may_be_preempted,
    preempted,
    wanted,
)
from scalograph.verdict.saturation import (
    BUSY_NS,
    BUSY_TICKS,
    busy,
    crowded,
    kept_out,
    n_cpus,
    no_records,
    unseen,
)
from scalograph.verdict.stalls import bounds, held_up
from scalograph.verdict.surely_clean import is_surely_clean
from scalograph.verdict.untouched import is_untouched


class Judgment(Struct, frozen=True):
    """Verdict of one run: clean, contaminated, undecided, impossible or failed; with causes and their amounts."""

    verdict: str
    causes: list[Cause] = []


_CLEAN = Judgment("clean")
# Of a run in a guest whose CPUs are emulated.
FUNCTIONAL = "functional, not timing: the CPUs of its guest were emulated"


Judging = Callable[[Record], Judgment]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a study requires of each run, as far as a record can show it.

    Attributes:
        iterations: the number that each copy reports, if it reports any.
        windows: whether a response reads the iterations' windows.
    """

    iterations: int
    windows: bool


def requirements(study: Study) -> Asked:
    """Return what a study requires of each of its runs."""
    reads = any(response.source.startswith("window.") for response in study.responses.values())
    return Asked(study.protocol.iterations, reads)


def judge(record: Record, asked: Asked | None = None) -> Judgment:
    """Judge a run by its record (protocol/journal.md).

    `failed`: no success, not the requested iterations, or it left its CPUs or its quota. `impossible`: its record
    contradicts itself (more CPU time than there was, a driver that breaks Little's law). `contaminated`: a neighbor or
    the hypervisor took at least 2 % of the CPU time that it wanted, a neighbor had one of its CPUs for 2 % of its time,
    or a cause of `held_up` applies. `undecided`: no measurement could tell (the cause gives the bound, if there is
    one), or the windows cover little of the run (`is_sparse`).

    Args:
        record: of the run.
        asked: what the study requires of it; None judges the machine alone.
    """
    run = record.run
    if run.status != "ok":
        return Judgment("failed", [Cause("status", None, "", run.reason or run.status)])
    if asked and is_surely_clean(record, asked.iterations):
        return _CLEAN
    if record.guest and not record.guest.has_times:
        return Judgment("undecided", [Cause("functional", None, "", FUNCTIONAL)])
    if asked and (wrong := _not_as_asked(record, asked)):
        return Judgment("failed", [Cause("iterations", None, "", wrong)])
    if away := left_its_cpus(record) or left_its_quota(record):
        return Judgment("failed", [away])
    if too_much := impossible(record, n_cpus(record)):
        return Judgment("impossible", too_much)
    if is_untouched(run):
        return _CLEAN
    if causes := _disturbed(record):
        if asked and asked.windows and is_sparse(record) and small(causes):
            return Judgment("undecided", unplaced(record, causes))
        return Judgment("contaminated", causes)
    if run.wall_ns is None or run.cpu_ns is None:
        return Judgment("undecided", [Cause("no figures", None, "", "neither its time nor its CPU time is known")])
    plain = _without_records(record) if no_records(run) else Judgment("clean")
    if plain.verdict == "clean" and (unclear := _unclear(record)):
        return Judgment("undecided", unclear)
    return plain


def _disturbed(record: Record) -> list[Cause]:
    run = record.run
    causes = [*preempted(record), *held_up(run), *_if_any(crowded(record))]
    if not any(one.cause == "neighbor" for one in causes):
        causes += _if_any(kept_out(record, for_sure=True))
    return causes


def _unclear(record: Record) -> list[Cause]:
    """Find what may have disturbed a run that has switch records, but could not be checked."""
    kept = kept_out(record, for_sure=False) or unseen(record)
    return [*may_be_preempted(record), *_if_any(kept), *bounds(record.run)]


def _if_any(cause: Cause | None) -> tuple[Cause, ...]:
    return (cause,) if cause else ()


def _not_as_asked(record: Record, asked: Asked) -> str:
    """Tell why a run has other iterations than requested: it measured something else."""
    iterations = record.iterations
    if len(iterations) == 1 == len(record.copies) and _is_whole(iterations[0], record.copies[0], asked.iterations):
        return ""  # as most runs
    if silent := _silent(record.copies, {part.copy_index for part in iterations}):
        return f"copy {min(silent)} reported no iteration of {asked.iterations}, and others did"
    if odd := [part for part in iterations if part.index != [*range(len(part.index))]]:
        return f"copy {odd[0].copy_index} did not number its iterations 0, 1, 2, ..."
    counts = {len(part.index) for part in iterations}
    if wrong := counts - {asked.iterations}:
        return f"reported {min(wrong)} of {asked.iterations} iterations"
    if not counts and asked.windows and asked.iterations > 1:
        return f"reported no iteration, asked for {asked.iterations}"
    return ""


def _is_whole(part: Iterations, copy: CopyEvent, n: int) -> bool:
    """Tell whether these are so many iterations of this copy, numbered in order."""
    return part.copy_index == copy.copy_index and len(part.index) == n and part.index == list(range(n))


def _silent(copies: Sequence[CopyEvent], reported: Collection[int]) -> list[int]:
    """Find copies of a command that reported nothing while others did: half of a treatment is another treatment."""
    commands = {copy.command for copy in copies if copy.copy_index in reported}
    return [copy.copy_index for copy in copies if copy.command in commands and copy.copy_index not in reported]


def _without_records(record: Record) -> Judgment:
    """Judge a run without switch records: the busy time of the CPUs bounds what neighbors had; enough from 2 s on."""
    run, why = record.run, _why_not(record)
    if (used := busy(run)) is None:
        return Judgment("undecided", [Cause("no switch records", None, "", why)])
    wall, most = run.wall_ns or 0, max(0, used - (run.cpu_ns or 0)) + BUSY_TICKS * n_cpus(record) * TICK_NS
    if wall >= BUSY_NS and not blamed(most, run):
        return Judgment("clean")
    bound = most / wanted(run, most)
    text = f"{why}; others used the CPUs for less than {percent_at_most(bound)} of the CPU time that it wanted"
    return Judgment("undecided", [Cause("no switch records", bound, "of wanted, at most", text)])


def _why_not(record: Record) -> str:
    """Return the probe's reason why waiting for a CPU was not measured."""
    if lost := record.run.n_lost_records:
        return f"the kernel dropped {lost} records"
    told = (*(record.run.degraded or ()), *record.header.degraded)
    reasons = [part.why for part in told if "records" in part.what]
    return reasons[0] if reasons else "waiting for a CPU was not measured"
