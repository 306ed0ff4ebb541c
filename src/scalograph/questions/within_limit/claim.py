"""State up to which level a response stays within its limit: cases and their values."""

from typing import Any

from scalograph.analysis.crossing import SURE
from scalograph.findings.answer import SampleMap
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.questions.claims import case, limit_texts, missing_response, state, why_unanswerable
from scalograph.questions.within_limit.document import WithinLimit
from scalograph.text.cell_numbers import is_resolved
from scalograph.text.format import level_text, number
from scalograph.text.scale import scale_for
from scalograph.text.short_names import COUNTS, is_counted, join_names

FORMS = {
    "met": "{limits} met up to [[{factor} ]]{crossing:quantity}.",
    "always": "{limits} met at all tested levels, up to [[{factor} ]]{most} {unit}.",
    "never": "{limits} not met at [[{factor} ]]{least} {unit}, the lowest tested level.",
    "open": "Inconclusive: after {n} runs, the {limit} limit of {response} may be reached at"
    " [[{factor} ]]{low} to {high} {unit}. Use longer runs.",
    "queue": "At that level {answered:percent} of requests are answered; a longer window would find a lower level.",
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
    shown = _matrix(result, names[0], values)
    return state(FORMS, [case(name, **values) for name in names], shown, f"response {result.response}")


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
    """Tabulate where the limit is reached, and the levels that were tested."""
    texts = {
        "tested": f"{level_text(values['least'])} to {level_text(values['most'])}", "runs": str(values["n"]),
        "answered": "" if result.answered is None or case == "open" else f"{100 * result.answered:.0f}%",
    }  # fmt: skip
    shown = {"always": "not reached", "never": "below all"}
    range_text = f"{values['low']:,} to {values['high']:,}" if case == "open" else shown.get(case, "")
    reached = MatrixCell(estimate=None if case in shown else result.crossing, text=range_text)
    cells = {"limit reached at": reached, **{name: MatrixCell(text=text) for name, text in texts.items() if text}}
    label = f"{values['response']} within {values['limit']}"
    title = f"level at the limit: {values['factor']}" if values["factor"] else "level at the limit"
    row = MatrixRow(label=label, cells=[*cells.values()])
    return Matrix(title=title, unit=values["unit"], columns=[*cells], rows=[row])
