"""Sentences of answers: a form for each case, filled with its values. No form agrees verbs or makes plurals.

In a form `{name}` is a value and `{name:kind}` a value of a kind of `KINDS`; `{name!s}` stays as it was typed where the
sentence begins with it. What stands in `[[...]]` is left out where one of its values is missing; the first of those
behind a colon, `is` or `are` loses its semicolon. A question decides the case and the values; tests look at these, not
at the words.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from string import Formatter
from typing import Any, NamedTuple

from scalograph.analysis.estimate import Estimate, decimals_of, interval_decimals
from scalograph.text.cell_numbers import EXACT, is_resolved, round_to_step
from scalograph.text.format import number, significant
from scalograph.text.quantities import count_noun, percent_at_most, probability, two_digits
from scalograph.text.scale import PLAIN, Scale, scale_for
from scalograph.text.short_names import join_names

_AS_TYPED = re.compile(r"\{\w+!s")
_OPTIONAL = re.compile(r"\[\[(.*?)\]\]")
_FIRST = re.compile(r"(:| is| are); ")


def fill(form: str, values: Mapping[str, Any]) -> str:
    """Fill a form with values.

    >>> fill("Speedup reaches {gain:times}[[ on {cpus}]].", {"gain": Estimate(1.94, 1.81, 2.07, 0.95)})
    'Speedup reaches 1.94× (95% CI 1.81–2.07).'
    >>> fill("Lower with {others:each}.", {"others": [("lock cas", [Estimate(0.38, 0.35, 0.41)]), ("lock none", [])]})
    'Lower with lock cas (0.38× [0.35–0.41]); lock none.'
    >>> from scalograph.text.scale import Scale
    >>> ms = Scale(1000.0, "ms")
    >>> wall = {"cells": [Estimate(2.23, 2.01, 2.48)], "wall": [Quantity(Estimate(x), ms) for x in (0.107, 0.048)]}
    >>> fill("O0 takes {cells:factor} as long as O2{cells:interval}[[, {wall:value}]].", wall)
    'O0 takes 2.23× as long as O2 (95% CI 2.01–2.48), 107 vs. 48 ms.'
    >>> fill("A run takes {wall:measured}.", {"wall": Quantity(Estimate(1.0012, 1.0007, 1.0017), Scale(1.0, "s"))})
    'A run takes 1.0012 s (95% CI 1.0007–1.0017).'
    >>> where = {"from": (Estimate(33760, 25540, 44540), "{} elements"), "to": (Estimate(480, 288, 853), "size {}")}
    >>> fill("It wins from {from:range}; up to {to:place}.", where)
    'It wins from 34,000 elements (95% CI 26,000–45,000); up to somewhere between size 290 and 850.'
    >>> fill("It is[[; lower with {low:each}]][[; near {near}]].", {"low": [("cas", [Estimate(0.38, 0.35, 0.41)])]})
    'It is lower with cas (0.38× [0.35–0.41]).'
    """
    kept = _FIRST.sub(r"\1 ", _OPTIONAL.sub(lambda part: _part(part[1], values), form).lstrip("; "))
    text = _FORMATTER.vformat(kept, (), values)
    return text if _AS_TYPED.match(kept) else text[:1].upper() + text[1:]


def _part(text: str, values: Mapping[str, Any]) -> str:
    names = [name for _, name, _, _ in _FORMATTER.parse(text) if name]
    return text if all(values.get(name) not in (None, "", [], ()) for name in names) else ""


class Quantity(NamedTuple):
    """A value in the scale of its matrix."""

    estimate: Estimate
    scale: Scale


class _ByKind(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        return KINDS[format_spec](value)


def _plain(value: Any) -> str:
    return f"{value:,}" if type(value) is int else str(value)


def value_text(e: Estimate, scale: Scale = PLAIN) -> str:
    """Format a value as its cell of the matrix does, without interval and unit.

    >>> value_text(Estimate(1.9434, 1.81, 2.07)), value_text(Estimate(3.0)), value_text(Estimate(30461, 28329, 32593))
    ('1.94', '3', '30,500')
    """
    value = float((e.value or 0.0) * scale.factor)
    if e.low is None or e.high is None or e.high - e.low <= EXACT * abs(e.value or 0.0):
        return number(round(value)) if math.isclose(value, round(value)) else significant(value)
    return round_to_step(value, interval_decimals(e.low * scale.factor, e.high * scale.factor), False)


def factor_text(e: Estimate) -> str:
    """Format a factor as its cell of the matrix does, without the interval.

    >>> factor_text(Estimate(1.9434, 1.81, 2.07))
    '1.94×'
    """
    return f"{value_text(e)}\N{MULTIPLICATION SIGN}"


def interval_text(e: Estimate, scale: Scale = PLAIN) -> str:
    """Format the ends of an interval with the digits of its value; empty without one.

    >>> interval_text(Estimate(1.9434, 1.81, 2.07))
    '1.81–2.07'
    """
    if e.low is None or e.high is None or e.high - e.low <= EXACT * abs(e.value or 0.0):
        return ""
    low, high = e.low * scale.factor, e.high * scale.factor
    return "\N{EN DASH}".join(round_to_step(x, interval_decimals(low, high), False) for x in (low, high))


def _confidence(e: Estimate, scale: Scale = PLAIN) -> str:
    within = interval_text(e, scale)
    return f" ({100 * e.confidence:.3g}% CI {within})" if within else ""


def _values(quantities: Quantity | Sequence[Quantity]) -> str:
    """Format values, the unit once: "107 vs. 48 ms"."""
    every = [quantities] if isinstance(quantities, Quantity) else quantities
    return _add_unit(" vs. ".join(value_text(*quantity) for quantity in every), every[0].scale.unit)


def _add_unit(text: str, unit: str) -> str:
    """Append a unit.

    >>> _add_unit("5", "ms"), _add_unit("5", "%"), _add_unit("254", "1/s")
    ('5 ms', '5%', '254/s')
    """
    return f"{text}{unit.removeprefix('1')}" if unit == "%" or unit.startswith("1/") else f"{text} {unit}".rstrip()


def factor_with_ends(e: Estimate) -> str:
    """Format a factor for a cell beside numbers of another unit: with the ends of its interval, as sentences have them.

    >>> factor_with_ends(Estimate(1.9434, 1.81, 2.07)), factor_with_ends(Estimate(3.0))
    ('1.94× [1.81–2.07]', '3×')
    """
    within = interval_text(e)
    return factor_text(e) + (f" [{within}]" if within else "")


def place_ends(e: Estimate) -> str:
    """Format a place for a cell: with the ends of its interval, or these alone where they are far apart.

    >>> place_ends(Estimate(33760, 25540, 44540)), place_ends(Estimate(480, 288, 853))
    ('34,000 [26,000–45,000]', '290–850')
    """
    value, *ends = _place_numbers(e)
    within = "\N{EN DASH}".join(ends)
    return f"{value} [{within}]" if value else within


def _place_numbers(e: Estimate) -> list[str]:
    """Format a place and the ends of its interval; it has no value of its own where these are far apart."""
    low, high = e.low or 0.0, e.high or 0.0
    if not is_resolved(e):
        return ["", *(number(float(f"{x:.2g}")) for x in (low, high))]
    digits = interval_decimals(low, high) if low < high else decimals_of(low, 3)
    return [round_to_step(x, digits, False) for x in (e.value or 0.0, low, high)]


def _place(located: tuple[Estimate, str], has_interval: bool = False) -> str:
    """Format a place, such as (Estimate(...), "{} elements")."""
    e, named = located
    value, *ends = _place_numbers(e)
    if not value:
        return f"somewhere between {named.format(' and '.join(ends))}"
    within = "\N{EN DASH}".join(ends)
    return named.format(value) + (f" ({100 * e.confidence:g}% CI {within})" if has_interval else "")


def _times(cells: Estimate | Sequence[Estimate]) -> str:
    """Format one factor with its interval; the least and the largest of several."""
    every = [cells] if isinstance(cells, Estimate) else [*cells]
    return _factors(every) + (_confidence(every[0]) if len(every) == 1 else "")


def _factors(cells: Sequence[Estimate]) -> str:
    ordered = sorted(cells, key=lambda e: e.value or 0.0)
    return " to ".join(dict.fromkeys(factor_text(e) for e in (ordered[0], ordered[-1])))


def quantity_text(quantity: tuple[Estimate, str]) -> str:
    """Format an estimate with its unit, as its cell of the matrix has it, and its interval.

    >>> quantity_text((Estimate(372.1, 369.2, 375.4, 0.95), "requests/s")), quantity_text((Estimate(0.04), "s"))
    ('372 requests/s (95% CI 369–375)', '40 ms')
    """
    e, unit = quantity
    scale = scale_for(unit, [e.value])
    scaled = replace(
        e, **{end: x * scale.factor for end in ("value", "low", "high") if (x := getattr(e, end)) is not None}
    )
    return _add_unit(value_text(scaled), scale.unit) + _confidence(scaled)


def _each(named: Sequence[tuple[str, Sequence[Estimate]]]) -> str:
    return "; ".join(f"{name}{_aside([e for e in cells if is_resolved(e)])}" for name, cells in named)


def _aside(cells: Sequence[Estimate]) -> str:
    if len(cells) == 1:
        return f" ({factor_with_ends(cells[0])})"
    return f" ({_times(cells)})" if cells else ""


_MINUS, _DASH = "\N{MINUS SIGN}", "\N{EN DASH}"


def change_text(ratio: Estimate) -> str:
    """Format a ratio as percent more or less, from a factor of 2 on as a factor; a noun follows.

    >>> change_text(Estimate(1.22, 1.18, 1.26)), change_text(Estimate(0.957, 0.954, 0.96)), change_text(Estimate(2.0))
    ('22% more', '4.3% less', '2× the')
    """
    value = ratio.value or 1.0
    if not 0.5 < value < 2:
        return f"{factor_text(ratio)} the"
    return f"{_percent_apart(ratio, value, value)}% {'more' if value >= 1 else 'less'}"


def change_interval(ratio: Estimate) -> str:
    """Format the interval of a change, in the unit of its value; empty without one.

    >>> change_interval(Estimate(1.22, 1.18, 1.26, 0.95)), change_interval(Estimate(0.957, 0.954, 0.96, 0.95))
    (' (95% CI 18–26%)', ' (95% CI 4.0–4.6%)')
    """
    value = ratio.value or 1.0
    if not 0.5 < value < 2 or not interval_text(ratio):
        return _confidence(ratio)
    ends = sorted((ratio.low or 1.0, ratio.high or 1.0), reverse=value < 1)
    shown = [_percent_apart(ratio, end, value) for end in ends]
    return f" ({100 * ratio.confidence:.3g}% CI {(' to ' if shown[0][0] == _MINUS else _DASH).join(shown)}%)"


def change_cell(ratio: Estimate) -> str:
    """Format a change in percent as a cell of the matrix, with the digits of the sentence.

    >>> change_cell(Estimate(1.197, 1.194, 1.201)), change_cell(Estimate(0.957, 0.954, 0.96))
    ('+19.7% [19.4–20.1]', '−4.3% [4.0–4.6]')
    """
    value = ratio.value or 1.0
    ends = sorted((ratio.low or value, ratio.high or value), reverse=value < 1)
    shown = dict.fromkeys(_percent_apart(ratio, end, value) for end in ends)
    sign = "+" if value >= 1 else _MINUS
    return f"{sign}{_percent_apart(ratio, value, value)}%" + (f" [{_DASH.join(shown)}]" if len(shown) > 1 else "")


def three_digits(share: float) -> str:
    """Format a share in percent with three digits, as counts support.

    >>> three_digits(0.01), three_digits(0.0001234), three_digits(2.5), three_digits(12.5), three_digits(0.0)
    ('1.00%', '0.0123%', '250%', '1,250%', '0%')
    """
    percent = 100 * share
    return f"{percent:,.0f}%" if percent >= 100 or not percent else f"{f'{percent:#.3g}'.rstrip('.')}%"


def _single(cells: Estimate | Sequence[Estimate]) -> Estimate:
    return cells if isinstance(cells, Estimate) else cells[0]


def _percent_apart(ratio: Estimate, x: float, value: float) -> str:
    share = 100 * (x - 1) * (1 if value >= 1 else -1)
    return (
        round_to_step(share, interval_decimals(ratio.low, ratio.high) - 2, False)
        if ratio.low and ratio.high and (interval_text(ratio))
        else two_digits(share)
    )


def _each_change(named: Sequence[tuple[str, Sequence[Estimate]]]) -> str:
    """Name configurations with the least and the largest change of each."""
    return "; ".join(f"{name}{_change_aside(cells)}" for name, cells in named)


def _change_aside(cells: Sequence[Estimate]) -> str:
    ordered = sorted((e for e in cells if is_resolved(e)), key=lambda e: e.value or 0.0)
    shown = dict.fromkeys(change_text(e).removesuffix(" the") for e in (*ordered[:1], *ordered[-1:]))
    return f" ({' to '.join(shown)})" if shown else ""


KINDS: Mapping[str, Callable[[Any], str]] = {
    "": _plain,
    "times": _times,
    "factor": _factors,
    "interval": lambda cells: _confidence(cells[0]) if len(cells) == 1 else "",
    "value": _values,
    "measured": lambda quantity: _values(quantity) + _confidence(*quantity),
    "each": _each,
    "quantity": quantity_text,
    "names": join_names,
    "runs": lambda n: count_noun(n, "run"),
    "or": lambda names: join_names(names, "or"),
    "list": "; ".join,
    "percent": lambda share: f"{two_digits(100 * share)}%",
    "three_digits": three_digits,
    "exact": lambda share: f"{100 * share:g}%",
    "change": lambda ratio: change_text(_single(ratio)),
    "change_ci": lambda ratio: change_interval(_single(ratio)),
    "each_change": _each_change,
    "chance": probability,
    "place": _place,
    "range": lambda located: _place(located, has_interval=True),
    "at_most": percent_at_most,
    "digits": two_digits,
    "signed": lambda share: f"{100 * share:+.2g}%",
}
_FORMATTER = _ByKind()
