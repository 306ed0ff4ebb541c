"""State the least that a program needs: cases and their values."""

from collections.abc import Iterator
from typing import Any

from scalograph.analysis.crossing import SURE
from scalograph.findings.answer import SampleMap
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import AnswerCase
from scalograph.questions.claims import case, failure, limit_texts, missing_response, state, why_unanswerable
from scalograph.questions.size.document import Size, SizeNeed
from scalograph.text.cell_numbers import is_resolved
from scalograph.text.format import DASH, level_text
from scalograph.text.quantities import percent, percent_at_most
from scalograph.text.short_names import join_names

FORMS = {
    "needs": "The least {amount}[[ for {goal}]] is {need:quantity}[[, at {beside}]].",
    "always": "Every tested level of {amount}, down to {least}, gives {kept}[[, at {beside}]].",
    "never": "No tested level of {amount}, up to {most}, gives {kept}[[: runs fail ({why})]].",
    "open": "Inconclusive: after {n} runs, the least {amount}[[ for {goal}]] may be anywhere from {low} to {high}"
    "[[, at {beside}]]. Use longer runs.",
    "together": "Set {levels}: {n} of {n} fresh runs keep the limit, at up to {worst} of it.",
    "short": "Not confirmed: with {levels}, {n_over} of {n} fresh runs do not keep the limit.",
    "failed": "With less {amount}, {n_failed} of {of:runs} failed[[: {reason}]].",
    "slower": "With less {amount}, {response} is up to {worst} the limit.",
    "no answer": "No answer: {reason}.",
}


def size_claim(table: Table, samples: SampleMap, result: Size | None) -> Claim:
    if result is None or not any(sample.succeeded for sample in samples.values()):
        reason = why_unanswerable(table, samples) or missing_response(table, samples, table.view.primary)
        return state(FORMS, [case("no answer", reason=reason)])
    named = [(need, _values(table, result, need)) for need in result.needs]
    first = [case(_outcome(need), **values) for need, values in named]
    further = [*_together_case(table, result)]
    further += [each for need, values in named for each in _less_cases(table, need, values)]
    return state(FORMS, [*first, *further], _matrix(table, result), f"response {result.response}")


def _together_case(table: Table, result: Size) -> Iterator[AnswerCase]:
    """State what fresh runs with more than the least of all amounts show."""
    if (fresh := result.together) is None:
        return
    kept = [over for over in fresh.over if over is not None and over <= 1]
    values = {
        "levels": _levels_text(table, result), "n": len(fresh.over), "n_over": len(fresh.over) - len(kept),
        "worst": percent_at_most(max(kept, default=0.0)),
    }  # fmt: skip
    yield case("together" if fresh.keeps else "short", **values)


def _levels_text(table: Table, result: Size) -> str:
    """Name the levels of the fresh runs: "memory 57.6 MiB (+20%)"."""
    title = table.view.title
    return join_names([f"{title(need.factor)} {_fresh_text(table, result, need)}" for need in result.needs])


def _fresh_text(table: Table, result: Size, need: SizeNeed) -> str:
    """Return the level of the fresh runs, and its headroom; empty without any."""
    if result.together is None:
        return ""
    level, least = result.together.levels[need.factor], need.need.value
    return level_text(level, table.view.unit(need.factor)) + (f" (+{percent(level / least - 1)})" if least else "")


def _outcome(need: SizeNeed) -> str:
    if max(need.always, need.never) >= SURE:
        return "always" if need.always >= SURE else "never"
    return "needs" if need.decided and is_resolved(need.need) else "open"


def _values(table: Table, result: Size, need: SizeNeed) -> dict[str, Any]:
    view, unit = table.view, table.view.unit(need.factor)
    levels = [float(level) for level in table.study.factors[need.factor].levels]
    beside = [f"{view.title(name)} {level_text(x, view.unit(name))}" for name, x in need.beside.items()]
    kept = join_names(limit_texts(table, "{response} within {limit}"))
    ends = {end: getattr(need.need, end) for end in ("low", "high")}
    return {
        "kept": kept, "goal": kept if need is result.needs[0] else "", "response": view.title(result.response),
        "amount": view.title(need.factor), "need": (need.need, unit), "n": len(need.runs), "beside": ", ".join(beside),
        "least": level_text(min(levels), unit), "most": level_text(max(levels), unit),
        "why": failure(table, {need.factor: max(run.level for run in need.runs)}) if need.runs else "",
        **{end: None if x is None else f"{x:.3g} {unit}".rstrip() for end, x in ends.items()},
    }  # fmt: skip


def _less_cases(table: Table, need: SizeNeed, values: dict[str, Any]) -> Iterator[AnswerCase]:
    """State what happens with less: runs fail, or take longer."""
    n_failed, worst = _failures(need), _worst(need)
    if _outcome(need) != "needs":
        return
    if n_failed:
        level = next(run.level for run in need.runs_below if run.over is None)
        reason = failure(table, {need.factor: level}).partition(" at its limit")[0]
        yield case("failed", n_failed=n_failed, of=len(need.runs_below), reason=reason, **values)
    if worst:
        yield case("slower", worst=worst, **values)


def _failures(need: SizeNeed) -> int:
    return sum(run.over is None for run in need.runs_below)


def _worst(need: SizeNeed) -> str:
    """Return the most over the limit of the runs below the interval; empty where none was over it."""
    worst = max((run.over for run in need.runs_below if run.over is not None), default=0.0)
    return f"{worst:.3g}\N{MULTIPLICATION SIGN}" if worst > 1 else ""


def _matrix(table: Table, result: Size) -> Matrix:
    """Tabulate the least of each amount, what happens with less, and what was tested."""
    rows = []
    for need in result.needs:
        values = _values(table, result, need)
        shown = {"always": f"at most {values['least']}", "never": f"more than {values['most']}"}
        text = shown.get(_outcome(need), "" if need.decided else f"{values['low']} to {values['high']}")
        failed = f"{_failures(need)} of {len(need.runs_below)} failed" if _failures(need) else ""
        less = "; ".join(filter(None, [failed, f"up to {_worst(need)} the limit" if _worst(need) else ""]))
        cells = [
            MatrixCell(text=text) if text else MatrixCell(estimate=need.need), MatrixCell(text=less or DASH),
            MatrixCell(text=f"{values['least']} to {values['most']}"), MatrixCell(text=str(len(need.runs))),
            *([MatrixCell(text=_fresh_text(table, result, need))] if result.together else []),
        ]  # fmt: skip
        rows.append(MatrixRow(label=f"{values['amount']} ({table.view.unit(need.factor)})", cells=cells))
    limits = join_names(limit_texts(table, "{limit}"))
    columns = [f"least for {limits}", "with less", "tested", "runs"]
    if result.together:
        columns.append("confirmed" if result.together.keeps else "not confirmed")
    return Matrix(title="least amounts", unit="", columns=columns, rows=rows)
