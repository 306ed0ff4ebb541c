"""A profile for people: where the time goes, what is on top, and what was waited for, a table each."""

from collections.abc import Callable, Sequence
from pathlib import Path

from scalograph.analysis.estimate import proportion
from scalograph.errors import ProtocolError
from scalograph.findings.names import short
from scalograph.findings.published.claim_texts import profile_words
from scalograph.findings.published.measured_values import FigureHere
from scalograph.findings.published.published_claims import decided_by
from scalograph.findings.table import Table
from scalograph.profile.values import (
    Profile,
    Profiled,
    RecordedTasks,
    Waits,
    read,
)
from scalograph.protocol.findings import Cell, Column, Findings, TableDoc
from scalograph.protocol.published_claim import DecidedClaim
from scalograph.study.published_claim import PublishedClaim
from scalograph.text.units import format_duration


def with_profile(decided: Sequence[DecidedClaim], table: Table, profile: Profile) -> list[DecidedClaim]:
    """Decide the claims that ask for a profile; the others stay as they are.

    Args:
        decided: all claims of the study.
        table: its runs.
        profile: of some of its treatments.
    """
    published = table.study.published
    asking = {claim.id: claim for claim in (published.claims if published else ()) if claim.stack}
    return [_decided(table, asking[one.id], profile) if one.id in asking else one for one in decided]


def _decided(table: Table, claim: PublishedClaim, profile: Profile) -> DecidedClaim:
    fitting = (one for one in profile.profiled if claim.where.items() <= one.treatment.items())
    one = next(fitting, None)
    if one is None:
        figure = FigureHere("", missing=f"the profile has no {short(table, claim.where)}")
    elif one.seen is None:
        figure = FigureHere("", missing=f"not profiled: {one.reason}")
    else:
        figure = _share(one.seen, claim.stack)
    return decided_by(table, claim, profile_words(claim), [figure])


def _share(seen: RecordedTasks, stack: Sequence[str]) -> FigureHere:
    """Samples of one run are taken as independent: they are apart by a period in which a thread does much."""
    if not seen.n_samples:
        return FigureHere("", missing="the profile has no samples")
    n_having = sum(one.n for one in seen.stacks if list(one.frames[: len(stack)]) == list(stack))
    n_rest = max(0, seen.n_samples - sum(one.n for one in seen.stacks))
    return FigureHere("", lambda confidence: proportion(n_having, n_having + n_rest, seen.n_samples, confidence))


_SHOWN_FRAMES, _SHOWN_METHODS, _SHOWN_OBJECTS = 3, 5, 2
# Shares of fewer samples say little.
_FEW = 100
_STACKS = (
    "one further run of each configuration, with a flight recorder on: it disturbs what it measures, and counts for "
    "nothing else here; a thread that executes Java or native code is sampled every {period}, one that waits or works "
    "inside the JVM or the kernel is not; of the most frequent stack the innermost methods are shown; few: fewer than "
    "{few} samples, whose shares are rough"
)
_STACKS_BY_PERF = (
    "one further run of each configuration under perf: it disturbs what it measures, and counts for nothing else here; "
    "a thread that has a CPU is sampled every {period}, one that waits is not; of the most frequent stack the "
    "innermost functions are shown, as far as frame pointers lead (-fno-omit-frame-pointer); few: fewer than {few} "
    "samples, whose shares are rough"
)
_METHODS = "what was on top of the samples"
_WAITS = (
    "of all threads together while tasks counted, over the tasks; switches are voluntary, preemptions involuntary, "
    "both of the whole run over all iterations, start-up and pre-run included"
)


def tables(profile: Profile) -> list[TableDoc]:
    """The tables of a profile: stacks always, methods and waits where any run has been seen."""
    labels = _labels(profile.profiled)
    seen = [(one, one.seen) for one in profile.profiled if one.seen]
    found = [_stacks(profile, labels)]
    if seen:
        found += [_methods(labels, seen), _waits(labels, seen)]
    return found


def _labels(every: Sequence[Profiled]) -> list[str]:
    """Factors that have more than one level here; the first one where none has."""
    names = list(dict.fromkeys(name for one in every for name in one.treatment))
    return [name for name in names if len({str(one.treatment.get(name)) for one in every}) > 1] or names[:1]


def _table(name: str, title: str, note: str, labels: Sequence[str], columns: Sequence[Column]) -> TableDoc:
    first = [Column(name=label, kind="label") for label in labels]
    return TableDoc(id=name, title=title, note=note, columns=[*first, *columns], rows=[])


def _levels(one: Profiled, labels: Sequence[str]) -> list[Cell]:
    return [one.treatment.get(label) for label in labels]


