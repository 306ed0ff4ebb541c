"""The document of a parallel build, made from its timelines and its discarded runs."""

from collections.abc import Sequence
from statistics import mean

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.findings.answer import Taken
from scalograph.findings.sample import Sample
from scalograph.findings.table import Table
from scalograph.questions.parallel_build.document import BuildLoad, BuildPhase, Builds, FirstBuild
from scalograph.questions.parallel_build.model_load import Load
from scalograph.questions.parallel_build.model_timelines import PHASES, Known, PhaseRun, TimedRun

MOST_PHASES, MOST_LOADS, MOST_FIRST = 512, 256, 64


def builds(table: Table, taken: Taken, factor: str, known: Known) -> Builds:
    """Sum up every configuration whose runs have timelines."""
    found = [(sample, known[key]) for key, sample in taken.items() if key in known]
    loads = [one for sample, runs in found if (one := _load(table, sample, factor, runs)) is not None]
    phases = [one for sample, runs in found for one in _phases(table, sample, runs)]
    first = [
        FirstBuild(run=row.run, n_major_faults=row.n_major_faults, read_bytes=row.read_bytes)
        for row in table.rows
        if row.warmup
    ]
    return Builds(phases=phases[:MOST_PHASES], loads=loads[:MOST_LOADS], first=first[:MOST_FIRST])


def _load(table: Table, sample: Sample, factor: str, runs: Sequence[TimedRun]) -> BuildLoad | None:
    loads: list[Load] = [run.load for run in runs if run.load is not None]
    if not loads:
        return None
    confidence, jobs = table.study.protocol.confidence, float(sample.treatment[factor])
    falls = [fall for one in loads if (fall := one.last_over_first) is not None]
    return BuildLoad(
        treatment=dict(sample.treatment), jobs=jobs,
        n_cpus=max(row.n_cpus for row in sample.every), phases=list(runs[0].phases),
        course=[round(mean(float(one.course[part]) for one in loads), 3) for part in range(len(loads[0].course))],
        most_over_jobs=summarize([one.most_in_first_half / jobs for one in loads], confidence),
        last_over_first=summarize(falls, confidence) if falls else Estimate(warnings=("too short for its timeline",)),
    )  # fmt: skip


def _phases(table: Table, sample: Sample, runs: Sequence[TimedRun]) -> list[BuildPhase]:
    told = {name: [run.phases[name] for run in runs if name in run.phases] for name in PHASES}
    return [_phase(table, sample, name, found) for name, found in told.items() if found]


def _phase(table: Table, sample: Sample, name: str, runs: Sequence[PhaseRun]) -> BuildPhase:
    confidence = table.study.protocol.confidence
    percents = [run.cpu_percent for run in runs if run.cpu_percent is not None]
    loads = [run.load.mean for run in runs if run.load is not None]
    return BuildPhase(
        treatment=dict(sample.treatment), phase=name,
        share=summarize([run.share for run in runs], confidence),
        cpu_percent=summarize(percents, confidence) if percents else None,
        tasks=summarize([run.parallelism.mean for run in runs], confidence),
        runnable=summarize(loads, confidence) if loads else None,
    )  # fmt: skip
