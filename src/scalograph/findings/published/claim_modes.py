"""Claims where CPU time has two modes: decided in the lower one and over all runs, and only if both agree.

CPU time for each unit of work may be the very effect that is claimed: a collapsing lock, a shared core or a shared
cache line inflate it, too. So it excludes no run. Only the sentinel, a fixed loop beside the run, shows that a CPU was
slower; runs on slower CPUs are excluded then.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from statistics import median

from scalograph.analysis.modes import find_common_modes
from scalograph.findings.answer import SampleMap
from scalograph.findings.row import Row
from scalograph.findings.table import Table
from scalograph.protocol.published_claim import ClaimValue, DecidedClaim
from scalograph.text.format import estimate
from scalograph.text.reproduced import claim_scale

DecideClaims = Callable[[Table], list[DecidedClaim]]

# Decisions that rest on figures.
_BY_FIGURES = ("holds", "exceeds", "does not hold", "demonstration", "inconclusive")
# Share of the runs of the higher mode that the sentinel must show on slower CPUs, and the others on faster ones.
_SHOWN = 0.8


@dataclass(frozen=True)
class HigherMode:
    """Runs with more CPU time than others of their configurations.

    `is_shown`: whether the sentinel shows that their CPUs were slower.
    """

    runs: frozenset[str]
    is_shown: bool


def find_higher_mode(table: Table, samples: SampleMap) -> HigherMode | None:
    """Return the runs of the higher mode of CPU time; None where a study has one mode."""
    groups = [[row for row in sample.counted if row.cpu_s] for sample in samples.values()]
    higher = _split(groups, {row.run: log(row.cpu_s or 1.0) for group in groups for row in group}, table)
    if not higher:
        return None
    loops = {row.run: log(row.loop_ns) for group in groups for row in group if row.loop_ns}
    slower = _split(groups, loops, table)
    agreeing = sum((run in slower) == (run in higher) for run in loops)
    return HigherMode(higher, bool(slower) and agreeing >= _SHOWN * max(len(loops), 1))


def _split(groups: Sequence[Sequence[Row]], logs: Mapping[str, float], table: Table) -> frozenset[str]:
    """Return the runs nearer to the higher mode of their configurations, where the study shows two modes.

    A run may pass from one mode to the other: the widest space between its like says little of where one ends.
    """
    sorted_groups = [sorted((logs[row.run], row.run) for row in group if row.run in logs) for group in groups]
    common = find_common_modes([[value for value, _ in group] for group in sorted_groups], table.study.seed % 2**32)
    if common is None:
        return frozenset()
    higher = set[str]()
    for group in sorted_groups:
        values = [value for value, _ in group]
        lower = [value for value in values if value < values[0] + common.apart / 2]
        higher |= {run for value, run in group if value > median(lower) + common.apart / 2}
    return frozenset(higher)


def agree_in_modes(
    table: Table, samples: SampleMap, decided: list[DecidedClaim], decide: DecideClaims
) -> list[DecidedClaim]:
    """Return the claims as both modes decide them; `decided` is over all runs, `decide` decides those of a table."""
    mode = find_higher_mode(table, samples) if decided else None
    if mode is None:
        return decided
    lower = decide(replace(table, rows=[row for row in table.rows if row.run not in mode.runs]))
    return [_merge(over_all, below, mode.is_shown) for over_all, below in zip(decided, lower, strict=True)]


def _merge(over_all: DecidedClaim, below: DecidedClaim, is_shown: bool) -> DecidedClaim:
    if over_all.decision not in _BY_FIGURES or below.decision not in _BY_FIGURES:
        return over_all
    if is_shown:
        excluded = "runs on slower CPUs, as the fixed loop shows, are excluded"
        return below.model_copy(update={"doubt": "; ".join(filter(None, [below.doubt, excluded]))})
    both = [*zip(below.figures, over_all.figures, strict=False)]
    figures = [_note_both(figure, whole, over_all) for figure, whole in both]
    if over_all.decision == below.decision:
        agreed = "runs have two modes of CPU time, which decide alike" if figures != over_all.figures else ""
        doubt = "; ".join(filter(None, [over_all.doubt, agreed]))
        return over_all.model_copy(update={"figures": figures, "doubt": doubt})
    reason = "runs have two modes of CPU time, which decide differently, and nothing shows that the CPU was slower"
    differing = next((_both_words(*pair, over_all) for pair in both if pair[0].decision != pair[1].decision), "")
    reason = f"{reason}: {differing}" if differing else reason
    return below.model_copy(
        update={"decision": "inconclusive", "why": reason, "figures": figures, "reason_kind": None, "reason": ""}
    )


def _note_both(figure: ClaimValue, whole: ClaimValue, claim: DecidedClaim) -> ClaimValue:
    """Return the figure of the lower mode; no mean over both modes stands for either."""
    if not (words := _both_words(figure, whole, claim)) or figure.here == whole.here:
        return figure
    decision = figure.decision if figure.decision == whole.decision else "inconclusive"
    return figure.model_copy(update={"doubt": "; ".join(filter(None, [figure.doubt, words])), "decision": decision})


def _both_words(figure: ClaimValue, whole: ClaimValue, claim: DecidedClaim) -> str:
    """Return the figures of the mode with less CPU time and over all runs; empty without both."""
    if figure.here is None or whole.here is None or figure.here.value is None or whole.here.value is None:
        return ""
    scale = claim_scale(claim)
    return f"{estimate(figure.here, scale)} in the mode with less CPU time, {estimate(whole.here, scale)} over all runs"
