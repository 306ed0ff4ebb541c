"""Answer how many CPUs a program really uses, and what limits it: the search is replayed from its runs.

A study may ask for it (`question = "effective-cpus"`). A sweep of workers that each do the same answers it too: how
many of them run at once.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any

from scalograph.findings.answer import Answer, SampleMap
from scalograph.findings.row import Row
from scalograph.findings.sample import Sample, group_samples, read_records, replay_runs, run_time
from scalograph.findings.speedup_rule import find_speedup_rule
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.protocol.plain import AnswerCase, Level, is_number
from scalograph.questions.effective_cpus.claim import LIMIT_NAMES, effective_claim, effective_sentences, limit_text
from scalograph.questions.effective_cpus.document import EffectiveCpus, EffectiveGroups
from scalograph.questions.effective_cpus.model import SURE, Effective, effective_cpus, name_limit
from scalograph.questions.effective_cpus.model_programs import Concurrency, concurrency, cpus_used, most_runs
from scalograph.questions.effective_cpus.model_search import Bisection, search
from scalograph.questions.effective_cpus.search_state import begin, rounds
from scalograph.questions.effective_cpus.tables import effective_tables
from scalograph.text.quantities import percents
from scalograph.text.warning_catalog import Caveat
from scalograph.verdict.cause import COUNTED

QUESTION = "effective-cpus"
# Tasks that were ready and had no CPU, over the CPU time that was wanted: fewer CPUs than there is work.
WAITED = 0.1
# Levels of a sweep that are enough to see a cap.
FEWEST_LEVELS = 4


def applies(table: Table) -> str | None:
    """Return why a study does not tell how many CPUs, or workers at once, it uses; None where it does."""
    if table.view.is_search:
        return "the study searches for something else"
    if _counting_factor(table) is None:
        return f"no times of workers that each do the same, at {FEWEST_LEVELS} counts or more from 1 on"
    return None


def answer(table: Table, samples: SampleMap, curves: Sequence[Curve]) -> Answer:
    """Answer how many CPUs help, for each group of the factors that are not searched."""
    factor, is_asked = _counting_factor(table), table.study.question == QUESTION
    assert factor is not None
    groups, limits = list[EffectiveCpus](), list[AnswerCase]()
    for group, some in [*group_samples(samples.values(), factor).items()][:MOST]:
        members = {int(s.configuration[factor]): s for s in some}
        document, limit = _answer_group(table, factor, dict(group), members)
        groups, limits = [*groups, document], [*limits, limit]
    undecided = [Caveat("undecided", {"reason": group.sentence}) for group in groups if not group.decided]
    return Answer(
        document=EffectiveGroups(groups=groups),
        decided=bool(groups) and not undecided if is_asked else None,
        claim=effective_claim(table, samples, groups[0], limits[0]) if is_asked and groups else None,
        sentences=() if is_asked else effective_sentences(table, samples, groups),
        tables=effective_tables(table, samples, groups),
        doubts=undecided if is_asked else (),
    )


def _counting_factor(table: Table) -> str | None:
    """Return the searched factor: the one that varies, or of a sweep workers that each do the same."""
    study, several = table.study, table.view.varying
    if study.question == QUESTION:
        return next(iter(several), next(iter(study.factors)))
    factor = next(iter(study.baseline), "")
    how = find_speedup_rule(table, factor) if factor else None
    of_cpus = any(f.control == "cpus" for f in study.factors.values()) or isinstance(study.workload.copies, str)
    if how is None or how.kind != "time" or not how.per_worker or of_cpus:
        return None
    levels = {configuration[factor] for configuration in table.configurations}
    return factor if len(levels) >= FEWEST_LEVELS and 1 in levels else None


# Speedup beyond the CPUs in use that noise and caches explain.
SLACK = 1.05


def find_implausible(members: Mapping[int, Sample], k_eff: int, response: str) -> AnswerCase | None:
    """Return the case of an answer of k_eff CPUs that cannot stand, by the samples at each count; None where it can."""
    least = min((k for k, sample in members.items() if sample.counted), default=k_eff)
    if least >= k_eff or k_eff not in members:
        return None
    samples = [members[k] for k in (least, k_eff)]
    times, used = [sample.scores(response) for sample in samples], [_cpus_in_use(sample) for sample in samples]
    if not all(times) or None in used:
        return None
    had, has = (1.0 if least == 1 else used[0] or 1.0), used[1] or 0.0
    speedup = median(times[0]) / median(times[1])
    if speedup <= SLACK * has / had:
        return None
    return AnswerCase(case="implausible", values={"low": least, "k": k_eff})


def _cpus_in_use(sample: Sample) -> float | None:
    ratios = [cpus for row in sample.counted if (cpus := row.cpus_used) is not None]
    return median(ratios) if ratios else None


# As `value`, and as a response of that name that is read from the output.
_BELIEVED = ("believed_cpus", "output_believed_cpus")


def level_usage(table: Table, sample: Sample) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the use of CPUs in the counted runs of a configuration: as the document has it, and as a claim has it."""
    records = [*read_records(table, sample.counted)]
    values = [part.values for record in records for part in record.values]
    believed = [value for each in values for name in _BELIEVED for value in each.get(name, ())]
    runs = [record.run for record in records]
    timed = [(record.run.wall_ns, record.timeline) for record in records if record.timeline]
    at_once = _mean_concurrency([concurrency(wall_ns, x.bin_ns, x.busy_ns) for wall_ns, x in timed])
    tasks = [run.n_tasks for run in runs if run.n_tasks]
    waits = [run.wait_ns / (run.wait_ns + run.cpu_ns) for run in runs if run.wait_ns is not None and run.cpu_ns]
    waited = median(waits) if waits else 0.0
    return {
        "used": cpus_used(table.study, sample), "at_once": list(at_once.shares), "exact": at_once.exact,
        "mask": max((row.n_cpus for row in sample.counted), default=None),
        "believed": round(median(believed)) if believed else None,
    }, {"tasks": round(median(tasks)) if tasks else None, "waited": waited if waited >= WAITED else None}  # fmt: skip


