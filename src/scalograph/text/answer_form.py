"""Sentences of answers: a form for each case, filled with its values. No form agrees verbs or makes plurals.

In a form `{name}` is a value and `{name:kind}` a value of a kind of `KINDS`. What stands in `[[...]]` is left out where
one of its values is missing. A question decides the case and the values; tests look at these, not at the words.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from string import Formatter
from typing import Any

from scalograph.analysis.estimate import Estimate, interval_decimals
from scalograph.text.cell_numbers import EXACT, is_resolved, round_to_step
from scalograph.text.format import number, significant
from scalograph.text.quantities import percent_at_most
from scalograph.text.short_names import join_names

_OPTIONAL = re.compile(r"\[\[(.*?)\]\]")


def fill(form: str, values: Mapping[str, Any]) -> str:
    """Fill a form with values.

    >>> fill("Speedup reaches {gain:times}[[ on {cpus}]].", {"gain": Estimate(1.94, 1.81, 2.07, 0.95)})
    'Speedup reaches 1.94× (95% CI 1.81–2.07).'
    >>> fill("Lower with {others:each}.", {"others": [("lock cas", [Estimate(0.38, 0.35, 0.41)]), ("lock none", [])]})
    'Lower with lock cas (0.38× [0.35–0.41]); lock none.'
    """
    kept = _OPTIONAL.sub(lambda part: _part(part[1], values), form).lstrip("; ")
    text = _FORMATTER.vformat(kept, (), values)
    return text[:1].upper() + text[1:]


def _part(text: str, values: Mapping[str, Any]) -> str:
    names = [name for _, name, _, _ in _FORMATTER.parse(text) if name]
    return text if all(values.get(name) not in (None, "", [], ()) for name in names) else ""


class _ByKind(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        return KINDS[format_spec](value)


def _plain(value: Any) -> str:
    return f"{value:,}" if type(value) is int else str(value)


def factor_text(e: Estimate) -> str:
    """Format a factor as its cell of the matrix does, without the interval.

    >>> factor_text(Estimate(1.9434, 1.81, 2.07)), factor_text(Estimate(3.0))
    ('1.94×', '3×')
    """
    value = float(e.value or 0.0)
    if e.low is None or e.high is None or e.high - e.low <= EXACT * value:
        return f"{number(round(value)) if value == round(value) else significant(value)}\N{MULTIPLICATION SIGN}"
    return f"{round_to_step(value, interval_decimals(e.low, e.high), False)}\N{MULTIPLICATION SIGN}"


def interval_text(e: Estimate) -> str:
    """Format the ends of an interval with the digits of its value; empty without one.

    >>> interval_text(Estimate(1.9434, 1.81, 2.07))
    '1.81–2.07'
    """
    if e.low is None or e.high is None or e.high - e.low <= EXACT * abs(e.value or 0.0):
        return ""
    digits = interval_decimals(e.low, e.high)
    return "\N{EN DASH}".join(round_to_step(x, digits, False) for x in (e.low, e.high))


def _times(cells: Estimate | Sequence[Estimate]) -> str:
    """Format one factor with its interval; the least and the largest of several."""
    every = [cells] if isinstance(cells, Estimate) else [*cells]
    if len(every) == 1:
        (e,) = every
        within = interval_text(e)
        return factor_text(e) + (f" ({100 * e.confidence:g}% CI {within})" if within else "")
    ordered = sorted(every, key=lambda e: e.value or 0.0)
    return " to ".join(dict.fromkeys(factor_text(e) for e in (ordered[0], ordered[-1])))


def _each(named: Sequence[tuple[str, Sequence[Estimate]]]) -> str:
    return "; ".join(f"{name}{_aside([e for e in cells if is_resolved(e)])}" for name, cells in named)


def _aside(cells: Sequence[Estimate]) -> str:
    if len(cells) == 1:
        within = interval_text(cells[0])
        return f" ({factor_text(cells[0])}{f' [{within}]' if within else ''})"
    return f" ({_times(cells)})" if cells else ""


KINDS: Mapping[str, Callable[[Any], str]] = {
    "": _plain,
    "times": _times,
    "each": _each,
    "names": join_names,
    "list": "; ".join,
    "percent": lambda share: f"{100 * share:.0f}%",
    "at_most": lambda share: percent_at_most(share).replace(" ", ""),
}
_FORMATTER = _ByKind()
