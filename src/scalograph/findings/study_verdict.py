"""The verdict on a study: whether its results can be used, what was found and why, and what more time would do."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import expm1, log
from statistics import fmean, median
from typing import Any, Literal

import numpy as np

from scalograph.analysis.modes import find_common_modes
from scalograph.analysis.stopping import narrow
from scalograph.design.stopping_rule import block_ratios, pair_stopping, reference_key, stopping
from scalograph.findings.answer import format_sentence
from scalograph.findings.curves import identical_score_caveats, is_count
from scalograph.findings.leading_estimate import leading_estimate
from scalograph.findings.quality_flags import QualityFlags
from scalograph.findings.row import Key, Row
from scalograph.findings.sample import Sample, is_functional
from scalograph.findings.table import Table
from scalograph.findings.visible_effect import BLIND, detectable_percent
from scalograph.protocol.findings import StudyNoise, Trust
from scalograph.questions.registry import expects_failures
from scalograph.text.cell_numbers import round_up
from scalograph.text.quantities import plus_minus, two_digits
from scalograph.text.scale import SECONDS
from scalograph.text.short_names import shorten
from scalograph.text.units import format_duration
from scalograph.text.warning_catalog import NAMES, REASONS, Caveat
from scalograph.verdict.cause import COUNTED, Cause

# Shares of failed and of unverified runs past which a study is doubted.
FAILED, UNVERIFIED = 0.10, 0.50
Verdict = Literal["reliable", "caution", "unusable"]
FAR_APART = 100  # farther apart no percentage tells more


def study_caveats(
    table: Table, samples: Sequence[Sample], noise: StudyNoise | None, residue: Sequence[str]
) -> Iterable[Caveat]:
    """Yield the caveats of a study, gravest first."""
    runs = [row for row in table.rows if not row.warmup]
    yield from _run_caveats(table, runs, [row for row in runs if row.status == "ok"])
    yield from _correction_caveats(table)
    yield from _design_caveats(table, residue)
    if noise and noise.minimum_detectable_percent >= BLIND:
        yield Caveat("noisy" if len(samples) > 1 else "noisy alone", {"sd": noise.sd_log_percent})
    if table.view.basis == "configurations":
        yield from _bimodality_caveats(table, samples)
        if not is_count(table.view.response):
            yield from identical_score_caveats(samples, table.view.primary)


def count_disturbed(runs: Iterable[Row]) -> int:
    """Count the successful runs that were disturbed or are invalid."""
    verdicts = [row.verdict for row in runs]
    return verdicts.count("disturbed") + verdicts.count("invalid")


def worst_cause(runs: Iterable[Row]) -> str:
    """Return the most frequent cause of disturbance, as its worst run describes it; else empty."""
    causes = [row.causes[0] for row in runs if row.verdict == "disturbed" and row.causes]
    if not causes:
        return ""
    ((name, _),) = Counter(cause.cause for cause in causes).most_common(1)
    return max((cause for cause in causes if cause.cause == name), key=lambda cause: cause.amount or 0.0).text


def _run_caveats(table: Table, runs: Sequence[Row], ok: Sequence[Row]) -> Iterable[Caveat]:
    verdicts, failed = Counter(row.verdict for row in ok), len(runs) - len(ok)
    if n := verdicts["invalid"]:
        yield Caveat("invalid", {"n": n, "of": len(ok)})
    # Of an array failures are an answer.
    if failed > FAILED * len(runs) and table.view.basis != "array" and not answers_by_failures(table):
        yield Caveat("failed", {"n": failed, "of": len(runs)})
    n = verdicts["unverified"]
    # Where configurations stand for themselves, those that rest on such runs are flagged.
    if table.view.basis != "configurations" and n and n >= UNVERIFIED * len(ok):
        yield Caveat("mostly unchecked", {"n": n, "of": len(ok)})


_CHECKS = {"checked": "corrected checked", "withdrawn": "withdrawn"}


def _correction_caveats(table: Table) -> Iterable[Caveat]:
    """State the share of the time that others took, and whether clean runs confirm the correction."""
    if table.correction and (table.correction.share or table.correction.check == "withdrawn"):
        _, check, n, share = table.correction
        open_code = "corrected" if len(table.configurations) > 1 else "corrected alone"
        if check not in _CHECKS and (few := _few_corrected(table)):
            yield few
        else:
            yield Caveat(_CHECKS.get(check, open_code), {"share": share, "n": n}, whole=check != "checked")


def _few_corrected(table: Table) -> Caveat | None:
    """Return how many runs are corrected if the medians of all configurations rest on clean ones."""
    counts = Counter((row.key, row.verdict) for row in table.successful_rows() if row.verdict in ("clean", "corrected"))
    n, of = sum(count for (_, verdict), count in counts.items() if verdict == "corrected"), counts.total()
    is_minor = all(2 * count < counts[key, "clean"] for (key, verdict), count in counts.items() if verdict != "clean")
    return Caveat("corrected few", {"n": n, "of": of}, whole=False) if is_minor and n <= ROUTINE * of else None


def _design_caveats(table: Table, residue: Sequence[str]) -> Iterable[Caveat]:
    if table.study.protocol.order == "declared":
        yield Caveat("declared order")
    if keys := [str(key) for key, *_ in table.accepted]:
        yield Caveat("accepted", {"keys": shorten(", ".join(keys), 60)})
    if residue:
        yield Caveat("undeclared", {"first": shorten(residue[0]), "more": len(residue) - 1 or None})


def _bimodality_caveats(table: Table, samples: Sequence[Sample]) -> Iterable[Caveat]:
    every = (sample.values(table.view.primary) for sample in samples)
    logs = [np.log(values[values > 0]).tolist() for values in every]
    if common := find_common_modes(logs, table.study.seed % 2**32):
        percent = two_digits(100 * expm1(common.apart))
        apart = f"more than {FAR_APART}-fold" if common.apart > log(FAR_APART) else f"{percent}%"
        what = "Run times" if table.view.response.unit in SECONDS else "Values"
        yield Caveat("bimodal", {"what": what, "apart": apart})


REJECT = 0.50  # past this share of disturbed or failed runs a study is unusable
ROUTINE = 0.10  # up to this share, runs that could not be checked are no news
# Why a study ended, where it did before its first run.
_NO_RUNS = {
    "budget": "the first block would end after the time limit",
    "busy": "the machine was busy",
    "invalid": "earlier runs had impossible values",
    "interrupted": "the study was interrupted",
    "complete": "nothing was left to run",
}
MAX_POINTS = 3
MAX_EFFECT = 1000.0  # percent: a larger effect is no measure of what can be seen


def judge_study(
    table: Table,
    samples: Sequence[Sample],
    reasons: Sequence[Caveat],
    flags: QualityFlags,
    noise: StudyNoise | None = None,
) -> Trust:
    ok, caveats = table.successful_rows(), [*flags.reasons, *reasons]
    kept = _fallback_runs(table, samples)
    bad = [row for row in ok if row.verdict in ("disturbed", "invalid")]
    lost, included = ([row for row in bad if (row.run in kept) is is_kept] for is_kept in (False, True))
    untold = [row for sample in samples for row in sample.unknown_rows]
    names, lost = {row.run for row in untold}, lost + untold
    # Functional runs show no times.
    unchecked = [row for row in ok if row.verdict == "unverified" and not is_functional(row) and row.run not in names]
    short = count_short(table, samples)
    causes = [*caveats, *_summarize_causes("excluded", lost), *_summarize_causes("included", included)]
    causes += [Caveat("short", {"n": short, "of": len(samples)})] * bool(short)
    causes += _summarize_causes("not checked", unchecked)
    n_failed, by_cpu = sum(not row.warmup for row in table.rows) - len(ok), bool(table.view.cpu_responses)
    if reason := why_unusable(table, ok, n_failed, by_cpu):
        reason = reason._replace(values={**reason.values, "cause": _main_culprit(ok)})
        return _make_trust("unusable", [reason], causes)
    # Interference takes CPU from a run and leaves its CPU time nearly as it was: caches are shared.
    busy = [Caveat("busy", {"n": count_disturbed(ok), "of": len(ok)})] if by_cpu and _is_busy(ok) else []
    against = [*busy, *(caveat for caveat in caveats if caveat.whole)]
    more = [caveat for caveat in flags.grave if caveat not in against]
    lead, early = against[:1] or flags.grave or flags.reasons[:1], [*_early_end(table)]
    others = [*lead, *early, *(more + against[1:] if against else [])]
    facts = [caveat for caveat in caveats if caveat.code in ("corrected checked", "corrected few")]
    facts += more_time(table, samples, (flags.percent or 0) / 100)
    used = [_usage(ok, lost, len(included))] if lost or not against else []
    if len(unchecked) > ROUTINE * len(ok) and not any("checked for interference" in caveat.text for caveat in others):
        facts.append(Caveat("unchecked", {"n": len(unchecked)}))
    # Of versions, which are compared in pairs, their own answer tells what effects could be seen; one has none.
    if noise and not table.study.reference and len(table.configurations) > 1:
        facts.append(_detectable(table, noise))
    ends = [*([Caveat("open")] if flags.is_open and not against else []), *used, *flags.accuracy]
    return _make_trust(
        "caution" if against else "reliable", [*others, *ends, *facts] if against else [*ends, *others, *facts],
        [*busy, *causes], error_percent=flags.percent, responses=_response_verdicts(table) if busy else {},
    )  # fmt: skip


def _make_trust(level: Verdict, stated: Sequence[Caveat], causes: Sequence[Caveat], **more: Any) -> Trust:
    """State the first caveat, what to do about it, and what else there is room for."""
    first, *rest = stated
    points = [text for text in (first.remedy, *(caveat.text for caveat in rest)) if text]
    return Trust(
        level=level, sentence=format_sentence(first.text),
        points=[format_sentence(text) for text in points[:MAX_POINTS]],
        causes=list(dict.fromkeys(caveat.text for caveat in causes)),
        codes=list(dict.fromkeys(caveat.code for caveat in (*stated, *causes))), **more,
    )  # fmt: skip


def answers_by_failures(table: Table) -> bool:
    """Tell whether failed runs are part of the answer."""
    return expects_failures(table.study.question)


def why_unusable(table: Table, ok: Sequence[Row], n_failed: int, by_cpu: bool) -> Caveat | None:
    """Return what happened to most runs if too few are left.

    `by_cpu`: whether CPU times are asked about: interference leaves them nearly as they were.
    """
    if not ok:
        no_runs = _NO_RUNS.get(table.end_reason or "", "the study did not come to its end")
        return Caveat("no success") if n_failed else Caveat("no run", {"why": no_runs})
    if not answers_by_failures(table) and n_failed > REJECT * (n_made := n_failed + len(ok)):
        return Caveat("mostly failed", {"n": n_failed, "of": n_made})
    if (n := sum(row.verdict == "invalid" for row in ok)) > REJECT * len(ok):
        return Caveat("mostly invalid", {"n": n, "of": len(ok)})
    is_too_busy = _is_busy(ok) and not by_cpu and not _answers_in_part(table, ok)
    return Caveat("mostly disturbed", {"n": count_disturbed(ok), "of": len(ok)}) if is_too_busy else None


def _answers_in_part(table: Table, ok: Sequence[Row]) -> bool:
    """Return whether a corrected study has two configurations to compare; its values exclude disturbed runs."""
    counted = Counter(row.key for row in ok if row.verdict in COUNTED)
    return bool(table.view.raw_responses) and sum(n >= 2 for n in counted.values()) >= min(2, len(table.configurations))


def _is_busy(ok: Sequence[Row]) -> bool:
    return count_disturbed(ok) > REJECT * len(ok)


def _main_culprit(ok: Sequence[Row]) -> str:
    """Name what disturbed more than half of the disturbed runs; empty if unknown."""
    causes = Counter(row.main_cause for row in ok if row.verdict == "disturbed")
    return next((NAMES[cause] for cause, n in causes.items() if cause in NAMES and 2 * n > causes.total()), "")


def _response_verdicts(table: Table) -> dict[str, Verdict]:
    """CPU times share the doubt of the study; all other responses are rejected."""
    by_cpu = table.view.cpu_responses
    return {name: "reliable" if name in by_cpu else "unusable" for name in table.study.responses} if by_cpu else {}


def _fallback_runs(table: Table, samples: Sequence[Sample]) -> set[str]:
    """Return the runs of configurations with fewer than two clean ones: there disturbed ones count."""
    if table.view.basis not in ("configurations", "levels"):
        return set()
    return {row.run for sample in samples if sample.falls_back for row in sample.succeeded}


def _usage(ok: Sequence[Row], lost: Sequence[Row], n_included: int) -> Caveat:
    """Return how many runs the estimates use, and why the others are excluded."""
    causes = [name for name, _ in Counter(row.main_cause for row in lost).most_common()]
    named = f"({', '.join(NAMES.get(name, name) for name in causes)})"
    cause = REASONS.get(causes[0], named) if len(causes) == 1 else named
    values = {"used": len(ok) - len(lost), "of": len(ok), "lost": len(lost) or None, "included": n_included or None}
    return Caveat("used", {**values, "cause": cause})


def _detectable(table: Table, noise: StudyNoise) -> Caveat:
    if noise.sd_log_percent == 0:
        return Caveat("no noise")
    percent = detectable_percent(noise, len(table.configurations), table.view.confidence)
    return Caveat("all noise") if percent > MAX_EFFECT else Caveat("detectable", {"percent": percent})


def _early_end(table: Table) -> Iterable[Caveat]:
    """Say that a study was interrupted, and after how many of its runs."""
    if table.end_reason == "interrupted":
        is_search = table.view.is_search
        n = sum(not row.warmup and (row.is_planned or is_search) for row in table.rows)
        asked = sum(table.n_asked)
        yield Caveat("interrupted", {"n": n, "of": None if is_search or n > asked else asked})


def _summarize_causes(code: str, runs: Iterable[Row]) -> Iterable[Caveat]:
    by_name: dict[str, list[Cause]] = {}
    for row in runs:
        for cause in row.causes:
            by_name.setdefault(cause.cause, []).append(cause)
    for name, causes in sorted(by_name.items()):
        worst = max(causes, key=lambda cause: cause.amount or 0.0)
        yield Caveat(code, {"cause": NAMES.get(name, name), "n": len(causes), "worst": worst.text})


def count_short(table: Table, samples: Sequence[Sample]) -> int:
    """Count the configurations with fewer clean runs than planned (exit code 5).

    An unverified run counts as clean: repeating it would find no more on a machine that cannot tell. A configuration
    with the requested precision is not short, nor is one of an array, where all runs stand for all.
    """
    if table.view.basis == "array":
        return 0
    asked = {tuple(t.values()): n for t, n in zip(table.configurations, table.n_asked, strict=True)}
    response = table.view.primary
    short = []
    for sample in samples:
        usable = (*COUNTED, "disturbed") if response in sample.cpu_responses else COUNTED
        n_clean, key = sum(row.verdict in usable and response in row.scores for row in sample.succeeded), sample.key
        if n_clean < asked.get(key, 0):
            short.append(key)
    return len(set(short) - _precise_keys(table, samples)) if short else 0


def _precise_keys(table: Table, samples: Sequence[Sample]) -> set[Key]:
    rule, pairs, response = stopping(table.study), pair_stopping(table.study), table.view.primary
    by_key = {sample.key: sample for sample in samples}
    scores = {key: [*zip(s.blocks(response), s.scores(response), strict=True)] for key, s in by_key.items()}
    if rule is not None:
        return {key for key, sample in by_key.items() if rule.is_precise(sample.scores(response))}
    if pairs is None:
        return set()
    bases = {key: reference_key(table.study, sample.configuration) for key, sample in by_key.items()}
    versions = {key: by_key[base] for key, base in bases.items() if base != key and base in by_key}
    ended = {key for key in versions if pairs.is_precise(block_ratios(scores[key], scores[bases[key]]))}
    return ended | ({bases[key] for key in ended} if ended == versions.keys() else set())


# The time that is offered, and less where the interval is halved before.
OFFER_S = 300.0
HALVED = 3  # times the blocks that were made
# A half-width below which nobody asks for more, and a gain that is not worth the time.
NARROW, WORTHWHILE = 0.02, 0.8
# Fewer blocks do not tell how much runs differ.
LEAST_BLOCKS = 3


def more_time(table: Table, samples: Sequence[Sample], error: float) -> list[Caveat]:
    """Return what more time would do to the interval of the leading value, such as "±4% to about ±2%".

    Empty where precision is not what limits: the interval is narrow, as narrow as requested, or no wider than the
    systematic error, a share; or where it includes disturbed runs, which more of them would not mend.
    """
    leading = leading_estimate(table, {sample.key: sample for sample in samples})
    if leading is None or leading.falls_back or leading.n_blocks < LEAST_BLOCKS or leading.half_width is None:
        return []
    precision, half, n = table.study.protocol.precision, leading.half_width, leading.n_blocks
    if half <= max(error, NARROW if precision is None else precision):
        return []
    block_s = seconds_per_counted_block(table.rows, n)
    if not block_s:
        return []
    more_s = min(OFFER_S, HALVED * n * block_s)
    reached = narrow(half, n, more_s / block_s)
    if reached > WORTHWHILE * half:
        return []
    n_runs = table.study.protocol.runs + math.ceil(more_s / block_s)
    runs = n_runs if precision is None and table.end_reason == "complete" else None
    at = leading.levels if len(samples) > 2 else ""
    shown = round_up(100 * half)  # as in the cells of the answer
    values = {"time": _offer(more_s), "runs": runs, "half": shown, "at": at, "reached": plus_minus(reached)}
    return [Caveat("more time", values)]


def seconds_per_counted_block(rows: Sequence[Row], n_blocks: int) -> float:
    """Return the seconds that one of `n_blocks` blocks took whose runs count, without waiting; 0 if unknown.

    What disturbed or repeated runs took is in it. A wait for a quiet machine, or a pause between two sessions, lies
    between two runs: the median time from a run to the next, of each configuration, leaves it out.
    """
    each = _seconds_per_run(rows)
    counts: dict[Key, int] = {}
    for row in rows:
        counts[row.key] = counts.get(row.key, 0) + (not row.warmup)
    usual = fmean(each.values()) if each else 0.0
    return sum(n * each.get(key, usual) for key, n in counts.items()) / n_blocks


def _seconds_per_run(rows: Iterable[Row]) -> Mapping[Key, float]:
    gaps: dict[Key, list[float]] = {}
    for row, after in pairwise(rows):
        if row.start_s is not None and after.start_s is not None and after.start_s > row.start_s:
            gaps.setdefault(row.key, []).append(after.start_s - row.start_s)
    return {key: median(values) for key, values in gaps.items()}


def _offer(seconds: float) -> str:
    """Format a time that is offered: minutes in full, seconds by fives."""
    return format_duration(60 * math.ceil(seconds / 60) if seconds > 60 else 5 * math.ceil(seconds / 5))