def _mean_concurrency(runs: Sequence[Concurrency]) -> Concurrency:
    with_shares = [run for run in runs if run.shares]
    if not with_shares:
        return Concurrency()
    width = max(len(run.shares) for run in with_shares)
    shares = [fmean(run.shares[n] if n < len(run.shares) else 0.0 for run in with_shares) for n in range(width)]
    return Concurrency(tuple(shares), fmean(run.exact for run in with_shares))


MOST = 16
# Runs of a sweep past which it takes seconds to weigh them all.
MOST_RUNS = 120

SearchResult = Effective | Bisection | None


def _answer_group(
    table: Table, factor: str, group: dict[str, Level], members: Mapping[int, Sample]
) -> tuple[EffectiveCpus, AnswerCase]:
    rows = [row for row in table.rows if not row.warmup and row.configuration.items() >= group.items()]
    begun = begin(table.study, table.configurations) if table.study.question == QUESTION else None
    result = replay_runs(begun, table).result if begun else _fit_sweep(table, factor, rows)
    top = max((level for level, sample in members.items() if sample.counted), default=None)
    usage, tasks = level_usage(table, members[top]) if top is not None else ({}, {})
    document = EffectiveCpus(
        group=group, factor=factor, quota=_quota(table, group), workers=_workers(table, factor, top),
        **_result_fields(result), **usage,
    )  # fmt: skip
    limit, study, response = _find_limit(table, document, result, tasks), table.study, table.view.primary
    # Only where levels are CPUs for the same work does a speedup compare with the CPUs in use.
    varies_cpus = study.factors[factor].control == "cpus" and study.responses[response].better == "lower"
    if document.decided and varies_cpus and (reason := find_implausible(members, document.k_eff or 0, response)):
        document, limit = document.model_copy(update={"decided": False}), reason
    named = {"limit": LIMIT_NAMES.get(limit.case, "not sure"), "sentence": limit_text(limit)}
    return document.model_copy(update=named), limit


