"""State the claim on tunables: how many matter, what confirmed ones gain, and what is known of the others."""

from collections.abc import Iterator, Sequence

from scalograph.analysis.estimate import Estimate
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


def tunables_claim(table: Table, part: Tunables, unsaid: str) -> Claim:
    """State what the search has found, an open end too."""
    if part.half_width is None or all(factor.p is None for factor in part.factors):
        return Claim(sentences=list(_too_few(table, part, unsaid)), answered=False)
    sentences = [*_matter(table, part), *_fails(table, part), *_other_factors(table, part)]
    answered = part.decided or bool(part.matter)
    return Claim(sentences=limit_sentences(sentences), answered=answered, matrix=_matrix(table, part), figure=FIGURE)


def _too_few(table: Table, part: Tunables, unsaid: str) -> Iterator[str]:
    if not unsaid:
        settings = count_noun(len(part.settings), "setting")
        yield f"Cannot be said: {count_noun(part.n_runs, 'run')}, less than a block, cannot compare {settings}."
        return
    yield f"Cannot be said: {unsaid}."
    if worst := worst_disturbance(table):
        yield f"The worst: {worst}."
        yield "A search counts undisturbed runs only; --wait-quiet 10m waits for a quiet machine."


def _matter(table: Table, part: Tunables) -> Iterator[str]:
    n = len(part.factors)
    if not part.matter:
        yield _nothing(table, part)
        return
    phrases = [*(_part(table, part, factor) for factor in part.matter), *_together(table, part)]
    verb = "matters" if len(part.matter) == 1 else "matter"
    who = f"{len(part.matter)} of {n} {verb}" if n > 1 else "It matters"
    yield f"{who}: {'; '.join(phrases)}."


def _nothing(table: Table, part: Tunables) -> str:
    n, what, aside = len(part.factors), table.view.primary_title, _unknown_phrase(table, part.settings)
    most = percent_at_most(max(map(_largest_effect, part.settings), default=0.0))
    if not part.decided:
        none = f"none of {n} is" if n > 1 else "it is not"
        return f"Cannot be said: {none} seen to matter, but a setting{aside} may {_effect_range(table, part, what)}."
    if all(setting.label == "equivalent" for setting in part.settings):
        none = f"None of {n} matters" if n > 1 else "It does not matter"
        return f"{none}: all are equivalent to the default within {two_digits(100 * part.margin)} %."
    none = f"None of {n} is seen to matter" if n > 1 else "It is not seen to matter"
    return f"{none}: no setting{aside} changes the {what} by more than {most}."


def _part(table: Table, part: Tunables, factor: FactorEffect) -> str:
    own = [setting for setting in part.settings if setting.factor == factor.factor]
    fresh = next((setting for setting in own if setting.alone is not None), None)
    if fresh is not None:
        if _is_gain(fresh.alone):
            return f"{table.view.short_levels(fresh.levels)} {_verb(table)} {_difference(table, fresh.alone)}"
        return f"{table.view.short_levels(fresh.levels)} seemed better, fresh runs do not confirm it"
    ordered = sorted((setting for setting in own if setting.gain), key=lambda setting: _value(setting.gain))
    if ordered and ordered[-1].label == "positive":
        best = ordered[-1]
        name = table.view.short_levels(best.levels)
        return f"{name} seems to {_verb(table)[:-1]} {_difference(table, best.gain)}, not confirmed"
    if not ordered or ordered[0].label != "negative":
        return f"{table.view.title(factor.factor)}, by how much is not resolved"
    is_best, name = all(setting.label == "negative" for setting in own), table.view.short_levels(ordered[0].levels)
    return f"{name} {_verb(table)} {_difference(table, ordered[0].gain)}{', the default is best' * is_best}"


def _together(table: Table, part: Tunables) -> list[str]:
    whole = max(part.combinations, key=lambda combination: len(combination.levels), default=None)
    if whole is None or len(part.combinations) < 2 or not _is_gain(whole.gain):
        return []
    return [f"{'both' if len(whole.levels) == 2 else 'all'} together {_difference(table, whole.gain)}"]


