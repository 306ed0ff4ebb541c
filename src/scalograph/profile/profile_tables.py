"""Tables of a profile: stacks, methods on top, waits; and the claims that it decides."""

from collections.abc import Callable, Sequence
from pathlib import Path

from scalograph.analysis.estimate import proportion
from scalograph.errors import ProtocolError
from scalograph.findings.published.claim_texts import describe_profile
from scalograph.findings.published.measured_values import MeasuredValue
from scalograph.findings.published.published_claims import decide_claim
from scalograph.findings.table import Table
from scalograph.profile.values import Profile, ProfiledRun, RecordedTasks, Waits, read_profile
from scalograph.profile.wait_kinds import SMALLER
from scalograph.protocol.explanation import LEAST_SHARE, PART, Explanation, Share, read_explanation
from scalograph.protocol.findings import Cell, Column, Findings, Part, TableDoc
from scalograph.protocol.published_claim import DecidedClaim
from scalograph.study.published_claim import PublishedClaim
from scalograph.text.explained import cause_text
from scalograph.text.short_names import short_setting
from scalograph.text.units import format_duration


def decide_profile_claims(decided: Sequence[DecidedClaim], table: Table, profile: Profile) -> list[DecidedClaim]:
    """Decide the claims about a profile; keep the others."""
    published = table.study.published
    asking = {claim.id: claim for claim in (published.claims if published else ()) if claim.stack}
    return [_decide_claim(table, asking[claim.id], profile) if claim.id in asking else claim for claim in decided]


def _decide_claim(table: Table, claim: PublishedClaim, profile: Profile) -> DecidedClaim:
    run = next((run for run in profile.profiled if claim.where.items() <= run.configuration.items()), None)
    if run is None:
        value = MeasuredValue("", missing=f"the profile has no {table.view.short_levels(claim.where)}")
    elif run.seen is None:
        value = MeasuredValue("", missing=f"not profiled: {run.reason}")
    else:
        value = _stack_share(run.seen, claim.stack)
    return decide_claim(table, claim, describe_profile(claim), [value])


def _stack_share(seen: RecordedTasks, stack: Sequence[str]) -> MeasuredValue:
    """Treat samples of one run as independent: a thread does much between two."""
    if not seen.n_samples:
        return MeasuredValue("", missing="the profile has no samples")
    n_having = sum(s.n for s in seen.stacks if list(s.frames[: len(stack)]) == list(stack))
    n_rest = max(0, seen.n_samples - sum(s.n for s in seen.stacks))
    return MeasuredValue("", lambda confidence: proportion(n_having, n_having + n_rest, seen.n_samples, confidence))


_SHOWN_FRAMES, _SHOWN_METHODS, _SHOWN_OBJECTS = 3, 5, 2
_FEW = 100  # shares of fewer samples say little
_STACKS = (
    "one further run of each configuration, with a flight recorder on: it disturbs what it measures, and counts for "
    "nothing else here; a thread that executes Java or native code is sampled every {period}, one that waits or works "
    "inside the JVM or the kernel is not; of the most frequent stack the innermost methods are shown; few: fewer than "
    "{few} samples, whose shares are rough"
)
_STACKS_BY_PERF = (
    "one further run of each configuration under perf: it disturbs what it measures, and counts for nothing else here; "
    "a thread that has a CPU is sampled every {period}, one that waits is not; of the most frequent stack the "
    "innermost functions are shown; few: fewer than {few} samples, whose shares are rough"
)
_METHODS = "what was on top of the samples"
_WAITS = (
    "of all threads together while tasks counted, over the tasks; switches are voluntary, preemptions involuntary, "
    "both of the whole run over all iterations, start-up and pre-run included"
)


def profile_tables(profile: Profile) -> list[TableDoc]:
    """Make the tables of a profile: stacks always, methods and waits if any run was profiled."""
    names = list(dict.fromkeys(name for run in profile.profiled for name in run.configuration))
    levels = {name: {str(run.configuration.get(name)) for run in profile.profiled} for name in names}
    labels = [name for name in names if len(levels[name]) > 1] or names[:1]
    seen = [(run, run.seen) for run in profile.profiled if run.seen]
    return [_stacks(profile, labels), *([_methods(labels, seen), _waits(labels, seen)] if seen else [])]


def _table(name: str, title: str, note: str, labels: Sequence[str], columns: Sequence[Column]) -> TableDoc:
    first = [Column(name=label, kind="label") for label in labels]
    return TableDoc(id=name, title=title, note=note, columns=[*first, *columns], rows=[])


