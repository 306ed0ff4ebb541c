"""What speaks against believing a study, each cause in words."""

from collections import Counter
from collections.abc import Iterable, Sequence

from scalograph.findings import steady_state
from scalograph.findings.curves import curve_factor
from scalograph.findings.names import brief
from scalograph.findings.sample import (
    Sample,
    cpu_times,
    is_open,
    left_out,
)
from scalograph.findings.speedup_rule import gain, primary
from scalograph.findings.stopping_rule import stopping
from scalograph.findings.table import Row, Table
from scalograph.questions.registry import basis

# Past this share of disturbed or failed runs a study is doubted; from the other one on, of undecided runs.
DISTURBED, FAILED, UNDECIDED = 0.10, 0.10, 0.50


def doubts(
    table: Table, samples: Sequence[Sample], residue: Sequence[str], objections: Sequence[str] = ()
) -> list[str]:
    """Reasons for doubt, the gravest first; none where the study may be believed."""
    return [
        *_runs(table), *_treatments(table, samples), *_imprecise(table, samples), *_impossible(objections),
        *_declared(table, samples, residue),
    ]  # fmt: skip


def _impossible(objections: Sequence[str]) -> Iterable[str]:
    if objections:
        more = f" (and {len(objections) - 1} more, each beside its number)" if objections[1:] else ""
        yield f"a figure cannot be, or is not what was declared: {brief(objections[0])}{more}"


def n_disturbed(runs: Iterable[Row]) -> int:
    """Runs that succeeded and that something took the CPU from, or that cannot be."""
    return sum(row.verdict in ("contaminated", "impossible") for row in runs)


def undecided(runs: Sequence[Row]) -> str:
    """Say how many runs could not be checked; empty if all could."""
    n = sum(row.verdict == "undecided" for row in runs)
    return f"whether {n} of {len(runs)} runs were disturbed could not be checked" if n else ""


def _runs(table: Table) -> Iterable[str]:
    runs = [row for row in table.rows if not row.warmup]
    ok = [row for row in runs if row.status == "ok"]
    verdicts = Counter(row.verdict for row in ok)
    disturbed, failed = n_disturbed(ok), len(runs) - len(ok)
    if disturbed > DISTURBED * len(ok):
        out = left_out(cpu_times(table.study))
        yield f"{disturbed} of {len(ok)} runs were disturbed (they are {out} where enough clean ones remain)"
    if n := verdicts["impossible"]:
        yield f"{n} of {len(ok)} runs cannot be as they are recorded"
    if late := sum(row.status == "timeout" for row in runs):
        yield f"{late} of {len(runs)} runs ended at their timeout: what is left is the faster part"
    if failed > FAILED * len(runs):
        yield f"{failed} of {len(runs)} runs failed"
    if ok and verdicts["undecided"] >= UNDECIDED * len(ok):
        yield undecided(ok)
    if left := sum(row.n_survivors > 0 for row in ok):
        yield f"{left} of {len(ok)} runs left processes behind, which were killed: their CPU time may be missing"


def _treatments(table: Table, samples: Sequence[Sample]) -> Iterable[str]:
    of = f"of {len(samples)} treatments"
    if n := sum(not sample.every for sample in samples):
        yield f"{n} {of} have no successful run"
    factor = curve_factor(table)
    speedups = gain(table, factor) is not None
    baselines = [s for s in samples if speedups and s.treatment[factor] == table.study.baseline[factor]]
    if n := sum(sample.falls_back for sample in baselines):
        yield f"{n} of {len(baselines)} baselines rest on disturbed runs, and so do the speedups over them"
    rests_on = basis(table.study.question)
    # What rests on all clean runs together, or on pairs, does not care which treatments they are of.
    single = rests_on in ("treatments", "levels")
    if single and (n := sum(map(is_open, samples))):
        yield f"whether the runs of {n} {of} were disturbed could not be checked"
    if single and (n := sum(sample.falls_back for sample in samples)):
        yield f"{n} {of} rest on disturbed runs: fewer than two clean ones are left"
    # A search rests on all of its runs together, and needs no interval for each level.
    if rests_on == "treatments" and (n := sum(len(sample.counted) == 1 for sample in samples)):
        yield f"{n} {of} have one run, which has no interval at all"


def _imprecise(table: Table, samples: Sequence[Sample]) -> Iterable[str]:
    rule, response = stopping(table.study), primary(table)
    if rule and (n := sum(rule.missed(sample.scores(response)) for sample in samples)):
        asked = f"+-{100 * rule.precision:.2g} %"
        yield f"{n} of {len(samples)} treatments did not reach the precision that was asked for, {asked}"


def _declared(table: Table, samples: Sequence[Sample], residue: Sequence[str]) -> Iterable[str]:
    if table.study.protocol.order == "declared":
        yield "runs were made in declared order, so a drift of the machine looks like an effect"
    if keys := [str(key) for key, *_ in table.accepted]:
        yield f"the study was resumed on a set-up that differs: {brief(', '.join(keys))}"
    if basis(table.study.question) != "pairs":  # which rest on median iterations, never on whole runs
        yield from steady_state.doubts(table.study, samples)
    if residue:
        yield f"something varied that no factor declares: {brief(residue[0])}" + (
            f" (and {len(residue) - 1} more)" if residue[1:] else ""
        )
