"""Start a declared study for `run` and `study`: options, a pilot where asked, the runs, the outcome."""

from pathlib import Path

from scalograph.cli.options import StartOptions
from scalograph.cli.overrides import option_words, override_protocol, refuse_unused, seconds_of, warn_no_quick_form
from scalograph.cli.pilot_output import conclude
from scalograph.cli.pipeline import StudyStart, run_declared
from scalograph.control.consent import Consent
from scalograph.protocol import journal, results
from scalograph.study.declare import Declared
from scalograph.study.identity import MORE_RUNS


def start(declared: Declared, options: StartOptions, command: list[str], report: bool) -> int:
    """Run a study, or its pilot, and print the outcome; `command` names the study again, to resume it."""
    o = options
    asked = _extended_runs(declared, o.output) if o.resume and not o.pilot and o.runs is None else o.runs
    declared = override_protocol(declared, o.budget, o.max_runs, o.wait_quiet, o.when_busy, asked)
    warn_no_quick_form(declared, o.quick)
    consent = Consent(o.machine_wide, tuple(o.dangerous or ()))
    wait_s = seconds_of("--wait-lock", o.wait_lock)
    refuse_unused(o.pilot, o.resume, o.accept_difference, o.max_runs, o.ceiling, o.runs)
    if o.pilot:
        from scalograph.cli.pilot_output import run_pilot

        return run_pilot(declared, o.output, o.resume, o.json, o.host, consent, wait_s)
    accepted = [*(o.accept_difference or []), *[MORE_RUNS] * (asked is not None)] if o.resume else None
    begun = StudyStart(
        folder=o.output, accepted=accepted, ceiling=o.ceiling, host=o.host, consent=consent,
        wait_lock_s=wait_s,
    )  # fmt: skip
    session = run_declared(declared, begun)
    words = [*option_words(o.budget, o.max_runs, o.wait_quiet, o.when_busy, o.host, asked), *consent.words()]
    again = [*command, *["--quick"] * o.quick, *words]
    return conclude(session, o, again, report)


def _extended_runs(declared: Declared, folder: Path | None) -> int | None:
    """Return the --runs of the last start of the same study; None without."""
    asked = list[int]()
    for event in journal.read(results.latest(declared.study.name, folder).journal, whole=False):
        if event["event"] in ("study", "resume") and "study" in event:  # older journals tell it at their begin alone
            with journal.understood(event, len(asked) + 1):
                asked.append(int(event["study"]["protocol"]["runs"]))
    return asked[-1] if asked and asked[0] == declared.study.protocol.runs < asked[-1] else None
