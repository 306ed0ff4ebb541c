"""What imported benchmarks say: which is the fastest and by how much, or how they agree with a study."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.ratios import ratio
from scalograph.exchange.benchmark import Benchmark
from scalograph.exchange.benchmark_figures import figures, params_text, scores, short_names
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.text.cell_numbers import compact
from scalograph.text.format import estimate
from scalograph.text.quantities import change
from scalograph.text.scale import scale_for

if TYPE_CHECKING:
    from scalograph.exchange.comparison import Held

ROWS = 12


def benchmark_claim(every: Sequence[Benchmark], confidence: float = 0.95) -> Claim:
    """Say which is the fastest of those with the mode and unit of the first; all intervals over it hold at once.

    A benchmark of which every run failed has no figure, and takes no part.
    """
    names, measured = short_names(one.name for one in every), [one for one in every if one.forks]
    if not measured:
        return Claim(sentences=["Cannot be said: no run succeeded."], answered=False)
    same = [one for one in measured if (one.mode, one.unit) == (measured[0].mode, measured[0].unit)]
    ranked = sorted(same, key=lambda one: figures(one, confidence).estimate.value or 0, reverse=same[0].unit == "1/s")
    best, *others = ranked
    level = 1 - (1 - confidence) / max(1, len(others))
    ratios = [ratio(scores(one), scores(best), level) for one in others]
    first, is_answered = _first(names, best, others, ratios)
    return Claim(sentences=[first], answered=is_answered, matrix=_matrix(names, ranked, ratios, confidence))


def agreement_claim(every: Sequence["Held"], said: Sequence[str]) -> Claim:
    """Say how many benchmarks agree with the study; first those that do not."""
    compared = [one for one in every if one.label != "unknown"]
    apart = [text for one, text in zip(every, said, strict=True) if one.label != "agree"]
    if len(every) == 1:
        return Claim(sentences=list(said), answered=bool(compared))
    n_agree = sum(one.label == "agree" for one in compared)
    return Claim(sentences=[f"{n_agree} of {len(every)} benchmarks agree with the study.", *apart[:2]])


def _first(
    names: Mapping[str, str], best: Benchmark, others: Sequence[Benchmark], ratios: Sequence[Estimate]
) -> tuple[str, bool]:
    is_time = best.unit == "s"
    if not others:
        found = figures(best, 0.95).estimate
        scale = scale_for(best.unit, [found.value])
        return f"{_name(names, best)}: {estimate(found, scale)} {scale.unit} a shot.", found.low is not None
    if none := [one for one in (best, *others) if min(scores(one)) <= 0]:
        told = ", ".join(_name(names, one) for one in none[:4])
        return f"Cannot be said which is the fastest: a score of 0 has no ratio ({told}).", False
    if any(one.low is None or one.high is None for one in ratios):
        why = "one fork has no interval, however many shots it made; import the files of several"
        return f"Cannot be said which is the fastest: {why}.", False
    alike = [other for other, one in zip(others, ratios, strict=True) if one.contains(1.0)]
    if alike:
        told = ", ".join(_name(names, one) for one in (best, *alike)[:4])
        return f"Cannot be said which is the fastest of {len(alike) + 1}, not resolved over their forks: {told}.", False
    by = change(ratios[0], "time" if is_time else "throughput")
    verb = "takes" if is_time else "has"
    return f"The fastest is {_name(names, best)}; the next, {_name(names, others[0])}, {verb} {by}.", True


def _name(names: Mapping[str, str], one: Benchmark) -> str:
    return " ".join(part for part in (names[one.name], params_text(dict(one.params))) if part)


def _matrix(
    names: Mapping[str, str], ranked: Sequence[Benchmark], ratios: Sequence[Estimate], confidence: float
) -> Matrix:
    is_time, first = ranked[0].unit == "s", Estimate(1.0, 1.0, 1.0)
    over = [compact(one) for one in (first, *ratios)]
    rows = [
        MatrixRow(
            label=_name(names, one),
            cells=[MatrixCell(estimate=figures(one, confidence).estimate), MatrixCell(text=text)],
        )
        for one, text in zip(ranked, over, strict=True)
    ]
    return Matrix(
        title="time of a typical fork" if is_time else "rate of a typical fork",
        unit=ranked[0].unit,
        better="lower" if is_time else "higher",
        columns=["typical fork", "over the fastest"],
        rows=rows[:ROWS],
        note=f"{len(rows) - ROWS} more rows: --tables" if len(rows) > ROWS else "",
    )
