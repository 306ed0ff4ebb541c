"""Notes, settings, instruments and traces of runs, read from the journal and its records."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from scalograph.protocol.noise_floor import Recheck
from scalograph.protocol.record import CopyEvent, Record
from scalograph.study.cross_checks import DeclaredLevels
from scalograph.study.model import Study
from scalograph.study.scalars import Level, list_words, refuse, short_repr
from scalograph.text.format import format_cpu_list, named_cpus
from scalograph.text.quantities import mebibytes
from scalograph.text.short_names import join_names
from scalograph.text.units import format_duration
from scalograph.text.warning_catalog import warning_text
from scalograph.verdict.partners import RunPartner

if TYPE_CHECKING:
    from scalograph.findings.row import Row


# How a block began, in the words of releases whose notes do not say what they are about.
_EARLIER = {"busy": " began on a busy machine", "quiet": " began on a quiet machine"}


class Note(NamedTuple):
    """Something that a person should know; `about` is "busy" or "quiet" if it says how a block began.

    "disturbed" says that most runs of a block were.
    """

    text: str
    about: str = ""


def parse_note(event: Mapping[str, Any]) -> Note:
    """Parse a note of the journal. Raises KeyError if it has no text."""
    text = str(event["text"])
    implied = next((about for about, words in _EARLIER.items() if words in text), "")
    return Note(text, str(event.get("about", implied)))


def summarize_notes(every: list[Note], noise: Recheck | None) -> Iterator[str]:
    """Yield the notes in order, busy blocks summarized, then the sentence on the noise floor."""
    by = {about: [note.text for note in every if note.about == about] for about in ("busy", "disturbed")}
    for first, *more in filter(None, by.values()):
        if more:
            yield warning_text("many", first=first, more=len(more))
    # That a quiet machine was waited for is no news any more.
    yield from (note.text for note in every if note.about != "quiet" and len(by.get(note.about, ())) < 2)
    if noise and (noise.changed in ("higher", "lower") or noise.moved in ("slower", "faster")):
        yield noise.sentence


class ConfigurationCache:
    """Validate configurations against the declared levels, each only once."""

    def __init__(self, study: Study) -> None:
        self._factors = {name: DeclaredLevels(factor.model_dump()) for name, factor in study.factors.items()}
        self._known: dict[object, Mapping[str, Level]] = {}
        self._as_written: dict[object, Mapping[str, Level]] = {}

    def resolve(self, written: Any) -> Mapping[str, Level]:
        """Return the levels in the order of the study's factors; the same object for all runs.

        Raises ValueError: a factor is missing or unknown, or does not have the level.
        """
        try:
            key = tuple(written.items()), tuple(map(type, written.values()))
            levels = self._as_written.get(key)
        except (AttributeError, TypeError):  # no configuration, or a level that is none
            return self._resolve_new(written)
        if levels is None:
            levels = self._as_written[key] = self._resolve_new(written)
        return levels

    def _resolve_new(self, written: Any) -> Mapping[str, Level]:
        if not isinstance(written, dict) or written.keys() != self._factors.keys():
            raise ValueError(f"configuration {short_repr(written)}, expected a level of {list_words(self._factors)}")
        levels = tuple(map(written.__getitem__, self._factors))
        if wrong := next((refuse(level) for level in levels if not isinstance(level, Level)), None):
            raise ValueError(f"configuration: {wrong}")
        key = levels, tuple(map(type, levels))  # 1 and true are equal
        named = self._known.get(key)
        if named is None:
            named = self._known[key] = dict(zip(self._factors, levels, strict=True))
            self._refuse_unknown(named)
        return named

    def _refuse_unknown(self, configuration: Mapping[str, Level]) -> None:
        for name, level in configuration.items():
            if wrong := refuse(level):
                raise ValueError(f"configuration: {name}: {wrong}")
            if not self._factors[name].has(level):
                expected = self._factors[name].expected_text
                raise ValueError(f"configuration: {name} = {short_repr(level)}, expected {expected}")


def iteration_window(record: Record, warmup: int) -> tuple[int, int] | None:
    """Return the span of the counted iterations, ns since the gate; None if there are none."""
    parts = [zip(part.index, part.start_ns, part.end_ns, strict=True) for part in record.iterations]
    spans = [(start, end) for part in parts for index, start, end in part if index >= warmup]
    return (min(start for start, _ in spans), max(end for _, end in spans)) if spans else None


MIN_SHARE = 0.01  # a CPU with less of a run's CPU time was not used by it


def own_changes(record: Record) -> tuple[str, ...]:
    """Return the settings that the program changed itself, as texts without duplicates."""
    changed = [copy for copy in record.copies if copy.changed]
    return tuple(dict.fromkeys(text for copy in changed for text in _describe_changes(copy))) if changed else ()


def _describe_changes(copy: CopyEvent) -> Iterator[str]:
    before, end = copy.in_force, copy.placement_at_end
    if before is None or end is None:
        return
    if end.cpus != before.cpus:
        yield f"its CPUs from {format_cpu_list(before.cpus)} to {format_cpu_list(end.cpus)}"
    if (end.policy, end.priority) != (before.policy, before.priority):
        old, new = (f"{p.policy}:{p.priority}" if p.priority else p.policy for p in (before, end))
        yield f"its policy from {old} to {new}"
    if end.nice != before.nice:
        yield f"its nice value from {before.nice} to {end.nice}"


def explain_fewer_cpus(record: Record) -> str:
    """Return a text if the program confined itself to fewer CPUs than it was given; else empty.

    A program that binds its threads narrows the mask of the first only, and uses all CPUs all the same.
    """
    copy, used = record.copies[0] if len(record.copies) == 1 else None, record.run.per_cpu_ns
    before, end = (copy.in_force, copy.placement_at_end) if copy and copy.changed else (None, None)
    if before is None or end is None or not used or not set(end.cpus) < set(before.cpus):
        return ""
    n_used = sum(ns > MIN_SHARE * sum(used) for ns in used)
    return f"it stayed on {named_cpus(end.cpus)} of {format_cpu_list(before.cpus)}" if n_used <= len(end.cpus) else ""


MAX_NAMED = 12  # settings that a sentence names


def settings_changes(record: Record) -> tuple[tuple[str, str, str], ...]:
    """Return the machine settings that a run changed, with the values before and after."""
    if not record.settings:  # as of most runs
        return ()
    changed = (s for s in record.settings if s.after and {s.asked, s.after} != {s.before})
    return tuple((setting.name, setting.before, setting.after) for setting in changed)


def machine_sentences(rows: Sequence["Row"]) -> Iterator[str]:
    """Yield whether machine settings were restored, which memory limits were reached, and which jobs were lost."""
    yield from settings_sentences(rows)
    yield from memory_sentences(rows)
    yield from lost_job_sentences(rows)


def lost_job_sentences(rows: Sequence["Row"]) -> Iterator[str]:
    """Yield how many jobs of a cluster were lost, and the reasons of the first ones."""
    reasons = [reason for row in rows for reason in row.lost_jobs]
    if reasons:
        yield warning_text("jobs lost", n=len(reasons), first="; ".join(reasons[:MAX_NAMED]))


def settings_sentences(rows: Sequence["Row"]) -> Iterator[str]:
    """Yield whether the machine settings were restored, or which run left one changed."""
    changing = [row for row in rows if row.settings]
    if not changing:
        return
    left = [(row.run, *change) for row in changing for change in row.settings if change[1] != change[2]]
    for run, name, before, after in left[:MAX_NAMED]:
        yield warning_text("setting left", run=run, name=name, after=after, before=before)
    if not left:
        values = {name: before for row in changing for name, before, _ in row.settings}
        named = ", ".join(f"{name} {value}" for name, value in [*values.items()][:MAX_NAMED])
        yield warning_text("settings restored", n=len(changing), named=named)


def memory_sentences(rows: Sequence["Row"]) -> Iterator[str]:
    """Yield at which memory limits the kernel took pages back, and in how many of the successful runs."""
    limits = Counter(row.reclaimed_at for row in rows if row.reclaimed_at and row.status == "ok" and not row.warmup)
    for limit in sorted(limits)[:MAX_NAMED]:
        yield warning_text("memory reclaimed", n=limits[limit], limit=mebibytes(limit))


PARTNER_SHARE = 0.01  # less of the runs' CPU time is not worth a sentence


def partner_sentences(rows: Sequence["Row"]) -> Iterator[str]:
    """Yield which processes outside the runs worked for them, or may have, in at least half of the runs."""
    runs = [row for row in rows if row.status == "ok" and row.cpu_s is not None]
    least_s = PARTNER_SHARE * median([row.cpu_s or 0.0 for row in runs]) if runs else 0.0
    by_name: dict[str, list[RunPartner]] = {}
    for partner in (partner for row in runs for partner in row.partners):
        by_name.setdefault(partner.name, []).append(partner)
    named: dict[bool, list[str]] = {True: [], False: []}
    for name, partners in by_name.items():
        used_s = median([partner.cpu_ns / 1e9 for partner in partners])
        if 2 * len(partners) >= len(runs) and used_s >= least_s:
            is_sure = 2 * sum(partner.is_sure for partner in partners) >= len(runs)
            named[is_sure].append(f"{name} ({format_duration(used_s)} a run)")
    for is_sure, names in named.items():
        if names:
            yield warning_text("partners" if is_sure else "possible partners", named=join_names(names[:MAX_NAMED]))


def degradations(record: Record) -> tuple[tuple[str, str, str], ...]:
    """Return what the kernel did not grant the probe: what, why, and the fix, without duplicates."""
    if not record.header.degraded and not record.run.degraded:
        return ()
    return tuple(sorted({(d.what, d.why, d.fix) for d in (*record.header.degraded, *record.run.degraded)}))


def instrument_setup(record: Record) -> tuple[str, ...]:
    """Return probe, backend, containment, policies and nice values: what must not vary undeclared."""
    forces = frozenset([(copy.in_force.policy, copy.in_force.nice) for copy in record.copies if copy.in_force])
    header = record.header
    return _make_setup(header.kind, header.probe, header.backend, header.containment, forces)


@lru_cache
def _make_setup(
    kind: str, probe: str, backend: str, containment: str, forces: Iterable[tuple[str, int]]
) -> tuple[str, ...]:
    policies = "+".join(sorted({policy for policy, _ in forces}))
    nices = "+".join(sorted({str(nice) for _, nice in forces}))
    return (f"{kind} {probe}", backend, containment, policies, nices)


# Of more rows, both copies would take more memory than their nearness is worth: 1.5 kB for each.
MOST_COPIED = 250_000


def copy_side_by_side(rows: "list[Row]") -> "list[Row]":
    """Copy the rows so that those of one configuration are adjacent in memory; the order stays.

    More than `MOST_COPIED` are returned as they are.
    """
    if len(rows) > MOST_COPIED:
        return rows
    indices = sorted(range(len(rows)), key=lambda index: id(rows[index].configuration))
    copies = [*rows]
    for index in indices:
        # Multiplied by one: the product is a new object.
        scores = {name: 1.0 * x if type(x) is float else x for name, x in rows[index].scores.items()}
        copies[index] = replace(rows[index], scores=scores)
    return copies


START, END, WORKER = "trace_start_ns", "trace_end_ns", "trace_worker"
MAX_SUBTASKS = 512


@dataclass(frozen=True, slots=True)
class SubtaskTrace:
    """Subtasks of one iteration, in the order of their reports.

    Attributes:
        start_ns: since the start of the iteration.
    """

    start_ns: tuple[float, ...]
    end_ns: tuple[float, ...]
    worker: tuple[int, ...]

    @property
    def n_workers(self) -> int:
        return len(set(self.worker))


def find_trace(record: Record) -> SubtaskTrace | None:
    """Return the first whole trace of a record; None if there is none."""
    for part in record.values:
        if START in part.values:
            break
    else:  # as in most runs
        return None
    telling = [part.values for part in record.values if START in part.values]
    reported = (tuple(values.get(name, []) for name in (START, END, WORKER)) for values in telling)
    whole = next((lists for lists in reported if _is_whole(*lists)), None)
    return SubtaskTrace(tuple(whole[0]), tuple(whole[1]), tuple(int(n) for n in whole[2])) if whole else None


def _is_whole(start: Sequence[float], end: Sequence[float], worker: Sequence[float]) -> bool:
    if not 0 < len(start) == len(end) == len(worker) <= MAX_SUBTASKS:
        return False
    numbers = all(math.isfinite(n) for n in (*start, *end, *worker))
    is_ordered = all(0 <= a <= b for a, b in zip(start, end, strict=True))
    return numbers and is_ordered and all(n >= 0 and n == int(n) for n in worker)
