"""State up to which level a response stays within its limit, or why that is open."""

from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim
from scalograph.questions.within_limit.document import WithinLimit
from scalograph.questions.within_limit.model import SURE
from scalograph.text.cell_numbers import is_resolved
from scalograph.text.format import number
from scalograph.text.quantities import axis_value, count_noun, percent
from scalograph.text.scale import scale_for


def limit_claim(table: Table, result: WithinLimit | None) -> Claim:
    """State what the search has found, an open end too."""
    if result is None:
        return Claim(sentences=["Cannot be said: no run has a figure."], answered=False)
    levels = sorted(int(configuration[result.factor]) for configuration in table.configurations)
    scale = scale_for(table.study.responses[result.response].unit, [result.limit])
    limit = f"{table.view.title(result.response)} within {number(result.limit, scale)} {scale.unit}".rstrip()
    least, most = (table.view.short_levels({result.factor: level}) for level in (levels[0], levels[-1]))
    low, high = (axis_value(x or 0) for x in (result.crossing.low, result.crossing.high))
    runs = count_noun(len(result.runs), "run")
    if result.always >= SURE:
        text = f"With {most}, the most that was tried, {limit} is still met."
    elif result.never >= SURE:
        text = f"With {least}, the least that was tried, {limit} is not met."
    elif not is_resolved(result.crossing) or result.highest is None or not result.decided:
        text = f"Cannot be said: {runs} leave it open whether {limit} is met from {low} to {high}."
    else:
        level = table.view.short_levels({result.factor: result.highest})
        text = f"{limit[:1].upper()}{limit[1:]} is met up to {level} [{low}, {high}] ({runs})."
    answered, sentences = not text.startswith("Cannot"), [text]
    if answered and result.answered is not None:  # it is met only because a run ends
        share = f"There only {percent(result.answered)} of what is sent is answered, and the others wait"
        sentences.append(f"{share}: a longer window finds a lower level.")
    return Claim(sentences=sentences, answered=answered, figure=f"response {result.response}")
