"""Split the CPU time that a run could have had: tasks ran, were ready, or waited; each part has its cause."""

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from typing import NamedTuple

from scalograph.profile import wait_kinds
from scalograph.profile.perf_trace import COMPILED, KERNEL, Frame, ThreadTrace, Trace
from scalograph.profile.recording import LockWaits
from scalograph.profile.wait_kinds import LossCause
from scalograph.protocol.record import RunFigures

# Waits that say nothing of their own: who ends them decides.
_OF_OTHERS = frozenset({
    wait_kinds.CONDITION, wait_kinds.BARRIER, wait_kinds.JOIN, wait_kinds.PIPE, wait_kinds.NETWORK, wait_kinds.CHILD,
    wait_kinds.EVENTS, wait_kinds.UNEXPLAINED,
})  # fmt: skip
# Waits that a timer can end.
_TIMED = frozenset({wait_kinds.CONDITION, wait_kinds.SLEEP, wait_kinds.EVENTS, wait_kinds.GC})
# To hand a message over takes time of its own: from the wake-up to the first instruction.
_MESSAGES = frozenset({wait_kinds.PIPE, wait_kinds.NETWORK, wait_kinds.EVENTS})
_MAX_HOPS = 16
_MOST_AHEAD = 64  # tasks beyond those that are next, of which one may be ready
_UNSAMPLED = LossCause("unsampled")
_NOBODY = LossCause(wait_kinds.UNEXPLAINED)


class Absence(NamedTuple):
    """A stretch of time in which a task had no CPU; ordered by its end.

    Attributes:
        end: when it has a CPU again.
        woken: when it was ready to run: at `start` if it gave way, at `end` if nobody saw it.
        waker: who woke it; None if it was an interrupt or nobody saw it.
        cpu: which it has then.
    """

    end: int
    tid: int
    start: int
    woken: int
    waker: int | None
    cause: LossCause
    cpu: int


_NEVER = Absence(2**63, 0, 0, 0, None, _NOBODY, -1)
_OTHERS = LossCause(wait_kinds.OTHERS)
# A task that a timer wakes and that computes less than this share of the run's CPU time serves, and lacks no work.
_SERVICE = 0.01
# An idle CPU takes its next task at once, if nobody else has it.
_LATENCY_NS = 500_000


@dataclass(frozen=True)
class CpuBudget:
    """CPU time of a run in seconds, by cause; the parts sum to `capacity_s`.

    Attributes:
        wall_s: from the first task's exec to the last one's exit.
        others_s: what other programs took, excluded.
        busiest_s: CPU time of each task, the largest first, as many as there are CPUs.
        n_lost: records that are missing.
    """

    capacity_s: float
    wall_s: float
    parts: dict[LossCause, float]
    n_lost: int = 0
    others_s: float = 0.0
    busiest_s: tuple[float, ...] = ()

    def divide(self, n: int) -> "CpuBudget":
        """Return the n-th part of each number but the records that are missing."""
        return CpuBudget(
            self.capacity_s / n, self.wall_s / n, {cause: seconds / n for cause, seconds in self.parts.items()},
            self.n_lost, self.others_s / n, tuple(seconds / n for seconds in self.busiest_s),
        )  # fmt: skip


def sum_budgets(budgets: Sequence[CpuBudget]) -> CpuBudget:
    """Return the sum of budgets of runs that followed each other; the k-th busiest tasks of each are one."""
    parts: dict[LossCause, float] = defaultdict(float)
    for cause, seconds in (item for budget in budgets for item in budget.parts.items()):
        parts[cause] += seconds
    return CpuBudget(
        sum(budget.capacity_s for budget in budgets), sum(budget.wall_s for budget in budgets), parts,
        sum(budget.n_lost for budget in budgets),
        busiest_s=tuple(map(sum, zip_longest(*(budget.busiest_s for budget in budgets), fillvalue=0.0))),
    )  # fmt: skip


def split_capacity(trace: Trace, n_cpus: int, beside: Collection[str] = ()) -> CpuBudget:
    """Split `n_cpus` times the time of a run by cause.

    At every instant a CPU runs a task of the run, or it has none. One without a task is charged to the tasks that
    have a CPU next: to what each is ready for, or waits for. Where that is another task, to what that one does. While
    more tasks run than `n_cpus`, all of their CPUs count. Services `beside` have CPUs of their own: what they do counts
    only where others wait for it.
    """
    splitter = _Splitter(trace, beside)
    parts: dict[LossCause, float] = defaultdict(float)
    for cause, ns in splitter.charge_idle(n_cpus):
        parts[cause] += ns
    _spread_unsampled(parts)
    for cause, ns in splitter.charge_work():
        parts[cause] += ns
    seconds = {cause: ns / 1e9 for cause, ns in parts.items() if ns}
    used = sorted((_cpu_ns(task) / 1e9 for task in splitter.tasks), reverse=True)[:n_cpus]
    wall_s = (trace.end - trace.start) / 1e9
    return CpuBudget(sum(seconds.values()), wall_s, seconds, trace.n_lost, busiest_s=tuple(used))


