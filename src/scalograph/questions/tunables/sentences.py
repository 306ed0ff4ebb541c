"""Sentences on tunables beside the claim: failures, and what noise alone would show."""

from collections.abc import Iterator

from scalograph.findings.table import Table
from scalograph.questions.tunables.document import Tunables
from scalograph.questions.tunables.model_array import causes_failures
from scalograph.text.format import estimate
from scalograph.text.quantities import count_noun, two_digits
from scalograph.text.short_names import join_first, join_names

# Settings that are named, and contrasts; of more settings, how many there are.
MOST_NAMED = 4


def tunables_sentences(table: Table, part: Tunables) -> list[str]:
    return [
        *failure_sentences(table, part), *_contrast_sentences(table, part), *_noise_sentences(table, part),
        *_no_change_sentences(table, part), *_count_sentences(part),
    ]  # fmt: skip


def failure_sentences(table: Table, part: Tunables) -> Iterator[str]:
    """Name the settings that cause failures, for sure."""
    for setting in part.settings:
        if causes_failures(setting.fails_p, len(part.settings)):
            name = table.view.short_levels(setting.levels)
            yield f"With {name} {setting.n_failed} of {count_noun(setting.n, 'run')} failed."


def _contrast_sentences(table: Table, part: Tunables) -> Iterator[str]:
    for contrast in part.contrasts[:MOST_NAMED]:
        low, _, high = contrast.ratio
        is_open = (low or 0.0) <= 1 and (high is None or high >= 1)
        begin, shown = "Inconclusive: on" if is_open else "On", estimate(contrast.ratio)
        times = f"{shown.value}× as much as one of {contrast.second} {shown.interval}".rstrip()
        yield f"{begin} average a factor of {contrast.first} changes the {table.view.title(part.response)} {times}."


def _noise_sentences(table: Table, part: Tunables) -> Iterator[str]:
    measured = [setting for setting in part.settings if setting.gain and setting.gain.value]
    if len(measured) < 2 or part.best_of_noise is None or part.worst_of_noise is None:
        return
    best = max(measured, key=lambda setting: setting.gain.value if setting.gain and setting.gain.value else 0.0)
    seen = 100 * ((best.gain.value if best.gain else None) or 1.0) - 100
    _, middle, most = part.best_of_noise
    looks = f"looks {two_digits(seen)}% better" if seen > 0 else "looks no better than the default"
    who = f"The best of {len(measured)} settings, {table.view.short_levels(best.levels)},"
    by_noise = f"the best would look {two_digits(middle)}% better, at most {two_digits(most)}%"
    yield f"{who} {looks}; if none had an effect, {by_noise}."


def _no_change_sentences(table: Table, part: Tunables) -> Iterator[str]:
    """Name the settings that change nothing observed: whether they were in effect is not known."""
    idle = [s for s in part.settings if s.gain and s.label in ("equivalent", "uncertain") and not s.moved]
    if part.watched and idle:
        responses = join_names([table.view.title(name) for name in (part.response, *part.watched)])
        names = join_first([table.view.short_levels(setting.levels) for setting in idle], MOST_NAMED)
        yield f"No change of {responses} is seen with {names}."


def _count_sentences(part: Tunables) -> Iterator[str]:
    if part.noise_percent is not None:
        fresh = f", {part.n_fresh} fresh ones test the gains" if part.n_fresh else ""
        runs = f"{count_noun(part.n_runs, 'run')} compare settings ({part.n_default} of the default){fresh}"
        yield f"{runs}; runs of one setting differ by {two_digits(part.noise_percent)}%."
