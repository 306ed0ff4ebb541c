"""The claim: how many of the settings matter, what the confirmed ones gain, and what is known of the others."""

from collections.abc import Iterator, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.findings.names import short, title
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.questions.claims import fitting, worst_disturbance
from scalograph.questions.tunables.document import FactorEffect, SettingEffect, Tunables
from scalograph.questions.tunables.model_array import is_why
from scalograph.text.cell_numbers import NOT_RESOLVED
from scalograph.text.quantities import change, counted, inverse, percent_at_most, performance, two_digits
from scalograph.text.short_names import few

FIGURE = "tunables-effects"
# Rows of the matrix.
MOST_ROWS = 6
# Settings that a sentence names; of more, how many there are.
MOST_NAMED = 3


def tunables_claim(table: Table, found: Tunables, unsaid: str) -> Claim:
    """Say what the search has found, an open end too.

    Args:
        table: the study.
        found: what the search came to.
        unsaid: why its runs say nothing; empty where they do.
    """
    if found.half_width is None or all(one.p is None for one in found.factors):
        return Claim(sentences=list(_too_few(table, found, unsaid)), answered=False)
    told = [*_matter(table, found), *_fails(table, found), *_others(table, found)]
    answered = found.decided or bool(found.matter)
    return Claim(sentences=fitting(told), answered=answered, matrix=_matrix(table, found), figure=FIGURE)


def _too_few(table: Table, found: Tunables, unsaid: str) -> Iterator[str]:
    """Why settings cannot be compared, and what helps."""
    if not unsaid:
        settings = counted(len(found.settings), "setting")
        yield f"Cannot be said: {counted(found.n_runs, 'run')}, less than a block, cannot compare {settings}."
        return
    yield f"Cannot be said: {unsaid}."
    if worst := worst_disturbance(table):
        yield f"The worst: {worst}."
        yield "A search counts undisturbed runs only; --wait-quiet 10m waits for a quiet machine."


def _matter(table: Table, found: Tunables) -> Iterator[str]:
    """The factors that matter: confirmed gains first, then what is only lost."""
    n = len(found.factors)
    if not found.matter:
        yield _nothing(table, found)
        return
    parts = [_part(table, found, one) for one in found.matter]
    together = _together(table, found)
    verb = "matters" if len(found.matter) == 1 else "matter"
    who = f"{len(found.matter)} of {n} {verb}" if n > 1 else "It matters"
    yield f"{who}: {'; '.join([*parts, *together])}."


def _nothing(table: Table, found: Tunables) -> str:
    """What is known where no factor was found to matter."""
    n, what, aside = len(found.factors), title(table, primary(table)), _unknown(table, found.settings)
    most = percent_at_most(max(map(_far, found.settings), default=0.0))
    if not found.decided:
        none = f"none of {n} is" if n > 1 else "it is not"
        return f"Cannot be said: {none} seen to matter, but a setting{aside} may {_ends(table, found, what)}."
    if all(one.label == "equivalent" for one in found.settings):
        none = f"None of {n} matters" if n > 1 else "It does not matter"
        return f"{none}: all are equivalent to the default within {two_digits(100 * found.margin)} %."
    none = f"None of {n} is seen to matter" if n > 1 else "It is not seen to matter"
    return f"{none}: no setting{aside} changes the {what} by more than {most}."


def _part(table: Table, found: Tunables, factor: FactorEffect) -> str:
    own = [one for one in found.settings if one.factor == factor.factor]
    fresh = next((one for one in own if one.alone is not None), None)
    if fresh is not None:
        name = short(table, {fresh.factor: fresh.level})
        if _is_gain(fresh.alone):
            return f"{name} {_verb(table)} {_difference(table, fresh.alone)}"
        return f"{name} seemed better, fresh runs do not confirm it"
    known = sorted((one for one in own if one.gain), key=lambda one: _value(one.gain))
    if known and known[-1].label == "positive":
        name = short(table, {known[-1].factor: known[-1].level})
        return f"{name} seems to {_verb(table)[:-1]} {_difference(table, known[-1].gain)}, not confirmed"
    if not known or known[0].label != "negative":
        return f"{title(table, factor.factor)}, by how much is not resolved"
    name = short(table, {known[0].factor: known[0].level})
    is_best = all(one.label == "negative" for one in own)
    return f"{name} {_verb(table)} {_difference(table, known[0].gain)}{', the default is best' * is_best}"