def _cpu_ns(task: ThreadTrace) -> int:
    return sum(stay.end - stay.start for stay in task.stays)


def _spread_unsampled(parts: dict[LossCause, float]) -> None:
    """Every n-th departure is sampled: the others wait for the same in the same shares. Who gives way is seen."""
    unsampled = parts.pop(_UNSAMPLED, 0.0)
    idle = {cause: ns for cause, ns in parts.items() if cause.kind not in (wait_kinds.QUEUE, wait_kinds.OTHERS)}
    total = sum(idle.values())
    if not total:
        parts[_NOBODY] += unsampled
    for cause, ns in idle.items():
        parts[cause] += unsampled * ns / total


def name_java_locks(budget: CpuBudget, waits: LockWaits) -> CpuBudget:
    """Name waits of a JVM for locks by the class and the method of each site, in the shares of its seconds.

    Of time in which a thread was parked, the share that others were parked for is what their wakers did.
    """
    parts: dict[LossCause, float] = defaultdict(float)
    for cause, seconds in budget.parts.items():
        is_monitor, is_java = cause.kind == wait_kinds.LOCK, cause.on == wait_kinds.JVM
        sites = (waits.monitors if is_monitor else waits.parked) if is_java else {}
        whole = sum(sites.values()) + (0.0 if is_monitor else waits.other_s)
        for (on, method), weight in sites.items() if whole else ():
            stack = (Frame(method, COMPILED),) if method else ()
            parts[cause._replace(kind=wait_kinds.LOCK, stack=stack, on=on)] += seconds * weight / whole
        rest = 1 - sum(sites.values()) / whole if whole else 1.0
        if rest > 0:
            parts[cause if is_monitor or not is_java else cause._replace(on="")] += seconds * rest
    return replace(budget, parts=parts)


def exclude_others(budget: CpuBudget, run: RunFigures, throttled_ns: int = 0) -> CpuBudget:
    """Exclude the CPU time that tasks were ready for while others had their CPU: it is no loss of the program.

    What a quota took looks the same; the kernel counts it, `throttled_ns` of processes with quotas of their own. Tasks
    that are ready while others of the program have their CPU are excluded for as long as other programs had the other
    CPUs.
    """
    parts = dict(budget.parts)
    others_s = parts.pop(_OTHERS, 0.0)
    quota_s = min(((run.throttled_ns or 0) + throttled_ns) / 1e9, others_s)
    parts |= {LossCause(wait_kinds.QUOTA): quota_s} if quota_s else {}
    others_s -= quota_s
    ready = {cause: seconds for cause, seconds in parts.items() if cause.kind == wait_kinds.QUEUE}
    # A task behind others of the program may have been there because other programs had the other CPUs.
    elsewhere_s = ((run.machine_busy_ns or 0) - (run.cpu_ns or 0)) / 1e9 - others_s
    if ready and run.machine_busy_ns and run.cpu_ns and elsewhere_s > 0:
        kept = max(0.0, 1 - elsewhere_s / sum(ready.values()))
        parts |= {cause: seconds * kept for cause, seconds in ready.items()}
        others_s += (1 - kept) * sum(ready.values())
    return replace(budget, capacity_s=budget.capacity_s - others_s, parts=parts, others_s=others_s)


