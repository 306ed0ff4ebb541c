"""What became of the claims of published studies: those of their parts, and those that no study decides."""

from collections.abc import Iterator, Mapping
from typing import Any

from scalograph.findings.published.claim_reasons import unseen
from scalograph.protocol.findings import Findings
from scalograph.protocol.reproduction import Outcome, ReproducedClaim, ReproducedStudy, worst
from scalograph.study.catalogue import OpenedCatalogue, PublishedStudy, claims_of, number
from scalograph.study.published_claim import PublishedClaim

# Why a claim of a part that has no findings was not measured.
NOT_RUN = "has not run"


def reproduced_studies(
    catalogue: OpenedCatalogue, found: Mapping[str, Findings], why: Mapping[str, str], machine: Mapping[str, Any]
) -> list[ReproducedStudy]:
    """Gather every claim of the published studies.

    Args:
        catalogue: the published studies, and the studies that decide their claims.
        found: findings of those that were run, by name.
        why: why others were not, by name.
        machine: on which they would have run.
    """
    return [_study(study, catalogue, found, why, machine) for study in catalogue.studies]


def _study(
    study: PublishedStudy,
    catalogue: OpenedCatalogue,
    found: Mapping[str, Findings],
    why: Mapping[str, str],
    machine: Mapping[str, Any],
) -> ReproducedStudy:
    order = list(study.claims)
    claims = [
        _decided(claim, part, found[part]) if part in found else _unmeasured(claim, part, why.get(part), machine)
        for part, declared in catalogue.declared.items()
        for claim in claims_of(declared)
        if number(claim.id) in study.claims
    ]
    claims += _open(study)
    outcomes: dict[str, list[Outcome]] = {name: [] for name in order}
    for claim in claims:
        outcomes[claim.number].append(claim.outcome)
    return ReproducedStudy(
        id=study.id, name=study.name, title=study.title, year=study.year, line=study.line,
        outcomes={name: worst(each) for name, each in outcomes.items()},
        claims=sorted(claims, key=lambda claim: (order.index(claim.number), claim.id)),
    )  # fmt: skip


def _decided(claim: PublishedClaim, part: str, findings: Findings) -> ReproducedClaim:
    """As its study decided it."""
    decided = next((one for one in findings.published_claims if one.id == claim.id), None)
    if decided is None:
        return _unmeasured(claim, part, "did not know this claim: analyze it again", findings.machine)
    return ReproducedClaim(
        id=claim.id, number=number(claim.id), sentence=decided.sentence, place=decided.place,
        outcome=decided.decision, why=decided.why, part=part, decided=decided,
    )  # fmt: skip


def _unmeasured(claim: PublishedClaim, part: str, why: str | None, machine: Mapping[str, Any]) -> ReproducedClaim:
    """Without runs: what the machine lacks is known all the same."""
    lacking = claim.unlike or (unseen(claim, machine) if machine else "")
    outcome: Outcome = "not comparable" if claim.unlike else "cannot be seen here" if lacking else "not measured"
    return ReproducedClaim(
        id=claim.id, number=number(claim.id), sentence=claim.sentence, place=claim.place, outcome=outcome,
        why=lacking or f"study {part} {why or NOT_RUN}", part=part,
    )  # fmt: skip


def _open(study: PublishedStudy) -> Iterator[ReproducedClaim]:
    for claim in study.open:
        yield ReproducedClaim(
            id=claim.id, number=claim.id, sentence=claim.sentence, place=study.claims.get(claim.id, ""),
            outcome=claim.decision, why=claim.why,
        )  # fmt: skip
