"""Options of a start that override `[protocol]`: budgets, and what to do on a busy machine."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from scalograph.cli.console import say
from scalograph.cli.options import WHEN_BUSY
from scalograph.errors import StudyError
from scalograph.questions.registry import is_search
from scalograph.run.hosts.host_names import LOCAL
from scalograph.study.declare import Declared
from scalograph.study.model import Quick, Study
from scalograph.study.processes import hosts_of
from scalograph.study.scalars import unknown_name_error
from scalograph.text.units import parse_duration, parse_percent


def override_protocol(
    declared: Declared, budget: str | None = None, max_runs: int | None = None, wait_quiet: str | None = None,
    when_busy: str | None = None, runs: int | None = None, max_idle: str | None = None,
    max_node_hours: float | None = None,
) -> Declared:  # fmt: skip
    """Override protocol keys of a study; None leaves a key as declared."""
    if runs is not None:
        _refuse_uncounted(declared.study)
    if when_busy is not None and when_busy not in WHEN_BUSY:
        raise unknown_name_error("--when-busy", f'"{when_busy}"', when_busy, WHEN_BUSY)
    changes: dict[str, Any] = {
        "budget_s": seconds_of("--budget", budget), "budget_runs": max_runs,
        "wait_quiet_s": seconds_of("--wait-quiet", wait_quiet), "when_busy": when_busy, "runs": runs,
        "max_idle": None if max_idle is None else _share_of("--max-idle", max_idle), "max_node_hours": max_node_hours,
    }  # fmt: skip
    given = {name: value for name, value in changes.items() if value is not None}
    if not given:
        return declared
    protocol = declared.study.protocol.model_copy(update=given)
    return replace(declared, study=declared.study.model_copy(update={"protocol": protocol}))


def override_hosts(declared: Declared, texts: Sequence[str] | None) -> Declared:
    """Place processes of a study on machines, as `--on PROCESS=HOST` says. Raises StudyError."""
    if not texts:
        return declared
    use = declared.study.workload
    named = {process.name: process for process in use.process}
    for text in texts:
        name, _, hosts = text.partition("=")
        if name not in named:
            raise unknown_name_error("--on", f'no process "{name[:40]}"', name, list(named), "see [[workload.process]]")
        try:
            named[name] = named[name].model_copy(update={"host": hosts_of(hosts.split(","))})
        except ValueError as error:
            raise StudyError.one("--on", f"{name}: {error}", "", "such as --on database=ssh:db") from None
    workload = use.model_copy(update={"process": list(named.values())})
    return replace(declared, study=declared.study.model_copy(update={"workload": workload}))


def host_words(texts: Sequence[str] | None) -> list[str]:
    """Return `--on` as words of a resuming command."""
    return [word for text in texts or () for word in ("--on", text)]


def _refuse_uncounted(study: Study) -> None:
    if is_search(study.question):
        reason = f'the question "{study.question}", which says what is run next'
    elif study.protocol.precision is not None:
        reason = f"precision = {study.protocol.precision:g}, which says when enough was run"
    else:
        return
    raise StudyError.one("--runs", reason, "a study of so many blocks", "--max-runs and --budget end this one")


def refuse_unused(
    pilot: bool, resume: bool, accepted: list[str] | None, max_runs: int | None, ceiling: bool, runs: int | None = None
) -> None:
    """Raise StudyError for an option that would have no effect."""
    counts = {"--max-runs": max_runs, "--runs": runs}
    beside = {
        "--accept-difference": accepted,
        **{name: n is not None for name, n in counts.items()},
        "--ceiling": ceiling,
    }
    names = [name for name, is_given in beside.items() if is_given]
    if pilot and names:
        fix = f"leave out {names[0]}: a pilot chooses its own runs"
        raise StudyError.one("", f"--pilot and {names[0]} exclude each other", "", fix)
    if accepted and not resume:
        raise StudyError.one("", "--accept-difference is for --resume only", "", "add --resume, or leave it out")


def warn_no_quick_form(declared: Declared, quick: bool) -> None:
    """Warn that `--quick` changes nothing for a study without [quick]."""
    if quick and declared.study.quick == Quick():
        say("--quick: the study declares no shorter form ([quick]), so it runs in full", "yellow")


def option_words(
    budget: str | None, max_runs: int | None, wait_quiet: str | None, when_busy: str | None, host: str = LOCAL,
    runs: int | None = None, max_idle: str | None = None, max_node_hours: float | None = None,
) -> list[str]:  # fmt: skip
    """Return options as words of a resuming command: no file of the results holds them."""
    options: dict[str, str | float | None] = {
        "--budget": budget, "--max-runs": max_runs, "--wait-quiet": wait_quiet, "--when-busy": when_busy,
        "--host": None if host == LOCAL else host, "--runs": runs, "--max-idle": max_idle,
        "--max-node-hours": max_node_hours,
    }  # fmt: skip
    return [word for name, value in options.items() if value is not None for word in (name, str(value))]


def seconds_of(option: str, text: str | None) -> float | None:
    """Parse a duration option in seconds; None where not given. Raises StudyError for another form."""
    return None if text is None else parse_option(option, text)


def _share_of(option: str, text: str) -> float:
    share = parse_option(option, text, parse_percent)
    if not 0 < share < 1:
        raise StudyError.one(option, f'"{text}"', "a percentage between 0% and 100%", "such as 30%")
    return share


def parse_option(option: str, text: str, parse: Callable[[str], float] = parse_duration) -> float:
    """Parse an option's text. Raises StudyError for another form."""
    try:
        return parse(text)
    except ValueError as error:
        raise StudyError.one(option, str(error)) from error
