"""Record runs of two levels under perf, in turn, and compare where their CPU time went."""

import os
import signal
import subprocess
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median

from scalograph.errors import HostError, StudyError
from scalograph.findings.run_notes import iteration_window
from scalograph.findings.speedup_rule import SpeedupRule, find_speedup_rule
from scalograph.findings.table import Table
from scalograph.profile import recording
from scalograph.profile.build_targets import name_targets, watch_commands
from scalograph.profile.cpu_budget import CpuBudget, exclude_others, split_capacity
from scalograph.profile.level_losses import LevelRuns, compare_levels, efficiencies, rule_out
from scalograph.profile.perf_trace import Trace, read_trace
from scalograph.profile.recorder import first_stderr_line, refuse_unable, select_configurations
from scalograph.profile.values import Configuration, Level
from scalograph.profile.what_if import PAIRS, Change, add_prefix, judge_trial
from scalograph.protocol import journal
from scalograph.protocol.explanation import Explanation, Trial
from scalograph.protocol.record import Record
from scalograph.run.caller_environment import environment
from scalograph.run.hosts.base import Host, Tell
from scalograph.run.plan import Plan
from scalograph.run.runner import Runner, Score
from scalograph.run.session import run_in_memory
from scalograph.study.responses import observe, windows
from scalograph.system.private_dir import scratch
from scalograph.text.explained import change_text
from scalograph.verdict.preemption import n_cpus

RUNS = 3
_MUCH = 0.01
_MOST_LOST = 0.5  # of a curve's loss in one step: then that step is explained
# Stacks of departures and samples that a recording holds: more would take seconds to read and disturb the run.
_MAX_STACKS, _MAX_SAMPLES, _LEAST_HZ, _MOST_HZ = 10_000, 6_000, 50, 1_999
# No multiple of what a loop of a program repeats.
_PERIODS = (1, 3, 7, 17, 37, 79, 163, 331, 673, 1361, 2729, 5471, 10_949, 21_911, 43_853, 87_719)
_STACK_BYTES = 8192
_START_S = 0.5  # until a recording of the machine has begun


def record_command(file: Path, period: int, hertz: int, wakes: bool, is_wide: bool = False) -> list[str]:
    """Return the perf command prefix that records departures from CPUs, switches, samples, and wake-ups.

    `period`: of departures with a stack; `hertz`: samples per second and CPU. `is_wide` records the machine until it is
    interrupted.
    """
    events = [f"cpu-clock/freq={hertz}/", f"context-switches/period={period}/"]
    events += ["sched:sched_waking/call-graph=fp,max-stack=8/"] if wakes else []
    options = [word for event in events for word in ("--event", event)]
    return [
        "perf", "record", "--quiet", "--sample-cpu", "--clockid", "CLOCK_MONOTONIC", "--switch-events", *options,
        "--call-graph", f"dwarf,{_STACK_BYTES}", "--output", str(file),
        # As much as one may lock who is not root is little, and full rings lose records.
        *(["--mmap-pages", "2048"] if os.geteuid() == 0 else []), *(["--all-cpus"] if is_wide else ["--"]),
    ]  # fmt: skip


_Case = tuple[Plan, Configuration]


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
    period: int = 1
    hertz: int = _LEAST_HZ
    n_lost: int = 0


