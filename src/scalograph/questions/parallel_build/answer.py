"""Answer how a parallel build scales: best number of jobs, its cost, parallelism and cold runs."""

from collections.abc import Sequence
from statistics import mean, pvariance

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.findings.answer import Answer, SampleMap
from scalograph.findings.sample import Sample
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.questions.parallel_build.claim import build_claim
from scalograph.questions.parallel_build.document import BuildLoad, BuildPhase, Builds, FirstBuild, LaterBuilds
from scalograph.questions.parallel_build.model_parallelism import (
    PHASES,
    Load,
    PhaseRun,
    TimedRun,
    TimedRuns,
    read_timelines,
)
from scalograph.questions.parallel_build.tables import (
    best_table,
    course_table,
    discarded_table,
    inflation_table,
    load_table,
    memory_table,
    memory_warnings,
    parallelism_table,
    phases_table,
    prepared_table,
    same_tables,
)


def applies(table: Table) -> str | None:
    """Say why the study is no parallel build; None where it is one."""
    return None if jobs_factor(table) else "no factor of jobs that share one piece of work"


def answer(table: Table, taken: SampleMap, curves: Sequence[Curve]) -> Answer:
    factor = jobs_factor(table)
    assert factor is not None
    timelines = read_timelines(table, taken, factor)
    document = summarize_builds(table, taken, factor, timelines)
    tables = [
        best_table(table, taken, factor), parallelism_table(table, taken, factor, timelines),
        course_table(table, taken, timelines), phases_table(table, document), load_table(table, document),
        inflation_table(table, taken, factor), *same_tables(table, taken), memory_table(table, taken, factor),
        discarded_table(table), prepared_table(table),
    ]  # fmt: skip
    claim, warnings = build_claim(table, taken, factor), [*memory_warnings(table, taken, factor)]
    return Answer(document=document, claim=claim, tables=[doc for doc in tables if doc], warnings=warnings)


def jobs_factor(table: Table) -> str | None:
    """Find the factor that counts jobs: called `jobs`, or what fills -j{NAME} in the command."""
    if table.study.work != "total":
        return None  # each job builds something of its own
    words = " ".join(table.study.workload.command or ())
    for name, factor in table.study.factors.items():
        counts = all(isinstance(level, int) and not isinstance(level, bool) and level > 0 for level in factor.levels)
        filled = f"-j{{{name}}}" in words or f"-j {{{name}}}" in words or f"--jobs={{{name}}}" in words
        if factor.control is None and counts and name in table.view.varying and (name == "jobs" or filled):
            return name
    return None


MOST_PHASES, MOST_LOADS, MOST_FIRST = 512, 256, 64


def summarize_builds(table: Table, taken: SampleMap, factor: str, timelines: TimedRuns) -> Builds:
    """Summarize every configuration whose runs have timelines."""
    timed = [(sample, timelines[key]) for key, sample in taken.items() if key in timelines]
    loads = [load for sample, runs in timed if (load := _load(table, sample, factor, runs)) is not None]
    phases = [phase for sample, runs in timed for phase in _phases(table, sample, runs)]
    cold = [row for row in table.rows if row.warmup]
    first = [FirstBuild(run=r.run, n_major_faults=r.n_major_faults, read_bytes=r.read_bytes) for r in cold]
    faults = [row.n_major_faults for row in table.successful_rows() if row.n_major_faults is not None]
    later = LaterBuilds(n=len(faults), n_major_faults=sum(faults), variance=pvariance(faults)) if faults else None
    return Builds(phases=phases[:MOST_PHASES], loads=loads[:MOST_LOADS], first=first[:MOST_FIRST], later=later)


def _load(table: Table, sample: Sample, factor: str, runs: Sequence[TimedRun]) -> BuildLoad | None:
    loads: list[Load] = [run.load for run in runs if run.load is not None]
    if not loads:
        return None
    confidence, jobs = table.view.confidence, float(sample.configuration[factor])
    falls = [fall for load in loads if (fall := load.last_over_first) is not None]
    return BuildLoad(
        configuration=dict(sample.configuration), jobs=jobs,
        n_cpus=max(row.n_cpus for row in sample.succeeded), phases=list(runs[0].phases),
        course=[round(mean(float(load.course[part]) for load in loads), 3) for part in range(len(loads[0].course))],
        most_over_jobs=summarize([load.most_in_first_half / jobs for load in loads], confidence),
        last_over_first=summarize(falls, confidence) if falls else Estimate(warnings=("too short for its timeline",)),
    )  # fmt: skip


def _phases(table: Table, sample: Sample, runs: Sequence[TimedRun]) -> list[BuildPhase]:
    by_phase = {name: [run.phases[name] for run in runs if name in run.phases] for name in PHASES}
    return [_phase(table, sample, name, phase_runs) for name, phase_runs in by_phase.items() if phase_runs]


def _phase(table: Table, sample: Sample, name: str, runs: Sequence[PhaseRun]) -> BuildPhase:
    confidence = table.view.confidence
    percents = [run.cpu_percent for run in runs if run.cpu_percent is not None]
    loads = [run.load.mean for run in runs if run.load is not None]
    return BuildPhase(
        configuration=dict(sample.configuration), phase=name,
        share=summarize([run.share for run in runs], confidence),
        cpu_percent=summarize(percents, confidence) if percents else None,
        tasks=summarize([run.parallelism.mean for run in runs], confidence),
        runnable=summarize(loads, confidence) if loads else None,
    )  # fmt: skip
