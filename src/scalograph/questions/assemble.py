"""All findings of a table, in the one document that reports read."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from scalograph.findings import cold_runs, drift_doubt, missing_balance
from scalograph.findings.baselines import baseline_table
from scalograph.findings.curves import (
    Sample,
    curves,
    primary,
    samples,
)
from scalograph.findings.left_out_table import excluded_table
from scalograph.findings.machine_notes import notes
from scalograph.findings.names import brief, title
from scalograph.findings.published import of_curves, published_table
from scalograph.findings.reference import reference
from scalograph.findings.residue import residue
from scalograph.findings.table import Row, Table
from scalograph.findings.tails import tails_table
from scalograph.findings.timelines import timelines
from scalograph.findings.told import told
from scalograph.findings.traces import traces
from scalograph.findings.treatment_tables import declared_tables, treatment_tables
from scalograph.findings.trust import n_short, trust
from scalograph.findings.visible_effect import Visible, noise
from scalograph.protocol.findings import (
    BaselineDoc,
    Degraded,
    FactorDoc,
    Findings,
    ResponseDoc,
    RunsDoc,
    StudyDoc,
)
from scalograph.questions.effective_cpus.answer import is_repeat, measured
from scalograph.questions.parallel_build.answer import parallel_build
from scalograph.questions.scaling.laws import laws_table, with_laws
from scalograph.questions.scaling.physics_doubts import examine
from scalograph.questions.scaling.sentences import sentences
from scalograph.questions.searched import searched
from scalograph.questions.surface.answer import surfaces
from scalograph.questions.surface.sentences import surface_sentences, surface_tables
from scalograph.text.wording import alike

# Characters of a sentence: levels may be texts of any length.
LONGEST = 2000


def findings(table: Table, folder: Path | None = None, reproduce: Sequence[str] = ()) -> Findings:
    """The findings of a study.

    Args:
        table: its runs.
        folder: where the study's own files are; None leaves the published figures out.
        reproduce: command lines that would make these results again.
    """
    taken = measured(table, samples(table))
    every = list(taken.values())
    asked = searched(table, taken)
    found = [] if asked.at_levels else with_laws(table, taken, curves(table, taken))
    mapped, built = surfaces(table, taken), parallel_build(table, taken)
    fair, varying = missing_balance.shares(table, every), residue(table)
    # A search weighs all its runs together: what those of one level would show says nothing of its answer.
    sweep = table.study.question == "sweep"
    floor = noise(every, primary(table), table.study.protocol.confidence) if sweep else None
    visible = Visible(table)
    lookup = asked.at_levels or of_curves(found)
    published, missed = published_table(table, lookup, folder) if folder else (None, [])
    objections = examine(table, found, taken)
    further = [*missing_balance.doubt(fair), *cold_runs.examine(table, found, taken), *asked.doubts]
    shown = declared_tables(table, taken, found, visible)
    others = [laws_table(table, found), baseline_table(table, taken), excluded_table(table, every, fair), published]
    # A question of its own, where the study asks one, is answered before what every study is asked.
    against, beaten = reference(table, taken)
    said = [*asked.sentences, *built.sentences, *told(table, shown), *beaten]
    said += [*surface_sentences(table, mapped), *sentences(table, found, published)]
    tables = [*asked.tables, *shown, *surface_tables(table, mapped), *built.tables]
    tables += [] if asked.at_levels else [*against, *tails_table(table, taken)]
    tables += [] if asked.at_levels else treatment_tables(table, found, taken, visible)
    return Findings(
        study=_study(table), machine=dict(table.machine), runs=_runs(table, every),
        trust=trust(table, every, floor, varying, objections, [*further, *drift_doubt.doubt(table, every)]),
        answer=[brief(text, LONGEST) for text in said],
        curves=found, surfaces=mapped, effective_cpus=asked.effective_cpus, cliffs=asked.cliffs,
        break_even=asked.break_even,
        tables=[*tables, *(visible.beside(doc, every, primary(table)) for doc in others if doc)],
        timelines=timelines(every, primary(table), table.file), residue=varying,
        traces=traces(every, primary(table), table.file),
        warnings=[*table.warnings, *table.dropped, *notes(table), *missed, *built.warnings],
        noise=floor, noise_since=table.noise.model_dump(mode="json") if table.noise else None,
        degraded=_degraded(table.rows), reproduce=list(reproduce),
    )  # fmt: skip


def _study(table: Table) -> StudyDoc:
    study = table.study
    baseline = next((BaselineDoc(factor=f, level=level) for f, level in study.baseline.items()), None)
    return StudyDoc(
        name=study.name, title=study.title, question=study.question, work=study.work, hash=table.study_hash,
        seed=study.seed, baseline=baseline,
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


def _runs(table: Table, taken: Sequence[Sample]) -> RunsDoc:
    real = [row for row in table.rows if not row.warmup]
    failed = [row for row in real if row.status != "ok"]
    planned = {tuple(t.values()): n for t, n in zip(table.treatments, table.n_asked, strict=True)}
    n_repeated = sum(is_repeat(table, row, planned.get(row.key, 0)) for row in real)
    return RunsDoc(
        n_asked=max(sum(table.n_asked), len(real) - n_repeated), n_repeated=n_repeated,
        n_done=len(real) - n_repeated, n_failed=len(failed), n_warmup=len(table.rows) - len(real),
        treatments=len(table.treatments), n_empty=sum(bool(s.n_failed) and not s.every for s in taken),
        n_short=n_short(table, taken), verdicts=dict(Counter(row.verdict for row in real)),
        failures=_failures(failed),
        started=table.started, ended=table.ended, end_reason=table.end_reason,
    )  # fmt: skip


def _failures(failed: Sequence[Row]) -> dict[str, int]:
    """How many runs failed in each way, with the last words of one of them."""
    counts = Counter(row.reason or row.status for row in failed).most_common(20)
    words = {row.reason or row.status: row.last_words for row in failed if row.last_words}
    return {f"{why}; it said: {words[why]}" if why in words else why: n for why, n in counts}


def _degraded(rows: Iterable[Row]) -> list[Degraded]:
    """What the kernel did not grant, most runs first; reasons that differ in their numbers only are one."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        counts.update(row.degraded)
    every = alike([Degraded(what=what, why=why, fix=fix, n_runs=n) for (what, why, fix), n in counts.items()])
    return sorted(every, key=lambda doc: -doc.n_runs)[:20]
