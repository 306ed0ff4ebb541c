"""Check what a question requires of its study, on the raw document."""

from collections.abc import Iterator, Sequence
from typing import Any

from scalograph.questions.registry import QUESTIONS, SWEEP, role
from scalograph.study.cross_checks import Mistake, levels_of, table
from scalograph.study.model import Protocol

RawFactors = dict[str, dict[str, Any]]
# The one question that has a default of every factor.
TUNED = "tunables"
# Runs at which the rule can end a configuration at the earliest: it looks from eight on, and must pass twice in a row.
FEWEST = 9


def check_question_rules(raw: dict[str, Any]) -> Iterator[Mistake]:
    """Check the study by its question; by a sweep for an unknown name."""
    question = raw.get("question")
    factors = {name: factor for name, factor in table(raw, "factors").items() if isinstance(factor, dict)}
    question_name = question if isinstance(question, str) and question in QUESTIONS else SWEEP
    yield from role(question_name, "check").mistakes(raw, factors)
    if question_name != TUNED and (n := len(table(raw, "baseline"))) > 1:
        fix = f'take one, or ask question = "{TUNED}"'
        yield ("baseline",), f"{n} factors", "one: speedups are taken along it", fix


def check_ignored_keys(raw: dict[str, Any], *keys: str) -> Iterator[Mistake]:
    """Check for keys of `protocol` that a search ignores: it decides runs itself."""
    for key in keys:
        if key in table(raw, "protocol"):
            fix = "remove it; budget_runs is a limit of runs"
            yield ("protocol", key), "in a search", "none: it decides that itself", fix


def check_single_factor(factors: RawFactors, controls: Sequence[str | None] | None = None) -> Iterator[Mistake]:
    """Check that a single factor of counts, with one of these controls, can be searched along."""
    many = [name for name, factor in factors.items() if has_several_levels(factor)]
    if len(many) != 1:
        text = f"{len(many)} factors of several levels" + (f": {', '.join(many)}" if many else "")
        yield ("factors",), text, "one: one program is searched", "give the others one level"
        return
    (name,) = many
    yield from _check_counts(name, factors[name], controls)


def check_precision_runs(raw: dict[str, Any]) -> Iterator[Mistake]:
    """Check that the rule of a precision can end the study; a quick form only tries it out."""
    protocol = table(raw, "protocol")
    runs = protocol.get("runs", Protocol.model_fields["runs"].default)
    if "precision" in protocol and type(runs) is int and 1 <= runs < FEWEST:
        fix = "it is the most that a configuration gets: give 100, say, or remove precision"
        yield ("protocol", "runs"), f"{runs} beside precision", f"at least {FEWEST}, or its rule can end nothing", fix


def has_several_levels(factor: dict[str, Any]) -> bool:
    """Return whether a factor may have more than one level."""
    levels = levels_of(factor)
    return levels is None or len(levels) > 1  # text that needs a host may give several


def _check_counts(name: str, factor: dict[str, Any], controls: Sequence[str | None] | None) -> Iterator[Mistake]:
    if controls is not None and factor.get("control") not in controls:
        expected = 'control = "cpus", or none where the levels count workers'
        yield ("factors", name, "control"), f"levels of {factor['control']}", expected, ""
    for level in levels_of(factor) or ():
        if (type(level) is not int or level < 1) and level != "all":
            yield ("factors", name, "levels"), f"level {level!r}", "counts from 1 on", 'such as "1:all"'
