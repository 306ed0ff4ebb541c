"""What speaks against a study as a whole, the gravest first."""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import expm1, log

import numpy as np

from scalograph.analysis.modes import common_modes
from scalograph.findings.answer import Doubt
from scalograph.findings.curves import identical_doubt, is_count
from scalograph.findings.names import brief
from scalograph.findings.row import Row
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.findings.visible_effect import BLIND
from scalograph.protocol.findings import StudyNoise
from scalograph.questions.registry import basis
from scalograph.text.quantities import counted, two_digits

# Past this share of failed runs a study is doubted; from the other one on, of unverified runs.
FAILED, UNVERIFIED = 0.10, 0.50
# Farther apart no percentage tells more.
FAR_APART = 100


def doubts(
    table: Table, samples: Sequence[Sample], noise: StudyNoise | None, residue: Sequence[str]
) -> Iterable[Doubt]:
    """Reasons for doubt; none where the study may be believed."""
    runs = [row for row in table.rows if not row.warmup]
    yield from _runs(table, runs, [row for row in runs if row.status == "ok"])
    yield from _declared(table, residue)
    if noise and noise.minimum_detectable_percent >= BLIND:
        sd = two_digits(noise.sd_log_percent)
        if len(samples) > 1:
            yield Doubt("too noisy to compare", f"runs of one configuration differ by {sd} %")
        else:
            yield Doubt(f"runs differ by {sd} %", "what is typical of them is known only roughly")
    if basis(table.study.question) == "treatments":
        yield from _two_modes(table, samples)
        if not is_count(table.study.responses[primary(table)]):
            yield from identical_doubt(samples, primary(table))


def n_disturbed(runs: Iterable[Row]) -> int:
    """Runs that succeeded and that something took the CPU from, or that cannot be."""
    verdicts = [row.verdict for row in runs]
    return verdicts.count("contaminated") + verdicts.count("impossible")


def worst_cause(runs: Iterable[Row]) -> str:
    """Tell what disturbed runs most often, in the words of the run that lost most to it; empty where none was."""
    causes = [row.causes[0] for row in runs if row.verdict == "contaminated" and row.causes]
    if not causes:
        return ""
    ((name, _),) = Counter(cause.cause for cause in causes).most_common(1)
    return max((one for one in causes if one.cause == name), key=lambda cause: cause.amount or 0.0).text


def _runs(table: Table, runs: Sequence[Row], ok: Sequence[Row]) -> Iterable[Doubt]:
    verdicts, failed = Counter(row.verdict for row in ok), len(runs) - len(ok)
    if n := verdicts["impossible"]:
        does = "they are left out, but a clock or a counter is wrong"
        yield Doubt(f"{n} of {counted(len(ok), 'run')} cannot be as recorded", does)
    # Of an array failures are an answer.
    if failed > FAILED * len(runs) and basis(table.study.question) != "array":
        yield Doubt(f"{failed} of {counted(len(runs), 'run')} failed", "the others may not be typical")
    n = verdicts["undecided"]
    # Where configurations stand for themselves, those that rest on such runs are marked.
    if basis(table.study.question) != "treatments" and n and n >= UNVERIFIED * len(ok):
        yield Doubt(f"{n} of {counted(len(ok), 'run')} are unverified", "they count, and may have been disturbed")


def _declared(table: Table, residue: Sequence[str]) -> Iterable[Doubt]:
    if table.study.protocol.order == "declared":
        yield Doubt("runs were made in declared order", "a drift of the machine looks like an effect")
    if keys := [str(key) for key, *_ in table.accepted]:
        yield Doubt(f"the set-up changed at a resume ({brief(', '.join(keys), 60)})", "earlier runs may differ")
    if residue:
        more = f" (and {len(residue) - 1} more)" if residue[1:] else ""
        yield Doubt("something varied that no factor declares", f"{brief(residue[0])}{more}")


def _two_modes(table: Table, samples: Sequence[Sample]) -> Iterable[Doubt]:
    name = primary(table)
    every = (sample.values(name) for sample in samples)
    logs = [np.log(values[values > 0]).tolist() for values in every]
    if found := common_modes(logs, table.study.seed % 2**32):
        far = found.apart > log(FAR_APART)
        apart = f"more than {FAR_APART}-fold" if far else f"{two_digits(100 * expm1(found.apart))} %"
        high = two_digits(100 * found.share_high)
        yield Doubt(f"runs have two modes, {apart} apart", f"{high} % are in the higher one; an average is neither")
