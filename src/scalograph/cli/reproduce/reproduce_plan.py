"""Plan and prepare every part of a reproduction that is left, before the first one runs."""

import shlex
import shutil
from collections.abc import Callable, Mapping
from math import ceil
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from scalograph.cli import analyze_steps
from scalograph.cli.console import say
from scalograph.cli.overrides import override_protocol
from scalograph.cli.reproduce.reproduce_results import LONGEST, ReproductionRun
from scalograph.control.machine_control import Consent
from scalograph.design.replay import seconds_per_block
from scalograph.errors import ProtocolError, ScalographError
from scalograph.findings.published.published_claims import find_undecidable
from scalograph.findings.sample import samples_by_configuration
from scalograph.findings.table import Table
from scalograph.protocol import journal, results, saved_documents
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.findings import Findings
from scalograph.protocol.reproduction import ReproducedPart
from scalograph.questions.registry import is_search
from scalograph.run.hosts.base import Host
from scalograph.run.plan import Plan, plan
from scalograph.study.catalogue import CataloguedPart, OpenedCatalogue, PublishedStudy
from scalograph.study.declare import Declared, claims_of
from scalograph.study.identity import parse_journaled_study
from scalograph.text.units import format_duration

# A part of which a larger share of runs was disturbed is worth another try.
BUSY = 0.1


def is_busy(folder: Path) -> bool:
    """Return whether a part's share of disturbed runs is worth a rerun."""
    return disturbed_share(folder) > BUSY


def disturbed_share(folder: Path) -> float:
    """Return the share of disturbed or failed runs, 0 to 1; 1 where results cannot be read."""
    try:
        runs = saved_documents.read_findings(results.locate_results(folder).findings).runs
    except ProtocolError:
        return 1.0
    bad = sum(runs.verdicts.get(name, 0) for name in ("disturbed", "invalid")) + runs.n_failed
    return bad / runs.n_done if runs.n_done else 1.0


def run_again(folder: Path, run: Callable[[Path], None], has_ended: Callable[[Path], bool]) -> str:
    """Rerun a part in a folder beside its own, and keep the quieter result; a kill leaves one whole.

    `run` makes or resumes its runs in a folder, `has_ended` says whether they came to their end there: a few runs
    before the machine was busy again are no result. Returns which result stays, and why.
    """
    new = rerun_folder(folder)
    run(new)
    if not has_ended(new):
        return "the earlier result stays: the new one is not finished, and goes on with --resume --again"
    analyze_steps.analyze(new)
    if disturbed_share(new) >= disturbed_share(folder):
        shutil.rmtree(new)
        return "the earlier result stays: the new one was disturbed as much"
    folder.rename(_old(folder))
    new.rename(folder)
    shutil.rmtree(_old(folder))
    return "the new result stays: fewer of its runs were disturbed"


def end_reason(file: Path) -> str | None:
    """Return why the last start of a journal ended; None if it was cut short."""
    last: Mapping[str, Any] = {}
    for event in journal.read(file, whole=False):
        last = event
    return str(last.get("reason")) if last.get("event") == "end" else None


def rerun_folder(folder: Path) -> Path:
    """Return the folder of a part's rerun."""
    return folder.with_name(f"{folder.name}.again")


def settle(folder: Path) -> None:
    """Finish an exchange of results that was cut short."""
    old = _old(folder)
    if old.is_dir() and not folder.exists():
        old.rename(folder)
    elif old.is_dir():
        shutil.rmtree(old)