class Explainer:
    """Record both levels `n_runs` times in turn. The caller holds the machine lock."""

    def __init__(self, planned: Plan, table: Table, host: Host, tell: Tell, score: Score | None) -> None:
        self._planned, self._table, self._host, self._tell, self._score = planned, table, host, tell, score
        processes = planned.program.processes
        self._is_several = len(processes) != 1 or processes[0].copies != 1

    def explain(
        self, factor: str, pair: Sequence[Configuration], n_runs: int = RUNS, trials: Sequence[Change] = ()
    ) -> Explanation:
        """Explain the loss from the first configuration to the second, which differ in `factor`.

        Raises HostError: perf may not record here, a run failed, or a recording cannot be read.
        """
        rule = find_speedup_rule(self._table, factor)
        levels = [_Level(configuration) for configuration in pair]
        with scratch("explain") as folder:
            ready = self._host.ready(select_configurations(self._planned, pair), self._tell)
            changed = [(change, change.apply(ready, pair[1])) for change in trials]
            named = _name_compiled_code(ready)
            wakes = _grants_wakes(folder)
            for number in range(n_runs):
                for level in levels:
                    self._plain_run(ready, level, factor)
                    self._tell(f"{factor} {level.configuration[factor]}: recording {number + 1} of {n_runs}")
                    self._recorded_run(named, level, folder, wakes, rule)
            judged = [self._try((ready, pair[1]), case, change, rule) for change, case in changed]
        return self._document(factor, levels, wakes).model_copy(update={"trials": tuple(judged)})

    def _plain_run(self, ready: Plan, level: _Level, factor: str) -> None:
        record = self._run(ready, level.configuration)
        run, n = record.run, n_cpus(record)
        level.cpus = min(n, int(level.configuration[factor])) if _counts_workers(self._table, factor) else n
        first, last = iteration_window(record, self._table.study.protocol.warmup) or (0, run.wall_ns or 10**9)
        wall_s = (last - first) / 1e9
        wanted = (run.n_switches or 0) / _MAX_STACKS
        level.period = next((period for period in _PERIODS if period >= wanted), _PERIODS[-1])
        level.hertz = round(min(_MOST_HZ, max(_LEAST_HZ, _MAX_SAMPLES / (wall_s * level.cpus))))
        level.plain_s.append(wall_s)
        level.plain += self._read_scores(record)

    def _recorded_run(self, ready: Plan, level: _Level, folder: Path, wakes: bool, rule: SpeedupRule | None) -> None:
        file = folder / "perf"
        try:
            record, trace = (self._record_machine if self._is_several else self._record_command)(
                ready, level, file, wakes
            )
        finally:
            file.unlink(missing_ok=True)
        throttled_ns = sum(process.throttled_ns or 0 for process in record.processes)
        budget = exclude_others(split_capacity(trace, level.cpus), record.run, throttled_ns)
        scores = self._read_scores(record)
        level.budgets.append(budget)
        level.n_lost += trace.n_lost
        level.scores += scores
        level.work.append(self._units(level, rule, budget, scores))

    def _record_command(self, ready: Plan, level: _Level, file: Path, wakes: bool) -> tuple[Record, Trace]:
        command = record_command(file, level.period, level.hertz, wakes)
        with watch_commands() as commands:
            record = self._run(add_prefix(ready, command), level.configuration)
        trace = read_trace(file)
        trace = replace(trace, targets=name_targets(trace, commands))
        _remove_maps(trace)
        return record, self._measured_part(record, trace, {task.pid for task in trace.tasks.values()})

    def _record_machine(self, ready: Plan, level: _Level, file: Path, wakes: bool) -> tuple[Record, Trace]:
        """Record all CPUs; keep the tasks of the run, in its measured window."""
        command = record_command(file, level.period, level.hertz, wakes, is_wide=True)
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as perf:
            try:
                time.sleep(_START_S)
                record = self._run(ready, level.configuration)
            finally:
                perf.send_signal(signal.SIGINT)
                with suppress(subprocess.TimeoutExpired):
                    perf.wait(recording.TIMEOUT_S)
                perf.kill()
        pids = {copy.pid for copy in record.copies if copy.pid is not None}
        ours = self._measured_part(record, read_trace(file, pids), pids)
        _remove_maps(ours)
        return record, ours

    def _measured_part(self, record: Record, trace: Trace, pids: Collection[int]) -> Trace:
        """Return the tasks of these processes and what they started, in the measured window of a run."""
        gate, window = record.run.gate_ns or 0, iteration_window(record, self._table.study.protocol.warmup)
        if window is None and not self._is_several:
            return trace
        first, last = window or (0, record.run.wall_ns or 0)
        return trace.cut(pids, gate + round(first), gate + round(last))

    def _try(self, unchanged: _Case, changed: _Case, change: Change, rule: SpeedupRule | None) -> Trial:
        """Run pairs without and with a change, in turn; every second pair the other way round."""
        times: tuple[list[float], list[float]] = ([], [])
        for number in range(PAIRS):
            self._tell(f"{change_text(change.name)}: pair {number + 1} of {PAIRS}")
            for index in (0, 1) if number % 2 == 0 else (1, 0):
                record = self._run(*(unchanged, changed)[index])
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

    def _run(self, planned: Plan, configuration: Configuration) -> Record:
        chosen = select_configurations(planned, [configuration])
        ((_, record, _),) = run_in_memory(chosen, Runner(chosen, self._host, self._score))
        if record.run.status != "ok":
            reason = record.run.reason or first_stderr_line(record) or "no reason given"
            raise HostError("recorded run", f"{record.run.status}: {reason}"[:1000], "a run that succeeds")
        return record

    def _read_scores(self, record: Record) -> list[float]:
        study = self._table.study
        observed = observe(
            study.responses[self._table.view.primary].source, record, windows(record), study.protocol.warmup
        )
        return [*(observed or [])]

    def _document(self, factor: str, levels: Sequence[_Level], wakes: bool) -> Explanation:
        first, second = (LevelRuns(level.cpus, level.budgets, level.work) for level in levels)
        losses = compare_levels(first, second, self._table.view.confidence)
        speeds = [fmean(u / b.wall_s for u, b in zip(level.work, level.budgets, strict=True)) for level in levels]
        capacity = tuple(fmean(runs.capacity_s) for runs in (first, second))
        study = self._table.study
        budgets = [budget for level in levels for budget in level.budgets]
        took = sum(b.others_s for b in budgets) / sum(b.capacity_s + b.others_s for b in budgets)
        overhead = tuple(_overhead(level, self._table.view.kind == "rate") for level in levels)
        warnings = [
            *(["Who woke whom is not known: sched tracepoints need root."] if not wakes else []),
            *([f"Other programs took {took:.0%} of the CPU time, which is excluded."] if took >= _MUCH else []),
            *([f"{n} records of perf were lost."] if (n := sum(level.n_lost for level in levels)) else []),
        ]
        return Explanation(
            study=study.name, study_hash=self._table.study_hash, at=journal.now(), factor=factor,
            levels=tuple(level.configuration[factor] for level in levels),
            configuration={n: x for n, x in levels[0].configuration.items() if n != factor},
            cpus=tuple(level.cpus for level in levels), n_runs=tuple(len(level.budgets) for level in levels),
            capacity_s=capacity, gain=speeds[1] / speeds[0], lost_cpus=losses.lost_cpus, parts=losses.parts,
            unexplained=losses.unexplained, ruled_out=rule_out(losses.parts), not_visible=_not_visible(),
            overhead=overhead, efficiency=efficiencies(first, second),
            warnings=tuple(warnings),
        )  # fmt: skip


