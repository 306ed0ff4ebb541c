"""Record runs of two levels under perf, in turn, and compare where their CPU time went."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean, median

from scalograph.errors import StudyError
from scalograph.findings.speedup_rule import SpeedupRule, find_speedup_rule
from scalograph.findings.table import Table
from scalograph.profile import wait_kinds
from scalograph.profile.cpu_budget import CpuBudget, exclude_others, name_java_locks, split_capacity, sum_budgets
from scalograph.profile.level_losses import LevelRuns, compare_levels, compare_stacks, efficiencies, rule_out
from scalograph.profile.perf_runs import PerfRuns, Rates, recording_site, refuse_failed, select_configurations
from scalograph.profile.perf_trace import KERNEL
from scalograph.profile.recording_site import HERE, RecordingSite
from scalograph.profile.values import Configuration, Level
from scalograph.profile.what_if import PAIRS, Change, judge_trial
from scalograph.protocol import journal
from scalograph.protocol.explanation import Explanation, Trial
from scalograph.protocol.record import Record
from scalograph.run.hosts.base import Host, Tell
from scalograph.run.plan import Plan
from scalograph.run.runner import Score
from scalograph.study.responses import observe, windows
from scalograph.text.explained import change_text, defect_sentence
from scalograph.text.units import format_duration
from scalograph.verdict.preemption import n_cpus

RUNS = 3
_MUCH, _MUCH_DEFECT = 0.01, 0.1
_NO_KERNEL = (
    "What tasks wait for is not known: run as root, or sysctl kernel.perf_event_paranoid=1 kernel.kptr_restrict=0."
)
_LONG_S = 5.0  # a run that takes longer is made once without a recorder
_MOST_LOST = 0.5  # of a curve's loss in one step: then that step is explained


@dataclass
class _Level:
    """A configuration of the two, and what its runs gave."""

    configuration: Configuration
    budgets: list[CpuBudget] = field(default_factory=list)
    work: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    plain_s: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)
    cpus: int = 1
    beside: frozenset[str] = frozenset()
    rates: Rates = field(default_factory=Rates)


class Explainer:
    """Record both levels `n_runs` times in turn. The caller holds the machine lock."""

    def __init__(self, planned: Plan, table: Table, host: Host, tell: Tell, score: Score | None) -> None:
        self._planned, self._table, self._host, self._tell, self._score = planned, table, host, tell, score
        self._defects, self._knows_kernel = Counter[tuple[str, str]](), False

    def explain(
        self, factor: str, pair: Sequence[Configuration], n_runs: int = RUNS, trials: Sequence[Change] = ()
    ) -> Explanation:
        """Explain the loss from the first configuration to the second, which differ in `factor`.

        Raises HostError: perf may not record here, a run failed, or a recording cannot be read.
        """
        rule = find_speedup_rule(self._table, factor)
        levels = [_Level(configuration) for configuration in pair]
        with recording_site(self._host) as site:
            ready = self._host.ready(select_configurations(self._planned, pair), self._tell)
            runs = PerfRuns(ready, self._host, self._score, site)
            changed = [(change, change.apply(ready, pair[1])) for change in trials]
            for number in range(n_runs):
                for level in levels:
                    self._plain_run(runs, level, factor)
                    took = f", runs take {format_duration(level.plain_s[0])}" if level.plain_s[0] >= 1 else ""
                    self._tell(f"{factor} {level.configuration[factor]}: recording {number + 1} of {n_runs}{took}")
                    self._recorded_run(runs, level, rule)
            self._name_java_locks(runs, levels)
            judged = [self._try(runs, change, ((ready, pair[1]), case), rule) for change, case in changed]
            return self._document(factor, levels, runs).model_copy(update={"trials": tuple(judged)})

    def _plain_run(self, runs: PerfRuns, level: _Level, factor: str) -> None:
        if level.plain_s and level.plain_s[0] > _LONG_S:
            return
        record = refuse_failed(runs.run(level.configuration))
        n, level.beside = count_cpus(record)
        level.cpus = min(n, int(level.configuration[factor])) if _counts_workers(self._table, factor) else n
        level.rates = runs.rates(record, level.cpus)
        level.plain_s.append(runs.measured_s(record))
        level.plain += self._read_scores(record)

    def _recorded_run(self, runs: PerfRuns, level: _Level, rule: SpeedupRule | None) -> None:
        run = runs.record(level.configuration, level.rates)
        refuse_failed(run.record)
        budgets = [split_capacity(trace, level.cpus, level.beside) for trace in run.traces]
        throttled_ns = sum(process.throttled_ns or 0 for process in run.record.processes)
        budget = exclude_others(sum_budgets(budgets), run.record.run, throttled_ns).divide(len(budgets))
        for trace in run.traces:
            # What a build works on has its name from the command line; nobody compiles the compiler for it.
            self._defects += wait_kinds.count_defects(() if trace.targets else trace.stacks())
            self._knows_kernel |= any(frame.module == KERNEL for stack in trace.stacks() for frame in stack)
        scores = self._read_scores(run.record)
        level.budgets.append(budget)
        level.scores += scores
        level.work.append(self._units(level, rule, budget, scores))

    def _name_java_locks(self, runs: PerfRuns, levels: Sequence[_Level]) -> None:
        causes = {cause.on for level in levels for budget in level.budgets for cause in budget.parts}
        if wait_kinds.JVM in causes and runs.site.is_here:
            for level in levels:
                self._tell("where Java waits for locks: a run of each level with a flight recorder")
                waits = runs.lock_waits(level.configuration)
                level.budgets = [name_java_locks(budget, waits) for budget in level.budgets]

    def _try(
        self, runs: PerfRuns, change: Change, cases: Sequence[tuple[Plan, Configuration]], rule: SpeedupRule | None
    ) -> Trial:
        """Run pairs of both cases, without the change and with it, in turn; every second pair the other way round."""
        times: tuple[list[float], list[float]] = ([], [])
        for number in range(PAIRS):
            self._tell(f"{change_text(change.name)}: pair {number + 1} of {PAIRS}")
            for index in (0, 1) if number % 2 == 0 else (1, 0):
                planned, configuration = cases[index]
                record = refuse_failed(runs.run(configuration, planned))
                scores = self._read_scores(record) if rule is not None and rule.kind == "rate" else []
                times[index].append(1 / median(scores) if scores else (record.run.wall_ns or 1) / 1e9)
        return judge_trial(change, *times, self._table.view.confidence)

    def _units(self, level: _Level, rule: SpeedupRule | None, budget: CpuBudget, scores: Sequence[float]) -> float:
        """Return the work of a run: what it counted, else one for a run, or one for each worker."""
        if rule is not None and rule.kind == "rate" and scores:
            return median(scores) * budget.wall_s
        if rule is not None and rule.per_worker:
            return level.cpus
        return 1.0

    def _read_scores(self, record: Record) -> list[float]:
        study = self._table.study
        observed = observe(
            study.responses[self._table.view.primary].source, record, windows(record), study.protocol.warmup
        )
        return [*(observed or [])]

    def _defect_sentences(self, site: RecordingSite) -> Iterator[str]:
        if not self._knows_kernel:
            yield _NO_KERNEL
        total = self._defects[wait_kinds.ALL, ""]
        for (lack, module), n in self._defects.most_common():
            if lack != wait_kinds.ALL and n >= _MUCH_DEFECT * total:
                package = package_of(module, site)
                if not (package and lack == wait_kinds.CALLERLESS):  # its users do not link it
                    yield defect_sentence(lack, module, n / total, package)

    def _document(self, factor: str, levels: Sequence[_Level], runs: PerfRuns) -> Explanation:
        first, second = (LevelRuns(level.cpus, level.budgets, level.work) for level in levels)
        losses = compare_levels(first, second, self._table.view.confidence)
        speeds = [fmean(u / b.wall_s for u, b in zip(level.work, level.budgets, strict=True)) for level in levels]
        capacity = tuple(fmean(runs.capacity_s) for runs in (first, second))
        study = self._table.study
        budgets = [budget for level in levels for budget in level.budgets]
        took = sum(b.others_s for b in budgets) / sum(b.capacity_s + b.others_s for b in budgets)
        overhead = tuple(_overhead(level, self._table.view.kind == "rate") for level in levels)
        warnings = [
            *(["Who woke whom is not known: sched tracepoints need root."] if not runs.has_wakes else []),
            *([f"Other programs took {took:.0%} of the CPU time, which is excluded."] if took >= _MUCH else []),
            *([f"{n} records of perf were lost."] if (n := sum(budget.n_lost for budget in budgets)) else []),
            *self._defect_sentences(runs.site),
        ]
        return Explanation(
            study=study.name, study_hash=self._table.study_hash, at=journal.now(), factor=factor,
            levels=tuple(level.configuration[factor] for level in levels),
            configuration={n: x for n, x in levels[0].configuration.items() if n != factor},
            cpus=tuple(level.cpus for level in levels), n_runs=tuple(len(level.budgets) for level in levels),
            capacity_s=capacity, gain=speeds[1] / speeds[0], lost_cpus=losses.lost_cpus, parts=losses.parts,
            unexplained=losses.unexplained, stacks=compare_stacks(first, second),
            ruled_out=rule_out(losses.parts), not_visible=_not_visible(runs.site),
            overhead=overhead, efficiency=efficiencies(first, second),
            warnings=tuple(warnings),
        )  # fmt: skip


def _not_visible(site: RecordingSite) -> tuple[str, ...]:
    """Return what the machine of the runs has no counters for."""
    done = site.call("perf", "stat", "--event", "cache-misses", "true")
    return ("shared cache lines", "memory bandwidth") if "<not" in done.stderr else ()


def package_of(module: str, site: RecordingSite = HERE) -> str:
    """Return the package of a library or a program, as dpkg knows it; empty if there is none."""
    if not module or not site.has("dpkg-query"):
        return ""
    done = site.call("dpkg-query", "--search", f"*/{module}" if ".so" in module else f"*bin/{module}")
    return done.stdout.partition(":")[0] if not done.returncode else ""


def _overhead(level: _Level, is_rate: bool) -> float:
    """Return the time per unit of work with a recorder over that without one."""
    if is_rate and level.plain and level.scores:
        return median(level.plain) / median(level.scores)
    return median(budget.wall_s for budget in level.budgets) / median(level.plain_s)


def count_cpus(record: Record) -> tuple[int, frozenset[str]]:
    """Return how many CPUs a run may use, and which drivers have others than its services: these are not counted."""
    drivers = record.driver_copies()
    services = [copy for copy in record.copies if copy not in drivers]
    theirs, others = (
        {cpu for copy in copies if copy.in_force for cpu in copy.in_force.cpus} for copies in (services, drivers)
    )
    if not theirs or not others or theirs & others:
        return n_cpus(record), frozenset()
    commands = {copy.command for copy in drivers}
    return len(theirs), frozenset(process.name for process in record.processes if process.command in commands)


def choose_pair(
    table: Table, factor: str, where: Mapping[str, Level], levels: Sequence[Level] = ()
) -> tuple[Configuration, Configuration]:
    """Choose the two configurations of a curve between which most CPU time per unit of work is lost.

    `levels`: the two, if they are chosen already. Adjacent levels are taken where they lose most of what the whole
    curve loses, else the first and the last.

    Raises StudyError: the factor has fewer than two levels.
    """
    members = [c for c in table.configurations if where.items() <= c.items()]
    if not members:
        raise StudyError.one(
            "--where", "no configuration with all of these levels", "levels that were planned together"
        )
    others = {name: members[0][name] for name in members[0] if name != factor}
    curve = {c[factor]: c for c in members if others.items() <= c.items()}
    costs = _costs(table, factor, curve)
    # Where no run counts, as on a busy machine, the ends are compared.
    order = [*(levels or (costs if len(costs) > 1 else curve))]
    missing = [level for level in order if level not in curve]
    if missing or len(order) < 2:
        text = f"no level {missing[0]} of {factor}" if missing else "fewer than two levels"
        raise StudyError.one(factor, text, f"two of {', '.join(map(str, curve))}")
    pair = (order[0], order[-1])
    if not levels and len(costs) > 1:
        lost, *step = max((costs[b] - costs[a], a, b) for a, b in pairwise(order))
        pair = (step[0], step[1]) if lost > _MOST_LOST * (costs[order[-1]] - costs[order[0]]) else pair
    return curve[pair[0]], curve[pair[1]]


def _costs(table: Table, factor: str, curve: Mapping[Level, Configuration]) -> dict[Level, float]:
    """Return the CPU time that each level could use per unit of work, in units of the study's response."""
    rule, primary = find_speedup_rule(table, factor), table.view.primary
    is_worker = _counts_workers(table, factor) or table.study.factors[factor].control == "cpus"
    costs = {}
    for level, configuration in curve.items():
        rows = [
            r for r in table.successful_rows() if dict(r.configuration) == dict(configuration) and primary in r.scores
        ]
        if not rows:
            continue
        score = median(row.scores[primary] for row in rows)
        cpus = min(int(level), rows[0].n_cpus) if is_worker and type(level) is int else rows[0].n_cpus
        per_unit = score if rule is None or rule.kind == "time" else 1 / score if score else 0.0
        costs[level] = cpus * per_unit / (int(level) if rule is not None and rule.per_worker else 1)
    return costs


def _counts_workers(table: Table, factor: str) -> bool:
    """Return whether a level is how many tasks can work at once; clients wait, and a control sets what it says."""
    study = table.study
    return find_speedup_rule(table, factor) is not None and not (study.factors[factor].control or study.is_driven)