def _stacks(profile: Profile, labels: Sequence[str]) -> TableDoc:
    columns = [
        Column(name="samples"), Column(name="share of the stack", unit="%"),
        Column(name="predominant stack", kind="text"), Column(name="time over the measured"),
        Column(name="", kind="text"),
    ]  # fmt: skip
    note = (_STACKS if profile.recorder == "jfr" else _STACKS_BY_PERF).format(
        period=format_duration(profile.period_s), few=_FEW
    )
    table = _table("profile", "Where threads are, in a run apart", note, labels, columns)
    for one in profile.profiled:
        over = one.score / one.measured if one.score is not None and one.measured else None
        top = one.seen.stacks[0] if one.seen and one.seen.stacks else None
        stack = " < ".join(map(short_method, top.frames[:_SHOWN_FRAMES])) if top else None
        n, share = one.seen.n_samples if one.seen else None, _rounded(100 * top.share) if top else None
        table.rows.append([*_levels(one, labels), n, share, stack, _rounded(over), _flags(one)])
    return table


def _flags(one: Profiled) -> list[str]:
    if one.seen is None:
        return [f"not profiled: {one.reason}"]
    few = ["few samples"] if one.seen.n_samples < _FEW else []
    return few + ([f"{one.seen.n_lost} events were not read: counts are too low"] if one.seen.n_lost else [])


def _methods(labels: Sequence[str], every: Sequence[tuple[Profiled, RecordedTasks]]) -> TableDoc:
    columns = [Column(name="method", kind="text"), Column(name="share", unit="%")]
    table = _table("profile-methods", "Methods on top, in a run apart", _METHODS, labels, columns)
    table.rows.extend(
        [*_levels(one, labels), short_method(method.name), _rounded(100 * method.share)]
        for one, seen in every
        for method in seen.methods[:_SHOWN_METHODS]
    )
    return table


# A column of the table of waits: its name, unit and kind, and what it holds.
_Held = tuple[Column, Callable[[Profiled, RecordedTasks], Cell]]
_HELD: list[_Held] = [
    (Column(name="parks a task"), lambda one, seen: _per(seen.parks.n, one.n_tasks)),
    (Column(name="mean park", unit="s"), lambda one, seen: _rounded(seen.parks.mean_s)),
    (Column(name="parked for, a task", kind="text"), lambda one, seen: _objects(seen.parks, one.n_tasks)),
    (Column(name="blocked at monitors a task"), lambda one, seen: _per(seen.blocked.n, one.n_tasks)),
    (Column(name="mean block", unit="s"), lambda one, seen: _rounded(seen.blocked.mean_s)),
    (Column(name="waits in monitors a task"), lambda one, seen: _per(seen.waits.n, one.n_tasks)),
    (Column(name="sleeps a task"), lambda one, seen: _per(seen.sleeps.n, one.n_tasks)),
    (Column(name="switches an iteration"), lambda one, seen: _per(one.switches, one.n_iterations)),
    (Column(name="preemptions an iteration"), lambda one, seen: _per(one.preemptions, one.n_iterations)),
    (Column(name="steals a task"), lambda one, seen: _rounded(one.steals_per_task)),
]


def _waits(labels: Sequence[str], every: Sequence[tuple[Profiled, RecordedTasks]]) -> TableDoc:
    """Columns in which nothing happened are left out."""
    held = [(column, [get(one, seen) for one, seen in every]) for column, get in _HELD]
    held = [(column, cells) for column, cells in held if any(cell not in (None, 0, "") for cell in cells)]
    table = _table("profile-waits", "What a task waits for, in a run apart", _WAITS, labels, [c for c, _ in held])
    for row, (one, _) in enumerate(every):
        table.rows.append([*_levels(one, labels), *(cells[row] for _, cells in held)])
    return table


def _objects(waits: Waits, n_tasks: int) -> str:
    rates = ((_last(part.on, 1) or "a pause", _per(part.n, n_tasks)) for part in waits.on[:_SHOWN_OBJECTS])
    return ", ".join(f"{name} {'?' if rate is None else f'{rate:g}'}" for name, rate in rates)


def _per(n: int | None, n_tasks: int) -> float | None:
    return None if n is None or not n_tasks else _rounded(n / n_tasks)


def _rounded(x: float | None) -> float | None:
    """Three digits: nothing here is known better."""
    return None if x is None else float(f"{x:.3g}")


def short_method(method: str) -> str:
    """Class and method, without the package.

    >>> short_method("java.util.concurrent.ForkJoinPool.scan")
    'ForkJoinPool.scan'
    """
    return _last(method, 2)


def _last(name: str, n: int) -> str:
    return ".".join(name.split(".")[-n:])


def profiled(found: Findings, folder: Path | None, table: Table) -> Findings:
    """The findings with the profile that lies in `folder`: its tables, and the claims of a paper that it decides.

    Where the profile is none of theirs they have a warning instead.

    Args:
        found: without it.
        folder: None where there is none.
        table: the runs of the findings.
    """
    if folder is None:
        return found
    try:
        profile = read(folder, found.study.hash)
    except ProtocolError as error:
        return found.model_copy(update={"warnings": [*found.warnings, str(error)]})
    if profile is None:
        return found
    more = {
        "tables": [*found.tables, *tables(profile)], "warnings": [*found.warnings, *profile.warnings],
        "published_claims": with_profile(found.published_claims, table, profile),
    }  # fmt: skip
    return found.model_copy(update=more)