def _levels(run: ProfiledRun, labels: Sequence[str]) -> list[Cell]:
    return [run.configuration.get(label) for label in labels]


def _stacks(profile: Profile, labels: Sequence[str]) -> TableDoc:
    columns = [
        Column(name="samples"), Column(name="share of the stack", unit="%"),
        Column(name="predominant stack", kind="text"), Column(name="time over the measured"),
        Column(name="", kind="text"),
    ]  # fmt: skip
    note = _STACKS if profile.recorder == "jfr" else _STACKS_BY_PERF
    note = note.format(period=format_duration(profile.period_s), few=_FEW)
    table = _table("profile", "Where threads are, in a run apart", note, labels, columns)
    for run in profile.profiled:
        over = run.score / run.measured if run.score is not None and run.measured else None
        top = run.seen.stacks[0] if run.seen and run.seen.stacks else None
        stack = " < ".join(map(short_method, top.frames[:_SHOWN_FRAMES])) if top else None
        n, share = run.seen.n_samples if run.seen else None, _round(100 * top.share) if top else None
        if run.seen is None:
            flags = [f"not profiled: {run.reason}"]
        else:
            flags = ["few samples"] if run.seen.n_samples < _FEW else []
            flags += [f"{run.seen.n_lost} events were not read: counts are too low"] if run.seen.n_lost else []
        table.rows.append([*_levels(run, labels), n, share, stack, _round(over), flags])
    return table


def _methods(labels: Sequence[str], every: Sequence[tuple[ProfiledRun, RecordedTasks]]) -> TableDoc:
    columns = [Column(name="method", kind="text"), Column(name="share", unit="%")]
    table = _table("profile-methods", "Methods on top, in a run apart", _METHODS, labels, columns)
    table.rows.extend(
        [*_levels(run, labels), short_method(method.name), _round(100 * method.share)]
        for run, seen in every
        for method in seen.methods[:_SHOWN_METHODS]
    )
    return table


_WaitColumn = tuple[Column, Callable[[ProfiledRun, RecordedTasks], Cell]]
_WAIT_COLUMNS: list[_WaitColumn] = [
    (Column(name="parks a task"), lambda run, seen: _rate(seen.parks.n, run.n_tasks)),
    (Column(name="mean park", unit="s"), lambda run, seen: _round(seen.parks.mean_s)),
    (Column(name="parked for, a task", kind="text"), lambda run, seen: _objects(seen.parks, run.n_tasks)),
    (Column(name="blocked at locks a task"), lambda run, seen: _rate(seen.blocked.n, run.n_tasks)),
    (Column(name="mean block", unit="s"), lambda run, seen: _round(seen.blocked.mean_s)),
    (Column(name="waits in monitors a task"), lambda run, seen: _rate(seen.waits.n, run.n_tasks)),
    (Column(name="sleeps a task"), lambda run, seen: _rate(seen.sleeps.n, run.n_tasks)),
    (Column(name="switches an iteration"), lambda run, seen: _rate(run.switches, run.n_iterations)),
    (Column(name="preemptions an iteration"), lambda run, seen: _rate(run.preemptions, run.n_iterations)),
    (Column(name="steals a task"), lambda run, seen: _round(run.steals_per_task)),
]


def _waits(labels: Sequence[str], every: Sequence[tuple[ProfiledRun, RecordedTasks]]) -> TableDoc:
    """Omit columns without events."""
    held = [(column, [get(run, seen) for run, seen in every]) for column, get in _WAIT_COLUMNS]
    held = [(column, cells) for column, cells in held if any(cell not in (None, 0, "") for cell in cells)]
    table = _table("profile-waits", "What a task waits for, in a run apart", _WAITS, labels, [c for c, _ in held])
    for row, (run, _) in enumerate(every):
        table.rows.append([*_levels(run, labels), *(cells[row] for _, cells in held)])
    return table


def _objects(waits: Waits, n_tasks: int) -> str:
    rates = ((_last_parts(part.on, 1) or "a pause", _rate(part.n, n_tasks)) for part in waits.on[:_SHOWN_OBJECTS])
    return ", ".join(f"{name} {'?' if rate is None else f'{rate:g}'}" for name, rate in rates)


def _rate(n: int | None, n_tasks: int) -> float | None:
    return None if n is None or not n_tasks else _round(n / n_tasks)


def _round(x: float | None) -> float | None:
    """Keep three digits: nothing here is known better."""
    return None if x is None else float(f"{x:.3g}")


