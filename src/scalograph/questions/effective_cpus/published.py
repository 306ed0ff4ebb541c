"""Values that a search for effective CPUs offers to published claims."""

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
    """Offer the values of each group of the factors that are not searched, by name; none where not known."""
    answers = [(group, _effective(group)) for group in document.groups if group.k_eff is not None]
    shares = [(group, _serial(group)) for group in document.groups if group.serial]
    used = [(group, group.used) for group in document.groups if group.used is not None]
    offers = {"effective_cpus": answers, "serial_share": shares, "cpus_used": used}
    return {name: [OfferedFigure(e, group.group) for group, e in each] for name, each in offers.items() if each}


def _effective(group: EffectiveCpus) -> Estimate:
    value = None if group.k_eff is None else float(group.k_eff)
    if group.between is None:
        ends = (value, value) if group.decided else (None, None)
        return Estimate(value, *ends, CREDIBLE, group.n, SEARCHED)
    low, high = group.between
    return Estimate(value, float(low), float(high), CREDIBLE, group.n, POSTERIOR)


def _serial(group: EffectiveCpus) -> Estimate:
    low, high = group.serial or (None, None)
    value = None if low is None or high is None else (low + high) / 2
    return Estimate(value, low, high, CREDIBLE, group.n, POSTERIOR)
