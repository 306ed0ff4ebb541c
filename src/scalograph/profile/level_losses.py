"""Compare where the CPU time of two levels went: what is lost from one to the other, by cause."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, variance

from scalograph.analysis.quantiles import t_quantile
from scalograph.profile import wait_kinds
from scalograph.profile.cpu_budget import CpuBudget
from scalograph.profile.perf_trace import Frame, Frames
from scalograph.profile.wait_kinds import LossCause
from scalograph.protocol.explanation import (
    LEAST_SHARE,
    MAX_FRAMES,
    MAX_PARTS,
    MAX_STACKS,
    Efficiency,
    LossPart,
    Share,
    StackLoss,
)

_MOST = 0.8  # of a function's time in one callee: the callee says more


@dataclass(frozen=True)
class LevelRuns:
    """Recorded runs of one level: their budgets, and the units of work that each did."""

    n_cpus: int
    budgets: Sequence[CpuBudget]
    work: Sequence[float]

    def seconds_per_unit(self, names: Mapping[LossCause, LossCause]) -> list[dict[LossCause, float]]:
        """Return CPU seconds per unit of work of each run, by name."""
        runs = []
        for budget, units in zip(self.budgets, self.work, strict=True):
            parts: dict[LossCause, float] = defaultdict(float)
            for cause, seconds in budget.parts.items():
                parts[names[cause]] += seconds / units
            runs.append(parts)
        return runs

    @property
    def capacity_s(self) -> list[float]:
        """Return CPU seconds per unit of work of each run."""
        return [budget.capacity_s / units for budget, units in zip(self.budgets, self.work, strict=True)]


@dataclass(frozen=True)
class Losses:
    """What is lost from one level to another, per unit of work: shares of the loss, with intervals over runs."""

    lost_cpus: Share
    parts: tuple[LossPart, ...]
    unexplained: Share


def compare_levels(before: LevelRuns, after: LevelRuns, confidence: float) -> Losses:
    """Compare the CPU time per unit of work of two levels, cause by cause.

    A share is the difference of a part over that of the whole; its interval is that of a ratio (Taylor), by the
    t-distribution (Welch) over runs.
    """
    names = name_causes(cause for level in (before, after) for budget in level.budgets for cause in budget.parts)
    names = _name_by_weight([before, after], names)
    first, second = before.seconds_per_unit(names), after.seconds_per_unit(names)
    whole = fmean(after.capacity_s) - fmean(before.capacity_s)
    shares: dict[LossCause, tuple[Share, float, float]] = {}
    for cause in dict.fromkeys(cause for run in (*first, *second) for cause in run):
        each = [[run.get(cause, 0.0) for run in runs] for runs in (first, second)]
        shares[cause] = (
            _share(each, [before.capacity_s, after.capacity_s], whole, confidence),
            fmean(each[0]),
            fmean(each[1]),
        )
    parts = [
        LossPart(
            kind="inflation" if cause.kind == wait_kinds.USER else cause.kind, share=share, before_s=low, after_s=high,
            what=cause.stack[0].name if cause.stack else "", caller=cause.stack[1].name if cause.stack[1:] else "",
            on="" if cause.on == wait_kinds.JVM else cause.on, service=cause.service, waiter=cause.waiter,
        )
        for cause, (share, low, high) in shares.items()
        if cause.kind != wait_kinds.UNEXPLAINED
    ]  # fmt: skip
    parts = _net_of_moves(parts)
    unexplained = shares[nobody][0] if (nobody := LossCause(wait_kinds.UNEXPLAINED)) in shares else Share(value=0.0)
    return Losses(_lost_cpus(before, after, confidence), tuple(_keep_largest(parts)), unexplained)


def _keep_largest(parts: list[LossPart]) -> list[LossPart]:
    """Return the parts, largest share first, as many as a document holds: all that are smaller are the last one."""
    by_size = sorted(parts, key=lambda part: -abs(part.share.value))
    n_kept = MAX_PARTS - (len(parts) > MAX_PARTS)
    kept = sorted(by_size[:n_kept], key=lambda part: -part.share.value)
    if rest := by_size[n_kept:]:
        share, before_s, after_s = map(sum, zip(*((p.share.value, p.before_s, p.after_s) for p in rest), strict=True))
        kept.append(LossPart(kind=wait_kinds.SMALLER, share=Share(value=share), before_s=before_s, after_s=after_s))
    return kept


def compare_stacks(before: LevelRuns, after: LevelRuns) -> tuple[StackLoss, ...]:
    """Return the CPU time per unit of work of each stack at both levels, those with most first."""
    every = {cause: cause for level in (before, after) for budget in level.budgets for cause in budget.parts}
    sums: dict[tuple[str, str, tuple[str, ...]], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for side, level in enumerate((before, after)):
        for run in level.seconds_per_unit(every):
            for cause, seconds in run.items():
                frames = tuple(frame.name for frame in reversed(cause.stack[:MAX_FRAMES]))
                sums[cause.kind, cause.service, frames][side] += seconds / len(level.budgets)
    largest = sorted(sums.items(), key=lambda item: -max(item[1]))[:MAX_STACKS]
    return tuple(
        StackLoss(kind=kind, service=service, frames=frames, before_s=first, after_s=second)
        for (kind, service, frames), (first, second) in largest
    )


def _net_of_moves(parts: list[LossPart]) -> list[LossPart]:
    """Reduce what functions of the program gained by what others of them lost: work that moved is no more work."""
    gained = [part for part in parts if part.kind == "inflation" and part.share.value > 0]
    fell = [part for part in parts if part.kind == "inflation" and part.share.value < 0]
    rise, fall = (sum(part.share.value for part in each) for each in (gained, fell))
    smaller, larger = (fell, gained) if rise > -fall else (gained, fell)
    if not smaller:
        return parts
    kept = (rise + fall) / (rise if larger is gained else fall)
    reduced = [part.model_copy(update={"share": _scale(part.share, kept)}) for part in larger]
    moved = {id(part) for part in (*gained, *fell)}
    return [*(part for part in parts if id(part) not in moved), *reduced]


def _scale(share: Share, factor: float) -> Share:
    low, high = (None if end is None else end * factor for end in (share.low, share.high))
    return Share(value=share.value * factor, low=low, high=high)


def _share(each: list[list[float]], capacities: list[list[float]], whole: float, confidence: float) -> Share:
    """Return the share of one cause in the loss; `each`, `capacities`: seconds per unit of each run of both levels."""
    if not whole:
        return Share(value=0.0)
    value = (fmean(each[1]) - fmean(each[0])) / whole
    rests = [
        [part - value * all_ for part, all_ in zip(*pair, strict=True)] for pair in zip(each, capacities, strict=True)
    ]
    half = _half_width(rests, confidence)
    return (
        Share(value=value)
        if half is None
        else Share(value=value, low=value - half / abs(whole), high=value + half / abs(whole))
    )


def _half_width(levels: list[list[float]], confidence: float) -> float | None:
    if any(len(values) < 2 for values in levels):
        return None
    errors = [variance(values) / len(values) for values in levels]
    if not sum(errors):
        return 0.0
    free = sum(errors) ** 2 / sum(e**2 / (len(v) - 1) for e, v in zip(errors, levels, strict=True))
    return t_quantile(confidence, free) * sqrt(sum(errors))


def _lost_cpus(before: LevelRuns, after: LevelRuns, confidence: float) -> Share:
    """Return how many CPUs of the second level do not do what they did at the first."""
    first, second = fmean(before.capacity_s), fmean(after.capacity_s)
    value = after.n_cpus * (1 - first / second)
    logs = [[capacity / first for capacity in before.capacity_s], [capacity / second for capacity in after.capacity_s]]
    half = _half_width(logs, confidence)
    if half is None:
        return Share(value=value)
    low, high = (after.n_cpus * (1 - first / second * (1 + sign * half)) for sign in (1, -1))
    return Share(value=value, low=low, high=high)


def name_causes(causes: Iterable[LossCause]) -> dict[LossCause, LossCause]:
    """Name each cause by the function that says most: the top of the stack, or what it asked of the kernel.

    >>> spin, work = Frame("spin", "prog"), Frame("work", "prog")
    >>> name_causes([LossCause("user", (spin, work))])[LossCause("user", (spin, work))].stack
    (Frame(name='spin', module='prog'), Frame(name='work', module='prog'))
    """
    names = {}
    for cause in causes:
        depth = 2 if cause.kind in (wait_kinds.USER, wait_kinds.SYSTEM) else 1
        stack = () if cause.kind in (wait_kinds.QUEUE, wait_kinds.UNEXPLAINED) else _bare(cause.stack)[:depth]
        if cause.kind == wait_kinds.USER and stack[1:] and not wait_kinds.is_own(stack[1]):
            stack = stack[:1]
        names[cause] = cause._replace(stack=stack) if cause.kind != wait_kinds.UNEXPLAINED else LossCause(cause.kind)
    return names


def _bare(stack: Frames) -> Frames:
    """Leave out addresses: another run has others."""
    return tuple(frame for frame in stack if not frame.name.startswith("0x"))


def _name_by_weight(levels: Sequence[LevelRuns], names: Mapping[LossCause, LossCause]) -> dict[LossCause, LossCause]:
    """Name what runs alone by the deepest function that holds most of its time, over all runs."""
    weights: dict[Frames, float] = defaultdict(float)
    for level in levels:
        for budget in level.budgets:
            for cause, seconds in budget.parts.items():
                if cause.kind in wait_kinds.ALONE:
                    weights[tuple(reversed(_bare(cause.stack)))] += seconds / budget.capacity_s
    top = _main_functions(weights, 0)
    return {
        cause: name._replace(stack=_first_of(cause.stack, top)) if cause.kind in wait_kinds.ALONE else name
        for cause, name in names.items()
    }


def _main_functions(weights: Mapping[Frames, float], depth: int) -> set[Frame]:
    """Return the functions by which stacks (outermost first) are named: each holds most of its callers' time."""
    callees: dict[Frame | None, dict[Frames, float]] = defaultdict(dict)
    for stack, weight in weights.items():
        callees[stack[depth] if len(stack) > depth else None][stack] = weight
    total = sum(weights.values())
    chosen = set[Frame]()
    for frame, below in callees.items():
        if frame is None or sum(below.values()) < LEAST_SHARE * total:
            continue
        heaviest = _heaviest(below, depth + 1)
        is_start = not wait_kinds.is_own(frame) or frame.name == "main"
        if is_start or heaviest >= _MOST * sum(below.values()):
            chosen |= _main_functions(below, depth + 1) or {frame}
        else:
            chosen.add(frame)
    return chosen


