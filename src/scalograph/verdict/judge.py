"""Judge a run by its record.

A disturbance is weighed against the CPU time that the run wanted: what it used, and what was taken from it while it was
ready. What a run does to itself (512 threads wait for each other on 2 CPUs) is no disturbance: only the time counts in
which a CPU ran no task of the run while one was ready there (docs/decisions/0007-what-disturbs-a-run.md).
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter, lt

from msgspec import Struct

from scalograph.protocol.record import CopyEvent, Iterations, MachinePart, Record, RunFigures
from scalograph.protocol.record_processes import TASKS
from scalograph.study.model import Study
from scalograph.study.responses import elapsed_source
from scalograph.text.quantities import percent_at_most
from scalograph.verdict.cause import PLAY, TICK_NS, Cause, find_cpu_escape, find_quota_escape
from scalograph.verdict.little import find_little_violation
from scalograph.verdict.partners import find_partners, mark_partners
from scalograph.verdict.preemption import (
    BUSY_NS,
    BUSY_TICKS,
    OF_WALL,
    busy,
    find_crowding,
    find_displacement,
    find_preemption,
    find_unseen_wait,
    is_blamed,
    lacks_records,
    may_have_waited,
    n_cpus,
    possible_preemption,
    wanted_time,
)
from scalograph.verdict.stalls import MEASURED, bound_stalls, find_stalls
from scalograph.verdict.undisturbed import is_corrected

COVERED = 0.1  # windows that cover a smaller share of a run's time may have missed a disturbance
MOST = 0.5  # share of what the run wanted, or of its time, from which a disturbance hits every window
MANY = 20  # number of iterations from which a median ignores single ones


def window_coverage(record: Record) -> float:
    """Return the share of a run's time in its windows, an upper bound: those of several clients may overlap."""
    wall = record.run.wall_ns or 0
    parts = record.iterations
    within = sum(end - start for part in parts for start, end in zip(part.start_ns, part.end_ns, strict=True))
    return within / wall if wall else 1.0


def is_sparse(record: Record) -> bool:
    """Tell whether a run has many windows that cover little of it."""
    parts = record.iterations
    return min((len(part.index) for part in parts), default=0) >= MANY and window_coverage(record) < COVERED


def are_small(causes: Sequence[Cause]) -> bool:
    """Tell whether all causes have sizes that may have spared most windows."""
    return all(c.amount is not None and c.amount < MOST for c in causes)


def bound_causes(record: Record, causes: Sequence[Cause]) -> list[Cause]:
    """Turn the causes of a whole run into bounds for its windows, since it is unknown when they struck."""
    where = f"its windows cover {100 * window_coverage(record):.1f}% of its time; in them or between them"
    return [Cause(c.cause, c.amount, f"{c.unit}, at most", f"{where}: {c.text}") for c in causes]


# Times within a run.
_WITHIN = ("memory_stall_ns", "io_stall_ns", "stopped_ns")
_TIMES = attrgetter(*_WITHIN)


def find_contradictions(record: Record, cpus: int) -> list[Cause]:
    """Find the reasons why a record cannot be true; `cpus` are those that its copies may use together."""
    run = record.run
    causes = [cause for cause in (_find_excess_cpu_time(run, cpus), _find_early_copies(record.copies)) if cause]
    if record.iterations:
        causes += _find_wrong_windows(record)
    if any(_TIMES(run)):
        causes += _find_overlong_times(run)
    return [*causes, *find_little_violation(record)] if record.values else causes


def _find_excess_cpu_time(run: RunFigures, cpus: int) -> Cause | None:
    # Until the last process of the tree had ended: what a survivor used belongs to the whole time that it had.
    capacity = max(run.wall_ns or 0, run.tree_wall_ns or 0) * cpus
    if run.cpu_ns is not None and run.cpu_ns > PLAY * capacity + 2 * TICK_NS:
        unseen = ": it left its CPUs, or a counter is wrong" if run.outside_ns is None else ""
        text = f"{run.cpu_ns / 1e9:.3g} s of CPU time in {capacity / 1e9:.3g} CPU seconds{unseen}"
        return Cause("CPU time", run.cpu_ns / capacity if capacity else None, "of capacity", text)
    return None


