"""Whether to believe a study: one sentence, and why."""

from collections.abc import Collection, Iterable, Sequence

from scalograph.findings.doubts import doubts, n_disturbed, undecided
from scalograph.findings.names import title
from scalograph.findings.sample import (
    COUNTED,
    Sample,
    cpu_times,
    left_out,
)
from scalograph.findings.speedup_rule import primary
from scalograph.findings.stopping_rule import stopping
from scalograph.findings.table import Row, Table
from scalograph.protocol.findings import StudyNoise, Trust
from scalograph.questions.registry import is_search
from scalograph.text.quantities import two_digits
from scalograph.verdict.cause import SPARSE, SWITCHES, Cause

# Past this share of disturbed runs a study cannot be believed at all.
REJECT = 0.50
# Percent: a study that cannot see what doubles a time has little to say.
BLIND = 100.0
# Why a study ended, where it did before its first run.
_UNMADE = {
    "budget": "the first block would be past the budget",
    "busy": "the machine was busy, and the study ends there",
    "interrupted": "the study was interrupted before",
    "complete": "nothing was left to run",
}
# Reasons that are told without figures.
_IN_GENERAL = {
    SWITCHES: "too many switches to record",
    SPARSE: "short tasks with long pauses, and something was taken in either",
}
MAX_TOLD = 3  # doubts in the sentence; the causes hold them all


def trust(
    table: Table,
    samples: Sequence[Sample],
    noise: StudyNoise | None,
    residue: Sequence[str] = (),
    objections: Sequence[str] = (),
    further: Sequence[str] = (),
) -> Trust:
    """The verdict on the study as a whole.

    Args:
        table: its runs.
        samples: those of each treatment.
        noise: between runs of one treatment, where it is known.
        residue: what varied and was not declared.
        objections: figures that cannot be, as the physics gates say.
        further: reasons for doubt that others found.
    """
    ok = [row for row in table.rows if not row.warmup and row.status == "ok"]
    against = [*doubts(table, samples, residue, objections), *_blind(noise), *further]
    causes = list(dict.fromkeys([*against, *_disturbances(table), *_short(table, samples), *_undecided(ok)]))
    disturbed, by_cpu = n_disturbed(ok), cpu_times(table.study)
    n_made = sum(not row.warmup for row in table.rows)
    if not ok:
        sentence = "Do not believe it: no run succeeded." if n_made else f"No run was made: {_unmade(table)}."
        return Trust(level="reject", sentence=sentence, causes=causes)
    if n_made - len(ok) > REJECT * n_made:
        sentence = f"Do not believe it: {n_made - len(ok)} of {n_made} runs failed."
        return Trust(level="reject", sentence=sentence, causes=causes)
    if disturbed > REJECT * len(ok) and by_cpu:
        return Trust(level="doubt", sentence=_by_cpu(table, by_cpu, disturbed, len(ok)), causes=causes)
    if disturbed > REJECT * len(ok):
        why = f"{disturbed} of {len(ok)} runs were disturbed; the machine was too busy to measure"
        return Trust(level="reject", sentence=f"Do not believe it: {why}.", causes=causes)
    if against:
        return Trust(level="doubt", sentence=f"Be careful: {_told(against, undecided(ok))}.", causes=causes)
    belief = _belief(len(ok), _clean(disturbed, ok, by_cpu), undecided(ok)) + _varies(table, noise)
    return Trust(level="believe", sentence=belief, causes=causes)


def _unmade(table: Table) -> str:
    return _UNMADE.get(table.end_reason or "", "the study did not come to its end")


def _by_cpu(table: Table, by_cpu: Collection[str], disturbed: int, n_ok: int) -> str:
    """A neighbor takes the CPU from a run and leaves its CPU time nearly as it was: nearly, for they share caches."""
    busy = f"{disturbed} of {n_ok} runs were disturbed, so the study went on by CPU time"
    names = " and ".join(title(table, name) for name in table.study.responses if name in by_cpu)
    told = f"Do not believe wall times and speedups, only {names}, a little too long where neighbors used the caches"
    return f"Be careful: {busy}. {told}."


def _told(against: Sequence[str], open_question: str) -> str:
    """The gravest doubts; the share of undecided runs is always among them."""
    told = list(dict.fromkeys([*against[:MAX_TOLD], *([open_question] if open_question else [])]))
    left = len({*against, *told}) - len(told)
    return ", and ".join([*told, *([f"{left} further cause{'s' * (left > 1)} for doubt"] if left else [])])


