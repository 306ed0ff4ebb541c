"""The parts of a reproduction that are left: each planned and prepared before the first one runs."""

import shlex
import shutil
from collections.abc import Callable, Mapping
from math import ceil
from pathlib import Path
from statistics import fmean
from typing import Any

from scalograph.cli import analyze_steps
from scalograph.cli.console import say
from scalograph.cli.overrides import overridden
from scalograph.cli.reproduce.reproduce_results import Reproducing
from scalograph.design.replay import seconds_per_block
from scalograph.errors import ProtocolError, ScalographError
from scalograph.protocol import journal, results, saved_documents
from scalograph.protocol.findings import Findings
from scalograph.protocol.reproduction import ReproducedPart
from scalograph.questions.registry import is_search
from scalograph.run.hosts.base import Host
from scalograph.run.plan import Plan, plan
from scalograph.study.catalogue import CataloguedPart, PublishedStudy
from scalograph.study.declare import Declared
from scalograph.study.identity import journaled

# A part of which a larger share of runs was disturbed is worth another try.
BUSY = 0.1


def is_busy(folder: Path) -> bool:
    """Tell whether more runs of a finished part were disturbed than one would leave it at."""
    return disturbed(folder) > BUSY


def disturbed(folder: Path) -> float:
    """Return the share of a part's runs that were disturbed or failed, 0 to 1; 1 where its results cannot be read."""
    try:
        found = saved_documents.read_findings(results.at(folder).findings)
    except ProtocolError:
        return 1.0
    return _share(found)


def _share(found: Findings) -> float:
    n_done, verdicts = found.runs.n_done, found.runs.verdicts
    bad = sum(verdicts.get(name, 0) for name in ("contaminated", "impossible")) + found.runs.n_failed
    return bad / n_done if n_done else 1.0


def run_again(folder: Path, run: Callable[[Path], None], has_ended: Callable[[Path], bool]) -> str:
    """Run a part in a folder beside its own, and keep the quieter result; killed at any moment, one is whole.

    A few runs before the machine was busy again, or the budget ended, are no result to put in its place.

    Args:
        folder: the part's results.
        run: carries the part out in the folder that it is given, or goes on there.
        has_ended: tells whether it came to its end there: all runs, or the time of the part itself.

    Returns:
        Which of both stays, and why, in words.
    """
    new = again_at(folder)
    run(new)
    if not has_ended(new):
        return "the earlier result stays: the new one is not finished, and goes on with --resume --again"
    analyze_steps.analyze(new)
    if disturbed(new) >= disturbed(folder):
        shutil.rmtree(new)
        return "the earlier result stays: the new one was disturbed as much"
    folder.rename(_old(folder))
    new.rename(folder)
    shutil.rmtree(_old(folder))
    return "the new result stays: fewer of its runs were disturbed"


def end_reason(file: Path) -> str | None:
    """Return why the last start of a journal ended; None if it was cut short.

    Raises:
        ProtocolError: it cannot be read.
    """
    last: Mapping[str, Any] = {}
    for event in journal.read(file, whole=False):
        last = event
    return str(last.get("reason")) if last.get("event") == "end" else None


def again_at(folder: Path) -> Path:
    """Return where a part is run once more."""
    return folder.with_name(f"{folder.name}.again")


def settle(folder: Path) -> None:
    """End an exchange of results that was cut short."""
    old = _old(folder)
    if old.is_dir() and not folder.exists():
        old.rename(folder)
    elif old.is_dir():
        shutil.rmtree(old)


def _old(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.old")


# As `protocol.runs` may be.
MOST_RUNS = 10_000


def unresolved(folder: Path) -> list[str]:
    """Return the ids of the claims of a finished part that are not resolved; none where its results cannot be read."""
    try:
        return _open(saved_documents.read_findings(results.at(folder).findings))
    except ProtocolError:
        return []


def may_decide(found: Findings, declared: Declared) -> bool:
    """Tell whether further runs of a part may decide a claim of it."""
    return _is_in_blocks(declared) and bool(_open(found))


def _open(found: Findings) -> list[str]:
    return [claim.id for claim in found.published_claims if claim.decision == "not resolved"]


def as_begun(folder: Path, declared: Declared) -> Declared:
    """Return a part with the runs and the time that its latest start gave it, if that was further.

    Raises:
        ProtocolError: its journal cannot be read.
    """
    study, now = declared.study, declared.study.protocol
    if not _is_in_blocks(declared):
        return declared
    for number, event in enumerate(journal.read(folder / "journal.jsonl"), 1):
        with journal.understood(event, number):
            if event["event"] in ("study", "resume") and "study" in event:
                study = journaled(event["study"])
    begun = study.protocol
    is_longer = begun.budget_s is not None and begun.budget_s > (now.budget_s or 0)
    if begun.runs <= now.runs and not (now.budget_s and is_longer):
        return declared
    return overridden(declared, f"{begun.budget_s:.0f}s" if is_longer else None, runs=max(begun.runs, now.runs))


def _is_in_blocks(declared: Declared) -> bool:
    """Tell whether more blocks can follow: what a search runs next is decided by its runs."""
    return not is_search(declared.study.question) and declared.study.protocol.precision is None


def further(folder: Path, declared: Declared, seconds: float) -> Declared | None:
    """Return a part as it is to go on.

    Args:
        folder: its results.
        declared: as it was run.
        seconds: that further blocks may take.

    Returns:
        The study with as many blocks more as take that long, by those that were made, and one at least; None where no
        claim of it is unresolved, or what it runs next is decided by its runs.
    """
    if not _is_in_blocks(declared) or not unresolved(folder):
        return None
    spent = seconds_per_block(journal.read(folder / "journal.jsonl"))
    blocks = [took for block, took in spent.items() if block >= 0]
    if not blocks:
        return None
    each = fmean(blocks)
    n_more = max(1, min(round(seconds / each), MOST_RUNS - len(blocks))) if each else 1
    # So that none of these is cut off by what the loop itself takes.
    budget = ceil(sum(spent.values()) + (n_more + 0.5) * each) + 1
    return overridden(declared, f"{budget}s", runs=max(declared.study.protocol.runs, len(blocks) + n_more))


# Of a text that a document may hold.
LONGEST = 2000


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


def seconds_at_most(made: Reproducing, name: str) -> float | None:
    """Return the seconds that a part may still take: its time less what its finished blocks took; None is no limit."""
    most = made.declared(name).study.protocol.budget_s
    file = (again_at(made.folder / name) if name in made.again else made.folder / name) / "journal.jsonl"
    if most is None or not file.exists() or not results.is_begun(file):
        return most
    return max(0.0, most - spent_s(file))


def spent_s(file: Path) -> float:
    """Add up the seconds that the finished blocks of a journal took: a budget counts those of all starts."""
    from scalograph.design.replay import seconds_per_block

    return sum(seconds_per_block(journal.read(file)).values())