# What makes a runtime write a map of its compiled code for perf: JDK 17, CPython 3.12, Node.
_MAPS = {
    "JAVA_TOOL_OPTIONS": "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit",
    "PYTHONPERFSUPPORT": "1", "NODE_OPTIONS": "--perf-basic-prof",
}  # fmt: skip


def _name_compiled_code(planned: Plan) -> Plan:
    """Return the plan with variables by which runtimes name their compiled code, beside those it has."""
    study = planned.design.study
    before = environment(study.workload)
    added = {name: f"{before[name]} {text}" if name in before else text for name, text in _MAPS.items()}
    workload = study.workload.model_copy(update={"env": {**study.workload.env, **added}})
    design = replace(planned.design, study=study.model_copy(update={"workload": workload}))
    return replace(planned, design=design)


def _remove_maps(trace: Trace) -> None:
    for pid in {task.pid for task in trace.tasks.values()}:
        Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=True)  # noqa: S108 - where perf looks for it


def _not_visible() -> tuple[str, ...]:
    """Return what this machine has no counters for."""
    done = subprocess.run(
        ["perf", "stat", "--event", "cache-misses", "true"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, timeout=recording.TIMEOUT_S, check=False,
    )  # fmt: skip
    return ("shared cache lines", "memory bandwidth") if b"<not" in done.stderr else ()


def _overhead(level: _Level, is_rate: bool) -> float:
    """Return the time per unit of work with a recorder over that without one."""
    if is_rate and level.plain and level.scores:
        return median(level.plain) / median(level.scores)
    return median(budget.wall_s for budget in level.budgets) / median(level.plain_s)


def _grants_wakes(folder: Path) -> bool:
    """Return whether wake-ups may be recorded. Raises HostError: perf may not record at all."""
    refuse_unable(folder)
    file = folder / "attempt"
    command = [*record_command(file, 1, _LEAST_HZ, wakes=True), "true"]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        timeout=recording.TIMEOUT_S, check=False,
    )  # fmt: skip
    file.unlink(missing_ok=True)
    return done.returncode == 0


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
    is_worker = _counts_workers(table, factor)
    costs = {}
    for level, configuration in curve.items():
        rows = [
            r for r in table.successful_rows() if dict(r.configuration) == dict(configuration) and primary in r.scores
        ]
        if not rows:
            continue
        score = median(row.scores[primary] for row in rows)
        cpus = min(int(level), rows[0].n_cpus) if is_worker else rows[0].n_cpus
        per_unit = score if rule is None or rule.kind == "time" else 1 / score if score else 0.0
        costs[level] = cpus * per_unit / (int(level) if rule is not None and rule.per_worker else 1)
    return costs


def _counts_workers(table: Table, factor: str) -> bool:
    """Return whether a level is how many tasks can work at once; clients wait, and a control sets what it says."""
    study = table.study
    return find_speedup_rule(table, factor) is not None and not (study.factors[factor].control or study.is_driven)
