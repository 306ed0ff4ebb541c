"""Words for a reproduction: outcomes of published claims, circumstances, reliability and unfinished parts."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from scalograph.protocol.findings import RunsDoc
from scalograph.protocol.reproduction import Outcome, ReproducedPart, Reproduction
from scalograph.text.quantities import count_noun
from scalograph.text.summaries import DOT, machine_words
from scalograph.text.units import format_duration

# Outcomes in the order of a table, with the two lines of their column heads.
COLUMNS: dict[Outcome, tuple[str, str]] = {
    "holds": ("", "holds"), "does not hold": ("does", "not"), "inconclusive": ("incon-", "clusive"),
    "cannot be seen here": ("not test-", "able here"), "not comparable": ("not com-", "parable"),
    "not yet": ("not", "yet"), "not measured": ("not", "run"),
}  # fmt: skip
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}
_STATES = ("skipped", "failed", "begun", "not run")  # of parts that did not end
NAMED = 3  # parts that one line names
_VERDICTS = {"reliable": "reliable", "caution": "with caution", "unusable": "unusable"}


def headline(reproduction: Reproduction) -> str:
    """Count the outcomes of all claims in one sentence.

    >>> from scalograph.protocol.reproduction import ReproducedStudy
    >>> study = ReproducedStudy(id="S0", name="a", title="A", outcomes={"S0-1": "holds", "S0-2": "not yet"})
    >>> headline(Reproduction(quick=True, started="", studies=[study]))
    '1 of 2 claims of one published study holds on this machine, 1 not yet.'
    """
    n, of = reproduction.counts(), sum(len(study.outcomes) for study in reproduction.studies)
    n_studies = len(reproduction.studies)
    studies = "one published study" if n_studies == 1 else f"{_NUMBERS.get(n_studies, n_studies)} published studies"
    held = f"{n['holds'] or 'None'} of {count_noun(of, 'claim')} of {studies}"
    parts = [f"{held} {'hold' if n['holds'] > 1 else 'holds'} on this machine"]
    does_not = "does not" if n["does not hold"] == 1 else "do not"
    words = {"does not hold": does_not, "cannot be seen here": "not testable here"}
    others = [kind for kind in COLUMNS if kind != "holds" and n[kind]]
    return ", ".join([*parts, *(f"{n[kind]} {words.get(kind, kind)}" for kind in others)]) + "."


def circumstances(reproduction: Reproduction) -> str:
    """Return machine, form, day and duration of a reproduction in one line."""
    form = "parts in their quick forms" if reproduction.quick else "parts in full"
    return DOT.join(filter(None, [machine_words(reproduction.machine), form, *_times(reproduction)]))


def _times(reproduction: Reproduction) -> list[str]:
    try:
        began = datetime.fromisoformat(reproduction.started).astimezone(UTC)
        day = f"{began:%d %b %Y}".removeprefix("0")
        if reproduction.ended is None:
            return [day, "not finished"]
        # Not until `ended`: parts may be run again on another day.
        seconds = sum(_seconds(part.runs) for part in reproduction.parts if part.runs)
    except (ValueError, OverflowError):
        return []
    return [day, format_duration(60 * round(seconds / 60) if seconds > 600 else max(round(seconds), 1))]


def _seconds(runs: RunsDoc) -> float:
    """Return the seconds from the first run of a part to its end."""
    if not runs.started or not runs.ended:
        return 0.0
    began, ended = (datetime.fromisoformat(text).timestamp() for text in (runs.started, runs.ended))
    return max(ended - began - runs.paused_s, 0.0)


def columns(reproduction: Reproduction) -> list[Outcome]:
    """Return the outcomes of any claim in the order of the table, which always has the first three."""
    n = reproduction.counts()
    return [kind for i, kind in enumerate(COLUMNS) if i < 3 or n[kind]]


def table_rows(reproduction: Reproduction) -> list[tuple[str, list[int]]]:
    """Count claims and their outcomes for each published study, and for all together: (label, numbers)."""
    kinds = columns(reproduction)
    rows = [(f"{study.id} {study.name}", Counter(study.outcomes.values())) for study in reproduction.studies]
    rows += [("all", reproduction.counts())] if len(reproduction.studies) > 1 else []
    return [(label, [sum(n.values()), *(n[kind] for kind in kinds)]) for label, n in rows]


def several(reproduction: Reproduction) -> str:
    """Name the parts of the first claim that has several; empty without one."""
    for study in reproduction.studies:
        for number in study.outcomes:
            ids = [claim.id for claim in study.claims if claim.number == number]
            if len(ids) > 1:
                return f"{', '.join(ids[:-1])} and {ids[-1]}"
    return ""


def part_verdicts(parts: Sequence[ReproducedPart]) -> str:
    """Count parts by verdict and name those that are unusable; empty where none was run."""
    levels = {level: [part.study for part in parts if part.trust and part.trust.level == level] for level in _VERDICTS}
    parts_ = [f"{count_noun(len(names), 'part')} {_VERDICTS[level]}" for level, names in levels.items() if names]
    named = f": {', '.join(levels['unusable'])}" if levels["unusable"] else ""
    return f"{', '.join(parts_)}{named}" if parts_ else ""


def unfinished_parts(parts: Sequence[ReproducedPart]) -> list[tuple[str, str]]:
    """Name the parts that did not end, grouped by state and reason: (state, names and reason)."""
    groups: dict[tuple[str, str], list[str]] = {}
    for part in parts:
        if part.state in _STATES:
            groups.setdefault((part.state, part.why), []).append(part.study)
    return [
        (state, f"{', '.join(names[:NAMED])}{_others(len(names) - NAMED)}{reason and f': {reason}'}")
        for (state, reason), names in groups.items()
    ]


def _others(n: int) -> str:
    return f" and {n} more" if n > 0 else ""
