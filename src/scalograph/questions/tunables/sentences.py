"""What is said of the settings beside the claim: failures, and what noise alone would show."""

from collections.abc import Iterator

from scalograph.findings.names import short, title
from scalograph.findings.table import Table
from scalograph.questions.tunables.document import SettingEffect, Tunables
from scalograph.questions.tunables.model_array import is_why
from scalograph.text.format import estimate
from scalograph.text.quantities import counted, two_digits
from scalograph.text.short_names import few, listed

# Settings that are named, and contrasts; of more settings, how many there are.
MOST_NAMED = 4


def tunables_sentences(table: Table, found: Tunables) -> list[str]:
    """Say what is worth knowing beside the claim, most important first."""
    told = (failing(table, found), _compared(table, found), _seeming(table, found), _idle(table, found), _made(found))
    return [text for texts in told for text in texts]


def failing(table: Table, found: Tunables) -> Iterator[str]:
    """Say which settings make runs fail, for sure."""
    for one in found.settings:
        if is_why(one.fails_p, len(found.settings)):
            yield f"With {setting(table, one)} {one.n_failed} of {counted(one.n, 'run')} failed."


def _compared(table: Table, found: Tunables) -> Iterator[str]:
    """Say of which group the factors move the performance more."""
    for one in found.contrasts[:MOST_NAMED]:
        low, _, high = one.ratio
        is_open = (low or 0.0) <= 1 and (high is None or high >= 1)
        begin, shown = "Not resolved: on" if is_open else "On", estimate(one.ratio)
        times = f"{shown.value} times as much as one of {one.second} {shown.interval}".rstrip()
        yield f"{begin} average a factor of {one.first} changes the {title(table, found.response)} {times}."


def _seeming(table: Table, found: Tunables) -> Iterator[str]:
    """Hold the best and the worst setting against what noise alone makes of so many."""
    known = [one for one in found.settings if one.gain and one.gain.value]
    if len(known) < 2 or found.best_of_noise is None or found.worst_of_noise is None:
        return
    best = max(known, key=lambda one: one.gain.value if one.gain and one.gain.value else 0.0)
    seen = 100 * ((best.gain.value if best.gain else None) or 1.0) - 100
    _, middle, most = found.best_of_noise
    looks = f"looks {two_digits(seen)} % better" if seen > 0 else "looks no better than the default"
    yield (
        f"The best of {len(known)} settings, {setting(table, best)}, {looks}; if none had an effect, the "
        f"best would look {two_digits(middle)} % better, at most {two_digits(most)} %."
    )


def _idle(table: Table, found: Tunables) -> Iterator[str]:
    """Name the settings that change nothing of all that was looked at: whether they were in effect is not known."""
    idle = [one for one in found.settings if one.gain and one.label in ("equivalent", "uncertain") and not one.moved]
    if found.watched and idle:
        looked_at = listed([title(table, name) for name in (found.response, *found.watched)])
        yield f"No change of {looked_at} is seen with {few([setting(table, one) for one in idle], MOST_NAMED)}."


def _made(found: Tunables) -> Iterator[str]:
    if found.noise_percent is not None:
        fresh = f", {found.n_fresh} fresh ones test the gains" if found.n_fresh else ""
        yield (
            f"{counted(found.n_runs, 'run')} compare settings ({found.n_default} of the default){fresh}; "
            f"runs of one setting differ by {two_digits(found.noise_percent)} %."
        )


def setting(table: Table, one: SettingEffect) -> str:
    """Name a setting."""
    return short(table, {one.factor: one.level})
