"""The claim: how many of the settings matter, what the confirmed ones gain, and what is known of the others."""

from collections.abc import Iterator, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.findings.names import short_levels, title
from scalograph.findings.speedup_rule import primary_response
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.questions.claims import limit_sentences, worst_disturbance
from scalograph.questions.tunables.document import FactorEffect, SettingEffect, Tunables
from scalograph.questions.tunables.model_array import causes_failures
from scalograph.text.cell_numbers import NOT_RESOLVED
from scalograph.text.quantities import change, count_noun, inverse, percent_at_most, performance, two_digits
from scalograph.text.short_names import join_first

FIGURE = "tunables-effects"
# Rows of the matrix.
MOST_ROWS = 6
# Settings that a sentence names; of more, how many there are.
MOST_NAMED = 3


def tunables_claim(table: Table, document: Tunables, unsaid: str) -> Claim:
    """Say what the search has found, an open end too.

    Args:
        table: the study.
        document: what the search came to.
        unsaid: why its runs say nothing; empty where they do.
    """
    if document.half_width is None or all(factor.p is None for factor in document.factors):
        return Claim(sentences=list(_too_few(table, document, unsaid)), answered=False)
    sentences = [*_matter(table, document), *_fails(table, document), *_other_factors(table, document)]
    answered = document.decided or bool(document.matter)
    return Claim(
        sentences=limit_sentences(sentences), answered=answered, matrix=_matrix(table, document), figure=FIGURE
    )


def _too_few(table: Table, document: Tunables, unsaid: str) -> Iterator[str]:
    """Why settings cannot be compared, and what helps."""
    if not unsaid:
        settings = count_noun(len(document.settings), "setting")
        yield f"Cannot be said: {count_noun(document.n_runs, 'run')}, less than a block, cannot compare {settings}."
        return
    yield f"Cannot be said: {unsaid}."
    if worst := worst_disturbance(table):
        yield f"The worst: {worst}."
        yield "A search counts undisturbed runs only; --wait-quiet 10m waits for a quiet machine."


def _matter(table: Table, document: Tunables) -> Iterator[str]:
    """The factors that matter: confirmed gains first, then what is only lost."""
    n = len(document.factors)
    if not document.matter:
        yield _nothing(table, document)
        return
    parts = [_part(table, document, factor) for factor in document.matter]
    together = _together(table, document)
    verb = "matters" if len(document.matter) == 1 else "matter"
    who = f"{len(document.matter)} of {n} {verb}" if n > 1 else "It matters"
    yield f"{who}: {'; '.join([*parts, *together])}."


def _nothing(table: Table, document: Tunables) -> str:
    """What is known where no factor was found to matter."""
    n, what, aside = (
        len(document.factors),
        title(table, primary_response(table)),
        _unknown_phrase(table, document.settings),
    )
    most = percent_at_most(max(map(_largest_effect, document.settings), default=0.0))
    if not document.decided:
        none = f"none of {n} is" if n > 1 else "it is not"
        return (
            f"Cannot be said: {none} seen to matter, but a setting{aside} may {_effect_range(table, document, what)}."
        )
    if all(setting.label == "equivalent" for setting in document.settings):
        none = f"None of {n} matters" if n > 1 else "It does not matter"
        return f"{none}: all are equivalent to the default within {two_digits(100 * document.margin)} %."
    none = f"None of {n} is seen to matter" if n > 1 else "It is not seen to matter"
    return f"{none}: no setting{aside} changes the {what} by more than {most}."


def _part(table: Table, document: Tunables, factor: FactorEffect) -> str:
    own = [setting for setting in document.settings if setting.factor == factor.factor]
    fresh = next((setting for setting in own if setting.alone is not None), None)
    if fresh is not None:
        name = short_levels(table, {fresh.factor: fresh.level})
        if _is_gain(fresh.alone):
            return f"{name} {_verb(table)} {_difference(table, fresh.alone)}"
        return f"{name} seemed better, fresh runs do not confirm it"
    ordered = sorted((setting for setting in own if setting.gain), key=lambda setting: _value(setting.gain))
    if ordered and ordered[-1].label == "positive":
        name = short_levels(table, {ordered[-1].factor: ordered[-1].level})
        return f"{name} seems to {_verb(table)[:-1]} {_difference(table, ordered[-1].gain)}, not confirmed"
    if not ordered or ordered[0].label != "negative":
        return f"{title(table, factor.factor)}, by how much is not resolved"
    name = short_levels(table, {ordered[0].factor: ordered[0].level})
    is_best = all(setting.label == "negative" for setting in own)
    return f"{name} {_verb(table)} {_difference(table, ordered[0].gain)}{', the default is best' * is_best}"


