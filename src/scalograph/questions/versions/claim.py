"""The version to choose, and how much it saves: the ratio over the reference, first."""

from collections.abc import Mapping, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.findings.names import short, title, varying
from scalograph.findings.speedup_rule import kind, primary
from scalograph.findings.table import Table
from scalograph.protocol.claim import Claim
from scalograph.protocol.plain import Level
from scalograph.questions.versions.model import Version
from scalograph.text.quantities import change, ends, inverse


def claim(table: Table, versions: Sequence[Version]) -> Claim:
    """Say what beats the reference.

    Args:
        table: the study.
        versions: all that are compared with it, one or more.
    """
    known = sorted((v for v in versions if v.gain.value is not None), key=lambda v: v.gain.value or 0, reverse=True)
    resolved = [v for v in known if v.word != "not resolved"]
    if not resolved:
        return Claim(sentences=[_unresolved(table, known)], answered=False)
    text = _one(table, known[0]) if len(known) == 1 else _several(table, known)
    return Claim(sentences=[text])


def _one(table: Table, version: Version) -> str:
    return f"{_name(table, version)} {_verb(table)} {_change(table, version)} than {_reference(table)}."


def _several(table: Table, known: Sequence[Version]) -> str:
    """The best and the worst of several; what is not resolved has no figure."""
    best, worst, reference = known[0], known[-1], _reference(table)
    below = f"the worst, {_name(table, worst)}, {_change(table, worst)}" if worst.word == "slower" else ""
    if best.word == "faster":
        text = f"The fastest, {_name(table, best)}, {_verb(table)} {_change(table, best)} than {reference}"
        return f"{text}; {below}." if below else f"{text}."
    if best.word == "slower":
        above = f"the best, {_name(table, best)}, {_verb(table)} {_change(table, best)}"
        return f"None is faster than {reference}: {above}; {below}."
    return f"None is shown to be faster than {reference}; {below}."


def _unresolved(table: Table, known: Sequence[Version]) -> str:
    if len(known) == 1 and known[0].gain.low is not None:
        return f"Cannot be said: the ratio to {_reference(table)} lies within {ends(_ratio(table, known[0]))}."
    return f"Cannot be said: no difference from {_reference(table)} is resolved."


def _change(table: Table, version: Version) -> str:
    return change(_ratio(table, version), "time" if _is_time(table) else title(table, primary(table)))


def _ratio(table: Table, version: Version) -> Estimate:
    """Of the figures as they are measured: times, or rates."""
    return inverse(version.gain) if table.study.responses[primary(table)].better != "higher" else version.gain


def _is_time(table: Table) -> bool:
    return kind(table.study.responses[primary(table)]) == "time"


def _verb(table: Table) -> str:
    return "takes" if _is_time(table) else "has"


def _name(table: Table, version: Version) -> str:
    """The levels in which it differs from the reference, and those that vary beside."""
    levels = varying(table, version.sample.treatment)
    return short(table, _numbered(levels))


def _reference(table: Table) -> str:
    """The texts of the reference say what it is; its counts are no choice of the reader."""
    levels = table.study.reference
    return short(table, {name: level for name, level in levels.items() if isinstance(level, str)} or levels)


def _numbered(levels: Mapping[str, Level]) -> dict[str, Level]:
    """Texts first: "stream, 8 threads"."""
    return dict(sorted(levels.items(), key=lambda item: not isinstance(item[1], str)))