def _find_early_copies(copies: Sequence[CopyEvent]) -> Cause | None:
    """Find copies that finished sooner than their CPU time allows; report the first and count the others."""
    early = [copy for copy in copies if _excess(copy) > 0]
    if early:
        first, cpus = early[0], len(early[0].in_force.cpus) if early[0].in_force else 0
        used, lasted = _cpu_time(first) / 1e9, ((first.end_ns or 0) - (first.start_ns or 0)) / 1e9
        many = f" (and {len(early) - 1} other copies)" if len(early) > 1 else ""
        text = f"copy {first.copy_index} ended after {lasted:.3g} s on {cpus} CPUs, with {used:.3g} s of CPU time{many}"
        return Cause("finished too soon", None, "", text)
    return None


def _cpu_time(copy: CopyEvent) -> int:
    return (copy.user_ns or 0) + (copy.system_ns or 0)


def _excess(copy: CopyEvent) -> float:
    """Return the CPU time of a copy and its waited-for children beyond what its CPUs had while it lived."""
    if copy.start_ns is None or copy.end_ns is None or not copy.in_force:
        return 0.0
    capacity = (copy.end_ns - copy.start_ns) * len(copy.in_force.cpus)
    return float(_cpu_time(copy) - PLAY * capacity - 2 * TICK_NS)


def _find_wrong_windows(record: Record) -> Iterator[Cause]:
    """Find windows that end before they begin, or lie outside the life of the copy that reported them."""
    lives = {copy.copy_index: copy for copy in record.copies}
    for part in record.iterations:
        life = lives.get(part.copy_index)
        if not part.index or life is None or life.start_ns is None or life.end_ns is None:
            continue
        born, died, first, last = life.start_ns, life.end_ns, min(part.start_ns), max(part.end_ns)
        if any(map(lt, part.end_ns, part.start_ns)):
            yield Cause("window", None, "", f"an iteration of copy {part.copy_index} ends before it begins")
        elif first < born - TICK_NS or last > died + TICK_NS:
            lived, spanned = (died - born) / 1e9, (last - first) / 1e9
            text = f"lived for {lived:.3g} s and reports {spanned:.3g} s of iterations, not all within"
            yield Cause("window", None, "", f"copy {part.copy_index} {text}")


def _find_overlong_times(run: RunFigures) -> Iterator[Cause]:
    """Find times within a run that are longer than the run."""
    wall = max(run.wall_ns or 0, run.tree_wall_ns or 0)
    most = PLAY * wall + 100 * TICK_NS
    for name in _WITHIN:
        lasted = getattr(run, name)
        if lasted is not None and lasted > most:
            yield Cause("stall", None, "", f"{name} is {lasted / 1e9:.3g} s of a run of {wall / 1e9:.3g} s")


def _find_unwatched(record: Record) -> Cause | None:
    """Return why nothing could be measured of a run: an emulated guest, or nodes of a cluster."""
    if record.guest and not record.guest.has_times:
        return Cause("functional", None, "", FUNCTIONAL)
    if record.job is None:
        return None
    if record.job.n_machines is not None and record.job.n_machines < record.job.n_nodes:
        return Cause("one machine", None, "", "nodes of its job are one machine: functional, not timing")
    lacking = [entry.why for entry in record.run.degraded if entry.what == TASKS]
    watched = "its tasks were watched, other programs of its nodes were not" if record.job.tasks else ""
    return Cause("nodes", None, "", lacking[0] if lacking else watched or "its nodes were not watched")


# Of these, less than the share of a run's time below which nothing is blamed is never a cause.
_TAKEN = attrgetter("neighbor_ns", "wait_ns", "machine_memory_stall_ns", "machine_io_stall_ns")
# Of these, any amount is left to the rules: they are counted in ticks, or have limits of their own.
_ANY = attrgetter("steal_ns", "worst_steal_ns", "n_lost_records", *MEASURED)


def is_untouched(run: RunFigures) -> bool:
    """Tell whether surely no rule of disturbance applies to a run; never without switch records and times."""
    if not run.wall_ns or run.cpu_ns is None or run.neighbor_ns is None or any(_ANY(run)) or may_have_waited(run):
        return False
    least = OF_WALL * run.wall_ns
    for taken in _TAKEN(run):
        if taken and taken >= least:
            return False
    if run.neighbors and sum([neighbor.taken_ns for neighbor in run.neighbors]) >= least:
        return False
    return not run.neighbor_per_cpu_ns or max(run.neighbor_per_cpu_ns) < least


# Of these, any amount is left to the rules.
_SPECIAL = attrgetter("quota_cpus", "outside_ns")
_NUMBERS = list(range(1000))


