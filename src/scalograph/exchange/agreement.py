"""Agreement of two instruments on one point, in words: they agree within a margin, differ, or too little is known."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from scalograph.analysis.estimate import Estimate
from scalograph.exchange.benchmark_figures import params_text, short_names
from scalograph.text.format import estimate as shown
from scalograph.text.quantities import percent_at_most

if TYPE_CHECKING:
    from scalograph.exchange.comparison import Held

Label = Literal["agree", "slower", "faster", "unknown"]

# Instruments that differ by less agree, even if the difference can be seen: they start a shot differently.
MARGIN = 0.05
# An interval that allows more than this says nothing, as with ceilings and published figures.
WIDEST = 0.25


def label(ratio: Estimate, n_forks: int, n_runs: int, unit: str) -> tuple[Label, str]:
    """Return the label of an instrument compared with the study, and the reason if there is none.

    Agree: the whole interval lies within the margin, or it contains 1 and allows at most 25 %.
    Slower, faster: it excludes 1, and is not within the margin.
    """
    low, high = ratio.low, ratio.high
    if low is None or high is None or low <= 0:
        return "unknown", f"{n_forks} {_of(n_forks, 'fork')} and {n_runs} {_of(n_runs, 'run')} give no interval"
    room = within(low, high)
    if room <= MARGIN or (low <= 1 <= high and room <= WIDEST):
        return "agree", ""
    if low <= 1 <= high:
        return "unknown", f"the ratio may lie anywhere from {low:.2f} to {high:.2f}"
    return ("slower" if (low > 1) == (unit == "s") else "faster"), ""


def within(low: float, high: float) -> float:
    """Return the largest difference that an interval of a ratio allows, in either direction.

    >>> round(within(0.98, 1.03), 3), round(within(0.8, 1.0), 3)
    (0.03, 0.25)
    """
    return max(high, 1 / low) - 1


def sentences(every: Sequence["Held"]) -> list[str]:
    """Return a sentence for each benchmark."""
    names = short_names(held.figures.benchmark for held in every)
    return [f"{_who(held, names)}: {_said(held)}." for held in every]


def _who(held: "Held", names: Mapping[str, str]) -> str:
    return " ".join(part for part in (names[held.figures.benchmark], params_text(held.figures.params)) if part)


def _said(held: "Held") -> str:
    if held.treatment is None or held.ratio is None:
        return f"not compared: {held.why}"
    low, high = held.ratio.low, held.ratio.high
    if held.label == "unknown" or low is None or high is None:
        return f"too few {'forks' if held.figures.n_forks <= held.n_runs else 'runs'} to say: {held.why}"
    if held.label == "agree":
        return f"agree within {percent_at_most(within(low, high))}"
    return f"{held.instrument} is {_times(held.ratio)} times {held.label}"


def _times(ratio: Estimate) -> str:
    """Format the ratio as a number above 1, whichever way it points."""
    if ratio.value is None or ratio.low is None or ratio.high is None or ratio.low > 1:
        return str(shown(ratio))
    return str(shown(Estimate(value=1 / ratio.value, low=1 / ratio.high, high=1 / ratio.low)))


def _of(n: int, noun: str) -> str:
    return noun if n == 1 else f"{noun}s"
