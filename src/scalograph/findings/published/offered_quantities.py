"""What the question of a study offers to its claims: figures under a name, and those of groups of factors."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from scalograph.findings.answer import Taken
from scalograph.findings.names import short, title, varying
from scalograph.findings.published.measured_values import FigureHere, mostly_disturbed, spell, why_missing
from scalograph.findings.row import Row
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.plain import Level
from scalograph.protocol.published_claim import OfferedFigure
from scalograph.questions.registry import is_search
from scalograph.study.published_claim import PublishedClaim
from scalograph.text.short_names import few

# Factors that a reason names; of more, how many there are.
MOST_IDLE = 3


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


Offered = Callable[[str], OfferHere]


def offered_figures(table: Table, taken: Taken, offer: OfferHere, claim: PublishedClaim) -> list[FigureHere]:
    """Take the figures of a question that have the levels of a claim.

    Args:
        table: the runs.
        taken: the sample of each treatment.
        offer: what the question says under the claim's name.
        claim: of kind `location` or `count`.
    """
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


def group_figures(table: Table, offer: OfferHere, claim: PublishedClaim) -> list[FigureHere]:
    """Take the first group of a claim over the second, if all factors of both were varied.

    Args:
        table: the runs.
        offer: what the question says of groups.
        claim: of kind `contrast`.
    """
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
