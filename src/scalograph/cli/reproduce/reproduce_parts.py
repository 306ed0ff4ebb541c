"""Run the parts of published studies one after another, saving after each."""

import time
from collections.abc import Sequence
from pathlib import Path

from scalograph.cli import analyze_steps
from scalograph.cli.console import say
from scalograph.cli.overrides import override_protocol
from scalograph.cli.pipeline import StudyStart, run_declared
from scalograph.cli.reproduce.reproduce_plan import is_finished, restore_extension, run_again, seconds_at_most, spent_s
from scalograph.cli.reproduce.reproduce_results import LONGEST, ReproductionRun
from scalograph.errors import Exit, ScalographError
from scalograph.protocol import results
from scalograph.study.declare import Declared
from scalograph.study.identity import MORE_RUNS
from scalograph.text.units import format_duration


def run_parts(reproduction: ReproductionRun, budget_s: float | None) -> int:
    """Run the parts that are left within `budget_s`, and analyze those that are done; return the exit code.

    That is the code of the worst part, 5 where the budget was too short. KeyboardInterrupt: a signal came.
    """
    began, n, is_over = time.monotonic(), len(reproduction.parts), False
    for i, (name, part) in enumerate(list(reproduction.parts.items())):
        label = f"part {i + 1} of {n}"
        if part.state in ("skipped", "failed"):
            continue
        left = None if budget_s is None else budget_s - (time.monotonic() - began)
        if (
            not is_over
            and name in reproduction.parts_left()
            and left is not None
            and (short := _too_short(reproduction, name, left))
        ):
            is_over = True
            _end(reproduction, name, short)
            say(f"{label}: {name}: {short}; it ends here", "yellow")
        if is_over and part.state != "done":
            continue
        _carry_out(reproduction, name, label, left)
        reproduction.save()
    return _code(reproduction)


def _end(reproduction: ReproductionRun, name: str, short: str) -> None:
    """Skip what is left: this part would exceed the budget."""
    reproduction.again.clear()
    reproduction.further.clear()
    for other in reproduction.parts_left():
        reproduction.update_part(other, why=short if other == name else "the time limit ended before")


def _too_short(reproduction: ReproductionRun, name: str, left: float) -> str:
    """Return why the budget does not allow a part; empty where it does."""
    needed = seconds_at_most(reproduction, name) or 0.0
    if left > needed and left > 0:
        return ""
    rest = f"has {format_duration(round(left))} left" if left >= 1 else "is used up"
    return f"the time limit {rest}, it takes at most {format_duration(max(round(needed), 1))}"


def _carry_out(reproduction: ReproductionRun, name: str, label: str, left: float | None) -> None:
    """Run or resume one part and analyze it; a failure is recorded, and the others go on."""
    declared, folder = reproduction.catalogue.declared[name], reproduction.folder / name
    row = next(row for _, row in reproduction.catalogue.parts if row.study == name)
    try:
        if reproduction.parts[name].state != "done" or name in reproduction.further:
            reproduction.update_part(name, state="begun", why="")
            reproduction.save()
            _run(reproduction, reproduction.further.pop(name, declared), folder, label, left)
            reproduction.update_part(name, state="done")
        elif name in reproduction.again:
            outcome = run_again(
                folder,
                lambda new: _run(reproduction, declared, new, label, left),
                lambda new: is_finished(new, declared),
            )
            reproduction.again.remove(name)
            say(f"{label}: {name}: {outcome}")
        if row.profile:
            _profile(reproduction, declared, folder, row.profile, label)
        findings, _ = analyze_steps.report(folder, declared)
    except ScalographError as error:
        reproduction.update_part(name, state="failed", why=str(error)[:LONGEST], code=int(error.exit_code))
        say(f"{label}: {name} failed: {error}", "red")
        return
    reproduction.findings[name] = findings
    reproduction.update_part(
        name,
        code=int(analyze_steps.exit_code(findings)),
        page=f"{name}/report.html",
        trust=findings.trust,
        runs=findings.runs,
        further_blocks=max(0, restore_extension(folder, declared).study.protocol.runs - declared.study.protocol.runs),
    )
    say(f"{label}: {name}: {findings.trust.sentence}")


def _run(reproduction: ReproductionRun, declared: Declared, folder: Path, label: str, left: float | None) -> None:
    """Make all runs of a part. Raises KeyboardInterrupt where a signal ended it."""
    from scalograph.run.interrupts import make_interrupt

    begun = results.is_begun(folder / "journal.jsonl") if folder.exists() else False
    if left is not None and declared.study.protocol.budget_s is None:
        spent = spent_s(folder / "journal.jsonl") if begun else 0.0
        declared = override_protocol(declared, f"{left + spent:.0f}s")
    consent = reproduction.consent.restrict_to(declared.study)
    accepted = [MORE_RUNS] if begun else None
    start = StudyStart(folder=folder, accepted=accepted, label=label, consent=consent, host=reproduction.host)
    session = run_declared(declared, start)
    if session.reason == "interrupted":
        raise make_interrupt(session.signal)


def _profile(reproduction: ReproductionRun, declared: Declared, folder: Path, where: Sequence[str], label: str) -> None:
    """Record the profile where it is missing; a failure is only printed."""
    from scalograph.cli.profile_command import LEAST_S, keep_profile, refuse_recording
    from scalograph.profile.values import FILE

    if (folder / FILE).exists():
        return
    try:
        refuse_recording(reproduction.host)
        say(f"{label}: {declared.study.name}: its profile")
        consent = reproduction.consent.restrict_to(declared.study)
        keep_profile(
            results.locate_results(folder), declared.file, where, LEAST_S, consent=consent, host_name=reproduction.host
        )
    except ScalographError as error:
        say(f"{label}: {declared.study.name}: no profile: {error}", "yellow")


def _code(reproduction: ReproductionRun) -> int:
    """Return the exit code: of the first failed part, else 4, else 5, else 0."""
    codes: Sequence[int] = [part.code for part in reproduction.parts.values() if part.code is not None]
    failed = [part.code for part in reproduction.parts.values() if part.state == "failed" and part.code is not None]
    if failed:
        return failed[0]
    if Exit.CONFIGURATION_FAILED in codes:
        return Exit.CONFIGURATION_FAILED
    return Exit.NO_ANSWER if Exit.NO_ANSWER in codes or reproduction.parts_left() else Exit.DONE
