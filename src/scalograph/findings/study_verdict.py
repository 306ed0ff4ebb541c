"""The verdict on a study: whether its results can be used, the effect of what was found, and why."""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import expm1, log
from typing import Literal

import numpy as np

from scalograph.analysis.modes import find_common_modes
from scalograph.design.stopping_rule import block_ratios, pair_stopping, reference_key, stopping
from scalograph.findings.answer import MAX_WORDS, Caveat, format_sentence
from scalograph.findings.curves import identical_score_caveats, is_count
from scalograph.findings.quality_flags import QualityFlags
from scalograph.findings.row import Key, Row
from scalograph.findings.sample import Sample, is_functional
from scalograph.findings.table import Table
from scalograph.findings.visible_effect import BLIND
from scalograph.protocol.findings import StudyNoise, Trust
from scalograph.text.quantities import count_noun, two_digits
from scalograph.text.short_names import shorten
from scalograph.verdict.cause import COUNTED, Cause

# Shares of failed and of unverified runs past which a study is doubted.
FAILED, UNVERIFIED = 0.10, 0.50
FAR_APART = 100  # farther apart no percentage tells more


def study_caveats(
    table: Table, samples: Sequence[Sample], noise: StudyNoise | None, residue: Sequence[str]
) -> Iterable[Caveat]:
    """Yield the caveats of a study, gravest first."""
    runs = [row for row in table.rows if not row.warmup]
    yield from _run_caveats(table, runs, [row for row in runs if row.status == "ok"])
    yield from _design_caveats(table, residue)
    if noise and noise.minimum_detectable_percent >= BLIND:
        sd = two_digits(noise.sd_log_percent)
        if len(samples) > 1:
            yield Caveat("too noisy to compare", f"runs of one configuration differ by {sd} %")
        else:
            yield Caveat(f"runs differ by {sd} %", "what is typical of them is known only roughly")
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
        effect = "they are left out, but a clock or a counter is wrong"
        yield Caveat(f"{n} of {count_noun(len(ok), 'run')} cannot be as recorded", effect)
    # Of an array failures are an answer.
    if failed > FAILED * len(runs) and table.view.basis != "array":
        yield Caveat(f"{failed} of {count_noun(len(runs), 'run')} failed", "the others may not be typical")
    n = verdicts["unverified"]
    # Where configurations stand for themselves, those that rest on such runs are flagged.
    if table.view.basis != "configurations" and n and n >= UNVERIFIED * len(ok):
        yield Caveat(f"{n} of {count_noun(len(ok), 'run')} are unverified", "they count, and may have been disturbed")


def _design_caveats(table: Table, residue: Sequence[str]) -> Iterable[Caveat]:
    if table.study.protocol.order == "declared":
        yield Caveat("runs were made in declared order", "a drift of the machine looks like an effect")
    if keys := [str(key) for key, *_ in table.accepted]:
        yield Caveat(f"the set-up changed at a resume ({shorten(', '.join(keys), 60)})", "earlier runs may differ")
    if residue:
        more = f" (and {len(residue) - 1} more)" if residue[1:] else ""
        yield Caveat("something varied that no factor declares", f"{shorten(residue[0])}{more}")


def _bimodality_caveats(table: Table, samples: Sequence[Sample]) -> Iterable[Caveat]:
    every = (sample.values(table.view.primary) for sample in samples)
    logs = [np.log(values[values > 0]).tolist() for values in every]
    if common := find_common_modes(logs, table.study.seed % 2**32):
        far = common.apart > log(FAR_APART)
        apart = f"more than {FAR_APART}-fold" if far else f"{two_digits(100 * expm1(common.apart))} %"
        high = two_digits(100 * common.share_high)
        yield Caveat(f"runs have two modes, {apart} apart", f"{high} % are in the higher one; an average is neither")


