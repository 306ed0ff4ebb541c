"""Outcomes of the claims of published studies, of measured parts and of what no study tests."""

from collections.abc import Mapping
from typing import Any

from scalograph.findings.published.claim_texts import missing_capability
from scalograph.protocol.findings import Findings
from scalograph.protocol.reproduction import Outcome, ReproducedClaim, ReproducedStudy, worst_outcome
from scalograph.study.catalogue import OpenedCatalogue, PublishedStudy, claim_number, claims_of
from scalograph.study.published_claim import PublishedClaim

NOT_RUN = "has not run"  # why a claim of a part without findings was not measured


def collect_reproduced_studies(
    catalogue: OpenedCatalogue, findings: Mapping[str, Findings], reasons: Mapping[str, str], machine: Mapping[str, Any]
) -> list[ReproducedStudy]:
    """Collect the outcome of every claim of the published studies.

    `findings` are by part; `reasons` say why a part was not measured.
    """
    return [_study(study, catalogue, findings, reasons, machine) for study in catalogue.studies]


def _study(
    study: PublishedStudy,
    catalogue: OpenedCatalogue,
    findings: Mapping[str, Findings],
    reasons: Mapping[str, str],
    machine: Mapping[str, Any],
) -> ReproducedStudy:
    order = list(study.claims)
    claims = [
        _copy_decision(claim, part, findings[part])
        if part in findings
        else _missing_claim(claim, part, reasons.get(part), machine)
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


def _copy_decision(claim: PublishedClaim, part: str, findings: Findings) -> ReproducedClaim:
    decided = next((each for each in findings.published_claims if each.id == claim.id), None)
    if decided is None:
        return _missing_claim(claim, part, "did not know this claim: analyze it again", findings.machine)
    return ReproducedClaim(
        id=claim.id, number=claim_number(claim.id), sentence=decided.sentence, place=decided.place,
        outcome=decided.decision, why=decided.why, part=part, decided=decided,
    )  # fmt: skip


def _missing_claim(claim: PublishedClaim, part: str, reason: str | None, machine: Mapping[str, Any]) -> ReproducedClaim:
    lacking = claim.unlike or (missing_capability(claim, machine) if machine else "")
    outcome: Outcome = "not comparable" if claim.unlike else "cannot be seen here" if lacking else "not measured"
    return ReproducedClaim(
        id=claim.id, number=claim_number(claim.id), sentence=claim.sentence, place=claim.place, outcome=outcome,
        why=lacking or f"study {part} {reason or NOT_RUN}", part=part,
    )  # fmt: skip
