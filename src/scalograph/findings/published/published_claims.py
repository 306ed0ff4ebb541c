"""Decide the claims of a paper by the runs of this study: each holds, does not hold, or is inconclusive.

A claim names a range. A value whose whole interval lies inside holds, one whose interval lies outside does not, and any
other is inconclusive; so is one of mostly disturbed configurations. A claim of several values holds if each does, at
the confidence of each (an intersection of tests needs no correction), and does not hold if one fails at a confidence
shared among them (Bonferroni).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.ratios import divide_estimates
from scalograph.findings.answer import SampleMap
from scalograph.findings.published import claim_texts
from scalograph.findings.published.measured_values import (
    SINGLE,
    MeasuredValue,
    ModerationContrasts,
    claim_levels,
    claim_pairs,
    measure_values,
    moderation_contrasts,
    mostly_disturbed,
    resolve_level,
    why_missing,
)
from scalograph.findings.published.published_quantities import Lookup
from scalograph.findings.row import Row
from scalograph.findings.sample import is_functional
from scalograph.findings.table import Table
from scalograph.protocol.plain import Level
from scalograph.protocol.published_claim import NOTHING, ClaimValue, DecidedClaim, Decision, OfferedValue
from scalograph.study.published_claim import CONTRAST, PublishedClaim
from scalograph.text.quantities import count_noun, excess_memory
from scalograph.text.short_names import join_first

MAX_IDLE = 3  # factors that a reason names
NO_PROFILE = "no profile of it: take one with `scalograph profile`"  # it is taken after the runs
METHOD = "surface of all pairs"
UNKNOWN = "nothing is known of it"
ONE_MACHINE = "it compares two machines: give results of the other one to `scalograph reproduce --with RESULTS`"
EMULATED = "it needs times, and the CPUs of its guest are emulated"
Bounds = tuple[float | None, float | None]


class OfferedQuantity(NamedTuple):
    """A quantity that a question offers to claims under a name.

    Attributes:
        figures: empty if the question decided that there is none.
        silent: why the question has no answer for this study; else empty.
    """

    words: str
    figures: Sequence[OfferedValue] = ()
    silent: str = ""


QuantityLookup = Callable[[str], OfferedQuantity]


def select_values(
    table: Table, samples: SampleMap, offer: OfferedQuantity, claim: PublishedClaim
) -> list[MeasuredValue]:
    """Select the values of a question that match the levels of a claim."""
    if offer.silent:
        left_out = _single_counts(table, claim) if offer.silent == UNKNOWN else ""
        return [MeasuredValue("", missing=left_out or offer.silent, unplanned=bool(left_out))]
    aside = [figure for figure in offer.figures if figure.without]
    if aside:  # where the factor has no settings here, nothing is to be left aside
        chosen = [figure for figure in aside if figure.without in claim.where]
        chosen = chosen or [figure for figure in aside if figure.without == NOTHING]
        return [MeasuredValue("", lambda _, e=each.estimate: e, narrows=each.narrows) for each in chosen[:1]]  # type: ignore[misc]
    where = {name: resolve_level(table, name, level) for name, level in claim.where.items()}
    absent = {k: level for k, level in where.items() if all(t.get(k) != level for t in table.configurations)}
    if absent:
        return [why_missing(table, absent, None)]
    if not offer.figures:
        return [MeasuredValue("", none="none", disturbed=_mostly_disturbed_rows(table, samples, where))]
    values = []
    for figure in (figure for figure in offer.figures if where.items() <= {**where, **figure.group}.items()):
        rest = {name: level for name, level in figure.group.items() if name not in claim.where}
        label = table.view.short_levels(table.view.varying_levels(rest))
        if figure.unseen:
            values.append(MeasuredValue(label, missing=figure.unseen, unseen=True))
            continue
        missing = "" if figure.estimate.value is not None else "; ".join(figure.estimate.warnings)
        disturbed = _mostly_disturbed_rows(table, samples, {**where, **figure.group})
        estimate = lambda _, e=figure.estimate: e  # noqa: E731
        narrows = figure.narrows
        values.append(MeasuredValue(label, estimate, missing, disturbed=disturbed, narrows=narrows))
    return values or [MeasuredValue("", missing=f"no figure of {table.view.short_levels(claim.where)}")]


def group_values(table: Table, offer: OfferedQuantity, claim: PublishedClaim) -> list[MeasuredValue]:
    """Return the first group of a claim over the second, if all factors of both were varied."""
    factors = table.study.factors
    idle = [name for name, item in factors.items() if item.group in claim.groups and len(item.levels) < 2]
    if idle:
        memory = table.machine.get("memory_bytes")
        if reason := next(filter(None, (excess_memory(factors[name].most_gib, memory) for name in idle)), ""):
            return [MeasuredValue("", missing=reason, lacks=True)]
        return [MeasuredValue("", missing=_left_out(table, idle, "settings"), unplanned=True)]
    estimate = next((item.estimate for item in offer.figures if item.of_groups == (*claim.groups,)), None)
    if estimate is None:
        return [MeasuredValue("", missing=offer.silent or "nothing is known of these groups")]
    return [MeasuredValue("", lambda _: estimate)]


def _single_counts(table: Table, claim: PublishedClaim) -> str:
    """Name the counts of which the quick form plans one level, where a claim is about their levels; else empty."""
    levels = {name: table.study.factors[name].levels for name in table.study.quick.factors if name not in claim.where}
    single = [name for name, each in levels.items() if len(each) == 1 and type(each[0]) is int]
    return _left_out(table, single, "levels") if single else ""


def _left_out(table: Table, names: Sequence[str], what: str) -> str:
    named = join_first([table.view.title(name) for name in names], MAX_IDLE)
    return f"the quick form leaves out {what} of {named}: run the full form"


def _mostly_disturbed_rows(table: Table, samples: SampleMap, levels: Mapping[str, Level]) -> tuple[Row, ...]:
    """Return none for a search: it uses clean runs only."""
    if table.view.is_search:
        return ()
    fitting = [sample for sample in samples.values() if levels.items() <= {**levels, **sample.configuration}.items()]
    return mostly_disturbed(table, table.view.primary, fitting)


def surface_values(table: Table, at_levels: Lookup, claim: PublishedClaim) -> list[MeasuredValue]:
    """Estimate the values of a ratio claim from a fitted surface; its levels need not have been measured."""
    values = []
    for pair in claim_pairs(table, claim, claim_levels(table, claim)):
        speedups = []
        for side in (pair.top, pair.bottom):
            levels = {name: resolve_level(table, name, level) for name, level in side.items()}
            if (speedup := at_levels(levels).get("speedup")) is None or not speedup.value:
                reason = f"nothing is known of {table.view.short_levels(side)}"
                values.append(MeasuredValue(pair.label, missing=reason))
                break
            speedups.append(speedup)
        else:
            top, bottom = speedups
            # A ratio of times is the inverse ratio of speedups. The surface has one confidence, 95%.
            values.append(MeasuredValue(pair.label, lambda _, a=bottom, b=top: divide_estimates(a, b, METHOD)))  # type: ignore[misc]
    return values


def decide_claims(
    table: Table, samples: SampleMap, offered: QuantityLookup, at_levels: Lookup | None = None
) -> list[DecidedClaim]:
    """Decide each claim that the study declares."""
    claims = table.study.published.claims if table.study.published else []
    claim_values = _ClaimValues(table, samples, offered, at_levels, moderation_contrasts(table, samples, claims))
    decided = [decide_claim(table, claim, *claim_values.find(claim)) for claim in claims]
    refuted = {each.id: each for each in decided if each.decision == "does not hold"}
    return [
        _moot(each, refuted[claim.presupposes]) if claim.presupposes in refuted else each
        for claim, each in zip(claims, decided, strict=True)
    ]


def find_undecidable(table: Table, samples: SampleMap) -> dict[str, str]:
    """Return why runs as planned cannot decide a claim, by id; without those that they can decide.

    `table` has no runs: what this machine lacks, what is not comparable, and what this form leaves out.
    """
    claims = table.study.published.claims if table.study.published else []
    plan = _ClaimValues(table, samples, lambda name: OfferedQuantity(name, silent="it has not run"), None, {})
    reasons = dict[str, str]()
    for claim in claims:
        values = [] if table.view.is_search and not claim.quantity else plan.find(claim)[1]
        lacking = [value.missing for value in values if value.lacks or value.unplanned]
        needs = ONE_MACHINE if claim.kind == "machines" else claim_texts.missing_capability(claim, table.machine)
        if reason := claim.unlike or needs or next(iter(lacking), ""):
            reasons[claim.id] = reason
    return reasons


def _moot(claim: DecidedClaim, presupposed: DecidedClaim) -> DecidedClaim:
    """Return a claim that says how something is which is not there."""
    reason = f"it presupposes {presupposed.id}, which does not hold"
    return claim.model_copy(update={"decision": "moot", "why": reason, "reason_kind": None, "reason": ""})


def decide_claim(table: Table, claim: PublishedClaim, words: str, values: Sequence[MeasuredValue]) -> DecidedClaim:
    is_alone = claim.kind == "machines"  # its range is that of the ratio to another machine
    bounds = (None, None) if is_alone or (claim.unlike and not claim.holds) else claim.bounds
    if lacking := claim_texts.missing_capability(claim, table.machine):  # a figure of another machine's claim is none
        values = [MeasuredValue(value.label, missing=lacking, lacks=True) for value in values]
    decided = [_decide_value(table, claim, i, value, bounds, len(values)) for i, value in enumerate(values)]
    decision, reason = _decide_whole(table, claim, values, decided)
    kind, because = next(iter(claim.no.items()), ("unknown", "")) if decision == "does not hold" else (None, "")
    response = table.study.responses.get(table.view.current_response(claim.response))
    return DecidedClaim(
        id=claim.id, sentence=claim.sentence, place=claim.place, quantity=words,
        unit=response.unit if claim.kind in SINGLE and response else "", said=claim.said,
        low=bounds[0], high=bounds[1], figures=decided, decision=decision, why=reason,
        doubt=_claim_doubt([figure for value, figure in zip(values, decided, strict=True) if not value.disturbed]),
        reason_kind=kind, reason=because, like=claim.like,
        runs_needed=claim_texts.runs_needed(table, claim, values, decided) if decision == "inconclusive" else None,
    )  # fmt: skip


@dataclass(frozen=True)
class _ClaimValues:
    table: Table
    samples: SampleMap
    offered: QuantityLookup
    at_levels: Lookup | None
    lending: ModerationContrasts

    def find(self, claim: PublishedClaim) -> tuple[str, Sequence[MeasuredValue]]:
        if claim.stack:
            return claim_texts.describe_profile(claim), [MeasuredValue("", missing=NO_PROFILE)]
        if claim.groups:
            return claim_texts.describe_groups(claim), group_values(self.table, self.offered(CONTRAST), claim)
        if claim.quantity:
            offer = self.offered(claim.quantity)
            return offer.words, select_values(self.table, self.samples, offer, claim)
        if self.at_levels is not None and claim.kind not in SINGLE:
            values = surface_values(self.table, self.at_levels, claim)
        else:
            values = measure_values(self.table, self.samples, claim, self.lending)
        return claim_texts.describe_values(self.table, claim, values), values


def _decide_whole(
    table: Table, claim: PublishedClaim, values: Sequence[MeasuredValue], decided: Sequence[ClaimValue]
) -> tuple[Decision, str]:
    decisions = [value.decision for value in decided]
    if claim.unlike:
        return "not comparable", claim.unlike
    if reason := claim_texts.missing_capability(claim, table.machine):
        return "not testable here", reason
    if not decisions:
        return "not measured", "one level of its factor is planned here: there is nothing to compare"
    if "does not hold" in decisions:
        return "does not hold", ""
    pairs = zip(values, decisions, strict=True)
    missing = [value.missing for value, decision in pairs if decision == "not measured"]
    if missing:
        if hidden := next((value for value in values if value.unseen), None):
            return "not testable here", hidden.missing
        lacking = [value.missing for value in values if value.lacks]  # the last level asks for most CPUs
        if not lacking and (succeeded := table.successful_rows()) and all(map(is_functional, succeeded)):
            lacking = [EMULATED]
        return (
            ("not testable here", lacking[-1]) if lacking else ("not measured", claim_texts.why_not_measured(missing))
        )
    if claim.kind == "machines":
        return "not testable here", ONE_MACHINE
    if "inconclusive" in decisions:
        return "inconclusive", claim_texts.why_inconclusive(table, claim, values, decided)
    if "exceeds" in decisions:
        return "exceeds", ""
    return ("demonstration", claim.built_in) if claim.built_in else ("holds", "")


def _claim_doubt(decided: Sequence[ClaimValue]) -> str:
    n = sum(bool(figure.doubt) for figure in decided)
    if not n:
        return ""
    who = "" if n == len(decided) else f"{n} of {count_noun(len(decided), 'figure')} "
    return f"{who}{'include' if who and n > 1 else 'includes'} disturbed runs"


def _decide_value(
    table: Table, claim: PublishedClaim, index: int, measured: MeasuredValue, bounds: Bounds, n_values: int
) -> ClaimValue:
    published = published_value(claim, index) if claim.kind != "machines" else None
    spread = None if published is None else abs(published) * claim.spread
    confidence = table.view.confidence
    here = measured.estimate(confidence) if measured.estimate else None
    shared = measured.estimate(1 - (1 - confidence) / n_values) if measured.estimate else None
    decision: Decision = "does not hold" if measured.none else decide_interval(here, shared, bounds, claim.exceeds)
    if measured.disturbed and decision != "not measured":
        decision = "inconclusive"
    return ClaimValue(
        label=measured.label, published=published,
        published_low=None if published is None or not spread else published - spread,
        published_high=None if published is None or not spread else published + spread,
        here=here, none=measured.none, doubt=measured.doubt, deciding=shared if n_values > 1 else None,
        decision=decision,
    )  # fmt: skip


def published_value(claim: PublishedClaim, index: int) -> float | None:
    """Return the published number of one of the values of a claim; None without one."""
    printed = claim.published[index : index + 1] if isinstance(claim.published, list) else [claim.published]
    return printed[0] if printed else None


def decide_interval(here: Estimate | None, shared: Estimate | None, bounds: Bounds, exceeds: str) -> Decision:
    """Inside by its own interval, outside by the one that is shared among all values of the claim.

    `exceeds` is the end beyond which a value says more than the paper: "above", "below", or empty for none. An interval
    that crosses this end alone says as much as the paper, or more: the value decides which.
    """
    if here is None or shared is None:
        return "not measured"
    if here.value is None or shared.value is None:
        return "inconclusive" if here.n else "not measured"
    # An open end of the interval is inside an open end of the range.
    low, high = bounds
    is_above = low is None or (here.low is not None and low <= here.low)
    is_below = high is None or (here.high is not None and here.high <= high)
    if is_above and is_below:
        return "holds"
    if exceeds == "above" and is_above and high is not None:
        return "exceeds" if here.value > high else "holds"
    if exceeds == "below" and is_below and low is not None:
        return "exceeds" if here.value < low else "holds"
    low, high = -inf if low is None else low, inf if high is None else high
    is_outside = (shared.low is not None and shared.low > high) or (shared.high is not None and shared.high < low)
    return "does not hold" if is_outside else "inconclusive"