def _clean(disturbed: int, ok: Sequence[Row], by_cpu: Collection[str]) -> str:
    if disturbed:
        return f"{disturbed} of them disturbed and {left_out(by_cpu)}"
    return f"none of them {'found ' if undecided(ok) else ''}disturbed"


def _belief(n_ok: int, clean: str, open_question: str) -> str:
    return f"Believe it: {n_ok} runs, {clean}" + (f", and {open_question}" if open_question else "")


def _varies(table: Table, noise: StudyNoise | None) -> str:
    """What effects could be seen; of a search nothing, since its answer has a probability of its own."""
    if noise is None:
        return "." if is_search(table.study.question) else "; how much runs of one treatment differ is not known."
    if noise.sd_log_percent == 0:
        return "; runs of a typical treatment do not differ at all."
    sd, effect = two_digits(noise.sd_log_percent), two_digits(noise.minimum_detectable_percent)
    return f"; a typical treatment varies by {sd} % between runs, so effects from {effect} % are visible."


def _blind(noise: StudyNoise | None) -> Iterable[str]:
    if noise and noise.minimum_detectable_percent >= BLIND:
        least = two_digits(noise.minimum_detectable_percent)
        yield f"runs of one treatment differ so much that only effects from {least} % are visible"


def _disturbances(table: Table) -> Iterable[str]:
    """By cause: how many runs, and the worst of them in its own words."""
    found: dict[str, list[Cause]] = {}
    for row in table.counted():
        for cause in row.causes if row.verdict not in COUNTED else ():
            found.setdefault(cause.cause, []).append(cause)
    for name, causes in sorted(found.items()):
        worst = max(causes, key=lambda cause: cause.amount or 0.0)
        yield f"{name}: {len(causes)} run{'s' * (len(causes) > 1)}, the worst {worst.text}"


def _short(table: Table, samples: Sequence[Sample]) -> Iterable[str]:
    if short := n_short(table, samples):
        yield f"{short} of {len(samples)} treatments have fewer clean runs than asked"


def n_short(table: Table, samples: Sequence[Sample]) -> int:
    """Treatments that have fewer clean runs than the design asked for: what exit code 5 is about.

    An undecided run counts as clean here: it was asked for, it succeeded, and no disturbance was found; to ask for it
    again would find no more on a machine that cannot tell. The causes and the sentence of `trust` say how many there
    are, and from half of the runs on the study is doubted. A treatment that is as precise as was asked is not short.
    """
    asked = {tuple(t.values()): n for t, n in zip(table.treatments, table.n_asked, strict=True)}
    rule, response = stopping(table.study), primary(table)
    wanted = [asked.get(tuple(sample.treatment.values()), 0) for sample in samples]
    short = [sample for sample, n in zip(samples, wanted, strict=True) if _n_clean(sample, response) < n]
    return sum(rule is None or not rule.enough(sample.scores(response)) for sample in short)


def _n_clean(sample: Sample, response: str) -> int:
    usable = (*COUNTED, "contaminated") if response in sample.by_cpu else COUNTED
    return sum(row.verdict in usable and response in row.scores for row in sample.every)


def _undecided(ok: Sequence[Row]) -> Iterable[str]:
    """Why runs could not be checked, by cause; rates differ from run to run and are not worth a line each."""
    found = [row for row in ok if row.verdict == "undecided"]
    if found:
        reasons: dict[tuple[str, str], list[Cause]] = {}
        for cause in (row.causes[0] for row in found):
            kind = "" if cause.code in _IN_GENERAL else cause.cause
            reasons.setdefault((kind, cause.code), []).append(cause)
        told = "; ".join(map(_worst, sorted(reasons.values(), key=len, reverse=True)[:3]))
        yield f"{len(found)} of {len(ok)} runs are undecided, and count as clean: {told}"


def _worst(alike: Sequence[Cause]) -> str:
    """Tell a reason that several runs have, with the figures of the worst of them."""
    worst = max(alike, key=lambda cause: cause.amount or 0.0)
    at_worst = "at worst " if len(alike) > 1 and worst.amount is not None else ""
    return f"{_IN_GENERAL.get(worst.code) or at_worst + worst.text} ({len(alike)})"
