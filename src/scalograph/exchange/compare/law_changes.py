"""Which coefficient of the scaling law changed between two results, where the law holds in both."""

from collections.abc import Iterator, Mapping

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.flag import NO_LAW
from scalograph.exchange.compare.measured_source import MeasuredSource
from scalograph.protocol.compared_results import LawChange
from scalograph.protocol.findings import Curve
from scalograph.protocol.plain import Level

COEFFICIENTS = ("sigma", "kappa", "gamma")


def law_changes(reference: MeasuredSource, other: MeasuredSource, names: Mapping[str, object]) -> list[LawChange]:
    """Return the coefficients whose intervals have nothing in common.

    Two intervals of 95 % that do not touch differ by chance in less than one of a hundred cases, so that three of them
    need no correction.

    Args:
        reference: the first result.
        other: what is compared with it.
        names: factors by which treatments are matched; a factor that is fixed to another level in each is none.
    """
    theirs = {_key(curve, names): curve for curve in other.curves}
    return [
        change
        for curve in reference.curves
        if (beside := theirs.get(_key(curve, names)))
        for change in _changes(curve, beside)
    ]


def _key(curve: Curve, names: Mapping[str, object]) -> tuple[str, tuple[tuple[str, Level], ...]]:
    return curve.factor, tuple((name, level) for name, level in sorted(curve.group.items()) if name in names)


def _changes(one: Curve, two: Curve) -> Iterator[LawChange]:
    if one.law is None or two.law is None or any(f.code in NO_LAW for law in (one.law, two.law) for f in law.flags):
        return
    for name in COEFFICIENTS:
        before, after = getattr(one.law, name), getattr(two.law, name)
        if _are_apart(before, after):
            yield LawChange(coefficient=name, group=one.group, reference=before, other=after)


def _are_apart(one: Estimate, two: Estimate) -> bool:
    if one.low is None or one.high is None or two.low is None or two.high is None:
        return False
    return one.high < two.low or two.high < one.low