class _Splitter:
    def __init__(self, trace: Trace, beside: Collection[str] = ()) -> None:
        self._trace = trace
        self._counted = {tid: task for tid, task in trace.tasks.items() if task.service not in beside}
        self.tasks = self._counted.values()
        ends = sorted((task.died, tid) for tid, task in trace.tasks.items() if task.died is not None)
        self._absences = {tid: [*_absences(tid, task, trace, ends)] for tid, task in trace.tasks.items()}
        used = {tid: _cpu_ns(task) for tid, task in trace.tasks.items()}
        self._services = {tid for tid, ns in used.items() if ns < _SERVICE * sum(used.values())}
        self._starts = {tid: [a.start for a in every] for tid, every in self._absences.items()}
        self._sample_times = {tid: [at for at, _ in task.samples] for tid, task in trace.tasks.items()}

    def charge_work(self) -> Iterator[tuple[LossCause, float]]:
        """Yield the CPU time of each process by the functions of its samples: a short task has none of its own."""
        processes: dict[int, list[ThreadTrace]] = defaultdict(list)
        for task in self.tasks:
            processes[task.pid].append(task)
        for tasks in processes.values():
            cpu_ns, stacks = sum(map(_cpu_ns, tasks)), [stack for task in tasks for _, stack in task.samples]
            for stack in stacks:
                cause = wait_kinds.cpu_cause(stack)
                yield cause._replace(service=tasks[0].service), cpu_ns / len(stacks)
            if cpu_ns and not stacks:
                yield LossCause(wait_kinds.UNEXPLAINED), cpu_ns

    def charge_idle(self, n_cpus: int) -> Iterator[tuple[LossCause, float]]:
        """Yield the time of CPUs without a task of the run, by cause."""
        absent, busy, last = list[Absence](), dict[int, int](), self._trace.start
        for at, is_back, tid, cpu, absence in sorted(self._events()):
            if at > last and n_cpus > len(busy):
                yield from self._charge_stretch(last, at, n_cpus - len(busy), absent, busy)
            last = max(last, at)
            if is_back:
                busy[tid] = cpu
                del absent[bisect_left(absent, absence) : bisect_right(absent, absence)]
            else:
                busy.pop(tid, None)
                insort(absent, absence)
        if self._trace.end > last and n_cpus > len(busy):
            yield from self._charge_stretch(last, self._trace.end, n_cpus - len(busy), absent, busy)

    def _events(self) -> Iterator[tuple[int, bool, int, int, Absence]]:
        """Yield when each task leaves its CPU for an absence, and when it is back."""
        for tid, task in self._counted.items():
            stays, every = task.stays, self._absences[tid]
            before = {absence.end: absence for absence in every}
            after = {absence.start: absence for absence in every}
            for stay in stays:
                yield stay.start, True, tid, stay.cpu, before.get(stay.start, _NEVER)
                yield stay.end, False, tid, stay.cpu, after.get(stay.end, _NEVER)

    def _charge_stretch(
        self, start: int, end: int, n_idle: int, absent: list[Absence], busy: Mapping[int, int]
    ) -> Iterator[tuple[LossCause, float]]:
        # Who is ready already would have the CPU before those that are next but wait.
        ordered = sorted(absent[: n_idle + _MOST_AHEAD], key=lambda each: each is _NEVER or each.woken > start)
        waiting = list[Absence]()
        for absence in ordered:
            if absence is _NEVER or len(waiting) == n_idle:
                break
            if absence.tid in self._services and absence.waker is None and absence.cause.kind in _TIMED:
                continue
            waiting.append(absence)
        # No task has a CPU, and others have those of ready tasks: who waits for such a task waits for the others.
        is_kept = not busy and any(absence.cause.kind == wait_kinds.QUEUE for absence in waiting)
        charges = list[tuple[LossCause, float]]()
        for absence in waiting:
            if is_kept and absence.waker is None and _is_internal(absence):
                charges.append((_OTHERS, end - start))
            else:
                charges += self._charge_absence(start, end, absence, busy)
        yield from charges
        rest = n_idle - len(waiting)
        if rest and waiting and not busy:
            # Nobody runs: what the few wait for keeps the other CPUs idle, too.
            yield from ((cause, ns * rest / len(waiting)) for cause, ns in charges)
        elif rest:
            for cause, share in self._alone((start + end) // 2, busy):
                yield cause, rest * share * (end - start)

    def _charge_absence(
        self, start: int, end: int, absence: Absence, busy: Mapping[int, int]
    ) -> Iterator[tuple[LossCause, float]]:
        """Yield what keeps an idle CPU from the task that has one next, between two instants."""
        cut = min(max(absence.woken, start), end)
        is_taken = absence.cpu not in busy.values()
        if absence.cause.kind == wait_kinds.QUEUE:
            yield _OTHERS if is_taken else absence.cause, end - start
            return
        if cut > start:
            yield self._resolve(absence, (start + cut) // 2, busy), cut - start
        if end > cut:
            # Without the wait nobody had to be woken.
            is_late = is_taken and absence.end - absence.woken > _LATENCY_NS
            cause = _OTHERS if is_late else self._resolve(absence, max(cut, absence.woken), busy)
            yield cause, end - cut

    def _resolve(self, absence: Absence, at: int, busy: Mapping[int, int]) -> LossCause:
        """Return what an absence is charged to; where a thread of Java is parked, it may be for a lock."""
        cause = self._follow(absence, at, busy)
        is_parked = absence.cause.on == wait_kinds.JVM and cause != _OTHERS
        return cause._replace(on=wait_kinds.JVM) if is_parked else cause

    def _follow(self, absence: Absence, at: int, busy: Mapping[int, int]) -> LossCause:
        """Follow who waits for whom to the one that runs, or waits for something else; name services on the way."""
        first, tasks = absence, self._trace.tasks
        service, waiter = tasks[absence.tid].service, ""
        for _ in range(_MAX_HOPS):
            is_woken = absence.woken <= at
            if absence.cause.kind not in _OF_OTHERS or (is_woken and absence.cause.kind in _MESSAGES):
                is_queued = absence.cause.kind == wait_kinds.QUEUE
                is_excluded = is_queued and absence.cpu not in busy.values()
                return _OTHERS if is_excluded else absence.cause._replace(service=service, waiter=waiter)
            at = max(absence.start, absence.woken - 1) if is_woken else at
            waker = absence.waker
            if waker is None or waker == absence.tid:
                # Nobody saw who ended it: one of those that run.
                others = [tid for tid in busy if tid != absence.tid] if waker is None and _is_internal(absence) else []
                causes = (cause for cause, _ in self._alone(at, others)) if others else iter(())
                return next(causes, absence.cause._replace(service=service, waiter=waiter))
            if waker in tasks and tasks[waker].service != service:
                service, waiter = tasks[waker].service, service
            following = self._absence_at(waker, at)
            if following is None:
                cause = self._serial(waker, at) or absence.cause
                return cause._replace(service=service, waiter=waiter)
            absence = following
            is_late = absence.woken <= at and absence.end - absence.woken > _LATENCY_NS
            if is_late and absence.cause.kind != wait_kinds.QUEUE and absence.cpu not in busy.values():
                return _OTHERS
        return first.cause._replace(service=tasks[first.tid].service)

    def _absence_at(self, tid: int, at: int) -> Absence | None:
        starts = self._starts.get(tid, [])
        index = bisect_right(starts, at) - 1
        if index < 0:
            return None
        absence = self._absences[tid][index]
        return absence if absence.start <= at < absence.end else None

    def _alone(self, at: int, busy: Iterable[int]) -> Iterator[tuple[LossCause, float]]:
        """Yield what runs while the others have no work, in equal shares."""
        causes = [cause for tid in sorted(busy)[:64] if (cause := self._serial(tid, at))]
        for cause in causes or [_NOBODY]:
            yield cause, 1 / len(causes or [_NOBODY])

    def _serial(self, tid: int, at: int) -> LossCause | None:
        """Return what a task does around an instant, by its nearest sample."""
        times = self._sample_times.get(tid)
        if not times:
            return None
        index = bisect_left(times, at)
        near = min((i for i in (index - 1, index) if 0 <= i < len(times)), key=lambda i: abs(times[i] - at))
        task = self._trace.tasks[tid]
        if target := self._trace.targets.get(task.pid):
            return LossCause(wait_kinds.BUILD, target, service=task.service)
        stack = task.samples[near][1]
        if wait_kinds.is_collecting(stack):
            return LossCause(wait_kinds.GC, service=task.service)
        own = wait_kinds.own_frames(tuple(frame for frame in stack if frame.module != KERNEL))
        return LossCause(wait_kinds.SERIAL, own, service=task.service)


def _absences(tid: int, task: ThreadTrace, trace: Trace, ends: Sequence[tuple[int, int]]) -> Iterator[Absence]:
    stays, wakes = task.stays, [at for at, _ in task.wakes]
    if stays and stays[0].start > task.born:
        yield Absence(stays[0].start, tid, task.born, task.born, None, LossCause(wait_kinds.QUEUE), stays[0].cpu)
    for stay, following in pairwise(stays):
        cause = wait_kinds.wait_cause(stay.stack) if stay.stack else _UNSAMPLED
        if stay.was_preempted:
            cause = LossCause(wait_kinds.QUEUE)
        index = bisect_right(wakes, following.start) - 1
        is_seen = index >= 0 and wakes[index] >= stay.end
        woken, waker = (task.wakes[index]) if is_seen else (following.start, None)
        if cause.kind == wait_kinds.QUEUE:
            woken = stay.end
        if cause.kind in (wait_kinds.JOIN, wait_kinds.CHILD) and not is_seen:
            waker = _last_to_end(ends, tid, stay.end, following.start + _LATENCY_NS)
        yield Absence(following.start, tid, stay.end, woken, waker, cause, following.cpu)


def _last_to_end(ends: Sequence[tuple[int, int]], tid: int, after: int, before: int) -> int | None:
    """Return the task that ended last between two instants: perf does not see whom an exit wakes."""
    first, last = bisect_left(ends, (after, 0)), bisect_right(ends, (before, 2**63))
    # The one that waits may end itself, right after.
    return next((ended for _, ended in reversed(ends[max(first, last - 2) : last]) if ended != tid), None)


def _is_internal(absence: Absence) -> bool:
    """Return whether only a task of the program can end a wait."""
    return absence.cause.kind in (wait_kinds.JOIN, wait_kinds.BARRIER, wait_kinds.CONDITION, wait_kinds.CHILD)
