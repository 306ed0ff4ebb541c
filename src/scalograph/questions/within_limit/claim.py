"""State up to which level a response stays within its limit: cases and their values."""

from collections.abc import Sequence
from typing import Any

from scalograph.analysis.crossing import SURE
from scalograph.findings.answer import SampleMap
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.questions import saturation
from scalograph.questions.claims import case, limit_texts, missing_response, state, why_unanswerable
from scalograph.questions.saturation import PartUse, bottleneck_case, part_name, part_use
from scalograph.questions.within_limit.document import LoadBeyond, WithinLimit
from scalograph.text.cell_numbers import is_resolved
from scalograph.text.format import level_text, number, significant
from scalograph.text.scale import scale_for
from scalograph.text.short_names import COUNTS, is_counted, join_names

FORMS = {
    "met": "{limits} met up to [[{factor} ]]{crossing:quantity}.",
    "always": "{limits} met at all tested levels, up to [[{factor} ]]{most} {unit}.",
    "never": "{limits} not met at [[{factor} ]]{least} {unit}, the lowest tested level.",
    "open": "Inconclusive: after {n} runs, the {limit} limit of {response} may be reached at"
    " [[{factor} ]]{low} to {high} {unit}. Use longer runs.",
    "queue": "At that level {answered:percent} of requests are answered; a longer window would find a lower level.",
    **saturation.FORMS,
    "no answer": "No answer: {reason}.",
}


def limit_claim(table: Table, samples: SampleMap, result: WithinLimit | None) -> Claim:
    if result is None:
        reason = why_unanswerable(table, samples) or missing_response(table, samples, table.view.primary)
        return state(FORMS, [case("no answer", reason=reason)])
    levels = sorted(int(configuration[result.factor]) for configuration in table.configurations)
    scale = scale_for(table.study.responses[result.response].unit, [result.limit])
    title, unit = table.view.title(result.factor), table.view.unit(result.factor)
    is_noun = unit in COUNTS and is_counted(title)
    unit = f"{title}{unit[1:]}" if is_noun else unit
    low, high = (None if end is None else round(end) for end in (result.crossing.low, result.crossing.high))
    values: dict[str, Any] = {
        "limit": f"{number(result.limit, scale)} {scale.unit}".rstrip(), "response": table.view.title(result.response),
        "factor": "" if is_noun else title, "unit": unit, "crossing": (result.crossing, unit), "low": low,
        "high": high, "least": levels[0], "most": levels[-1], "n": len(result.runs), "answered": result.answered,
    }  # fmt: skip
    values["limits"] = _limits(table, result, values)
    names = [_case(result)]
    names += ["queue"] if result.answered is not None and names != ["open"] else []
    shown, cases = _matrix(result, names[0], values), [case(name, **values) for name in names]
    # A load that saturates nothing yet shows no bottleneck.
    if result.beyond is not None and names[0] == "met" and result.beyond.ends != "clients":
        cases += bottleneck_case(result.beyond, [_use_text(result.beyond, x, values) for x in result.beyond.ended_by])
    return state(FORMS, cases, shown, f"response {result.response}")


def _use_text(beyond: LoadBeyond, part: PartUse, values: dict[str, Any]) -> str:
    """State how full a part is at the limit, and beyond it: "0.81 of 1 used; 1.00 of 1 used at 900 requests/s"."""
    full = part_use(part)
    uses = [part_use(part.find_alike(beyond.within)), f"{full} at {_level_beyond(beyond, values)}" if full else ""]
    return "; ".join(filter(None, uses))


def _limits(table: Table, result: WithinLimit, values: dict[str, Any]) -> str:
    """Name all limits, with the verb that a sentence goes on from."""
    if not result.others:
        return f"The {values['limit']} limit of {values['response']} is"
    return f"The limits of {join_names(limit_texts(table, '{response} ({limit})'))} are"


def _case(result: WithinLimit) -> str:
    if max(result.always, result.never) >= SURE:
        return "always" if result.always >= SURE else "never"
    return "met" if result.decided and result.highest is not None and is_resolved(result.crossing) else "open"


def _matrix(result: WithinLimit, case: str, values: dict[str, Any]) -> Matrix:
    """Tabulate where the limit is reached, the levels that were tested, and the load there and beyond."""
    texts = {
        "tested": f"{level_text(values['least'])} to {level_text(values['most'])}", "runs": str(values["n"]),
        "answered": "" if result.answered is None or case == "open" else f"{100 * result.answered:.0f}%",
        **_load_texts(result), **_part_texts(result.beyond, result.beyond.within if result.beyond else ()),
    }  # fmt: skip
    shown = {"always": "not reached", "never": "below all"}
    range_text = f"{values['low']:,} to {values['high']:,}" if case == "open" else shown.get(case, "")
    reached = MatrixCell(estimate=None if case in shown else result.crossing, text=range_text)
    beyond = {}
    if result.beyond is not None:
        beyond = {**_load_texts(result.beyond), **_part_texts(result.beyond, result.beyond.ended_by)}
    names = [name for name in {**texts, **beyond} if texts.get(name) or beyond.get(name)]
    cells = [reached, *(MatrixCell(text=texts.get(name, "")) for name in names)]
    rows = [MatrixRow(label=f"{values['response']} within {values['limit']}", cells=cells)]
    if result.beyond is not None:
        cells = [MatrixCell(), *(MatrixCell(text=beyond.get(name, "")) for name in names)]
        rows.append(MatrixRow(label=f"at {_level_beyond(result.beyond, values)}", cells=cells))
    title = f"level at the limit: {values['factor']}" if values["factor"] else "level at the limit"
    return Matrix(title=title, unit=values["unit"], columns=["limit reached at", *names], rows=rows)


def _load_texts(load: WithinLimit | LoadBeyond) -> dict[str, str]:
    rates = {"throughput": load.throughput, "goodput": load.goodput}
    return {name: f"{significant(rate)}/s" for name, rate in rates.items() if rate is not None}


def _part_texts(beyond: LoadBeyond | None, parts: Sequence[PartUse]) -> dict[str, str]:
    """Return how full each part is that is saturated beyond the limit, by its name, at one of the two loads."""
    ended = beyond.ended_by if beyond else ()
    texts = {part_name(beyond, part): part_use(part.find_alike(parts)) for part in ended if beyond}
    return {name: text for name, text in texts.items() if text}


def _level_beyond(beyond: LoadBeyond, values: dict[str, Any]) -> str:
    return f"{values['factor']} {beyond.level:,} {values['unit']}".strip()