def _old(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.old")


# As `protocol.runs` may be.
MOST_RUNS = 10_000


def inconclusive_claims(folder: Path) -> list[str]:
    """Return ids of a finished part's inconclusive claims; none where results cannot be read."""
    try:
        return _open(saved_documents.read_findings(results.locate_results(folder).findings))
    except ProtocolError:
        return []


def may_decide(findings: Findings, declared: Declared) -> bool:
    """Return whether further runs of a part may decide one of its claims."""
    return _is_in_blocks(declared) and bool(_open(findings))


def _open(findings: Findings) -> list[str]:
    return [claim.id for claim in findings.published_claims if claim.decision == "inconclusive"]


def restore_extension(folder: Path, declared: Declared) -> Declared:
    """Return a part with the runs and the budget of its latest start, if these were extended."""
    study, now = declared.study, declared.study.protocol
    if not _is_in_blocks(declared):
        return declared
    for number, event in enumerate(journal.read(folder / "journal.jsonl"), 1):
        with journal.wrap_event_errors(event, number):
            if event["event"] in ("study", "resume") and "study" in event:
                study = parse_journaled_study(event["study"])
    begun = study.protocol
    is_longer = begun.budget_s is not None and begun.budget_s > (now.budget_s or 0)
    if begun.runs <= now.runs and not (now.budget_s and is_longer):
        return declared
    return override_protocol(declared, f"{begun.budget_s:.0f}s" if is_longer else None, runs=max(begun.runs, now.runs))


def _is_in_blocks(declared: Declared) -> bool:
    """Return whether blocks can be added: a search decides by its runs what follows."""
    return not is_search(declared.study.question) and declared.study.protocol.precision is None


def extend_part(folder: Path, declared: Declared, seconds: float) -> Declared | None:
    """Extend a part by the whole blocks that take `seconds`, one at least, for its inconclusive claims.

    Returns None where no claim is inconclusive, or what it runs next is decided by its runs.
    """
    if not _is_in_blocks(declared) or not inconclusive_claims(folder):
        return None
    spent = seconds_per_block(journal.read(folder / "journal.jsonl"))
    blocks = [took for block, took in spent.items() if block >= 0]
    if not blocks:
        return None
    each = fmean(blocks)
    n_more = max(1, min(round(seconds / each), MOST_RUNS - len(blocks))) if each else 1
    # So that none of these is cut off by what the loop itself takes.
    budget = ceil(sum(spent.values()) + (n_more + 0.5) * each) + 1
    return override_protocol(declared, f"{budget}s", runs=max(declared.study.protocol.runs, len(blocks) + n_more))


def look_ahead(
    reproduction: ReproductionRun, host: Host, busy_again: bool = False, more_s: float | None = None
) -> dict[str, Plan]:
    """Plan and prepare every part that is left, so that nothing is missing during unattended runs.

    A part that this machine cannot carry out is skipped. `busy_again` adds those run on a busy machine, `more_s` the
    seconds for each with inconclusive claims.
    """
    reproduction.machine, plans = host.facts().machine(), dict[str, Plan]()
    for study, row in reproduction.catalogue.parts:
        reproduction.parts[row.study] = _declared_part(study, row, reproduction)
        try:
            if not reproduction.is_new and not _is_left(reproduction, row.study, busy_again, more_s):
                continue
            if reproduction.parts[row.study].state == "begun":
                reproduction.further[row.study] = restore_extension(
                    reproduction.folder / row.study, reproduction.current_study(row.study)
                )
            declared = reproduction.current_study(row.study)
            planned = plan(declared, host.facts(), consent=reproduction.consent.restrict_to(declared.study))
            plans[row.study] = host.ready(planned, say)
        except ScalographError as error:
            reproduction.further.pop(row.study, None)
            reproduction.again.discard(row.study)
            if reproduction.parts[row.study].state == "done":
                say(f"{row.study} stays as it is: {error}", "yellow")
            else:
                reproduction.update_part(row.study, state="skipped", why=str(error)[:LONGEST])
    return plans


class ClaimOutlook(NamedTuple):
    """Which claims a part can decide as it is planned on this machine; `undecidable` are reasons by id."""

    limit: str
    decidable: list[str]
    undecidable: dict[str, str]

    def group_reasons(self) -> list[tuple[str, list[str]]]:
        groups: dict[str, list[str]] = {}
        for name, reason in self.undecidable.items():
            groups.setdefault(reason, []).append(name)
        return [*groups.items()]


def look_at_claims(catalogue: OpenedCatalogue, facts: HostFacts, consent: Consent) -> dict[str, ClaimOutlook]:
    """Return which claims each part can decide on this machine, by its plan; nothing is run or fetched."""
    return {part.study: _look(catalogue.declared[part.study], facts, consent) for _, part in catalogue.parts}


def _look(declared: Declared, facts: HostFacts, consent: Consent) -> ClaimOutlook:
    ids, seconds = [claim.id for claim in claims_of(declared)], declared.study.protocol.budget_s
    limit = "no time limit" if seconds is None else f"at most {format_duration(round(seconds))}"
    try:
        designed = plan(declared, facts, starts=False, consent=consent.restrict_to(declared.study)).design
    except ScalographError as error:
        return ClaimOutlook(limit, [], dict.fromkeys(ids, str(error)[:LONGEST]))
    counts = [0] * len(designed.configurations)
    table = Table(designed.study, "", facts.machine(), [*designed.configurations], counts, rows=[])
    undecidable = find_undecidable(table, samples_by_configuration(table))
    return ClaimOutlook(limit, [name for name in ids if name not in undecidable], undecidable)


def _is_left(reproduction: ReproductionRun, name: str, busy_again: bool, more_s: float | None) -> bool:
    """Update the state of a part, and return whether it is to be run."""
    folder = reproduction.folder / name
    settle(folder)
    if folder.exists() and results.is_begun(results.locate_results(folder).journal):
        reproduction.update_part(name, state="begun")
    if not is_finished(folder, reproduction.catalogue.declared[name]):
        return True
    reproduction.update_part(name, state="done")
    return _has_more_to_do(reproduction, name, busy_again, more_s)


def _has_more_to_do(reproduction: ReproductionRun, name: str, busy_again: bool, more_s: float | None) -> bool:
    """Return whether a finished part is rerun or extended, and record it."""
    folder = reproduction.folder / name
    if busy_again and is_busy(folder):
        reproduction.again.add(name)
    elif more_s and (declared := extend_part(folder, reproduction.catalogue.declared[name], more_s)):
        reproduction.further[name] = declared
    return name in reproduction.again or name in reproduction.further


def _declared_part(study: PublishedStudy, row: CataloguedPart, reproduction: ReproductionRun) -> ReproducedPart:
    declared = reproduction.catalogue.declared[row.study]
    started = "study" if reproduction.catalogue.is_shipped else "run"
    named = row.study if reproduction.catalogue.is_shipped else str(declared.file)
    words = ["--quick"] * reproduction.quick + reproduction.consent.restrict_to(declared.study).words()
    command = shlex.join(["scalograph", started, named, *words])
    return ReproducedPart(study=row.study, title=declared.study.title, of=study.id, state="not run", command=command)


def is_finished(folder: Path, declared: Declared) -> bool:
    """Return whether a part has ended: all runs, or its own budget."""
    file = folder / "journal.jsonl"
    if not file.exists() or not results.is_begun(file):
        return False
    ended = end_reason(file)
    if ended != "budget" or declared.study.protocol.budget_s is not None:
        return ended in ("complete", "budget")
    return restore_extension(folder, declared) is not declared  # further runs have a time of their own


def seconds_at_most(reproduction: ReproductionRun, name: str) -> float | None:
    """Return the seconds a part may still take, finished blocks deducted; None is no limit."""
    most = reproduction.current_study(name).study.protocol.budget_s
    file = (
        rerun_folder(reproduction.folder / name) if name in reproduction.again else reproduction.folder / name
    ) / "journal.jsonl"
    if most is None or not file.exists() or not results.is_begun(file):
        return most
    return max(0.0, most - spent_s(file))


def spent_s(file: Path) -> float:
    """Return the seconds that the finished blocks of all starts took."""
    return sum(seconds_per_block(journal.read(file)).values())
