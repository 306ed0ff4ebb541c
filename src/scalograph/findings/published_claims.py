"""The claims of a paper, each decided on the runs of this study: it holds, or not, or that is not resolved.

A claim names a range that bears it out. A figure whose whole interval lies inside it holds, one whose interval lies
wholly outside does not, and any other is not resolved; nor is one that rests on configurations more than half of whose
runs were disturbed. A claim of several figures holds if each does, at the confidence of each (an intersection of tests
needs no correction), and does not hold if one fails at a confidence that is shared among them (Bonferroni).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from scalograph.analysis.estimate import Estimate
from scalograph.findings import claim_runs
from scalograph.findings.answer import Taken
from scalograph.findings.claim_figures import (
    FigureHere,
    Lenders,
    lenders,
    measured_figures,
    mostly_disturbed,
    spell,
    why_missing,
)
from scalograph.findings.claim_pairs import surface_figures
from scalograph.findings.claim_words import figures_in_words, groups_in_words, profile_words
from scalograph.findings.doubts import n_disturbed, worst_cause
from scalograph.findings.names import short, title, varying
from scalograph.findings.published import Lookup
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Row, Table
from scalograph.protocol.plain import Level
from scalograph.protocol.published_claim import ClaimFigure, DecidedClaim, Decision, OfferedFigure
from scalograph.questions.registry import is_search
from scalograph.study.published_claim import CONTRAST, PublishedClaim
from scalograph.text.quantities import counted
from scalograph.text.short_names import few, listed


class OfferHere(NamedTuple):
    """What a question offers under a name.

    Attributes:
        words: what the figures are.
        figures: none where it has decided that there is none.
        silent: why it says nothing of this study; empty where it does.
    """

    words: str
    figures: Sequence[OfferedFigure] = ()
    silent: str = ""


# A profile is taken after the runs, and lies beside their journal.
NO_PROFILE = "no profile of it: take one with `scalograph profile`"
# Factors that a reason names; of more, how many there are.
MOST_IDLE = 3
Offered = Callable[[str], OfferHere]
Bounds = tuple[float | None, float | None]


def decided_claims(table: Table, taken: Taken, offered: Offered, at_levels: Lookup | None = None) -> list[DecidedClaim]:
    """Decide each claim that the study declares.

    Args:
        table: its runs.
        taken: the sample of each treatment.
        offered: what its question has to offer for claims of kinds `location` and `count`.
        at_levels: what is known of a treatment, where runs were compared in pairs and none has figures of its own.
    """
    claims = table.study.published.claims if table.study.published else []
    figures = _Figures(table, taken, offered, at_levels, lenders(table, taken, claims))
    return [decided_by(table, claim, *figures.of(claim)) for claim in claims]


def decided_by(table: Table, claim: PublishedClaim, words: str, figures: Sequence[FigureHere]) -> DecidedClaim:
    """Decide a claim by its figures.

    Args:
        table: the runs.
        claim: of its study.
        words: what the figures are.
        figures: one, or one for each level of the claim.
    """
    bounds = claim.bounds if not claim.unlike or claim.holds else (None, None)
    decided = [_figure(table, claim, i, one, bounds, len(figures)) for i, one in enumerate(figures)]
    decision, why = _whole(table, claim, figures, decided)
    response = table.study.responses.get(claim.response or primary(table))
    return DecidedClaim(
        id=claim.id, sentence=claim.sentence, place=claim.place, quantity=words,
        unit=response.unit if claim.kind == "value" and response else "", said=claim.said,
        low=bounds[0], high=bounds[1], figures=decided, decision=decision, why=why,
        doubt=_doubt([figure for one, figure in zip(figures, decided, strict=True) if not one.disturbed]),
    )  # fmt: skip


@dataclass(frozen=True)
class _Figures:
    """The figures of the claims of one study."""

    table: Table
    taken: Taken
    offered: Offered
    at_levels: Lookup | None
    lending: Lenders

    def of(self, claim: PublishedClaim) -> tuple[str, Sequence[FigureHere]]:
        """Return what decides a claim, and what that is in words."""
        if claim.stack:
            return profile_words(claim), [FigureHere("", missing=NO_PROFILE)]
        if claim.groups:
            return groups_in_words(claim), _of_groups(self.table, self.offered(CONTRAST), claim)
        if claim.quantity:
            offer = self.offered(claim.quantity)
            return offer.words, _offered(self.table, self.taken, offer, claim)
        if self.at_levels is not None and claim.kind != "value":
            figures = surface_figures(self.table, self.at_levels, claim)
        else:
            figures = measured_figures(self.table, self.taken, claim, self.lending)
        return figures_in_words(self.table, claim, figures), figures


def _offered(table: Table, taken: Taken, offer: OfferHere, claim: PublishedClaim) -> list[FigureHere]:
    """Figures of the question, of those groups that have the levels of the claim."""
    if offer.silent:
        return [FigureHere("", missing=offer.silent)]
    where = {name: spell(table, name, level) for name, level in claim.where.items()}
    if absent := {name: level for name, level in where.items() if all(t.get(name) != level for t in table.treatments)}:
        return [why_missing(table, absent, None)]
    if not offer.figures:
        return [FigureHere("", none="none", disturbed=_disturbed(table, taken, where))]
    fitting = [one for one in offer.figures if where.items() <= {**where, **one.group}.items()]
    made = []
    for one in fitting:
        rest = {name: level for name, level in one.group.items() if name not in claim.where}
        label = short(table, varying(table, rest))
        if one.unseen:
            made.append(FigureHere(label, missing=one.unseen, unseen=True))
            continue
        missing = "" if one.estimate.value is not None else "; ".join(one.estimate.warnings)
        disturbed = _disturbed(table, taken, {**where, **one.group})
        made.append(FigureHere(label, lambda _, e=one.estimate: e, missing, disturbed=disturbed))  # type: ignore[misc]
    return made or [FigureHere("", missing=f"no figure of {short(table, claim.where)}")]


def _of_groups(table: Table, offer: OfferHere, claim: PublishedClaim) -> list[FigureHere]:
    """The first group over the second, if all factors of both were varied."""
    factors = table.study.factors
    idle = [name for name, one in factors.items() if one.group in claim.groups and len(one.levels) < 2]
    if idle:
        named = few([title(table, name) for name in idle], MOST_IDLE)
        return [FigureHere("", missing=f"the quick form leaves out settings of {named}: run the full form")]
    found = next((one.estimate for one in offer.figures if one.of_groups == (*claim.groups,)), None)
    if found is None:
        return [FigureHere("", missing=offer.silent or "nothing is known of these groups")]
    return [FigureHere("", lambda _: found)]


def _disturbed(table: Table, taken: Taken, levels: Mapping[str, Level]) -> tuple[Row, ...]:
    """The runs behind a figure of the question, if most were disturbed; a search looks at clean ones alone."""
    if is_search(table.study.question):
        return ()
    fitting = [sample for sample in taken.values() if levels.items() <= {**levels, **sample.treatment}.items()]
    return mostly_disturbed(table, primary(table), fitting)


def _whole(
    table: Table, claim: PublishedClaim, figures: Sequence[FigureHere], decided: Sequence[ClaimFigure]
) -> tuple[Decision, str]:
    """What became of the claim, and why it is not decided."""
    decisions = [figure.decision for figure in decided]
    if claim.unlike:
        return "not comparable", claim.unlike
    if why := unseen(claim, table.machine):
        return "cannot be seen here", why
    if "does not hold" in decisions:
        return "does not hold", ""
    missing = [figure.missing for figure, one in zip(figures, decided, strict=True) if one.decision == "not measured"]
    if missing:
        if hidden := next((figure for figure in figures if figure.unseen), None):
            return "cannot be seen here", hidden.missing
        lacking = [figure.missing for figure in figures if figure.lacks]  # the last level asks for most CPUs
        return ("cannot be seen here", lacking[-1]) if lacking else ("not measured", _reasons(missing))
    if "not resolved" in decisions:
        return "not resolved", "; ".join(filter(None, [_open(figures, decided), _more(table, claim, figures, decided)]))
    return "holds", ""


def _doubt(decided: Sequence[ClaimFigure]) -> str:
    """What the whole claim rests on."""
    n = sum(bool(figure.doubt) for figure in decided)
    if not n:
        return ""
    who = "" if n == len(decided) else f"{n} of {counted(len(decided), 'figure')} "
    return f"{who}{'rest' if who and n > 1 else 'rests'} on disturbed runs"


def _reasons(missing: Sequence[str]) -> str:
    """Each reason once, of many the first three."""
    told = [*dict.fromkeys(why for why in missing if why)] or ["no run counts"]
    return "; ".join([*told[:3], *([f"and {len(told) - 3} more"] if told[3:] else [])])


def _open(figures: Sequence[FigureHere], decided: Sequence[ClaimFigure]) -> str:
    """Why figures leave it open: disturbed runs, no interval, or one that crosses an end of the range."""
    both = [*zip(figures, decided, strict=True)]
    busy = [row for one, figure in both if figure.decision == "not resolved" for row in one.disturbed]
    left = [figure for one, figure in both if figure.decision == "not resolved" and not one.disturbed]
    bare = [figure for figure in left if figure.here is None or figure.here.low is None or figure.here.high is None]
    crossing = [figure.label for figure in left if figure not in bare]
    parts = [_of_disturbed(busy)] if busy else []
    if crossing:
        who = "" if len(decided) == 1 else f" of {listed(_some(crossing))}"
        one = len(crossing) == 1
        parts.append(f"the interval{'' if one else 's'}{who} {'crosses' if one else 'cross'} an end of the range")
    if bare:
        warned = [text for figure in bare if figure.here for text in figure.here.warnings]
        parts.append("; ".join(dict.fromkeys(warned)) or "no interval")
    return "; ".join(parts)


def _more(table: Table, claim: PublishedClaim, figures: Sequence[FigureHere], decided: Sequence[ClaimFigure]) -> str:
    """How many more runs would decide it; silent of a search, whose runs follow from each other."""
    if is_search(table.study.question) or claim.quantity or any(figure.disturbed for figure in figures):
        return ""
    return claim_runs.in_words(claim_runs.times_as_many(decided, claim.bounds))


def _of_disturbed(runs: Iterable[Row]) -> str:
    """How many of the runs were disturbed, and by what; or that a clock or a counter was wrong."""
    each = {row.run: row for row in runs}.values()
    n, cause = n_disturbed(each), worst_cause(each)
    is_wrong = 2 * sum(row.verdict == "impossible" for row in each) > n
    did = "cannot be as recorded" if is_wrong else f"{'was' if n == 1 else 'were'} disturbed"
    told = f"{n:,} of {counted(len(each), 'run')} {did}"
    return f"{told}: {cause}" if cause and not is_wrong else told


def _some(labels: Sequence[str]) -> list[str]:
    return [*labels[:3], *([f"{len(labels) - 3} more"] if labels[3:] else [])]


def unseen(claim: PublishedClaim, machine: Mapping[str, Any]) -> str:
    """Say what a machine lacks to show a claim; empty where it has all.

    Args:
        claim: of a study.
        machine: `machine` of a journal's first event.
    """
    n_cpus = machine.get("n_cpus")
    if isinstance(n_cpus, int) and n_cpus < claim.needs_cpus:
        return f"it needs {claim.needs_cpus} CPUs, this machine has {n_cpus}"
    here = machine.get("architecture") or "unknown"
    if claim.needs_architecture and here != claim.needs_architecture:
        return f"it needs a CPU of the architecture {claim.needs_architecture}, this machine's is {here}"
    if claim.needs_smt and machine.get("smt") is not True:
        return "it needs hardware threads that share a core, this machine shows none"
    return ""


def _figure(
    table: Table, claim: PublishedClaim, index: int, figure: FigureHere, bounds: Bounds, n_figures: int
) -> ClaimFigure:
    printed = claim.published[index : index + 1] if isinstance(claim.published, list) else [claim.published]
    value = printed[0] if printed else None
    spread = None if value is None else abs(value) * claim.spread
    confidence = table.study.protocol.confidence
    here = figure.estimate(confidence) if figure.estimate else None
    shared = figure.estimate(1 - (1 - confidence) / n_figures) if figure.estimate else None
    decision: Decision = "does not hold" if figure.none else _verdict(here, shared, bounds)
    if figure.disturbed and decision != "not measured":
        decision = "not resolved"
    return ClaimFigure(
        label=figure.label, published=value,
        published_low=None if value is None or not spread else value - spread,
        published_high=None if value is None or not spread else value + spread,
        here=here, none=figure.none, doubt=figure.doubt, decision=decision,
    )  # fmt: skip


def _verdict(here: Estimate | None, shared: Estimate | None, bounds: Bounds) -> Decision:
    """Inside with its own interval, outside with the one that is shared among all figures of the claim."""
    if here is None or shared is None or here.value is None:
        return "not measured"
    low = float("-inf") if bounds[0] is None else bounds[0]
    high = float("inf") if bounds[1] is None else bounds[1]
    if _inside(here, low, high):
        return "holds"
    if (shared.low is not None and shared.low > high) or (shared.high is not None and shared.high < low):
        return "does not hold"
    return "not resolved"


def _inside(here: Estimate, low: float, high: float) -> bool:
    """Whether the whole interval is inside; an end that is open is inside of an end that is open."""
    above = low == float("-inf") or (here.low is not None and low <= here.low)
    below = high == float("inf") or (here.high is not None and here.high <= high)
    return above and below
