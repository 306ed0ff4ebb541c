"""Collect what became of each claim of published studies, also with the results of other machines.

These decide claims about two machines, and what this machine cannot test.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.ratios import divide_estimates
from scalograph.findings.published.claim_texts import missing_capability
from scalograph.findings.published.published_claims import decide_interval, published_value
from scalograph.protocol.findings import Findings, StudyDoc
from scalograph.protocol.plain import is_number
from scalograph.protocol.published_claim import ClaimValue, DecidedClaim, Decision
from scalograph.protocol.reproduction import Outcome, ReproducedClaim, ReproducedStudy, worst_outcome
from scalograph.study.catalogue import OpenedCatalogue, PublishedStudy, claim_number
from scalograph.study.declare import claims_of
from scalograph.study.published_claim import PublishedClaim
from scalograph.text.summaries import short_machine

METHOD = "ratio of two machines, their runs independent"
MOST_CLOCK = 1e12
# Outcomes that the results of another machine may replace.
REPLACED = ("not testable here",)
_DECIDED = ("holds", "exceeds", "does not hold", "moot", "demonstration", "inconclusive")


@dataclass(frozen=True)
class OtherMachine:
    """Results of another machine: its label, such as "16 CPUs, AMD EPYC", and findings by part."""

    label: str
    findings: Mapping[str, Findings]


def recorded_clock(machine: Mapping[str, Any]) -> float | None:
    """Return the clock in MHz: the highest of the CPUs, else the recorded one; None without either."""
    highest = [cpu.get("max_khz") for cpu in machine.get("topology") or () if isinstance(cpu, dict)]
    clocks = [khz / 1e3 for khz in highest if is_number(khz) and 0 < khz < MOST_CLOCK]
    clock = max(clocks) if clocks else machine.get("clock_mhz")
    return float(clock) if is_number(clock) and 0 < clock < MOST_CLOCK else None


def decide_elsewhere(
    claim: PublishedClaim, reproduced: ReproducedClaim, here: Findings | None, others: Sequence[OtherMachine]
) -> ReproducedClaim:
    """Return a claim as the first of the other machines decides it that can; else as it is.

    A claim that this machine tests stays its own. `here`: the findings of its part on this machine.
    """
    if reproduced.outcome not in REPLACED:
        return reproduced
    problem = ""
    for other in others:
        there = other.findings.get(reproduced.part)
        decided = next((each for each in there.published_claims if each.id == claim.id), None) if there else None
        if there is None or decided is None:
            continue
        if claim.kind == "machines":
            problem = _why_unlike(claim, here.study, there.study) if here else "this machine has no results of its part"
            if problem or here is None or reproduced.decided is None:
                continue
            decided = _compare(claim, (reproduced.decided, decided), (here.machine, there.machine), other.label)
        if decided.decision in _DECIDED:
            return reproduced.model_copy(
                update={"outcome": decided.decision, "why": decided.why, "decided": decided, "machine": other.label}
            )
    return reproduced.model_copy(update={"why": f"{reproduced.why}; {problem}"}) if problem else reproduced


def _why_unlike(claim: PublishedClaim, here: StudyDoc, there: StudyDoc) -> str:
    """Return why two studies of one name do not compare: their work, or a level that the claim does not name."""
    if here.hash == there.hash:
        return ""
    named, levels = {*claim.where, claim.along}, {factor.name: factor.levels for factor in there.factors}
    for factor in here.factors:
        if factor.name not in named and factor.levels[:1] != levels.get(factor.name, [])[:1]:
            return f"the other machine ran another {factor.title or factor.name}: run the same form on both"
    return "" if here.work == there.work else "the other machine ran other work"


def _compare(
    claim: PublishedClaim, pair: tuple[DecidedClaim, DecidedClaim], machines: Sequence[Mapping[str, Any]], label: str
) -> DecidedClaim:
    """Decide by the values of the faster machine over those of the other, per clock where both record theirs."""
    here, there = (recorded_clock(machine) if claim.per == "clock" else None for machine in machines)
    first = [next((value.here.value for value in each.figures if value.here), None) or math.inf for each in pair]
    top, bottom = (0, 1) if first[0] <= first[1] else (1, 0)
    factor = (here / there if top == 0 else there / here) if here and there else None
    by_label = {value.label: value for value in pair[bottom].figures}
    values = [
        _compare_value(claim, i, (value, by_label.get(value.label)), factor)
        for i, value in enumerate(pair[top].figures)
    ]
    decisions = [value.decision for value in values]
    order: tuple[Decision, ...] = ("does not hold", "not measured", "inconclusive", "exceeds", "holds")
    decision = next((each for each in order if each in decisions), "not measured")
    names = ("this machine", label) if top == 0 else (label, "this machine")
    missing = "" if claim.per != "clock" or factor else "not every machine records its clock: time alone"
    return pair[0].model_copy(update={
        "quantity": f"{pair[0].quantity}, {names[0]} over {names[1]}{', times the clock' * bool(factor)}",
        "unit": "", "low": claim.bounds[0], "high": claim.bounds[1], "figures": values, "decision": decision,
        "why": missing or ("the interval crosses an end of the range" if decision == "inconclusive" else ""),
    })  # fmt: skip


def _compare_value(
    claim: PublishedClaim, index: int, pair: tuple[ClaimValue, ClaimValue | None], factor: float | None
) -> ClaimValue:
    top, bottom = pair[0].here, pair[1].here if pair[1] else None
    ratio = divide_estimates(top, bottom, METHOD) if top and bottom else Estimate(method=METHOD)
    ratio = ratio.rescale(factor or 1.0)
    decision = decide_interval(ratio, ratio, claim.bounds, claim.exceeds)
    if "inconclusive" in (pair[0].decision, pair[1].decision if pair[1] else ""):
        decision = "inconclusive"  # mostly disturbed runs on either machine
    # What is printed is per clock where the claim is.
    published = published_value(claim, index) if factor is not None or claim.per != "clock" else None
    return ClaimValue(label=pair[0].label, published=published, here=ratio, decision=decision)


_SETTLED = ("holds", "exceeds", "does not hold")
MOST_ALIKE = 16  # claims that contradict one
NOT_RUN = "has not run"  # why a claim of a part without findings was not measured


def collect_reproduced_studies(
    catalogue: OpenedCatalogue, findings: Mapping[str, Findings], reasons: Mapping[str, str],
    machine: Mapping[str, Any], others: Sequence[OtherMachine] = (),
) -> list[ReproducedStudy]:  # fmt: skip
    """Collect the outcome of every claim of the published studies.

    `findings` are by part; `reasons` say why a part was not measured; `others` decide what this machine cannot.
    """
    studies = [_study(study, catalogue, findings, reasons, machine, others) for study in catalogue.studies]
    marked = _mark_contradictions([claim for study in studies for claim in study.claims])
    return [study.model_copy(update={"claims": [marked[claim.id] for claim in study.claims]}) for study in studies]


def _study(
    study: PublishedStudy, catalogue: OpenedCatalogue, findings: Mapping[str, Findings], reasons: Mapping[str, str],
    machine: Mapping[str, Any], others: Sequence[OtherMachine],
) -> ReproducedStudy:  # fmt: skip
    order = list(study.claims)
    claims = [
        decide_elsewhere(
            claim,
            _copy_decision(claim, part, findings[part], machine)
            if part in findings
            else _missing_claim(claim, part, reasons.get(part), machine),
            findings.get(part),
            others,
        )
        for part, declared in catalogue.declared.items()
        for claim in claims_of(declared)
        if claim_number(claim.id) in study.claims
    ]
    claims += [
        ReproducedClaim(
            id=claim.id, number=claim.id, sentence=claim.sentence, place=study.claims.get(claim.id, ""),
            outcome=claim.decision, why=claim.why,
        )
        for claim in study.open
    ]  # fmt: skip
    outcomes: dict[str, list[Outcome]] = {name: [] for name in order}
    for claim in claims:
        outcomes[claim.number].append(claim.outcome)
    return ReproducedStudy(
        id=study.id, name=study.name, title=study.title, year=study.year, line=study.line,
        outcomes={name: worst_outcome(each) for name, each in outcomes.items()},
        claims=sorted(claims, key=lambda claim: (order.index(claim.number), claim.id)),
    )  # fmt: skip


def _mark_contradictions(claims: Sequence[ReproducedClaim]) -> dict[str, ReproducedClaim]:
    """Return each claim with those that should come out as it, whichever of both says so, and came out otherwise."""
    held = {claim.id: claim.outcome in ("holds", "exceeds") for claim in claims if claim.outcome in _SETTLED}
    alike = [(claim.id, other) for claim in claims if claim.decided for other in claim.decided.like]
    differing = [pair for pair in alike if {*pair} <= held.keys() and held[pair[0]] != held[pair[1]]]
    against: dict[str, dict[str, None]] = {claim.id: {} for claim in claims}
    for first, second in differing:
        against[first][second] = against[second][first] = None
    return {each.id: each.model_copy(update={"contradicts": [*against[each.id]][:MOST_ALIKE]}) for each in claims}


def _copy_decision(claim: PublishedClaim, part: str, findings: Findings, machine: Mapping[str, Any]) -> ReproducedClaim:
    """Copy what a part decided; one that was run on another machine, as after a move of the folder, names it."""
    decided = next((each for each in findings.published_claims if each.id == claim.id), None)
    if decided is None:
        return _missing_claim(claim, part, "did not know this claim: analyze it again", findings.machine)
    other = short_machine(findings.machine)
    return ReproducedClaim(
        id=claim.id, number=claim_number(claim.id), sentence=decided.sentence, place=decided.place,
        outcome=decided.decision, why=decided.why, part=part, decided=decided,
        machine=other if machine and other != short_machine(machine) else "",
    )  # fmt: skip


def _missing_claim(claim: PublishedClaim, part: str, reason: str | None, machine: Mapping[str, Any]) -> ReproducedClaim:
    lacking = claim.unlike or (missing_capability(claim, machine) if machine else "")
    outcome: Outcome = "not comparable" if claim.unlike else "not testable here" if lacking else "not measured"
    return ReproducedClaim(
        id=claim.id, number=claim_number(claim.id), sentence=claim.sentence, place=claim.place, outcome=outcome,
        why=lacking or f"study {part} {reason or NOT_RUN}", part=part,
    )  # fmt: skip
