"""The claim: up to which level a response stays within its limit, or why that cannot be said."""

from scalograph.findings.names import short, title
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim
from scalograph.questions.within_limit.document import WithinLimit
from scalograph.questions.within_limit.model import SURE
from scalograph.text.cell_numbers import is_resolved
from scalograph.text.format import number
from scalograph.text.quantities import counted, percent, place
from scalograph.text.scale import scale_for


def limit_claim(table: Table, found: WithinLimit | None) -> Claim:
    """Say what the search has found, an open end too."""
    if found is None:
        return Claim(sentences=["Cannot be said: no run has a figure."], answered=False)
    levels = sorted(int(treatment[found.factor]) for treatment in table.treatments)
    name, figure = title(table, found.response), f"response {found.response}"
    limit = f"{name} within {_limit(table, found)}"
    runs = counted(len(found.runs), "run")
    if found.always >= SURE:
        text = f"With {short(table, {found.factor: levels[-1]})}, the most that was tried, {limit} is still met."
    elif found.never >= SURE:
        text = f"With {short(table, {found.factor: levels[0]})}, the least that was tried, {limit} is not met."
    elif not is_resolved(found.crossing) or found.highest is None or not found.decided:
        low, high = (place(x or 0) for x in (found.crossing.low, found.crossing.high))
        text = f"Cannot be said: {runs} leave it open whether {limit} is met from {low} to {high}."
    else:
        low, high = (place(x or 0) for x in (found.crossing.low, found.crossing.high))
        text = f"{limit[:1].upper()}{limit[1:]} is met up to {short(table, {found.factor: found.highest})}"
        text += f" [{low}, {high}] ({runs})."
    answered = not text.startswith("Cannot")
    sentences = [text, *(_growing(found) if answered else [])]
    return Claim(sentences=sentences, answered=answered, figure=figure)


def _limit(table: Table, found: WithinLimit) -> str:
    scale = scale_for(table.study.responses[found.response].unit, [found.limit])
    return f"{number(found.limit, scale)} {scale.unit}".rstrip()


def _growing(found: WithinLimit) -> list[str]:
    """Warn where the limit is met only because a run ends."""
    if found.answered is None:
        return []
    said = f"There only {percent(found.answered)} of what is sent is answered, and the others wait"
    return [f"{said}: a longer window finds a lower level."]
