"""The parts of a reproduction that are left: each planned and prepared before the first one runs."""

import shlex
from pathlib import Path

from scalograph.cli.console import say
from scalograph.cli.reproduce_again import again_at, end_reason, is_busy, settle
from scalograph.cli.reproduce_further import as_begun, further
from scalograph.cli.reproducing import Reproducing
from scalograph.errors import ScalographError
from scalograph.protocol import journal, results
from scalograph.protocol.reproduction import ReproducedPart
from scalograph.run.hosts.base import Host
from scalograph.run.plan import Plan, plan
from scalograph.study.catalogue import CataloguedPart, PublishedStudy
from scalograph.study.declare import Declared

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
