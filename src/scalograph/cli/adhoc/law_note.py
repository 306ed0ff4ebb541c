"""What stands beside the answer: the fitted law in figures, and a warning where a level changes nothing."""

from collections.abc import Sequence
from statistics import median

from scalograph.analysis.stopping import half_width
from scalograph.cli.adhoc.answer import Along, Step
from scalograph.findings.curves import curve_factor, primary
from scalograph.findings.table import Table
from scalograph.text.format import estimate

# Levels whose times differ by less are the same, if their intervals are no wider to either side; so are CPUs used.
SAME, NO_RISE = 0.05, 0.10


def law_line(along: Along) -> str:
    """The law's parameters with their intervals, where it is largest, and its flags; empty without a law."""
    law = along.law
    if law is None:
        return ""
    parts = [f"{name} {estimate(getattr(law, name))}" for name in ("sigma", "kappa")]
    parts += [text] if (text := _optimum(along)) else []
    return "; ".join([f"Law: {', '.join(parts)}", *law.flags])


def _optimum(along: Along) -> str:
    assert along.law is not None
    best = along.law.optimum
    if best.value is not None:
        return f"largest at {estimate(best)}"
    return f"largest above {best.low:.3g}" if best.low is not None else ""


def unused(table: Table, along: Along) -> str:
    """A warning where neither time nor CPUs used change along levels that the command was given; else empty."""
    factor = curve_factor(table)
    steps = [step for step in along.steps if step.sample.scores(primary(table))]
    given = factor != "copies" and table.study.factors[factor].control is None
    # On a busy machine nothing rises.
    if len(steps) < 2 or not given or any(step.sample.falls_back for step in steps):
        return ""
    scores = [step.sample.scores(primary(table)) for step in steps]
    times = [median(found) for found in scores]
    differ = any(abs(time - times[0]) > SAME * abs(times[0]) for time in times)
    if differ or _rises(steps) or not all(map(_known_well, scores)):
        return ""
    return f"The same at all levels of {factor}, and CPUs used do not rise: does the command use {{{factor}}}?"


def _known_well(scores: Sequence[float]) -> bool:
    half = half_width(scores)
    return half is not None and half <= SAME


def _rises(steps: list[Step]) -> bool:
    """Whether CPUs used grow; not known is no."""
    used = [step.cpus.value for step in steps if step.cpus and step.cpus.value]
    return bool(used) and max(used) > (1 + NO_RISE) * used[0]
