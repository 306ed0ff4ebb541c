"""Values that a search for effective CPUs offers to published claims."""

from collections.abc import Mapping, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.published_claim import OfferedValue
from scalograph.questions.effective_cpus.document import CREDIBLE, EffectiveCpus, EffectiveGroups

QUANTITIES = {
    "effective_cpus": "CPUs, or workers at once, beyond which all further ones gain less than 2%",
    "cpus_used": "CPU seconds over wall seconds, at the highest level",
    "serial_share": "serial share of the work",
}
POSTERIOR = "posterior over programs, central credible range"


def quantities(document: EffectiveGroups) -> Mapping[str, Sequence[OfferedValue]]:
    """Offer the values of each group of the factors that are not searched, by name; none where not known."""
    answers = [(group, _effective(group, float(group.k_eff))) for group in document.groups if group.k_eff is not None]
    shares = [(group, _serial(group, *group.serial)) for group in document.groups if group.serial]
    used = [(group, group.used) for group in document.groups if group.used is not None]
    offers = {"effective_cpus": answers, "serial_share": shares, "cpus_used": used}
    return {name: [OfferedValue(e, group.group) for group, e in each] for name, each in offers.items() if each}


def _effective(group: EffectiveCpus, value: float) -> Estimate:
    if group.credible_range is None:
        end = value if group.decided else None
        return Estimate(value, end, end, CREDIBLE, group.n, "found level by level, without a model")
    low, high = group.credible_range
    return Estimate(value, float(low), float(high), CREDIBLE, group.n, POSTERIOR)


def _serial(group: EffectiveCpus, low: float, high: float) -> Estimate:
    return Estimate((low + high) / 2, low, high, CREDIBLE, group.n, POSTERIOR)
