"""Claims of a paper about where threads are: decided by the samples of a profile."""

from collections.abc import Sequence

from scalograph.analysis.proportion import proportion
from scalograph.findings.claim_figures import FigureHere
from scalograph.findings.claim_words import profile_words
from scalograph.findings.names import short
from scalograph.findings.published_claims import decided_by
from scalograph.findings.table import Table
from scalograph.profile.values import Profile, RecordedTasks
from scalograph.protocol.published_claim import DecidedClaim
from scalograph.study.published_claim import PublishedClaim


def with_profile(decided: Sequence[DecidedClaim], table: Table, profile: Profile) -> list[DecidedClaim]:
    """Decide the claims that ask for a profile; the others stay as they are.

    Args:
        decided: all claims of the study.
        table: its runs.
        profile: of some of its treatments.
    """
    published = table.study.published
    asking = {claim.id: claim for claim in (published.claims if published else ()) if claim.stack}
    return [_decided(table, asking[one.id], profile) if one.id in asking else one for one in decided]


def _decided(table: Table, claim: PublishedClaim, profile: Profile) -> DecidedClaim:
    fitting = (one for one in profile.profiled if claim.where.items() <= one.treatment.items())
    one = next(fitting, None)
    if one is None:
        figure = FigureHere("", missing=f"the profile has no {short(table, claim.where)}")
    elif one.seen is None:
        figure = FigureHere("", missing=f"not profiled: {one.reason}")
    else:
        figure = _share(one.seen, claim.stack)
    return decided_by(table, claim, profile_words(claim), [figure])


def _share(seen: RecordedTasks, stack: Sequence[str]) -> FigureHere:
    """Samples of one run are taken as independent: they are apart by a period in which a thread does much."""
    if not seen.n_samples:
        return FigureHere("", missing="the profile has no samples")
    n_having = sum(one.n for one in seen.stacks if list(one.frames[: len(stack)]) == list(stack))
    n_rest = max(0, seen.n_samples - sum(one.n for one in seen.stacks))
    return FigureHere("", lambda confidence: proportion(n_having, n_having + n_rest, seen.n_samples, confidence))
