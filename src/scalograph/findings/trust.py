"""Whether to believe a study: one sentence, what it does to the result, and why."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from scalograph.design.stopping_rule import block_ratios, pair_stopping, reference_key, stopping
from scalograph.findings.answer import MOST_WORDS, Doubt, as_sentence
from scalograph.findings.doubts import n_disturbed
from scalograph.findings.marked import Marked
from scalograph.findings.row import Row
from scalograph.findings.sample import Sample, cpu_times, is_functional
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.findings import StudyNoise, Trust
from scalograph.protocol.plain import Level
from scalograph.questions.registry import basis
from scalograph.text.quantities import counted, two_digits
from scalograph.verdict.cause import COUNTED, Cause

# Past this share of disturbed or failed runs a study cannot be believed at all.
REJECT = 0.50
# Why a study ended, where it did before its first run.
_UNMADE = {
    "budget": "the first block would be past the budget",
    "busy": "the machine was busy, and the study ends there",
    "impossible": "its runs could not be as recorded, and the study ends there",
    "interrupted": "the study was interrupted before",
    "complete": "nothing was left to run",
}
# Who had the CPUs of most disturbed runs -> what to do about it.
_REMEDIES = {
    "steal": "mostly the hypervisor took the CPUs: wait for a quiet host (--wait-quiet 10m)",
    "neighbor": "mostly other programs had the CPUs: end them, or wait (--wait-quiet 10m)",
}
MOST_POINTS = 3
# Percent: a larger effect is no measure of what can be seen.
SEEN = 1000.0


def trust(
    table: Table, samples: Sequence[Sample], reasons: Sequence[Doubt], marked: Marked, noise: StudyNoise | None = None
) -> Trust:
    """The verdict on the study as a whole.

    Args:
        table: its runs.
        samples: those of each configuration.
        reasons: for doubt, the gravest first, and others that are told among the causes.
        marked: configurations that are marked, and how far the others may be off.
        noise: between runs of one configuration, where it is known.
    """
    ok, known = table.counted(), [*marked.reasons, *reasons]
    bad = [row for row in ok if row.verdict in ("contaminated", "impossible")]
    kept = _kept(table, samples)
    lost = [row for row in bad if row.run not in kept]
    causes = [*(one.text for one in known), *_by_cause(lost, "left out")]
    causes += _by_cause((row for row in bad if row.run in kept), "disturbed, and counted")
    open_runs = (row for row in _timed(ok) if row.verdict == "undecided")
    causes += [*_short(table, samples), *_by_cause(open_runs, "unverified, and counted")]
    if why := _rejected(table, ok):
        points = [as_sentence(text) for text in _remedies(ok)]
        return Trust(level="reject", sentence=as_sentence(why, MOST_WORDS), points=points, causes=causes)
    busy = [*_busy(ok)]
    against = [*busy, *(one for one in known if one.whole)]
    grave = [marked.grave] if marked.grave else []
    others = against or grave or marked.reasons[:1]
    # Of versions, which are compared in pairs, their own answer tells what effects could be seen; one has none.
    seen = None if table.study.reference or len(table.treatments) == 1 else noise
    is_told = any("unverified" in one.why for one in others)
    facts = [*([marked.right] if marked.right else []), *_facts(ok, lost, seen, is_told)]
    if against:
        rest = [*(one for one in grave if one not in against), *against[1:]]
        told = [against[0].does, *(one.text for one in rest)]
        level, sentence = "doubt", against[0].why
    else:
        told = [one.text for one in others]
        level, sentence = "believe", facts.pop(0) if marked.right else _belief(ok, len(lost))
    return Trust(
        level=level, sentence=as_sentence(sentence, MOST_WORDS),
        points=[as_sentence(text) for text in (*told, *facts) if text][:MOST_POINTS],
        error_percent=marked.percent, responses=_of_responses(table) if busy else {},
        causes=list(dict.fromkeys([*(one.text for one in busy), *causes])),
    )  # fmt: skip


def unusable(table: Table, ok: Sequence[Row], n_failed: int, by_cpu: bool) -> tuple[str, str]:
    """Return what most runs came to where too few are left to say anything, and why; empty texts otherwise.

    Args:
        table: the study.
        ok: runs that succeeded, of those that are asked about.
        n_failed: those that did not.
        by_cpu: whether CPU times are asked about: a neighbor leaves them nearly as they were.
    """
    if not ok:
        return ("no run succeeded", "") if n_failed else ("no run was made", _unmade(table))
    if n_failed > REJECT * (n_made := n_failed + len(ok)):
        return f"{n_failed:,} of {counted(n_made, 'run')} failed", ""
    if (n := _count(ok, "impossible")) > REJECT * len(ok):
        return f"{n:,} of {counted(len(ok), 'run')} cannot be as recorded", ""
    return (_disturbed(ok), "the machine was too busy to measure") if _is_busy(ok) and not by_cpu else ("", "")


def _rejected(table: Table, ok: Sequence[Row]) -> str:
    """Why nothing is to be believed; empty where some may be."""
    n_failed = sum(not row.warmup for row in table.rows) - len(ok)
    return ": ".join(text for text in unusable(table, ok, n_failed, bool(cpu_times(table.study))) if text)


def _is_busy(ok: Sequence[Row]) -> bool:
    """Whether more than half of the runs are disturbed."""
    return n_disturbed(ok) > REJECT * len(ok)


def _remedies(ok: Sequence[Row]) -> Iterable[str]:
    """What to do where most runs are disturbed."""
    if _is_busy(ok):
        causes = Counter(_cause(row) for row in ok if row.verdict == "contaminated")
        yield from (_REMEDIES[cause] for cause, n in causes.items() if cause in _REMEDIES and 2 * n > causes.total())


def _disturbed(ok: Sequence[Row]) -> str:
    return f"{n_disturbed(ok):,} of {counted(len(ok), 'run')} were disturbed"


def _count(ok: Sequence[Row], verdict: str) -> int:
    return [row.verdict for row in ok].count(verdict)


def _unmade(table: Table) -> str:
    return _UNMADE.get(table.end_reason or "", "the study did not come to its end")


def _busy(ok: Sequence[Row]) -> Iterable[Doubt]:
    """A neighbor takes the CPU from a run and leaves its CPU time nearly as it was: nearly, for they share caches."""
    if _is_busy(ok):
        does = "CPU times count disturbed runs too, and are a little too long where neighbors used the caches"
        yield Doubt(f"{_disturbed(ok)}: believe CPU times, but no wall times and no speedups", does)


def _of_responses(table: Table) -> dict[str, Literal["believe", "doubt", "reject"]]:
    """CPU times are doubted with the study; what reads anything else is not to be believed."""
    by_cpu = cpu_times(table.study)
    return {name: "believe" if name in by_cpu else "reject" for name in table.study.responses} if by_cpu else {}


def _kept(table: Table, samples: Sequence[Sample]) -> set[str]:
    """Runs of configurations that have fewer than two clean ones: there the disturbed ones count too."""
    if basis(table.study.question) not in ("treatments", "levels"):
        return set()
    return {row.run for sample in samples if sample.falls_back for row in sample.every}


def _belief(ok: Sequence[Row], n_lost: int) -> str:
    n = counted(len(ok), "run")
    if n_disturbed(ok) > n_lost:
        return f"{n}, {n_disturbed(ok)} of them disturbed, {n_lost or 'none'} left out"
    return f"{n}, {f'{n_lost} of them disturbed and left out' if n_lost else 'none found disturbed'}"


def _facts(ok: Sequence[Row], lost: Sequence[Row], noise: StudyNoise | None, is_told: bool) -> Iterable[str]:
    """What became of the runs, and what effects could be seen; unverified ones where no reason has told them."""
    if lost:
        causes = " and ".join(name for name, _ in Counter(map(_cause, lost)).most_common(2))
        yield f"{len(lost)} of {counted(len(ok), 'run')} left out ({causes}): intervals are wider"
    if not is_told and (n := sum(row.verdict == "undecided" for row in _timed(ok))):
        yield f"{counted(n, 'run')} unverified: {'they count' if n > 1 else 'it counts'}"
    if noise and noise.sd_log_percent == 0:
        yield "runs of a typical configuration do not differ at all"
    elif noise and noise.minimum_detectable_percent > SEEN:
        yield "runs differ too much to see any effect"
    elif noise:
        yield f"effects between two configurations from {two_digits(noise.minimum_detectable_percent)} % are visible"


def _timed(ok: Sequence[Row]) -> list[Row]:
    """Runs that could have been verified: of others is told that they show no times."""
    return [row for row in ok if row.verdict != "undecided" or not is_functional(row)]


def _cause(row: Row) -> str:
    """The first cause of a run: one run is counted once."""
    return row.causes[0].cause if row.causes else row.verdict


def _by_cause(runs: Iterable[Row], said: str) -> Iterable[str]:
    """How many runs there are of each cause, and the worst of them in its own words."""
    found: dict[str, list[Cause]] = {}
    for row in runs:
        for cause in row.causes:
            found.setdefault(cause.cause, []).append(cause)
    for name, causes in sorted(found.items()):
        worst = max(causes, key=lambda cause: cause.amount or 0.0)
        yield f"{name}: {counted(len(causes), 'run')} {said}, the worst {worst.text}"


def _short(table: Table, samples: Sequence[Sample]) -> Iterable[str]:
    if short := n_short(table, samples):
        have = "has" if short == 1 else "have"
        yield f"{short} of {counted(len(samples), 'configuration')} {have} fewer clean runs than asked"


def n_short(table: Table, samples: Sequence[Sample]) -> int:
    """Configurations that have fewer clean runs than the design asked for: what exit code 5 is about.

    An unverified run counts as clean here: it was asked for, it succeeded, and no disturbance was found; to ask for it
    again would find no more on a machine that cannot tell. The causes of `trust` say how many there are. A
    configuration that is as precise as was asked is not short, nor is one of an array, where all runs stand for all.
    """
    if basis(table.study.question) == "array":
        return 0
    asked = {tuple(t.values()): n for t, n in zip(table.treatments, table.n_asked, strict=True)}
    response = primary(table)
    wanted = [asked.get(tuple(sample.treatment.values()), 0) for sample in samples]
    short = [sample for sample, n in zip(samples, wanted, strict=True) if _n_clean(sample, response) < n]
    precise = _precise(table, samples) if short else set()
    return sum(tuple(sample.treatment.values()) not in precise for sample in short)


def _precise(table: Table, samples: Sequence[Sample]) -> set[tuple[Level, ...]]:
    """Configurations that a rule ended: by their own scores, or by ratios over the reference, which ends with them."""
    rule, pairs, response = stopping(table.study), pair_stopping(table.study), primary(table)
    by_key = {tuple(sample.treatment.values()): sample for sample in samples}
    if rule is not None:
        return {key for key, sample in by_key.items() if rule.enough(sample.scores(response))}
    if pairs is None:
        return set()
    bases = {key: reference_key(table.study, sample.treatment) for key, sample in by_key.items()}
    versions = {key: by_key[base] for key, base in bases.items() if base != key and base in by_key}
    ended = {
        key
        for key, base in versions.items()
        if pairs.enough(block_ratios(_placed(by_key[key], response), _placed(base, response)))
    }
    return ended | ({bases[key] for key in ended} if ended == versions.keys() else set())


def _placed(sample: Sample, response: str) -> list[tuple[int, float]]:
    return [*zip(sample.blocks(response), sample.scores(response), strict=True)]


def _n_clean(sample: Sample, response: str) -> int:
    usable = (*COUNTED, "contaminated") if response in sample.by_cpu else COUNTED
    return sum(row.verdict in usable and response in row.scores for row in sample.every)