def _together(table: Table, document: Tunables) -> list[str]:
    """The gain of all confirmed settings at once, where there are several."""
    if len(document.combinations) < 2:
        return []
    whole = max(document.combinations, key=lambda combination: len(combination.levels))
    if not _is_gain(whole.gain):
        return []
    return [f"{'both' if len(whole.levels) == 2 else 'all'} together {_difference(table, whole.gain)}"]


def _other_factors(table: Table, document: Tunables) -> Iterator[str]:
    """What is known of the factors that were not found to matter, beside others that do."""
    rest = {setting.factor for setting in document.factors if not setting.matters}
    own = [setting for setting in document.settings if setting.factor in rest]
    if not rest or not document.matter:
        return
    who, does = ("The others", "change") if len(rest) > 1 else ("The other", "changes")
    if not any(setting.gain for setting in own):
        yield f"Nothing is known of the other{'s' * (len(rest) > 1)}."
        return
    same = rest - {setting.factor for setting in own if setting.label != "equivalent"}
    margin = two_digits(100 * document.margin)
    if same == rest:
        number = f" {len(rest)} are" if len(rest) > 1 else " is"
        yield f"The other{number} equivalent to the default within {margin} %."
        return
    most = percent_at_most(max(map(_largest_effect, own)))
    also = f", {len(same)} of them by at most {margin} %" if same else ""
    yield f"{who}{_unknown_phrase(table, own)} {does} it by at most {most}{also}."


def _unknown_phrase(table: Table, settings: Sequence[SettingEffect]) -> str:
    """Those of which nothing is known, as an exception."""
    names = [short_levels(table, {setting.factor: setting.level}) for setting in settings if not setting.gain]
    return f", {join_first(names, MOST_NAMED)} aside," if names else ""


def _fails(table: Table, document: Tunables) -> Iterator[str]:
    culprits = [setting for setting in document.settings if causes_failures(setting.fails_p, len(document.settings))]
    if culprits:
        yield f"Runs fail with {join_first([short_levels(table, {setting.factor: setting.level}) for setting in culprits], MOST_NAMED)}."


def _difference(table: Table, gain: Estimate | None) -> str:
    """Say what a setting changes, in the response that the study is about."""
    what, is_rate = title(table, primary_response(table)), _is_rate(table)
    if gain is None:
        return f"another {what}"
    text = change(gain if is_rate else inverse(gain), what)
    if text != NOT_RESOLVED:
        return text
    return f"{'more' if (_value(gain) > 1) == is_rate else 'less'} {what}, how much is not resolved"


def _is_rate(table: Table) -> bool:
    return table.study.responses[primary_response(table)].better == "higher"


def _verb(table: Table) -> str:
    return "gives" if _is_rate(table) else "takes"


def _is_gain(gain: Estimate | None) -> bool:
    return gain is not None and gain.low is not None and gain.low > 1


def _value(gain: Estimate | None) -> float:
    return gain.value if gain and gain.value is not None else 1.0


def _effect_range(table: Table, document: Tunables, what: str) -> str:
    """The most that a setting may take from the response and add to it."""
    gains = [
        setting.gain if _is_rate(table) else inverse(setting.gain) for setting in document.settings if setting.gain
    ]
    low = min((gain.low for gain in gains if gain.low), default=1.0)
    high = max((gain.high for gain in gains if gain.high), default=1.0)
    less, more = percent_at_most(max(1 - low, 0.0)), percent_at_most(max(high - 1, 0.0))
    return f"take up to {less} of the {what} away, or add up to {more}"


def _largest_effect(setting: SettingEffect) -> float:
    """How far a setting may be from the default, as a share."""
    ends = [x for x in (setting.gain.low, setting.gain.high) if x] if setting.gain else []
    return max((max(x, 1 / x) - 1 for x in ends), default=0.0)


def _matrix(table: Table, document: Tunables) -> Matrix:
    """The settings that matter most: from all runs together, and from fresh ones."""
    ordered = sorted((setting for setting in document.settings if setting.gain), key=_weight)
    is_fresh = any(setting.alone for setting in ordered)
    columns = ["all runs", *(["fresh runs"] if is_fresh else [])]
    rows = [
        MatrixRow(
            label=short_levels(table, {setting.factor: setting.level}),
            cells=[MatrixCell(estimate=x) for x in _cells(setting, is_fresh)],
        )
        for setting in ordered[:MOST_ROWS]
    ]
    what = performance(title(table, primary_response(table)), table.study.responses[primary_response(table)].better)
    return Matrix(title=f"{what} over the default", better="higher", rows_are="setting", columns=columns, rows=rows)


def _cells(setting: SettingEffect, is_fresh: bool) -> Sequence[Estimate | None]:
    return [setting.gain, setting.alone] if is_fresh else [setting.gain]


def _weight(setting: SettingEffect) -> tuple[bool, float]:
    value = _value(setting.gain)
    return setting.alone is None, -max(value, 1 / value)
