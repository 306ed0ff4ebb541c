"""Whether to believe a study: one sentence, and why."""

from collections import Counter
from collections.abc import Iterable, Sequence

from scalograph.answer.curves import COUNTED, Sample
from scalograph.findings import Noise, Trust
from scalograph.table import Row, Table

# Past these shares of contaminated runs a study is doubted, or cannot be believed at all.
DOUBT, REJECT = 0.10, 0.50


def trust(table: Table, samples: Sequence[Sample], noise: Noise | None) -> Trust:
    """The verdict on the study as a whole."""
    runs = [row for row in table.rows if not row.warmup]
    counts = Counter(row.verdict for row in runs)
    n_ok = sum(row.status == "ok" for row in runs)
    disturbed = counts["contaminated"] + counts["impossible"]
    empty = sum(not sample.every for sample in samples)
    causes = [*_causes(table), *_gaps(table, samples, empty), *_undecided(table, n_ok)]
    if not n_ok:
        return Trust(level="reject", sentence="Do not believe it: no run succeeded.", causes=causes)
    share = disturbed / n_ok
    if share > REJECT:
        sentence = f"Do not believe it: {disturbed} of {n_ok} runs were disturbed; the machine was too busy to measure."
        return Trust(level="reject", sentence=sentence, causes=causes)
    if share > DOUBT or empty or counts["undecided"] > n_ok / 2 or counts["impossible"]:
        return Trust(level="doubt", sentence=f"Be careful: {_doubts(disturbed, n_ok, empty, counts)}.", causes=causes)
    return Trust(level="believe", sentence=_belief(n_ok, disturbed, noise), causes=causes)


def _doubts(disturbed: int, n_ok: int, empty: int, counts: Counter[str]) -> str:
    found = []
    if disturbed:
        found.append(f"{disturbed} of {n_ok} runs were disturbed (they are left out where enough clean ones remain)")
    if empty:
        found.append(f"{empty} treatments have no successful run")
    if counts["undecided"]:
        found.append(f"for {counts['undecided']} of {n_ok} runs nothing could tell whether they were disturbed")
    return ", and ".join(found)


def _belief(n_ok: int, disturbed: int, noise: Noise | None) -> str:
    clean = "none of them disturbed" if not disturbed else f"{disturbed} of them disturbed and left out"
    text = f"Believe it: {n_ok} runs, {clean}"
    if noise is None:
        return text + "; one run a treatment says nothing about noise."
    sd, effect = noise.sd_log_percent, noise.minimum_detectable_percent
    return f"{text}; a typical treatment varies by {sd:.2g} % between runs, so effects from {effect:.2g} % are visible."


def _causes(table: Table) -> Iterable[str]:
    worst: dict[str, tuple[int, float]] = {}
    for row in table.counted():
        for cause in row.causes if row.verdict not in COUNTED else ():
            n, amount = worst.get(cause["cause"], (0, 0.0))
            worst[cause["cause"]] = (n + 1, max(amount, cause["amount"] or 0.0))
    for name, (n, amount) in sorted(worst.items()):
        yield f"{name}: {n} runs, at most {100 * amount:.2g} % of the CPU time that a run could have had"


def _gaps(table: Table, samples: Sequence[Sample], empty: int) -> Iterable[str]:
    if empty:
        yield f"{empty} of {len(samples)} treatments have no successful run"
    if short := n_short(table, samples):
        yield f"{short} of {len(samples)} treatments have fewer clean runs than asked"


def n_short(table: Table, samples: Sequence[Sample]) -> int:
    """Treatments that have fewer clean runs than the design asked for."""
    asked = {tuple(t.values()): n for t, n in zip(table.treatments, table.n_asked, strict=True)}
    return sum(_n_clean(sample) < asked.get(tuple(sample.treatment.values()), 0) for sample in samples)


def _n_clean(sample: Sample) -> int:
    return sum(row.verdict in COUNTED for row in sample.every)


def _undecided(table: Table, n_ok: int) -> Iterable[str]:
    """Why nothing could tell, by cause; rates differ from run to run and are not worth a line each."""
    undecided = [row for row in table.counted() if row.verdict == "undecided"]
    if undecided:
        reasons = Counter(
            "too many switches to record" if "switches" in _reason(row) else _reason(row) for row in undecided
        )
        told = "; ".join(f"{reason} ({n})" for reason, n in reasons.most_common(3))
        yield f"{len(undecided)} of {n_ok} runs are undecided: {told}"


def _reason(row: Row) -> str:
    return str(row.causes[0]["text"]) if row.causes else "unknown"
