"""A reproduction in words: how many claims of published studies came to what, and how far its parts can be believed."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from scalograph.protocol.findings import RunsDoc
from scalograph.protocol.reproduction import Outcome, ReproducedPart, Reproduction
from scalograph.text.quantities import count_noun
from scalograph.text.summaries import DOT, machine_words
from scalograph.text.units import format_duration

# In the order in which they stand in a table, with the two lines that stand above a narrow column.
COLUMNS: dict[Outcome, tuple[str, str]] = {
    "holds": ("", "holds"), "does not hold": ("does", "not"), "not resolved": ("not", "resolved"),
    "cannot be seen here": ("not", "here"), "not comparable": ("not com-", "parable"), "not yet": ("not", "yet"),
    "not measured": ("not", "run"),
}  # fmt: skip
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}
# Of parts that did not end.
_STATES = {"skipped": "skipped", "failed": "failed", "begun": "begun", "not run": "not run"}
NAMED = 3  # parts that one line names
_BELIEF = {"believe": "believed", "doubt": "with care", "reject": "not believed"}


def headline(reproduction: Reproduction) -> str:
    """Say what became of all claims, in one sentence.

    >>> from scalograph.protocol.reproduction import ReproducedStudy
    >>> study = ReproducedStudy(id="S0", name="a", title="A", outcomes={"S0-1": "holds", "S0-2": "not yet"})
    >>> headline(Reproduction(quick=True, started="", studies=[study]))
    '1 of 2 claims of one published study holds on this machine, 1 not yet.'
    """
    n, of = reproduction.counts(), sum(len(study.outcomes) for study in reproduction.studies)
    studies = (
        "one published study"
        if len(reproduction.studies) == 1
        else f"{_several(len(reproduction.studies))} published studies"
    )
    held = f"{n['holds'] or 'None'} of {count_noun(of, 'claim')} of {studies}"
    parts = [f"{held} {'hold' if n['holds'] > 1 else 'holds'} on this machine"]
    others: dict[Outcome, str] = {
        "does not hold": "does not" if n["does not hold"] == 1 else "do not",
        "not resolved": "not resolved", "cannot be seen here": "cannot be seen here",
        "not comparable": "not comparable", "not yet": "not yet", "not measured": "not measured",
    }  # fmt: skip
    return ", ".join([*parts, *(f"{n[kind]} {word}" for kind, word in others.items() if n[kind])]) + "."


def _several(n: int) -> str:
    return _NUMBERS.get(n, f"{n}")


def circumstances(reproduction: Reproduction) -> str:
    """Say on which machine, in which form, when and for how long."""
    form = "parts in their quick forms" if reproduction.quick else "parts in full"
    return DOT.join(filter(None, [machine_words(reproduction.machine), form, *_times(reproduction)]))


def _times(reproduction: Reproduction) -> list[str]:
    try:
        began = datetime.fromisoformat(reproduction.started).astimezone(UTC)
        day = f"{began:%d %b %Y}".removeprefix("0")
        if reproduction.ended is None:
            return [day, "not finished"]
        # Not until `ended`: parts may be run again on another day.
        seconds = sum(_duration(part.runs) for part in reproduction.parts if part.runs)
    except (ValueError, OverflowError):
        return []
    return [day, format_duration(60 * round(seconds / 60) if seconds > 600 else max(round(seconds), 1))]


def _duration(runs: RunsDoc) -> float:
    """Seconds from the first run of a part to its end."""
    return (
        max(_seconds(runs.ended) - _seconds(runs.started) - runs.paused_s, 0.0) if runs.started and runs.ended else 0.0
    )


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def columns(reproduction: Reproduction) -> list[Outcome]:
    """What any claim came to, in the order of the table; the first three stand in it in any case."""
    n = reproduction.counts()
    return [kind for i, kind in enumerate(COLUMNS) if i < 3 or n[kind]]


def table_rows(reproduction: Reproduction) -> list[tuple[str, list[int]]]:
    """Count for each published study, and for all together, its claims and what they came to: (label, numbers)."""
    kinds = columns(reproduction)
    rows = [(f"{study.id} {study.name}", Counter(study.outcomes.values())) for study in reproduction.studies]
    rows += [("all", reproduction.counts())] if len(reproduction.studies) > 1 else []
    return [(label, [sum(n.values()), *(n[kind] for kind in kinds)]) for label, n in rows]


def several(reproduction: Reproduction) -> str:
    """Name the first claim of which several parts are decided; empty where there is none."""
    for study in reproduction.studies:
        for number in study.outcomes:
            ids = [claim.id for claim in study.claims if claim.number == number]
            if len(ids) > 1:
                return f"{', '.join(ids[:-1])} and {ids[-1]}"
    return ""


def belief(parts: Sequence[ReproducedPart]) -> str:
    """Say how far the parts can be believed, those that cannot by name; empty where none was run."""
    levels = {level: [part.study for part in parts if part.trust and part.trust.level == level] for level in _BELIEF}
    parts_ = [f"{count_noun(len(names), 'part')} {_BELIEF[level]}" for level, names in levels.items() if names]
    named = f": {', '.join(levels['reject'])}" if levels["reject"] else ""
    return f"{', '.join(parts_)}{named}" if parts_ else ""


def unfinished_parts(parts: Sequence[ReproducedPart]) -> list[tuple[str, str]]:
    """Name the parts that did not end, those of one reason together: (what became of them, which and why)."""
    groups: dict[tuple[str, str], list[str]] = {}
    for part in parts:
        if part.state in _STATES:
            groups.setdefault((_STATES[part.state], part.why), []).append(part.study)
    return [
        (
            state,
            f"{', '.join(names[:NAMED])}{f' and {len(names) - NAMED} more' * (len(names) > NAMED)}{reason and f': {reason}'}",
        )
        for (state, reason), names in groups.items()
    ]