def short_method(method: str) -> str:
    """Return class and method without the package.

    >>> short_method("java.util.concurrent.ForkJoinPool.scan")
    'ForkJoinPool.scan'
    """
    return _last_parts(method, 2)


def _last_parts(name: str, n: int) -> str:
    return ".".join(name.split(".")[-n:])


def add_profile(findings: Findings, folder: Path | None, table: Table) -> Findings:
    """Add the profile in `folder` to the findings: its tables, and the claims that it decides.

    A profile of another study becomes a warning.
    """
    if folder is None:
        return findings
    try:
        profile = read_profile(folder, findings.study.hash)
    except ProtocolError as error:
        return findings.model_copy(update={"warnings": [*findings.warnings, str(error)]})
    if profile is None:
        return findings
    more = {
        "tables": [*findings.tables, *profile_tables(profile)], "warnings": [*findings.warnings, *profile.warnings],
        "published_claims": decide_profile_claims(findings.published_claims, table, profile),
    }  # fmt: skip
    return findings.model_copy(update=more)


_SHOWN_PARTS = 8
_FACTORS = ("global", "parallel", "load balance", "communication", "computation scaling")
_POP = (
    "global = parallel x computation scaling, parallel = load balance x communication, as the POP project of HPC "
    "centers defines them; communication is serialization and transfer together"
)


def explanation_table(document: Explanation) -> TableDoc:
    """Make the table of an explanation: each cause with its share of the loss, then what has none."""
    columns = [
        Column(name="share of the loss", unit="%"), Column(name="from", unit="%"), Column(name="to", unit="%"),
        Column(name="cause", kind="text"), *(Column(name=_level_name(document, i), unit="s") for i in (0, 1)),
    ]  # fmt: skip
    shown = [p for p in document.parts if abs(p.share.value) >= LEAST_SHARE and p.kind != SMALLER]
    gained = [part for part in shown if part.share.value < 0]
    shown = [part for part in shown if part.share.value > 0][:_SHOWN_PARTS] + gained[-2:]
    rows: list[list[Cell]] = [
        [*_cells(part.share), cause_text(part), _digits(part.before_s), _digits(part.after_s)] for part in shown
    ]
    unexplained = document.unexplained or Share(value=0.0)
    rest = 1.0 - unexplained.value - sum(part.share.value for part in shown)
    if abs(rest) >= LEAST_SHARE:
        rows.append([*_cells(Share(value=rest)), "other causes, each smaller", None, None])
    rows.append([*_cells(unexplained), "not explained", None, None])
    note = (
        f"CPU seconds per unit of work with {document.cpus[0]:g} and {document.cpus[1]:g} CPUs, in "
        f"{min(document.n_runs)} recorded runs of each level; intervals over runs"
    )
    return TableDoc(id="explanation", title="Where lost CPU time goes", note=note, columns=columns, rows=rows)


def efficiency_table(document: Explanation) -> TableDoc | None:
    """Make the table of the factors of efficiency; None where the runs have none."""
    if document.efficiency is None:
        return None
    columns = [Column(name=document.factor, kind="label"), *(Column(name=name) for name in _FACTORS)]
    rows: list[list[Cell]] = []
    for level, factors in zip(document.levels, document.efficiency, strict=True):
        parts = (factors.load_balance, factors.communication, factors.computation)
        rows.append([level, *(_round(x) for x in (parts[0] * parts[1] * parts[2], parts[0] * parts[1], *parts))])
    return TableDoc(id="efficiency", title="Factors of efficiency", note=_POP, columns=columns, rows=rows)


def _level_name(document: Explanation, index: int) -> str:
    return short_setting(document.factor, document.levels[index])


def _cells(share: Share) -> list[float | None]:
    ends = (share.value, share.low, share.high)
    return [None if end is None else round(100 * end, 1 if abs(end) < 0.1 else 0) for end in ends]


def _digits(seconds: float) -> float:
    return float(f"{seconds:.3g}")


def add_explanation(findings: Findings, folder: Path | None) -> Findings:
    """Add the explanation in `folder` to the findings; one of another study becomes a warning."""
    if folder is None:
        return findings
    try:
        document = read_explanation(folder, findings.study.hash)
    except ProtocolError as error:
        return findings.model_copy(update={"warnings": [*findings.warnings, str(error)]})
    if document is None:
        return findings
    more = [doc for doc in (explanation_table(document), efficiency_table(document)) if doc]
    tables = [*findings.tables, *more]
    parts = {**findings.parts, PART: Part(data=document.model_dump(mode="json", exclude={"stacks"}))}
    return findings.model_copy(update={"tables": tables, "parts": parts})