REJECT = 0.50  # past this share of disturbed or failed runs a study is unusable
# Why a study ended, where it did before its first run.
_NO_RUNS = {
    "budget": "the first block would be past the budget",
    "busy": "the machine was busy, and the study ends there",
    "invalid": "its runs could not be as recorded, and the study ends there",
    "interrupted": "the study was interrupted before",
    "complete": "nothing was left to run",
}
# Who had the CPUs of most disturbed runs -> what to do about it.
_REMEDIES = {
    "steal": "mostly the hypervisor took the CPUs: wait for a quiet host (--wait-quiet 10m)",
    "neighbor": "mostly other programs had the CPUs: end them, or wait (--wait-quiet 10m)",
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
    """Judge the study as a whole."""
    ok, caveats = table.successful_rows(), [*flags.reasons, *reasons]
    bad = [row for row in ok if row.verdict in ("disturbed", "invalid")]
    kept = _fallback_runs(table, samples)
    lost = [row for row in bad if row.run not in kept]
    causes = [*(caveat.text for caveat in caveats), *_summarize_causes(lost, "left out")]
    causes += _summarize_causes((row for row in bad if row.run in kept), "disturbed, and counted")
    open_runs = (row for row in _verifiable_runs(ok) if row.verdict == "unverified")
    if short := count_short(table, samples):
        have = "has" if short == 1 else "have"
        causes.append(f"{short} of {count_noun(len(samples), 'configuration')} {have} fewer clean runs than asked")
    causes += _summarize_causes(open_runs, "unverified, and counted")
    if reason := _why_rejected(table, ok):
        points = [format_sentence(text) for text in _remedies(ok)]
        return Trust(level="reject", sentence=format_sentence(reason, MAX_WORDS), points=points, causes=causes)
    busy = [*_busy_caveats(ok)]
    against = [*busy, *(caveat for caveat in caveats if caveat.whole)]
    grave = [flags.grave_caveat] if flags.grave_caveat else []
    others = against or grave or flags.reasons[:1]
    # Of versions, which are compared in pairs, their own answer tells what effects could be seen; one has none.
    seen = None if table.study.reference or len(table.configurations) == 1 else noise
    is_reported = any("unverified" in caveat.reason for caveat in others)
    facts = [*([flags.accuracy_text] if flags.accuracy_text else []), *_facts(ok, lost, seen, is_reported)]
    if against:
        rest = [*(caveat for caveat in grave if caveat not in against), *against[1:]]
        lines = [against[0].effect, *(caveat.text for caveat in rest)]
        level, sentence = "doubt", against[0].reason
    else:
        lines = [caveat.text for caveat in others]
        level, sentence = "believe", facts.pop(0) if flags.accuracy_text else _usable_text(ok, len(lost))
    return Trust(
        level=level, sentence=format_sentence(sentence, MAX_WORDS),
        points=[format_sentence(text) for text in (*lines, *facts) if text][:MAX_POINTS],
        error_percent=flags.percent, responses=_response_verdicts(table) if busy else {},
        causes=list(dict.fromkeys([*(caveat.text for caveat in busy), *causes])),
    )  # fmt: skip


def why_unusable(table: Table, ok: Sequence[Row], n_failed: int, by_cpu: bool) -> tuple[str, str]:
    """Return what happened to most runs if too few are left, and the reason; else empty texts.

    `by_cpu`: whether CPU times are asked about: interference leaves them nearly as they were.
    """
    if not ok:
        no_runs = _NO_RUNS.get(table.end_reason or "", "the study did not come to its end")
        return ("no run succeeded", "") if n_failed else ("no run was made", no_runs)
    if n_failed > REJECT * (n_made := n_failed + len(ok)):
        return f"{n_failed:,} of {count_noun(n_made, 'run')} failed", ""
    if (n := sum(row.verdict == "invalid" for row in ok)) > REJECT * len(ok):
        return f"{n:,} of {count_noun(len(ok), 'run')} cannot be as recorded", ""
    return (_disturbance_text(ok), "the machine was too busy to measure") if _is_busy(ok) and not by_cpu else ("", "")


def _why_rejected(table: Table, ok: Sequence[Row]) -> str:
    n_failed = sum(not row.warmup for row in table.rows) - len(ok)
    return ": ".join(text for text in why_unusable(table, ok, n_failed, bool(table.view.cpu_responses)) if text)


def _is_busy(ok: Sequence[Row]) -> bool:
    return count_disturbed(ok) > REJECT * len(ok)


def _remedies(ok: Sequence[Row]) -> Iterable[str]:
    if _is_busy(ok):
        causes = Counter(row.main_cause for row in ok if row.verdict == "disturbed")
        yield from (_REMEDIES[cause] for cause, n in causes.items() if cause in _REMEDIES and 2 * n > causes.total())


def _disturbance_text(ok: Sequence[Row]) -> str:
    return f"{count_disturbed(ok):,} of {count_noun(len(ok), 'run')} were disturbed"


def _busy_caveats(ok: Sequence[Row]) -> Iterable[Caveat]:
    """Interference takes CPU from a run and leaves its CPU time nearly as it was: caches are shared."""
    if _is_busy(ok):
        effect = "CPU times count disturbed runs too, and are a little too long where neighbors used the caches"
        yield Caveat(f"{_disturbance_text(ok)}: believe CPU times, but no wall times and no speedups", effect)


def _response_verdicts(table: Table) -> dict[str, Literal["believe", "doubt", "reject"]]:
    """CPU times share the doubt of the study; all other responses are rejected."""
    by_cpu = table.view.cpu_responses
    return {name: "believe" if name in by_cpu else "reject" for name in table.study.responses} if by_cpu else {}


def _fallback_runs(table: Table, samples: Sequence[Sample]) -> set[str]:
    """Return the runs of configurations with fewer than two clean ones: there disturbed ones count."""
    if table.view.basis not in ("configurations", "levels"):
        return set()
    return {row.run for sample in samples if sample.falls_back for row in sample.succeeded}


def _usable_text(ok: Sequence[Row], n_lost: int) -> str:
    n = count_noun(len(ok), "run")
    if count_disturbed(ok) > n_lost:
        return f"{n}, {count_disturbed(ok)} of them disturbed, {n_lost or 'none'} left out"
    return f"{n}, {f'{n_lost} of them disturbed and left out' if n_lost else 'none found disturbed'}"


def _facts(ok: Sequence[Row], lost: Sequence[Row], noise: StudyNoise | None, is_reported: bool) -> Iterable[str]:
    """Yield what became of the runs, and the detectable effect; unverified runs if no reason names them."""
    if lost:
        causes = " and ".join(name for name, _ in Counter(row.main_cause for row in lost).most_common(2))
        yield f"{len(lost)} of {count_noun(len(ok), 'run')} left out ({causes}): intervals are wider"
    if not is_reported and (n := sum(row.verdict == "unverified" for row in _verifiable_runs(ok))):
        yield f"{count_noun(n, 'run')} unverified: {'they count' if n > 1 else 'it counts'}"
    if noise and noise.sd_log_percent == 0:
        yield "runs of a typical configuration do not differ at all"
    elif noise and noise.minimum_detectable_percent > MAX_EFFECT:
        yield "runs differ too much to see any effect"
    elif noise:
        yield f"effects between two configurations from {two_digits(noise.minimum_detectable_percent)} % are visible"


def _verifiable_runs(ok: Sequence[Row]) -> list[Row]:
    """Skip functional runs, which show no times."""
    return [row for row in ok if row.verdict != "unverified" or not is_functional(row)]


def _summarize_causes(runs: Iterable[Row], fate: str) -> Iterable[str]:
    by_name: dict[str, list[Cause]] = {}
    for row in runs:
        for cause in row.causes:
            by_name.setdefault(cause.cause, []).append(cause)
    for name, causes in sorted(by_name.items()):
        worst = max(causes, key=lambda cause: cause.amount or 0.0)
        yield f"{name}: {count_noun(len(causes), 'run')} {fate}, the worst {worst.text}"


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
