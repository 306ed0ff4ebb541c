"""What a search for effective CPUs offers to the claims of a paper."""

from collections.abc import Mapping, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.published_claim import OfferedFigure
from scalograph.questions.effective_cpus.document import CREDIBLE, EffectiveCpus, EffectiveGroups

QUANTITIES = {
    "effective_cpus": "CPUs, or workers at once, beyond which all further ones gain less than 2 %",
    "cpus_used": "CPU seconds over wall seconds, at the highest level",
    "serial_share": "serial share of the work",
}
SEARCHED = "found level by level, without a model"
POSTERIOR = "posterior over programs, central credible range"


def quantities(document: EffectiveGroups) -> Mapping[str, Sequence[OfferedFigure]]:
    """Offer the figures of each setting of the factors that are not searched.

    Args:
        document: what the search came to.

    Returns:
        By name; none of a setting where it is not known.
    """
    told = [(one, _effective(one)) for one in document.groups if one.k_eff is not None]
    shares = [(one, _serial(one)) for one in document.groups if one.serial]
    used = [(one, one.used) for one in document.groups if one.used is not None]
    found = {"effective_cpus": told, "serial_share": shares, "cpus_used": used}
    return {name: [OfferedFigure(e, one.group) for one, e in each] for name, each in found.items() if each}


def _effective(one: EffectiveCpus) -> Estimate:
    value = None if one.k_eff is None else float(one.k_eff)
    if one.between is None:
        ends = (value, value) if one.decided else (None, None)
        return Estimate(value, *ends, CREDIBLE, one.n, SEARCHED)
    low, high = one.between
    return Estimate(value, float(low), float(high), CREDIBLE, one.n, POSTERIOR)


def _serial(one: EffectiveCpus) -> Estimate:
    low, high = one.serial or (None, None)
    value = None if low is None or high is None else (low + high) / 2
    return Estimate(value, low, high, CREDIBLE, one.n, POSTERIOR)
