"""Which runs a pilot makes: a few, at the ends of the first and the last curve, where noise differs most."""

import math
from collections.abc import Iterator, Sequence

from scalograph.design.planner import Design
from scalograph.findings.sample import OtherLevels, others
from scalograph.study.model import Protocol, Study
from scalograph.study.responses import primary
from scalograph.study.scalars import Level
from scalograph.study.treatment import Treatment

LEAST_RUNS = 3
LEAST_ITERATIONS = 5
# Of the noise between runs, all treatments together; with 8, its standard deviation is known to about a quarter.
FREEDOM = 8
AT_MOST_S = 60.0
SHARE = 0.1


def pilot(study: Study, design: Design, takes_iterations: bool) -> Study:
    """The study that is the pilot of a study.

    Args:
        study: as declared.
        design: its design on this host.
        takes_iterations: whether its workload does as many iterations as it is told.

    Returns:
        A study of two to four treatments with at least three runs each, under the name NAME-pilot. No block begins
        past 60 s, or a tenth of the study's own budget where that is more; the first always runs.
    """
    chosen = ends(design)
    return study.model_copy(
        update={
            "name": f"{study.name[:57].rstrip('-')}-pilot",
            "exclude": [*study.exclude, *_all_but(chosen, design)],
            "protocol": _protocol(study.protocol, len(chosen), takes_iterations),
            "tables": [],
            "published": None,
        }
    )


def takes_iterations(study: Study, argv: Sequence[str]) -> bool:
    """Whether a study's protocol can say how many iterations are timed; `argv` is the template of its workload."""
    if not study.responses[primary(study)].source.startswith("window."):
        return False
    fixed = "iterations" in study.factors or "iterations" in study.workload.parameters
    return not fixed and any("{iterations}" in word for word in argv)


def ends(design: Design) -> list[Treatment]:
    """Baseline and last level of the first and of the last curve; without a baseline, first and last level."""
    factor = _curve_factor(design.study)
    curves: dict[OtherLevels, list[Treatment]] = {}
    for treatment in design.treatments:
        curves.setdefault(others(treatment, factor), []).append(treatment)
    groups = [*curves.values()]
    found = [
        end for curve in (groups[0], groups[-1]) for end in _both(curve, factor, design.study.baseline.get(factor))
    ]
    return [treatment for index, treatment in enumerate(found) if treatment not in found[:index]]


def _both(curve: Sequence[Treatment], factor: str, baseline: Level | None) -> tuple[Treatment, Treatment]:
    """A curve's baseline, or its first treatment, and its last; its first where the baseline is the last."""
    start = next((t for t in curve if t[factor] == baseline), curve[0])
    return start, curve[0] if start is curve[-1] else curve[-1]


def _curve_factor(study: Study) -> str:
    """The baseline's, else the one with the most levels."""
    return next(iter(study.baseline), None) or max(study.factors, key=lambda name: len(study.factors[name].levels))


def _protocol(asked: Protocol, n_treatments: int, takes_iterations: bool) -> Protocol:
    budget_s = AT_MOST_S if asked.budget_s is None else max(AT_MOST_S, SHARE * asked.budget_s)
    iterations = max(asked.iterations, asked.warmup + LEAST_ITERATIONS) if takes_iterations else asked.iterations
    runs = max(LEAST_RUNS, 1 + math.ceil(FREEDOM / n_treatments))
    changed = {"runs": runs, "iterations": iterations, "precision": None, "budget_s": budget_s, "budget_runs": None}
    return asked.model_copy(update={**changed, "warmup_runs": min(1, asked.warmup_runs)})


def _all_but(chosen: Sequence[Treatment], design: Design) -> Iterator[dict[str, list[Level]]]:
    """Exclusions that leave the chosen treatments alone: after each beginning that they share, all other levels."""
    names = list(design.study.factors)
    for depth, name in enumerate(names):
        levels = dict.fromkeys(t[name] for t in design.treatments)
        for start in dict.fromkeys(tuple(t.values())[:depth] for t in chosen):
            go_on = [t[name] for t in chosen if tuple(t.values())[:depth] == start]
            if others := [level for level in levels if level not in go_on]:
                yield {**{n: [level] for n, level in zip(names, start, strict=False)}, name: others}