def _other_factors(table: Table, part: Tunables) -> Iterator[str]:
    rest = {setting.factor for setting in part.factors if not setting.matters}
    own = [setting for setting in part.settings if setting.factor in rest]
    if not rest or not part.matter:
        return
    who, does = ("The others", "change") if len(rest) > 1 else ("The other", "changes")
    if not any(setting.gain for setting in own):
        yield f"Nothing is known of the other{'s' * (len(rest) > 1)}."
        return
    same = rest - {setting.factor for setting in own if setting.label != "equivalent"}
    margin = two_digits(100 * part.margin)
    if same == rest:
        number = f" {len(rest)} are" if len(rest) > 1 else " is"
        yield f"The other{number} equivalent to the default within {margin} %."
        return
    most = percent_at_most(max(map(_largest_effect, own)))
    also = f", {len(same)} of them by at most {margin} %" if same else ""
    yield f"{who}{_unknown_phrase(table, own)} {does} it by at most {most}{also}."


def _unknown_phrase(table: Table, settings: Sequence[SettingEffect]) -> str:
    names = [table.view.short_levels(setting.levels) for setting in settings if not setting.gain]
    return f", {join_first(names, MOST_NAMED)} aside," if names else ""


def _fails(table: Table, part: Tunables) -> Iterator[str]:
    culprits = [setting for setting in part.settings if causes_failures(setting.fails_p, len(part.settings))]
    if culprits:
        names = [table.view.short_levels(setting.levels) for setting in culprits]
        yield f"Runs fail with {join_first(names, MOST_NAMED)}."


def _difference(table: Table, gain: Estimate | None) -> str:
    what, is_rate = table.view.primary_title, _is_rate(table)
    if gain is None:
        return f"another {what}"
    more = "more" if (_value(gain) > 1) == is_rate else "less"
    text = change(gain if is_rate else inverse(gain), what)
    return text if text != NOT_RESOLVED else f"{more} {what}, how much is not resolved"


def _is_rate(table: Table) -> bool:
    return table.view.response.better == "higher"


def _verb(table: Table) -> str:
    return "gives" if _is_rate(table) else "takes"


def _is_gain(gain: Estimate | None) -> bool:
    return gain is not None and gain.low is not None and gain.low > 1


def _value(gain: Estimate | None) -> float:
    return gain.value if gain and gain.value is not None else 1.0


def _effect_range(table: Table, part: Tunables, what: str) -> str:
    gains = [setting.gain if _is_rate(table) else inverse(setting.gain) for setting in part.settings if setting.gain]
    low = min((gain.low for gain in gains if gain.low), default=1.0)
    high = max((gain.high for gain in gains if gain.high), default=1.0)
    less, more = percent_at_most(max(1 - low, 0.0)), percent_at_most(max(high - 1, 0.0))
    return f"take up to {less} of the {what} away, or add up to {more}"


def _largest_effect(setting: SettingEffect) -> float:
    """Return how far a setting may be from the default, as a share."""
    ends = [x for x in (setting.gain.low, setting.gain.high) if x] if setting.gain else []
    return max((max(x, 1 / x) - 1 for x in ends), default=0.0)


def _matrix(table: Table, part: Tunables) -> Matrix:
    ordered = sorted((setting for setting in part.settings if setting.gain), key=_weight)
    columns = ["all runs", *(["fresh runs"] if any(setting.alone for setting in ordered) else [])]
    rows = []
    for setting in ordered[:MOST_ROWS]:
        cells = [MatrixCell(estimate=x) for x in (setting.gain, setting.alone)[: len(columns)]]
        rows.append(MatrixRow(label=table.view.short_levels(setting.levels), cells=cells))
    what = performance(table.view.primary_title, table.view.response.better)
    return Matrix(title=f"{what} over the default", better="higher", rows_are="setting", columns=columns, rows=rows)


def _weight(setting: SettingEffect) -> tuple[bool, float]:
    value = _value(setting.gain)
    return setting.alone is None, -max(value, 1 / value)
