"""The parts of published studies, one after another: each is a study like any other, and each is kept as it ends."""

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scalograph.cli import last_stops
from scalograph.cli.console import say
from scalograph.cli.five_stops import StudyStart, run_declared
from scalograph.cli.overrides import overridden
from scalograph.cli.reproduce_again import again_at, end_reason, is_busy, run_again, settle
from scalograph.cli.reproduce_further import as_begun, further
from scalograph.control.consent import NO_CONSENT, Consent
from scalograph.errors import Exit, ScalographError
from scalograph.findings.reproduced_claims import reproduced_studies
from scalograph.protocol import journal, reproduction_file, results
from scalograph.protocol.findings import Findings
from scalograph.protocol.reproduction import ReproducedPart, Reproduction
from scalograph.run.hosts.base import Host
from scalograph.run.plan import Plan, plan
from scalograph.study.catalogue import CataloguedPart, OpenedCatalogue, PublishedStudy, claims_of
from scalograph.study.declare import Declared
from scalograph.study.identity import MORE_RUNS
from scalograph.text.units import format_duration

# Of a text that a document may hold.
LONGEST = 2000


@dataclass
class Reproducing:
    """A reproduction under way.

    Attributes:
        catalogue: the published studies, and the studies that are their parts.
        folder: of the results; each part has one of its name in it.
        quick: whether the parts run in their quick forms.
        started: when, in UTC.
        consent: what its parts may do to the whole machine.
        machine: what the host is.
        parts: what became of each part so far.
        found: findings of those that are done.
        again: the parts that are done and are to be run once more, for the machine was busy.
        further: those that go on with other runs or another time than their studies declare, as they are to be run.
        is_new: whether it has no folder yet: whatever lies where we are is not of it.
    """

    catalogue: OpenedCatalogue
    folder: Path
    quick: bool
    started: str
    consent: Consent = NO_CONSENT
    machine: dict[str, Any] = field(default_factory=dict)
    parts: dict[str, ReproducedPart] = field(default_factory=dict)
    found: dict[str, Findings] = field(default_factory=dict)
    again: set[str] = field(default_factory=set)
    further: dict[str, Declared] = field(default_factory=dict)
    is_new: bool = False

    def declared(self, name: str) -> Declared:
        """Return a part as it is to be run."""
        return self.further.get(name, self.catalogue.declared[name])

    def document(self) -> Reproduction:
        """Return what is known so far."""
        is_over = all(part.state in ("done", "failed", "skipped") for part in self.parts.values())
        used = [found.machine for found in self.found.values()]
        jvms = {name: build for one in used for name, build in (one.get("jvms_used") or {}).items()}
        machine = {**self.machine, **(used[-1] if used else {}), **({"jvms_used": jvms} if jvms else {})}
        why = {name: _why(part) for name, part in self.parts.items()}
        return Reproduction(
            quick=self.quick, started=self.started, ended=journal.now() if is_over else None, machine=machine,
            parts=list(self.parts.values()), studies=reproduced_studies(self.catalogue, self.found, why, machine),
        )  # fmt: skip

    def keep(self) -> Reproduction:
        """Write the document and its page. Raises HostError where the disk refuses."""
        from scalograph.report.reproduction_page import write

        made = self.document()
        reproduction_file.write(made, self.folder)
        write(made, self.folder / reproduction_file.PAGE)
        return made

    def left(self) -> list[str]:
        """Return the parts that are still to be run, in order."""
        once_more = {*self.again, *self.further}
        return [name for name, part in self.parts.items() if part.state in ("begun", "not run") or name in once_more]

    def tell(self, name: str, **changes: Any) -> None:
        """Change what is said of a part."""
        self.parts[name] = self.parts[name].model_copy(update=changes)


def _why(part: ReproducedPart) -> str:
    said = {"skipped": "was skipped", "failed": "failed", "begun": "was interrupted"}.get(part.state, "has not run")
    return f"{said}: {part.why}" if part.why else said


