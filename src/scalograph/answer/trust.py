"""Whether to believe a study: one sentence, and why."""

from collections import Counter
from collections.abc import Iterable, Sequence

from scalograph.answer.doubts import doubts, n_disturbed, undecided
from scalograph.answer.gains import primary
from scalograph.answer.sample import COUNTED, Sample
from scalograph.findings import Noise, Trust
from scalograph.precision import stopping
from scalograph.table import Row, Table

# Past this share of disturbed runs a study cannot be believed at all.
REJECT = 0.50
MAX_TOLD = 3  # doubts in the sentence; the causes hold them all


def trust(
    table: Table,
    samples: Sequence[Sample],
    noise: Noise | None,
    residue: Sequence[str] = (),
    objections: Sequence[str] = (),
) -> Trust:
    """The verdict on the study as a whole.

    Args:
        table: its runs.
        samples: those of each treatment.
        noise: between runs of one treatment, where it is known.
        residue: what varied and was not declared.
        objections: figures that cannot be, as the physics gates say.
    """
    ok = [row for row in table.rows if not row.warmup and row.status == "ok"]
    against = doubts(table, samples, residue, objections)
    causes = list(dict.fromkeys([*against, *_disturbances(table), *_short(table, samples), *_undecided(ok)]))
    disturbed = n_disturbed(ok)
    if not ok:
        return Trust(level="reject", sentence="Do not believe it: no run succeeded.", causes=causes)
    if disturbed > REJECT * len(ok):
        why = f"{disturbed} of {len(ok)} runs were disturbed; the machine was too busy to measure"
        return Trust(level="reject", sentence=f"Do not believe it: {why}.", causes=causes)
    if against:
        return Trust(level="doubt", sentence=f"Be careful: {_told(against, undecided(ok))}.", causes=causes)
    return Trust(level="believe", sentence=_belief(len(ok), disturbed, undecided(ok), noise), causes=causes)


def _told(against: Sequence[str], open_question: str) -> str:
    """The gravest doubts; the share of undecided runs is always among them."""
    told = list(dict.fromkeys([*against[:MAX_TOLD], *([open_question] if open_question else [])]))
    left = len({*against, *told}) - len(told)
    return ", and ".join([*told, *([f"{left} further causes for doubt"] if left else [])])


def _belief(n_ok: int, disturbed: int, open_question: str, noise: Noise | None) -> str:
    clean = (
        f"none of them {'found ' if open_question else ''}disturbed"
        if not disturbed
        else f"{disturbed} of them disturbed and left out"
    )
    text = f"Believe it: {n_ok} runs, {clean}" + (f", and {open_question}" if open_question else "")
    if noise is None:
        return text + "; how much runs of one treatment differ is not known."
    sd, effect = noise.sd_log_percent, noise.minimum_detectable_percent
    return f"{text}; a typical treatment varies by {sd:.2g} % between runs, so effects from {effect:.2g} % are visible."


def _disturbances(table: Table) -> Iterable[str]:
    worst: dict[str, tuple[int, float]] = {}
    for row in table.counted():
        for cause in row.causes if row.verdict not in COUNTED else ():
            n, amount = worst.get(cause["cause"], (0, 0.0))
            worst[cause["cause"]] = (n + 1, max(amount, cause["amount"] or 0.0))
    for name, (n, amount) in sorted(worst.items()):
        yield f"{name}: {n} runs, at most {100 * amount:.2g} % of the CPU time that a run wanted"


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
    return sum(row.verdict in COUNTED and response in row.scores for row in sample.every)


def _undecided(ok: Sequence[Row]) -> Iterable[str]:
    """Why nothing could tell, by cause; rates differ from run to run and are not worth a line each."""
    found = [row for row in ok if row.verdict == "undecided"]
    if found:
        reasons = Counter(
            "too many switches to record" if "switches" in _reason(row) else _reason(row) for row in found
        )
        told = "; ".join(f"{reason} ({n})" for reason, n in reasons.most_common(3))
        yield f"{len(found)} of {len(ok)} runs are undecided, and count as clean: {told}"


def _reason(row: Row) -> str:
    return str(row.causes[0]["text"]) if row.causes else "unknown"