def is_surely_clean(record: Record, iterations: int) -> bool:
    """Tell whether surely no rule finds a cause in a run that succeeded; `iterations` are those requested."""
    run, copies, parts = record.run, record.copies, record.iterations
    if len(copies) != 1 or len(parts) != 1 or record.guest or any(_SPECIAL(run)) or not is_untouched(run):
        return False
    copy, part = copies[0], parts[0]
    if copy.changed or copy.copy_index != part.copy_index or part.index != _NUMBERS[:iterations]:
        return False
    # What a driver tells of its requests has a law of its own.
    return _is_possible(run, copy, part) and not any("requests" in part_values.values for part_values in record.values)


def _is_possible(run: RunFigures, copy: CopyEvent, part: Iterations) -> bool:
    if copy.start_ns is None or copy.end_ns is None or not copy.in_force or not run.wall_ns or not part.index:
        return False
    cpus, lived = copy.in_force.cpus, copy.end_ns - copy.start_ns
    wall = max(run.wall_ns, run.tree_wall_ns or 0)
    used, ends = (copy.user_ns or 0) + (copy.system_ns or 0), part.end_ns
    return (
        (run.cpu_ns or 0) <= PLAY * wall * len(set(cpus)) + 2 * TICK_NS
        and used <= PLAY * lived * len(cpus)
        and min(part.start_ns) >= copy.start_ns - TICK_NS
        and max(ends) <= copy.end_ns + TICK_NS
        and not any(map(lt, ends, part.start_ns))
    )


class Judgment(Struct, frozen=True):
    """Verdict of one run with its causes: clean, corrected, disturbed, unverified, invalid or failed."""

    verdict: str
    causes: list[Cause] = []


