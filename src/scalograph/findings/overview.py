"""What a study is and what became of its runs, as findings begin."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from scalograph.findings.names import title
from scalograph.findings.row import Row
from scalograph.findings.sample import Sample, repeats
from scalograph.findings.table import Table
from scalograph.findings.trust import n_short
from scalograph.protocol.findings import BaselineDoc, DegradedRuns, FactorDoc, ResponseDoc, RunsDoc, StudyDoc
from scalograph.study import responses
from scalograph.study.model import WorkloadUse
from scalograph.study.processes import DRIVER
from scalograph.text.summaries import alike


def declared(table: Table) -> StudyDoc:
    """Tell what was asked, and of what."""
    study = table.study
    baseline = next((BaselineDoc(factor=f, level=level) for f, level in study.baseline.items()), None)
    return StudyDoc(
        name=study.name, title=study.title, question=study.question, work=study.work, hash=table.study_hash,
        seed=study.seed, baseline=baseline, primary=responses.primary(study),
        factors=[
            FactorDoc(
                name=name, title=title(table, name), unit=f.unit, kind=f.kind, control=f.control, levels=list(f.levels)
            )
            for name, f in study.factors.items()
        ],
        responses=[
            ResponseDoc(name=name, title=title(table, name), unit=r.unit, better=r.better)
            for name, r in study.responses.items()
        ],
    )  # fmt: skip


def run_counts(table: Table, taken: Sequence[Sample]) -> RunsDoc:
    """Count the runs by what became of them.

    Args:
        table: all of them.
        taken: the sample of each treatment.
    """
    real = [row for row in table.rows if not row.warmup]
    failed = [row for row in real if row.status != "ok"]
    n_repeated = repeats(table)
    return RunsDoc(
        n_asked=max(sum(table.n_asked), len(real) - n_repeated), n_repeated=n_repeated,
        n_done=len(real) - n_repeated, n_failed=len(failed), n_warmup=len(table.rows) - len(real),
        treatments=len(table.treatments), n_empty=sum(bool(s.n_failed) and not s.every for s in taken),
        n_short=n_short(table, taken), verdicts=dict(Counter(row.verdict for row in real)),
        failures=_failures(failed, table.study.workload),
        started=table.started, ended=table.ended, paused_s=table.paused_s, end_reason=table.end_reason,
    )  # fmt: skip


def _failures(failed: Sequence[Row], workload: WorkloadUse) -> dict[str, int]:
    """How many runs failed in each way, with the last words of one of them."""
    whys = [_of_whom(row.reason or row.status, workload) for row in failed]
    counts = Counter(whys).most_common(20)
    told = ((why, row.last_words) for why, row in zip(whys, failed, strict=True))
    words = {why: last for why, last in told if last and last not in why}
    return {f"{why}; it said: {words[why]}" if why in words else why: n for why, n in counts}


def _of_whom(why: str, workload: WorkloadUse) -> str:
    """Name what failed: a command alone is no copy, nor is the driver of services."""
    driver = next((process for process in workload.process if process.role == DRIVER), None)
    copies, called = (driver.copies, "the driver") if driver else (workload.copies, "the command")
    return re.sub(r"^copy \d+(?= )", called, why) if copies == 1 else why


def degraded(rows: Iterable[Row]) -> list[DegradedRuns]:
    """Tell what the kernel did not grant, most runs first; reasons that differ in their numbers only are one."""
    counts = Counter(reason for row in rows for reason in row.degraded)
    every = alike([DegradedRuns(what=what, why=why, fix=fix, n_runs=n) for (what, why, fix), n in counts.items()])
    return sorted(every, key=lambda doc: -doc.n_runs)[:20]
