"""What a study of throughput says first: how much is carried, whether more load adds anything, and what ends it."""

from collections.abc import Iterator, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import Taken
from scalograph.findings.names import short, title, varying
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.claim import Claim
from scalograph.questions.claims import fitting, unsaid, untold
from scalograph.questions.throughput.claim_end import left_over
from scalograph.questions.throughput.claim_matrix import rate_matrix
from scalograph.questions.throughput.claim_more import more_load
from scalograph.questions.throughput.document import LoadedGroup, LoadPoint
from scalograph.text.load_words import at_most_share, rate_unit
from scalograph.text.scale import scale_for
from scalograph.text.spoken import is_resolved, spoken


def throughput_claim(table: Table, taken: Taken, groups: Sequence[LoadedGroup]) -> Claim:
    """Say it of the setting that carries the most, or why it cannot be said.

    Args:
        table: the study.
        taken: the runs of each configuration.
        groups: those of the highest rates first.
    """
    figure = f"response {primary(table)}"
    why = unsaid(table, taken) or ("" if groups else untold(table, taken, primary(table)))
    if why:
        return Claim(sentences=[f"Cannot be said: {why}."], answered=False, figure=figure)
    one = groups[0]
    point = one.point(one.at)
    assert point is not None
    if point.driver_limits in ("late", "CPU"):
        sentences = [_driver_first(table, one, point)]
    elif not is_resolved(point.rate):
        sentences = ["Cannot be said: the rates of runs differ too much, or there is one run only."]
    else:
        sentences = fitting(_sentences(table, groups, one, point))
    answered = not sentences[0].startswith("Cannot")
    return Claim(
        sentences=sentences,
        answered=answered,
        matrix=rate_matrix(table, taken, groups),
        figure=figure,
    )


def _sentences(table: Table, groups: Sequence[LoadedGroup], one: LoadedGroup, point: LoadPoint) -> Iterator[str]:
    yield f"The service carries {_rate(table, point.rate)} with {_setting(table, one)}{more_load(table, groups)}."
    yield from _times(one, point)
    if rest := left_over(one):
        yield f"Ruled out: {rest}."


def _driver_first(table: Table, one: LoadedGroup, point: LoadPoint) -> str:
    late = f"it starts {at_most_share(point.late or 0.0)} of the requests late"
    how = late if point.driver_limits == "late" else "its CPU is used up"
    at = f"at {_rate(table, point.rate)} with {_setting(table, one)}"
    return f"Cannot be said how much the service carries: the driver gives out first, {at} ({how})."


def _rate(table: Table, rate: Estimate) -> str:
    response = primary(table)
    scale = scale_for(rate_unit(title(table, response), table.study.responses[response].unit), [rate.value])
    shown = spoken(rate, scale, ends=False)
    interval = spoken(rate, scale).removeprefix(shown).strip()
    return " ".join(filter(None, (shown, scale.unit, interval)))


def _setting(table: Table, one: LoadedGroup) -> str:
    level = {one.factor: one.at} if one.at is not None else {}
    return short(table, {**level, **varying(table, one.group)})


def _times(one: LoadedGroup, point: LoadPoint) -> Iterator[str]:
    """Response times at that load, and where queues begin."""
    said, values = [], [point.quantiles[name] for name in ("p50", "p99") if name in point.quantiles]
    scale = scale_for("s", [e.value for e in values])
    if len(values) == len([e for e in values if is_resolved(e)]) == 2:
        half, last = (spoken(e, scale, ends=False) for e in values)
        said.append(f"there the median request takes {half} {scale.unit}, 99 % at most {last} {scale.unit}")
    if one.knee is not None and is_resolved(one.knee):
        said.append(f"requests queue from {spoken(one.knee)} clients on")
    if said:
        text = "; ".join(said)
        yield f"{text[:1].upper()}{text[1:]}."