def _together(table: Table, found: Tunables) -> list[str]:
    """The gain of all confirmed settings at once, where there are several."""
    if len(found.combinations) < 2:
        return []
    whole = max(found.combinations, key=lambda one: len(one.levels))
    if not _is_gain(whole.gain):
        return []
    return [f"{'both' if len(whole.levels) == 2 else 'all'} together {_difference(table, whole.gain)}"]


def _others(table: Table, found: Tunables) -> Iterator[str]:
    """What is known of the factors that were not found to matter, beside others that do."""
    rest = {one.factor for one in found.factors if not one.matters}
    own = [one for one in found.settings if one.factor in rest]
    if not rest or not found.matter:
        return
    who, does = ("The others", "change") if len(rest) > 1 else ("The other", "changes")
    if not any(one.gain for one in own):
        yield f"Nothing is known of the other{'s' * (len(rest) > 1)}."
        return
    same = rest - {one.factor for one in own if one.label != "equivalent"}
    margin = two_digits(100 * found.margin)
    if same == rest:
        number = f" {len(rest)} are" if len(rest) > 1 else " is"
        yield f"The other{number} equivalent to the default within {margin} %."
        return
    most = percent_at_most(max(map(_far, own)))
    also = f", {len(same)} of them by at most {margin} %" if same else ""
    yield f"{who}{_unknown(table, own)} {does} it by at most {most}{also}."


def _unknown(table: Table, settings: Sequence[SettingEffect]) -> str:
    """Those of which nothing is known, as an exception."""
    names = [short(table, {one.factor: one.level}) for one in settings if not one.gain]
    return f", {few(names, MOST_NAMED)} aside," if names else ""


def _fails(table: Table, found: Tunables) -> Iterator[str]:
    why = [one for one in found.settings if is_why(one.fails_p, len(found.settings))]
    if why:
        yield f"Runs fail with {few([short(table, {one.factor: one.level}) for one in why], MOST_NAMED)}."


def _difference(table: Table, gain: Estimate | None) -> str:
    """Say what a setting changes, in the response that the study is about."""
    what, is_rate = title(table, primary(table)), _is_rate(table)
    if gain is None:
        return f"another {what}"
    told = change(gain if is_rate else inverse(gain), what)
    if told != NOT_RESOLVED:
        return told
    return f"{'more' if (_value(gain) > 1) == is_rate else 'less'} {what}, how much is not resolved"


def _is_rate(table: Table) -> bool:
    return table.study.responses[primary(table)].better == "higher"


def _verb(table: Table) -> str:
    return "gives" if _is_rate(table) else "takes"


def _is_gain(gain: Estimate | None) -> bool:
    return gain is not None and gain.low is not None and gain.low > 1


def _value(gain: Estimate | None) -> float:
    return gain.value if gain and gain.value is not None else 1.0


def _ends(table: Table, found: Tunables, what: str) -> str:
    """The most that a setting may take from the response and add to it."""
    gains = [one.gain if _is_rate(table) else inverse(one.gain) for one in found.settings if one.gain]
    low = min((gain.low for gain in gains if gain.low), default=1.0)
    high = max((gain.high for gain in gains if gain.high), default=1.0)
    less, more = percent_at_most(max(1 - low, 0.0)), percent_at_most(max(high - 1, 0.0))
    return f"take up to {less} of the {what} away, or add up to {more}"


def _far(one: SettingEffect) -> float:
    """How far a setting may be from the default, as a share."""
    ends = [x for x in (one.gain.low, one.gain.high) if x] if one.gain else []
    return max((max(x, 1 / x) - 1 for x in ends), default=0.0)


def _matrix(table: Table, found: Tunables) -> Matrix:
    """The settings that matter most: from all runs together, and from fresh ones."""
    known = sorted((one for one in found.settings if one.gain), key=_weight)
    is_fresh = any(one.alone for one in known)
    columns = ["all runs", *(["fresh runs"] if is_fresh else [])]
    rows = [
        MatrixRow(
            label=short(table, {one.factor: one.level}),
            cells=[MatrixCell(estimate=x) for x in _cells(one, is_fresh)],
        )
        for one in known[:MOST_ROWS]
    ]
    what = performance(title(table, primary(table)), table.study.responses[primary(table)].better)
    return Matrix(title=f"{what} over the default", better="higher", rows_are="setting", columns=columns, rows=rows)


def _cells(one: SettingEffect, is_fresh: bool) -> Sequence[Estimate | None]:
    return [one.gain, one.alone] if is_fresh else [one.gain]


def _weight(one: SettingEffect) -> tuple[bool, float]:
    value = _value(one.gain)
    return one.alone is None, -max(value, 1 / value)
