"""What the journal noted of the machine, for people: many blocks that began alike are one sentence."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from scalograph.protocol.noise_floor import Recheck
from scalograph.protocol.record import CopyEvent, InForce, Record
from scalograph.study.cross_checks import DeclaredLevels
from scalograph.study.model import Study
from scalograph.study.scalars import Level, enumerated, refuse, short
from scalograph.text.format import format_cpu_list, named_cpus
from scalograph.text.quantities import counted

# How a block began, in the words of releases whose notes do not say what they are about.
_EARLIER = {"busy": " began on a busy machine", "quiet": " began on a quiet machine"}
# What many notes have in common.
MANY = {
    "busy": "blocks and rounds of repeats began on a busy machine",
    "disturbed": "blocks had mostly disturbed runs",
}


class Note(NamedTuple):
    """Something that a person should know; `about` is "busy" or "quiet" if it says how a block began.

    "disturbed" says that most runs of a block were.
    """

    text: str
    about: str = ""


def note(event: Mapping[str, Any]) -> Note:
    """Read a note of the journal. Raises KeyError if it has no text."""
    text = str(event["text"])
    found = next((about for about, words in _EARLIER.items() if words in text), "")
    return Note(text, str(event.get("about", found)))


def notes(every: list[Note], noise: Recheck | None) -> Iterator[str]:
    """Yield what was noted in order, busy blocks together, and what became of the noise floor."""
    by = {about: [one.text for one in every if one.about == about] for about in MANY}
    for about, found in by.items():
        if len(found) > 1:
            yield f"{len(found)} {MANY[about]}; first: {found[0]}"
    # That a quiet machine was waited for is no news any more.
    yield from (one.text for one in every if one.about != "quiet" and len(by.get(one.about, ())) < 2)
    if noise and (noise.changed in ("higher", "lower") or noise.moved in ("slower", "faster")):
        yield noise.sentence


class HeldTreatments:
    """The treatments that a study can have; each is looked at once, whatever the number of its runs."""

    def __init__(self, study: Study) -> None:
        self._factors = {name: DeclaredLevels(factor.model_dump()) for name, factor in study.factors.items()}
        self._known: dict[object, Mapping[str, Level]] = {}
        self._as_written: dict[object, Mapping[str, Level]] = {}

    def of(self, written: Any) -> Mapping[str, Level]:
        """Return a treatment in the order of the study's factors; the same value for all runs of it.

        Raises:
            ValueError: a factor is missing or unknown, or does not have the level.
        """
        try:
            key = tuple(written.items()), tuple(map(type, written.values()))
            known = self._as_written.get(key)
        except (AttributeError, TypeError):  # no treatment, or a level that is none
            return self._looked_at(written)
        if known is None:
            known = self._as_written[key] = self._looked_at(written)
        return known

    def _looked_at(self, written: Any) -> Mapping[str, Level]:
        if not isinstance(written, dict) or written.keys() != self._factors.keys():
            raise ValueError(f"treatment {short(written)}, expected a level of {enumerated(self._factors)}")
        levels = tuple(map(written.__getitem__, self._factors))
        if wrong := next((refuse(level) for level in levels if not isinstance(level, Level)), None):
            raise ValueError(f"treatment: {wrong}")
        key = levels, tuple(map(type, levels))  # 1 and true are equal
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = dict(zip(self._factors, levels, strict=True))
            self._refuse_unknown(known)
        return known

    def _refuse_unknown(self, treatment: Mapping[str, Level]) -> None:
        for name, level in treatment.items():
            if wrong := refuse(level):
                raise ValueError(f"treatment: {name}: {wrong}")
            if not self._factors[name].has(level):
                raise ValueError(f"treatment: {name} = {short(level)}, expected {self._factors[name].expected}")


# A CPU with less of a run's CPU time was not used by it.
USED = 0.01


def own_changes(record: Record) -> tuple[str, ...]:
    """Return in words what the copies of a run changed themselves, each change once, in their order."""
    changed = [copy for copy in record.copies if copy.changed]
    return tuple(dict.fromkeys(text for copy in changed for text in _told(copy))) if changed else ()


def _told(copy: CopyEvent) -> Iterator[str]:
    before, end = copy.in_force, copy.at_end
    if before is None or end is None:
        return
    if end.cpus != before.cpus:
        yield f"its CPUs from {format_cpu_list(before.cpus)} to {format_cpu_list(end.cpus)}"
    if (end.policy, end.priority) != (before.policy, before.priority):
        yield f"its policy from {_policy(before)} to {_policy(end)}"
    if end.nice != before.nice:
        yield f"its nice value from {before.nice} to {end.nice}"


def _policy(placed: InForce) -> str:
    return f"{placed.policy}:{placed.priority}" if placed.priority else placed.policy


def kept_to_fewer(record: Record) -> str:
    """Tell that a run used no more CPUs than its program had confined itself to; empty if it did, or nobody saw it.

    One that binds its threads narrows the mask of the first, and uses all CPUs that it was given all the same.
    """
    copy, used = record.copies[0] if len(record.copies) == 1 else None, record.run.per_cpu_ns
    before, end = (copy.in_force, copy.at_end) if copy and copy.changed else (None, None)
    if before is None or end is None or not used or not set(end.cpus) < set(before.cpus):
        return ""
    n_used = sum(ns > USED * sum(used) for ns in used)
    return f"it kept to {named_cpus(end.cpus)} of {format_cpu_list(before.cpus)}" if n_used <= len(end.cpus) else ""


# Settings that a sentence names.
MOST_NAMED = 12
Restored = tuple[tuple[str, str, str], ...]


class _Changing(Protocol):
    @property
    def run(self) -> str:
        """The name of a run."""

    @property
    def settings(self) -> Restored:
        """Name, value before and value after of what it changed."""


def restored(record: Record) -> Restored:
    """Return the settings that a run changed, with the values before and after it; none of a machine that has ended."""
    if not record.settings:  # as of most runs
        return ()
    told = (one for one in record.settings if one.after)
    return tuple((one.name, one.before, one.after) for one in told if {one.asked, one.after} != {one.before})


def restored_sentences(rows: Sequence[_Changing]) -> Iterator[str]:
    """Yield what became of the machine's settings: all restored, or which run left one otherwise."""
    changing = [row for row in rows if row.settings]
    if not changing:
        return
    left = [(row.run, *one) for row in changing for one in row.settings if one[1] != one[2]]
    for run, name, before, after in left[:MOST_NAMED]:
        yield f"after run {run} the setting {name} was {after}, and {before} before it"
    if not left:
        values = {name: before for row in changing for name, before, _ in row.settings}
        named = ", ".join(f"{name} {value}" for name, value in [*values.items()][:MOST_NAMED])
        n = counted(len(changing), "run")
        yield f"settings of the machine were changed for {n} and restored after each, as read back: {named}"