def _fit_sweep(table: Table, factor: str, rows: Sequence[Row]) -> SearchResult:
    """Fit runs that were planned without the search; those of the first blocks where they are very many."""
    each = ((int(row.configuration[factor]), run_time(table, row)) for row in rows)
    times = [(level, time) for level, time in each if time is not None and time > 0]
    top = max((level for level, _ in times), default=1)
    n = min(MOST_RUNS, most_runs(top, rounds=True))
    # Where a program cannot be weighed with two runs at each level, all runs are searched without one.
    by_model = n >= 2 * len({level for level, _ in times})
    pairs = [(level, time / level) for level, time in times[: n if by_model else MOST_RUNS]]
    levels = sorted({level for level, _ in pairs})
    if len(levels) < 2:
        return None
    k, per_worker = [level for level, _ in pairs], [time for _, time in pairs]
    if not by_model:
        return search(k, per_worker, levels)
    result = effective_cpus(k, per_worker, levels, rounds=True)
    return search(k, per_worker, levels) if result.misfit else result


def _result_fields(result: SearchResult) -> dict[str, Any]:
    if result is None:
        return {}
    common = {"k_eff": result.k_eff, "decided": result.sure, "n": result.n}
    if isinstance(result, Bisection):
        return {**common, "with_model": False}
    return {**common, "posterior": dict(result.probabilities), "serial": result.serial, "gain": result.gain}


def _quota(table: Table, group: Mapping[str, Level]) -> float | None:
    factors, granted = table.study.factors, table.machine.get("cpu_quota")
    asked = [x for name, x in group.items() if factors[name].control == "quota" and is_number(x)]
    return min([float(x) for x in (granted, *asked) if x], default=None)


def _workers(table: Table, factor: str, top: int | None) -> int | None:
    study = table.study
    if study.question != QUESTION or rounds(study, factor):
        return top
    fixed = {**study.workload.parameters, **{n: f.levels[0] for n, f in study.factors.items() if len(f.levels) == 1}}
    counts = [level for name in ("threads", "jobs", "copies") if type(level := fixed.get(name)) is int]
    return counts[0] if counts else None


def _find_limit(table: Table, document: EffectiveCpus, result: SearchResult, tasks: Mapping[str, object]) -> AnswerCase:
    if result is None or result.k_eff is None or document.mask is None:
        runs = [row for row in table.rows if not row.warmup]
        lost = sum(row.status != "ok" or row.verdict not in COUNTED for row in runs)
        return AnswerCase(case="too few", values={"n": len(runs), "lost": lost})
    model = result if isinstance(result, Effective) else None
    low, high = document.credible_range or ("", "")
    values = {"k": result.k_eff, "all": document.mask, "n": result.n, "low": low, "high": high}
    if not result.sure and (model is None or model.probability >= SURE):
        return AnswerCase(case="open", values=values)
    probability = model.probability if model else 1.0
    limit = name_limit(
        result.k_eff, probability, max(document.mask, int(table.machine.get("n_cpus") or 0)), document.mask,
        used=document.used.value if document.used else None, quota=document.quota, believed=document.believed,
        workers=document.workers, serial=model.serial if model else None,
    )  # fmt: skip
    serial = model.serial if model and limit == "lock or serial share" else None
    merely_believes = document.believed not in (None, document.mask) and limit != "believes in another number"
    return AnswerCase(case=limit, values={
        **values, "probability": probability, "quota": document.quota and f"{document.quota:g}",
        "workers": document.workers, "believed": document.believed if merely_believes else None,
        **tasks, "serial": percents(*serial).replace(" %", "%") if serial else None,
    })  # fmt: skip
