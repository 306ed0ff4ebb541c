"""What is said of the settings beside the claim: failures, and what noise alone would show."""

from collections.abc import Iterator

from scalograph.findings.names import short_levels, title
from scalograph.findings.table import Table
from scalograph.questions.tunables.document import SettingEffect, Tunables
from scalograph.questions.tunables.model_array import causes_failures
from scalograph.text.format import estimate
from scalograph.text.quantities import count_noun, two_digits
from scalograph.text.short_names import join_first, join_names

# Settings that are named, and contrasts; of more settings, how many there are.
MOST_NAMED = 4


def tunables_sentences(table: Table, document: Tunables) -> list[str]:
    """Say what is worth knowing beside the claim, most important first."""
    groups = (
        failure_sentences(table, document),
        _contrast_sentences(table, document),
        _noise_sentences(table, document),
        _no_change_sentences(table, document),
        _count_sentences(document),
    )
    return [text for texts in groups for text in texts]


def failure_sentences(table: Table, document: Tunables) -> Iterator[str]:
    """Say which settings make runs fail, for sure."""
    for setting in document.settings:
        if causes_failures(setting.fails_p, len(document.settings)):
            yield f"With {setting_name(table, setting)} {setting.n_failed} of {count_noun(setting.n, 'run')} failed."


def _contrast_sentences(table: Table, document: Tunables) -> Iterator[str]:
    """Say of which group the factors move the performance more."""
    for contrast in document.contrasts[:MOST_NAMED]:
        low, _, high = contrast.ratio
        is_open = (low or 0.0) <= 1 and (high is None or high >= 1)
        begin, shown = "Not resolved: on" if is_open else "On", estimate(contrast.ratio)
        times = f"{shown.value} times as much as one of {contrast.second} {shown.interval}".rstrip()
        yield f"{begin} average a factor of {contrast.first} changes the {title(table, document.response)} {times}."


def _noise_sentences(table: Table, document: Tunables) -> Iterator[str]:
    """Hold the best and the worst setting against what noise alone makes of so many."""
    measured = [setting for setting in document.settings if setting.gain and setting.gain.value]
    if len(measured) < 2 or document.best_of_noise is None or document.worst_of_noise is None:
        return
    best = max(measured, key=lambda setting: setting.gain.value if setting.gain and setting.gain.value else 0.0)
    seen = 100 * ((best.gain.value if best.gain else None) or 1.0) - 100
    _, middle, most = document.best_of_noise
    looks = f"looks {two_digits(seen)} % better" if seen > 0 else "looks no better than the default"
    yield (
        f"The best of {len(measured)} settings, {setting_name(table, best)}, {looks}; if none had an effect, the "
        f"best would look {two_digits(middle)} % better, at most {two_digits(most)} %."
    )


def _no_change_sentences(table: Table, document: Tunables) -> Iterator[str]:
    """Name the settings that change nothing of all that was looked at: whether they were in effect is not known."""
    idle = [
        setting
        for setting in document.settings
        if setting.gain and setting.label in ("equivalent", "uncertain") and not setting.moved
    ]
    if document.watched and idle:
        looked_at = join_names([title(table, name) for name in (document.response, *document.watched)])
        yield f"No change of {looked_at} is seen with {join_first([setting_name(table, setting) for setting in idle], MOST_NAMED)}."


def _count_sentences(document: Tunables) -> Iterator[str]:
    if document.noise_percent is not None:
        fresh = f", {document.n_fresh} fresh ones test the gains" if document.n_fresh else ""
        yield (
            f"{count_noun(document.n_runs, 'run')} compare settings ({document.n_default} of the default){fresh}; "
            f"runs of one setting differ by {two_digits(document.noise_percent)} %."
        )


def setting_name(table: Table, setting: SettingEffect) -> str:
    """Name a setting."""
    return short_levels(table, {setting.factor: setting.level})
