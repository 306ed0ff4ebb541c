"""The claim: how many of the settings matter, what the confirmed ones gain, and what is known of the others."""

from collections.abc import Iterator, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.findings.names import short, title
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.claim import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.questions.claims import fitting
from scalograph.questions.tunables.document import FactorEffect, SettingEffect, Tunables
from scalograph.text.quantities import change, counted, inverse, percent_at_most, two_digits
from scalograph.text.short_names import listed

FIGURE = "tunables-effects"
# Rows of the matrix.
MOST_ROWS = 6


def tunables_claim(table: Table, found: Tunables) -> Claim:
    """Say what the search has found, an open end too."""
    if found.visible is None:
        n = counted(found.n_runs, "run")
        return Claim(
            sentences=[f"Cannot be said: {n} are too few to compare {len(found.settings)} settings."], answered=False
        )
    told = [*_matter(table, found), *_fails(table, found), *_others(table, found)]
    sentences = fitting(told)
    answered = found.decided or bool(found.matter)
    return Claim(sentences=sentences, answered=answered, matrix=_matrix(table, found), figure=FIGURE)


def _matter(table: Table, found: Tunables) -> Iterator[str]:
    """The factors that matter: confirmed gains first, then what is only lost."""
    n = len(found.factors)
    if not found.matter:
        visible = percent_at_most(found.visible or 0)
        if found.decided:
            yield f"None of {n} matters: effects from {visible} would have been seen."
        else:
            yield f"Cannot be said: none of {n} is seen to matter, but effects below {visible} are not visible."
        return
    parts = [_part(table, found, one) for one in found.matter]
    together = _together(table, found)
    verb = "matters" if len(found.matter) == 1 else "matter"
    yield f"{len(found.matter)} of {n} {verb}: {'; '.join([*parts, *together])}."


def _part(table: Table, found: Tunables, factor: FactorEffect) -> str:
    own = [one for one in found.settings if one.factor == factor.factor]
    fresh = [one for one in own if one.alone is not None]
    for one in fresh:
        name = short(table, {one.factor: one.level})
        if _is_gain(one.alone):
            return f"{name} {_verb(table)} {difference(table, one.alone)}"
        return f"{name} seemed better, fresh runs do not confirm it"
    known = sorted((one for one in own if one.gain), key=lambda one: _value(one.gain))
    if not known:
        return title(table, factor.factor)
    worst, best = known[0], known[-1]
    if best.label == "positive":
        name = short(table, {best.factor: best.level})
        return f"{name} seems to {_verb(table)[:-1]} {difference(table, best.gain)}, not confirmed"
    if _value(worst.gain) >= 1:
        return f"{title(table, factor.factor)}, by how much is not resolved"
    name = short(table, {worst.factor: worst.level})
    return f"{name} {_verb(table)} {difference(table, worst.gain)}, the default is best"


def _together(table: Table, found: Tunables) -> list[str]:
    """The gain of all confirmed settings at once, where there are several."""
    if len(found.combinations) < 2:
        return []
    whole = max(found.combinations, key=lambda one: len(one.levels))
    if not _is_gain(whole.gain):
        return []
    return [f"{'both' if len(whole.levels) == 2 else 'all'} together {difference(table, whole.gain)}"]


def _others(table: Table, found: Tunables) -> Iterator[str]:
    """What is known of the factors that were not found to matter."""
    rest = [one.factor for one in found.factors if not one.matters]
    settings = {name: [one for one in found.settings if one.factor == name] for name in rest}
    same = [name for name, own in settings.items() if own and all(one.label == "equivalent" for one in own)]
    margin = two_digits(100 * found.margin)
    if not rest:
        return
    if len(same) == len(rest):
        what = "The other" if found.matter else "All" if len(rest) > 1 else "It"
        n = f" {len(rest)} are" if len(rest) > 1 else " is"
        yield f"{what}{n} equivalent to the default within {margin} %."
        return
    if found.matter:
        within = percent_at_most(max((_far(one) for own in settings.values() for one in own), default=0.0))
        also = f", {len(same)} of them within {margin} %" if same else ""
        yield f"No other setting changes it by more than {within}{also}."


def _fails(table: Table, found: Tunables) -> Iterator[str]:
    names = [
        short(table, {one.factor: one.level})
        for one in found.settings
        if one.fails_p is not None and one.fails_p * len(found.settings) < 0.05
    ]
    if names:
        yield f"Runs fail with {listed(names[:3])}."


def difference(table: Table, gain: Estimate | None) -> str:
    """Say what a setting changes, in the response that the study is about."""
    if gain is None:
        return "nothing that is known"
    if table.study.responses[primary(table)].better == "higher":
        return change(gain, title(table, primary(table)))
    return change(inverse(gain), title(table, primary(table)))


def _verb(table: Table) -> str:
    return "gives" if table.study.responses[primary(table)].better == "higher" else "takes"


def _is_gain(gain: Estimate | None) -> bool:
    return gain is not None and gain.low is not None and gain.low > 1


def _value(gain: Estimate | None) -> float:
    return gain.value if gain and gain.value is not None else 1.0


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
    return Matrix(title="performance over the default", better="higher", rows_are="setting", columns=columns, rows=rows)


def _cells(one: SettingEffect, is_fresh: bool) -> Sequence[Estimate | None]:
    return [one.gain, one.alone] if is_fresh else [one.gain]


def _weight(one: SettingEffect) -> tuple[bool, float]:
    value = _value(one.gain)
    return one.alone is None, -max(value, 1 / value)
