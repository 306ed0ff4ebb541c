"""How a proposal is shown, and the pilot that leads to one."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalograph.cli.console import (
    emit_json,
    out,
    say,
    tell,
)
from scalograph.errors import Exit, StudyError
from scalograph.questions.registry import is_search

if TYPE_CHECKING:
    from scalograph.control.consent import Consent
    from scalograph.questions.pilot.plan_proposal import Offer, Proposal
    from scalograph.run.plan import Plan
    from scalograph.study.declare import Declared


def run_pilot(
    declared: "Declared", folder: Path | None, resume: bool, json: bool, host: str, consent: "Consent",
    wait_lock_s: float | None = None,
) -> int:  # fmt: skip
    """Make a few short runs of a study in a results folder of their own, and propose a protocol.

    Raises:
        StudyError: a pilot is not resumed, and a search has none.
        HostError: another study holds the machine, or the host refuses something that the study needs.
    """
    if resume:
        raise StudyError.one("--pilot", "--resume with it", "one of the two", "a pilot is short: start it anew")
    if is_search(declared.study.question):
        raise StudyError.one("--pilot", "a search", "a sweep", "run it: a search ends by itself when it knows")
    from scalograph.cli.five_stops import StudyStart, run_declared
    from scalograph.cli.last_stops import analyze
    from scalograph.cli.outcome import interrupted
    from scalograph.questions.pilot.plan import pilot, takes_iterations
    from scalograph.run.hosts.host_names import connected
    from scalograph.run.plan import plan

    with connected(host, wait_lock_s) as machine:
        planned = plan(declared, machine.facts(), consent=consent)
    study = pilot(declared.study, planned.design, takes_iterations(declared.study, planned.program.argv))
    start = StudyStart(folder=folder, host=host, consent=consent, wait_lock_s=wait_lock_s)
    conducted = run_declared(replace(declared, study=study), start)
    if conducted.reason == "interrupted":
        return interrupted(conducted, [])
    found, _ = analyze(conducted.results.folder)
    made = proposal(planned, conducted.results.journal)
    protocol = planned.design.study.protocol
    if json:
        emit_json({"results": str(conducted.results.folder), **document(made, protocol.budget_s)})
    else:
        show(made, protocol.budget_s)
    return Exit.TREATMENT_FAILED if found.runs.n_empty else Exit.DONE


def proposal(planned: "Plan", journal: Path) -> "Proposal":
    """Return what a journal lets propose for a study."""
    from scalograph.questions.pilot.plan import takes_iterations
    from scalograph.questions.pilot.plan_prior_runs import earlier
    from scalograph.questions.pilot.plan_proposal import propose

    study = planned.declared.study
    return propose(planned.design, earlier(journal), takes_iterations(study, planned.program.argv))


def document(made: "Proposal", budget_s: float | None) -> dict[str, Any]:
    """Return the document for machines; `toml` holds the lines for the study, null where nothing can be proposed."""
    chosen = made.within(budget_s)
    return {**asdict(made), "toml": None if chosen is None else toml(chosen)}


def toml(offer: "Offer") -> str:
    """Return the lines that make a study follow an offer."""
    return f"[protocol]\nruns = {offer.runs}\niterations = {offer.iterations}\n"


def show(made: "Proposal", budget_s: float | None) -> None:
    """Tell noise and cost in a sentence each, offers as a table, the lines for the study."""
    from scalograph.text.units import format_duration

    tell(f"{made.study}: {made.n_runs} runs of {made.n_treatments} configurations")
    if made.sd_score is not None:
        tell(f"  noise: {_noise(made)}")
    if made.start_s is not None:
        more = "" if made.iteration_s is None else f", a counted iteration {format_duration(made.iteration_s)}"
        tell(f"  time: a start takes {format_duration(made.start_s)}{more}")
    chosen = made.within(budget_s)
    if chosen is not None:
        tell("  runs of each configuration after which nineteen of twenty are as precise as asked:")
        _table(made)
        over = budget_s is not None and (chosen.expected_s or 0.0) > budget_s
        beyond = f" (more than its budget, {format_duration(budget_s or 0.0)})" if over else ""
        tell(f"For +-{100 * chosen.precision:g} %, put into the study{beyond}:\n\n{toml(chosen)}")
    for text in made.warnings:
        say(f"warning: {text}", "yellow")


def _noise(made: "Proposal") -> str:
    parts = [("scores", made.sd_score), ("iterations of a run", made.sd_within), ("runs", made.sd_between)]
    return ", ".join(f"{what} vary by {100 * sd:.2g} %" for what, sd in parts if sd is not None)


def _table(made: "Proposal") -> None:
    from rich.table import Table

    from scalograph.text.units import format_duration

    table = Table("precision", "runs", "iterations", "expected", "time")
    for column in table.columns:
        column.justify = "right"
    for o in made.offers:
        time = "unknown" if o.expected_s is None else format_duration(o.expected_s)
        widths = f"+-{100 * o.precision:g} %", f"+-{100 * o.half_width:.2g} %"
        table.add_row(widths[0], str(o.runs), str(o.iterations), widths[1], time)
    out().print(table)