_CLEAN = Judgment("clean")
FUNCTIONAL = "functional, not timing: the CPUs of its guest were emulated"
Judging = Callable[[Record], Judgment]


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a study requires of each run.

    Attributes:
        iterations: of each copy.
        windows: whether a response reads the windows of iterations.
        elapsed: source of the primary response if that is an elapsed time, which can be corrected; else empty.
    """

    iterations: int
    windows: bool
    elapsed: str = ""


def requirements(study: Study) -> Requirements:
    reads = any(response.source.startswith("window.") for response in study.responses.values())
    return Requirements(study.protocol.iterations, reads, elapsed_source(study))


def judge(record: Record, asked: Requirements | None = None) -> Judgment:
    """Judge a run by its record (protocol/journal.md).

    `failed`: no success, not the requested iterations, or it left its CPUs or its quota. `invalid`: its record
    contradicts itself (more CPU time than there was, a driver that breaks Little's law). `disturbed`: others or the
    hypervisor took at least 2% of the CPU time that it wanted, and of its measured time if it leaves a CPU free, others
    had one of its CPUs for 2% of its time, or a cause of `find_stalls` applies. `corrected`: all of that is put right
    by the undisturbed time of the run. `unverified`: no measurement could tell (the cause gives the bound, if there is
    one), or the windows cover little of the run (`is_sparse`). `asked`: what the study requires; None judges the
    machine alone.
    """
    run = record.run
    if run.status != "ok":
        return Judgment("failed", [Cause("status", None, "", run.reason or run.status)])
    if record.machines:
        return _judge_machines(record, asked)
    if asked and is_surely_clean(record, asked.iterations):
        return _CLEAN
    if unwatched := _find_unwatched(record):
        return Judgment("unverified", [unwatched])
    if asked and (wrong := _iteration_error(record, asked)):
        return Judgment("failed", [Cause("iterations", None, "", wrong)])
    if away := find_cpu_escape(record) or find_quota_escape(record):
        return Judgment("failed", [away])
    if too_much := find_contradictions(record, n_cpus(record)):
        return Judgment("invalid", too_much)
    if is_untouched(run):
        return _CLEAN
    marked = mark_partners(record)
    if causes := _find_disturbances(marked):
        if asked and asked.elapsed and is_corrected(record, causes, asked.elapsed.startswith("window.")):
            return Judgment("corrected", causes)
        if asked and asked.windows and is_sparse(record) and are_small(causes):
            return Judgment("unverified", bound_causes(record, causes))
        if not _find_disturbances(mark_partners(record, with_possible=True)):
            return Judgment("unverified", _excuse(causes, run))
        return Judgment("disturbed", causes)
    if run.wall_ns is None or run.cpu_ns is None:
        return Judgment("unverified", [Cause("no figures", None, "", "neither its time nor its CPU time is known")])
    plain = _judge_by_busy_time(marked) if lacks_records(run) else Judgment("clean")
    unclear = _possible_disturbances(marked) if plain.verdict == "clean" else []
    return Judgment("unverified", unclear) if unclear else plain


# From the worst.
_VERDICTS = ("failed", "invalid", "disturbed", "unverified", "corrected", "clean")


def _judge_machines(record: Record, asked: Requirements | None) -> Judgment:
    """Judge a run on several machines by the worst of them."""
    if asked and (wrong := _iteration_error(record, asked)):
        return Judgment("failed", [Cause("iterations", None, "", wrong)])
    if broken := find_little_violation(record):
        return Judgment("invalid", [*broken])
    each = [(part, judge(_select_machine(record, part))) for part in record.machines]
    part, worst = min(each, key=lambda pair: _VERDICTS.index(pair[1].verdict))
    names = ", ".join(dict.fromkeys(p.name for p in record.processes if p.command in part.commands))
    causes = [Cause(c.cause, c.amount, c.unit, f"machine of {names}: {c.text}") for c in worst.causes]
    return Judgment(worst.verdict, causes)


def _select_machine(record: Record, part: MachinePart) -> Record:
    """Return the record of one machine of a run on several, without what the workload reported."""
    processes = [process for process in record.processes if process.command in part.commands]
    copies = [copy for copy in record.copies if copy.command in part.commands]
    return Record(header=part.header, run=part.run, processes=processes, copies=copies, boot_id=part.boot_id)


def _excuse(causes: Sequence[Cause], run: RunFigures) -> list[Cause]:
    """Turn causes into bounds: a process that may work for the run explains them."""
    names = " and ".join(dict.fromkeys(p.name for p in find_partners(run) if not p.is_sure))
    return [Cause(c.cause, c.amount, f"{c.unit}, at most", f"{names} may work for the run: {c.text}") for c in causes]


def _find_disturbances(record: Record) -> list[Cause]:
    run = record.run
    causes = [*find_preemption(record), *find_stalls(run), *_if_any(find_crowding(record))]
    if not any(cause.cause == "neighbor" for cause in causes):
        causes += _if_any(find_displacement(record, for_sure=True))
    return causes


def _possible_disturbances(record: Record) -> list[Cause]:
    """Find what may have disturbed a run that has switch records, but could not be checked."""
    displaced = find_displacement(record, for_sure=False) or find_unseen_wait(record)
    return [*possible_preemption(record), *_if_any(displaced), *bound_stalls(record.run)]


def _if_any(cause: Cause | None) -> tuple[Cause, ...]:
    return (cause,) if cause else ()


def _iteration_error(record: Record, asked: Requirements) -> str:
    """Return the reason why a run has other iterations than requested."""
    iterations = record.iterations
    if len(iterations) == 1 == len(record.copies) and _is_whole(iterations[0], record.copies[0], asked.iterations):
        return ""  # as most runs
    if silent := _silent_copies(record.copies, {part.copy_index for part in iterations}):
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
    return part.copy_index == copy.copy_index and len(part.index) == n and part.index == list(range(n))


def _silent_copies(copies: Sequence[CopyEvent], reported: Collection[int]) -> list[int]:
    """Find copies of a command that reported nothing while other copies of it did."""
    commands = {copy.command for copy in copies if copy.copy_index in reported}
    return [copy.copy_index for copy in copies if copy.command in commands and copy.copy_index not in reported]


def _judge_by_busy_time(record: Record) -> Judgment:
    """Judge a run without switch records by the busy time of its CPUs, which bounds interference."""
    run, reason = record.run, _missing_records_reason(record)
    if (used := busy(run)) is None:
        return Judgment("unverified", [Cause("no switch records", None, "", reason)])
    wall, most = run.wall_ns or 0, max(0, used - (run.cpu_ns or 0)) + BUSY_TICKS * n_cpus(record) * TICK_NS
    if wall >= BUSY_NS and not is_blamed(most, record):
        return Judgment("clean")
    bound = most / wanted_time(run, most)
    text = f"{reason}; others used the CPUs for less than {percent_at_most(bound)} of the CPU time that it wanted"
    return Judgment("unverified", [Cause("no switch records", bound, "of wanted, at most", text)])


def _missing_records_reason(record: Record) -> str:
    """Return the probe's reason why waiting for a CPU was not measured."""
    if lost := record.run.n_lost_records:
        return f"the kernel dropped {lost} records"
    notes = (*(record.run.degraded or ()), *record.header.degraded)
    reasons = [part.why for part in notes if "records" in part.what]
    return reasons[0] if reasons else "waiting for a CPU was not measured"
