"""The answer in one sentence for each curve."""

from scalograph.analysis.estimate import Estimate
from scalograph.cli.adhoc.answer import Along, Step
from scalograph.text.quantities import percents

# So many of the CPUs that are used most are as many.
ALIKE = 0.95
_ORDINALS = {2: "second", 3: "third", 4: "fourth", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth", 9: "ninth"}


def sentence(along: Along, target: float) -> str:
    """What the curve says; empty where it says nothing.

    Args:
        along: the curve.
        target: efficiency per worker that is worth having.
    """
    where = ", ".join(f"{name} {level}" for name, level in along.group.items())
    parts = [part for part in (_uses(along), _serial(along), _next(along), _take(along, target)) if part]
    text = "; ".join(parts)
    return f"{where}: {text}." if where and text else f"{text[:1].upper()}{text[1:]}{'.' * bool(text)}"


def _uses(along: Along) -> str:
    used = [step for step in along.steps if step.cpus and step.cpus.value is not None]
    if not used:
        return ""
    most = max(_used(step) for step in used)
    # One CPU is used up by a program that has a hundred and uses one: the most that it was given tells.
    most_given = max((step for step in used if _used(step) >= ALIKE * most), key=_given)
    n_cpus = _given(most_given)
    shown = f"{_used(most_given):.2f}".rstrip("0").rstrip(".")
    return f"uses {shown} of {n_cpus} CPU{'s' * (n_cpus != 1)}"


def _used(step: Step) -> float:
    return (step.cpus.value if step.cpus else None) or 0.0


def _given(step: Step) -> int:
    return max((row.n_cpus for row in step.sample.every), default=0)


def _serial(along: Along) -> str:
    serial = along.serial
    if serial is None or serial.low is None or serial.high is None:
        return ""
    low, high = (min(1.0, max(0.0, x)) for x in (serial.low, serial.high))
    return f"serial share {percents(low, high)}" if high else "no serial share to be seen"


def _next(along: Along) -> str:
    found = along.next
    if found is None or along.next_size is None or found.low is None or found.high is None:
        return ""
    which = _ORDINALS.get(along.next_size, f"number {along.next_size}")
    return f"a {which} would gain {percents(found.low, found.high)}"


def _take(along: Along, target: float) -> str:
    """The last level before efficiency falls below the target."""
    taken: Step | None = None
    for step in along.steps:
        if step.efficiency is None or step.efficiency.value is None or step.efficiency.value < target:
            break
        taken = step
    if taken is None or taken.efficiency is None:
        return ""
    return f"with a target of {100 * target:g} % efficiency take {taken.level}{_unsure(along, taken, target)}"


def _unsure(along: Along, taken: Step, target: float) -> str:
    """Whether the interval of this level, or of the next, holds the target."""
    place = along.steps.index(taken)
    both = [step.efficiency for step in along.steps[place : place + 2] if step.efficiency]
    return " (not certain: an interval holds the target)" if any(_holds(e, target) for e in both) else ""


def _holds(estimate: Estimate, x: float) -> bool:
    return estimate.low != estimate.high and estimate.contains(x)
