"""A comparison in words: is it the box, or is it the program?"""

from collections.abc import Mapping, Sequence
from typing import get_args

from scalograph.analysis.estimate import Estimate
from scalograph.machine.ceiling.verdict import Against, Label
from scalograph.protocol.machine_ceiling import PATTERNS, RESOURCES, WORDS
from scalograph.text.quantities import counted, times
from scalograph.text.short_names import listed


def sentence(name: str, program: Estimate, n_cpus: int, found: Sequence[Against]) -> str:
    """One sentence for one curve at one number of CPUs.

    Args:
        name: of the curve, as a sentence may begin with it.
        program: its speedup.
        n_cpus: on so many CPUs.
        found: what it was held against.
    """
    resources = [each for each in found if each.kind in RESOURCES]
    said = f"{name}: {times(program)} on {n_cpus} CPU{'s' * (n_cpus > 1)}"
    if all(each.label == "unknown" for each in resources):
        return f"{said}: whether that is the box or the program is not known, the intervals are too wide."
    return f"{said}, {_verdict(resources)}{_pattern(found, resources)}."


def _verdict(resources: Sequence[Against]) -> str:
    """The highest ceiling comes first: what scales as far as that has all that the box gives."""
    top, of = resources[0], _by_label(resources)
    if top.label == "above":
        return f"more than any ceiling of this box ({_listed([top])}): look at its baseline"
    if top.label == "alike":
        return f"as far as this box scales anything ({_listed([top])}): it is the box that ends"
    if of["alike"]:
        return f"which is what this box gives to {_listed(of['alike'])}: limited by it, like the machine itself"
    if len(of["below"]) == len(resources):
        return f"below every ceiling of this box (the lowest: {_listed(resources[-1:])}): it is the program"
    words = {"below": "below", "above": "above", "unknown": "not told from"}
    return "; ".join(f"{word} {_listed(of[label])}" for label, word in words.items() if of[label])


def _by_label(found: Sequence[Against]) -> dict[str, list[Against]]:
    return {label: [each for each in found if each.label == label] for label in get_args(Label)}


def _pattern(found: Sequence[Against], resources: Sequence[Against]) -> str:
    """What else scales as badly; said only of a curve that is below what the box gives."""
    if not any(each.label == "below" for each in resources):
        return ""
    alike = [each for each in found if each.kind in PATTERNS and each.label == "alike"]
    return f"; {_listed(alike)} scales alike: look for that" if alike else ""


def _listed(found: Sequence[Against]) -> str:
    return ", ".join(f"{WORDS.get(each.kind, each.kind)} {times(each.ceiling)}" for each in found)


def summary(n_cpus: int, ceilings: Mapping[str, Estimate]) -> str:
    """What the box itself scales to on so many CPUs: at best and at worst."""
    best, *others = sorted(ceilings.items(), key=lambda item: -(item[1].value or 0.0)) or [("", Estimate())]
    if not best[0]:
        return ""
    parts = [f"{WORDS.get(kind, kind)} to {times(estimate)}" for kind, estimate in (best, *others[-1:])]
    between = f"; {counted(len(others) - 1, 'further kind')} of work in between" if others[1:] else ""
    return f"On {n_cpus} CPUs this box scales {listed(parts)}{between}."
