"""The parts of published studies, one after another: each is a study like any other, and each is kept as it ends."""

import time
from collections.abc import Sequence
from pathlib import Path

from scalograph.cli import analyze_steps
from scalograph.cli.console import say
from scalograph.cli.overrides import overridden
from scalograph.cli.pipeline import StudyStart, run_declared
from scalograph.cli.reproduce.reproduce_plan import LONGEST, is_finished, run_again, seconds_at_most, spent_s
from scalograph.cli.reproduce.reproduce_results import Reproducing
from scalograph.errors import Exit, ScalographError
from scalograph.protocol import results
from scalograph.study.catalogue import claims_of
from scalograph.study.declare import Declared
from scalograph.study.identity import MORE_RUNS
from scalograph.text.units import format_duration


def run_parts(made: Reproducing, budget_s: float | None) -> int:
    """Run what is left, and read what is done.

    Args:
        made: the reproduction.
        budget_s: seconds that all parts together may take; None is no limit.

    Returns:
        The exit code: that of the worst part, 5 where the budget was too short.

    Raises:
        KeyboardInterrupt: a signal came; all that is finished is kept.
    """
    began, n, is_over = time.monotonic(), len(made.parts), False
    for i, (name, part) in enumerate(list(made.parts.items())):
        label = f"part {i + 1} of {n}"
        if part.state in ("skipped", "failed"):
            continue
        left = None if budget_s is None else budget_s - (time.monotonic() - began)
        if not is_over and name in made.left() and left is not None and (short := _too_short(made, name, left)):
            is_over = True
            _end(made, name, short)
            say(f"{label}: {name}: {short}; it ends here", "yellow")
        if is_over and part.state != "done":
            continue
        _carry_out(made, name, label, left)
        made.keep()
    return _code(made)


def _end(made: Reproducing, name: str, short: str) -> None:
    """Begin nothing more: this part would take too long."""
    made.again.clear()
    made.further.clear()
    for other in made.left():
        made.tell(other, why=short if other == name else "the budget ended before")


def _too_short(made: Reproducing, name: str, left: float) -> str:
    """Why the budget does not allow a part; empty where it does."""
    needed = seconds_at_most(made, name) or 0.0
    if left > needed and left > 0:
        return ""
    rest = f"has {format_duration(round(left))} left" if left >= 1 else "is used up"
    return f"the budget {rest}, it takes at most {format_duration(max(round(needed), 1))}"


def _carry_out(made: Reproducing, name: str, label: str, left: float | None) -> None:
    """Run one part, or go on with it, and read what it found; what fails is told, and the others go on."""
    declared, folder = made.catalogue.declared[name], made.folder / name
    row = next(row for _, row in made.catalogue.parts if row.study == name)
    try:
        if made.parts[name].state != "done" or name in made.further:
            made.tell(name, state="begun", why="")
            made.keep()
            _run(made, made.further.pop(name, declared), folder, label, left)
            made.tell(name, state="done")
        elif name in made.again:
            said = run_again(
                folder, lambda new: _run(made, declared, new, label, left), lambda new: is_finished(new, declared)
            )
            made.again.remove(name)
            say(f"{label}: {name}: {said}")
        if row.profile:
            _profile(made, declared, folder, row.profile, label)
        found, _ = analyze_steps.report(folder, claims_of(declared))
    except ScalographError as error:
        made.tell(name, state="failed", why=str(error)[:LONGEST], code=int(error.exit_code))
        say(f"{label}: {name} failed: {error}", "red")
        return
    made.found[name] = found
    made.tell(
        name, code=int(analyze_steps.exit_code(found)), page=f"{name}/report.html", trust=found.trust, runs=found.runs
    )
    say(f"{label}: {name}: {found.trust.sentence}")


def _run(made: Reproducing, declared: Declared, folder: Path, label: str, left: float | None) -> None:
    """All runs of a part. Raises KeyboardInterrupt where a signal ended it."""
    from scalograph.run.interrupts import interruption

    begun = results.is_begun(folder / "journal.jsonl") if folder.exists() else False
    if left is not None and declared.study.protocol.budget_s is None:
        spent = spent_s(folder / "journal.jsonl") if begun else 0.0
        declared = overridden(declared, f"{left + spent:.0f}s")
    consent = made.consent.within(declared.study)
    accepted = [MORE_RUNS] if begun else None
    start = StudyStart(folder=folder, accepted=accepted, label=label, consent=consent)
    session = run_declared(declared, start)
    if session.reason == "interrupted":
        raise interruption(session.signal)


def _profile(made: Reproducing, declared: Declared, folder: Path, where: Sequence[str], label: str) -> None:
    """The profile beside the runs, where it is not there yet; without one the runs say what they say."""
    from scalograph.cli.profile_command import LEAST_S, keep_profile
    from scalograph.profile.values import FILE

    if (folder / FILE).exists():
        return
    try:
        say(f"{label}: {declared.study.name}: its profile")
        consent = made.consent.within(declared.study)
        keep_profile(results.at(folder), declared.file, where, LEAST_S, consent=consent)
    except ScalographError as error:
        say(f"{label}: {declared.study.name}: no profile: {error}", "yellow")


def _code(made: Reproducing) -> int:
    """That of the first part that failed; else of a configuration without a result, or with too few; else 0."""
    codes: Sequence[int] = [part.code for part in made.parts.values() if part.code is not None]
    failed = [part.code for part in made.parts.values() if part.state == "failed" and part.code is not None]
    if failed:
        return failed[0]
    if Exit.TREATMENT_FAILED in codes:
        return Exit.TREATMENT_FAILED
    return Exit.SHORT_OF_RUNS if Exit.SHORT_OF_RUNS in codes or made.left() else Exit.DONE
