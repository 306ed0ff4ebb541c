"""The answer of `import`: which benchmark is the fastest and by how much, or how all agree with a study."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.ratios import ratio
from scalograph.exchange.benchmark import Benchmark
from scalograph.exchange.benchmark_values import params_text, scores, short_names, summarize_benchmark
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.text.cell_numbers import cell_number
from scalograph.text.format import estimate
from scalograph.text.quantities import change
from scalograph.text.scale import scale_for

if TYPE_CHECKING:
    from scalograph.exchange.comparison import BenchmarkComparison

ROWS = 12


def benchmark_claim(every: Sequence[Benchmark], confidence: float = 0.95) -> Claim:
    """Find the fastest benchmark of the first one's mode and unit; ratios over it have simultaneous intervals.

    Benchmarks of which every run failed take no part.
    """
    names, measured = (
        short_names(benchmark.name for benchmark in every),
        [benchmark for benchmark in every if benchmark.forks],
    )
    if not measured:
        return Claim(sentences=["Cannot be said: no run succeeded."], answered=False)
    same = [
        benchmark for benchmark in measured if (benchmark.mode, benchmark.unit) == (measured[0].mode, measured[0].unit)
    ]
    ranked = sorted(
        same,
        key=lambda benchmark: summarize_benchmark(benchmark, confidence).estimate.value or 0,
        reverse=same[0].unit == "1/s",
    )
    best, *others = ranked
    level = 1 - (1 - confidence) / max(1, len(others))
    ratios = [ratio(scores(benchmark), scores(best), level) for benchmark in others]
    first, is_answered = _first(names, best, others, ratios)
    return Claim(sentences=[first], answered=is_answered, matrix=_matrix(names, ranked, ratios, confidence))


def agreement_claim(every: Sequence["BenchmarkComparison"], texts: Sequence[str]) -> Claim:
    """Count the benchmarks that agree with the study; name those that do not."""
    compared = [comparison for comparison in every if comparison.label != "unknown"]
    apart = [text for comparison, text in zip(every, texts, strict=True) if comparison.label != "agree"]
    if len(every) == 1:
        return Claim(sentences=list(texts), answered=bool(compared))
    n_agree = sum(comparison.label == "agree" for comparison in compared)
    return Claim(sentences=[f"{n_agree} of {len(every)} benchmarks agree with the study.", *apart[:2]])


def _first(
    names: Mapping[str, str], best: Benchmark, others: Sequence[Benchmark], ratios: Sequence[Estimate]
) -> tuple[str, bool]:
    is_time = best.unit == "s"
    if not others:
        value = summarize_benchmark(best, 0.95).estimate
        scale = scale_for(best.unit, [value.value])
        return f"{_name(names, best)}: {estimate(value, scale)} {scale.unit} a shot.", value.low is not None
    if none := [benchmark for benchmark in (best, *others) if min(scores(benchmark)) <= 0]:
        labels = ", ".join(_name(names, benchmark) for benchmark in none[:4])
        return f"Cannot be said which is the fastest: a score of 0 has no ratio ({labels}).", False
    if any(ratio.low is None or ratio.high is None for ratio in ratios):
        reason = "one fork has no interval, however many shots it made; import the files of several"
        return f"Cannot be said which is the fastest: {reason}.", False
    alike = [other for other, ratio in zip(others, ratios, strict=True) if ratio.contains(1.0)]
    if alike:
        labels = ", ".join(_name(names, benchmark) for benchmark in (best, *alike)[:4])
        return (
            f"Cannot be said which is the fastest of {len(alike) + 1}, not resolved over their forks: {labels}.",
            False,
        )
    by = change(ratios[0], "time" if is_time else "throughput")
    verb = "takes" if is_time else "has"
    return f"The fastest is {_name(names, best)}; the next, {_name(names, others[0])}, {verb} {by}.", True


def _name(names: Mapping[str, str], benchmark: Benchmark) -> str:
    return " ".join(part for part in (names[benchmark.name], params_text(dict(benchmark.params))) if part)


def _matrix(
    names: Mapping[str, str], ranked: Sequence[Benchmark], ratios: Sequence[Estimate], confidence: float
) -> Matrix:
    is_time, first = ranked[0].unit == "s", Estimate(1.0, 1.0, 1.0)
    over = [cell_number(ratio) for ratio in (first, *ratios)]
    rows = [
        MatrixRow(
            label=_name(names, benchmark),
            cells=[MatrixCell(estimate=summarize_benchmark(benchmark, confidence).estimate), MatrixCell(text=text)],
        )
        for benchmark, text in zip(ranked, over, strict=True)
    ]
    return Matrix(
        title="time of a typical fork" if is_time else "rate of a typical fork",
        unit=ranked[0].unit,
        better="lower" if is_time else "higher",
        columns=["typical fork", "over the fastest"],
        rows=rows[:ROWS],
        note=f"{len(rows) - ROWS} more rows: --tables" if len(rows) > ROWS else "",
    )