def look_ahead(made: Reproducing, host: Host, busy_again: bool = False, more_s: float | None = None) -> dict[str, Plan]:
    """Plan and prepare every part that is left, so that nothing is missing when nobody looks on.

    Args:
        made: the reproduction; a part that this machine cannot carry out is skipped.
        host: where they will run.
        busy_again: whether those that were run on a busy machine are left, too.
        more_s: seconds more for each of those whose claims are not resolved; None leaves them as they are.

    Returns:
        The plans of the others.
    """
    made.machine, plans = host.facts().machine(), dict[str, Plan]()
    for study, row in made.catalogue.parts:
        made.parts[row.study] = _declared_part(study, row, made)
        try:
            if not made.is_new and not _is_left(made, row.study, busy_again, more_s):
                continue
            if made.parts[row.study].state == "begun":
                made.further[row.study] = as_begun(made.folder / row.study, made.declared(row.study))
            declared = made.declared(row.study)
            planned = plan(declared, host.facts(), consent=made.consent.within(declared.study))
            plans[row.study] = host.ready(planned, say)
        except ScalographError as error:
            made.further.pop(row.study, None)
            made.again.discard(row.study)
            if made.parts[row.study].state == "done":
                say(f"{row.study} stays as it is: {error}", "yellow")
            else:
                made.tell(row.study, state="skipped", why=str(error)[:LONGEST])
    return plans


def _is_left(made: Reproducing, name: str, busy_again: bool, more_s: float | None) -> bool:
    """Find out how far a part has come, and tell whether there is more to do."""
    folder = made.folder / name
    settle(folder)
    if folder.exists() and results.is_begun(results.at(folder).journal):
        made.tell(name, state="begun")
    if not is_finished(folder, made.catalogue.declared[name]):
        return True
    made.tell(name, state="done")
    return _has_more_to_do(made, name, busy_again, more_s)


def _has_more_to_do(made: Reproducing, name: str, busy_again: bool, more_s: float | None) -> bool:
    """Tell whether a part that is done is run once more, or goes on, and remember it."""
    folder = made.folder / name
    if busy_again and is_busy(folder):
        made.again.add(name)
    elif more_s and (declared := further(folder, made.catalogue.declared[name], more_s)):
        made.further[name] = declared
    return name in made.again or name in made.further


def _declared_part(study: PublishedStudy, row: CataloguedPart, made: Reproducing) -> ReproducedPart:
    declared = made.catalogue.declared[row.study]
    started = "study" if made.catalogue.is_shipped else "run"
    named = row.study if made.catalogue.is_shipped else str(declared.file)
    words = ["--quick"] * made.quick + made.consent.within(declared.study).words()
    command = shlex.join(["scalograph", started, named, *words])
    return ReproducedPart(study=row.study, title=declared.study.title, of=study.id, state="not run", command=command)


def is_finished(folder: Path, declared: Declared) -> bool:
    """Tell whether a part has ended: all runs, or its own budget."""
    file = folder / "journal.jsonl"
    if not file.exists() or not results.is_begun(file):
        return False
    ended = end_reason(file)
    if ended != "budget" or declared.study.protocol.budget_s is not None:
        return ended in ("complete", "budget")
    return as_begun(folder, declared) is not declared  # further runs have a time of their own


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


def seconds_at_most(made: Reproducing, name: str) -> float | None:
    """Return the seconds that a part may still take: its time less what its finished blocks took; None is no limit."""
    most = made.declared(name).study.protocol.budget_s
    file = (again_at(made.folder / name) if name in made.again else made.folder / name) / "journal.jsonl"
    if most is None or not file.exists() or not results.is_begun(file):
        return most
    return max(0.0, most - _spent_s(file))


def _spent_s(file: Path) -> float:
    """Seconds that the finished blocks of a journal took: a budget counts those of all starts."""
    from scalograph.design.replay import seconds_per_block

    return sum(seconds_per_block(journal.read(file)).values())


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
        found, _ = last_stops.report(folder, claims_of(declared))
    except ScalographError as error:
        made.tell(name, state="failed", why=str(error)[:LONGEST], code=int(error.exit_code))
        say(f"{label}: {name} failed: {error}", "red")
        return
    made.found[name] = found
    made.tell(
        name, code=int(last_stops.exit_code(found)), page=f"{name}/report.html", trust=found.trust, runs=found.runs
    )
    say(f"{label}: {name}: {found.trust.sentence}")


def _run(made: Reproducing, declared: Declared, folder: Path, label: str, left: float | None) -> None:
    """All runs of a part. Raises KeyboardInterrupt where a signal ended it."""
    from scalograph.run.interrupts import interruption

    begun = results.is_begun(folder / "journal.jsonl") if folder.exists() else False
    if left is not None and declared.study.protocol.budget_s is None:
        spent = _spent_s(folder / "journal.jsonl") if begun else 0.0
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