def _heaviest(weights: Mapping[Frames, float], depth: int) -> float:
    sums: dict[Frame, float] = defaultdict(float)
    for stack, weight in weights.items():
        if len(stack) > depth:
            sums[stack[depth]] += weight
    return max(sums.values(), default=0.0)


def _first_of(stack: Frames, chosen: set[Frame]) -> Frames:
    return next((stack[i : i + 2] for i, frame in enumerate(stack) if frame in chosen), stack[-1:])


# What people suspect first.
_SUSPECTS = (wait_kinds.QUOTA, wait_kinds.DISK, wait_kinds.FAULT)


def rule_out(parts: Sequence[LossPart]) -> tuple[str, ...]:
    """Return the usual suspects that hold less than a hundredth of the loss, interval included."""
    ruled_out = []
    for kind in _SUSPECTS:
        highs = [
            part.share.high if part.share.high is not None else part.share.value for part in parts if part.kind == kind
        ]
        if sum(map(abs, highs)) < LEAST_SHARE:
            ruled_out.append(kind)
    return tuple(ruled_out)


def efficiencies(before: LevelRuns, after: LevelRuns) -> tuple[Efficiency, Efficiency]:
    """Return the factors of efficiency of both levels, means over runs (method of the POP Centre of Excellence)."""
    first, second = _efficiency(before, before), _efficiency(after, before)
    return first, second


def _efficiency(level: LevelRuns, base: LevelRuns) -> Efficiency:
    runs = [budget for budget in level.budgets if budget.busiest_s and budget.busiest_s[0]]
    tops = [budget.busiest_s[0] for budget in runs]
    balance = [sum(run.busiest_s) / (level.n_cpus * top) for run, top in zip(runs, tops, strict=True)]
    busy = [top / run.wall_s for run, top in zip(runs, tops, strict=True)]
    own, first = _cpu_per_unit(level), _cpu_per_unit(base)
    return Efficiency(
        load_balance=fmean(balance) if balance else 0.0, communication=fmean(busy) if busy else 0.0,
        computation=first / own if own else 1.0,
    )  # fmt: skip


def _cpu_per_unit(level: LevelRuns) -> float:
    kinds = (wait_kinds.USER, wait_kinds.SYSTEM, wait_kinds.FAULT)
    pairs = zip(level.budgets, level.work, strict=True)
    return fmean(sum(s for cause, s in b.parts.items() if cause.kind in kinds) / units for b, units in pairs)
