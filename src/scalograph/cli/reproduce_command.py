"""`scalograph reproduce`."""

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scalograph.cli.console import emit_json, say, tell
from scalograph.cli.options import (
    Dangerous,
    HostName,
    Json,
    MachineWide,
    OutDir,
    Quick,
    WaitQuiet,
    WhenBusy,
    group_options,
)
from scalograph.errors import Exit, StudyError, Terminated
from scalograph.run.hosts.host_names import LOCAL, is_elsewhere

if TYPE_CHECKING:
    from scalograph.cli.reproduce.reproduce_results import ReproductionRun
    from scalograph.control.machine_control import Consent
    from scalograph.study.catalogue import OpenedCatalogue

NAME = "reproduce"
# Claims for which a part goes on; of more, how many there are.
MOST_NAMED = 3


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions:
    """Options of `reproduce`."""

    quick: Quick = False
    study: Annotated[
        list[str] | None,
        typer.Option("--study", metavar="NAME", help="Run only this published study, by name or id; repeatable"),
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Continue the latest reproduction, or that of -o")] = False
    again: Annotated[bool, typer.Option("--again", help="With --resume, repeat parts that ran on a busy machine")] = (
        False
    )
    more: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="With --resume, more time for each part with inconclusive claims"),
    ] = None
    with_: Annotated[
        list[Path] | None,
        typer.Option("--with", metavar="RESULTS", help="Results of another machine, for claims that need it"),
    ] = None
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget", metavar="TIME", help="Time limit for all parts together; no part starts that may end after it"
        ),
    ] = None
    wait_quiet: WaitQuiet = None
    when_busy: WhenBusy = None
    machine_wide: MachineWide = False
    dangerous: Dangerous = None
    host: HostName = LOCAL
    output: OutDir = None
    catalogue: Annotated[
        Path | None, typer.Option("--catalogue", metavar="FILE", help="Catalogue of other published studies")
    ] = None
    list_: Annotated[bool, typer.Option("--list", help="List the published studies and their parts")] = False
    json: Json = False


def _reproduce(options: ReproduceOptions) -> int:
    """Reproduce five published studies and check every claim, on one page.

    \b
    scalograph reproduce --quick                 all five, each part in its quick form
    scalograph reproduce --study cpu-surface     one of them
    scalograph reproduce --resume                go on after Ctrl-C, a crash or a reboot
    scalograph reproduce --resume --again        what the machine was too busy for, once more
    scalograph reproduce --resume --more 5min    further runs for claims that are inconclusive
    scalograph reproduce --resume --with OTHER   claims that need another machine, by its results
    scalograph reproduce --list --quick          the parts, and which claims they can decide
    """
    from scalograph.cli.overrides import seconds_of
    from scalograph.study.catalogue import open_catalogue

    names = tuple(options.study or ())
    if options.list_:
        return _list(open_catalogue(options.catalogue, options.quick, names), options)
    for name, is_given in {"--again": options.again, "--more": options.more}.items():
        if is_given and not options.resume:
            raise StudyError.one("", f"{name} is for --resume only", "", "add --resume")
    budget_s, more_s = seconds_of("--budget", options.budget), seconds_of("--more", options.more)
    reproduction = _resume(options, names) if options.resume else _start_new(options, names)
    _plan(reproduction, budget_s, options.again, more_s)
    _make_folder(reproduction, options)
    return _run(reproduction, options, budget_s)


def _start_new(options: ReproduceOptions, names: tuple[str, ...]) -> "ReproductionRun":
    from scalograph.cli.reproduce.reproduce_results import ReproductionRun, read_others
    from scalograph.protocol import journal, saved_documents

    if options.output and saved_documents.has_reproduction(options.output):
        fix = "choose another -o, or add --resume"
        raise StudyError.one(str(options.output), "holds a reproduction", "a folder without one", fix)
    catalogue = _open_catalogue(options, options.quick, names)
    others = read_others(catalogue, options.with_ or ())
    return ReproductionRun(
        catalogue, options.output or Path(), options.quick, journal.now(), _consent(options), others=others,
        is_new=True, host=options.host,
    )  # fmt: skip


def _consent(options: ReproduceOptions) -> "Consent":
    from scalograph.control.machine_control import Consent

    return Consent(options.machine_wide, tuple(options.dangerous or ()))


def _open_catalogue(options: ReproduceOptions, quick: bool, names: tuple[str, ...]) -> "OpenedCatalogue":
    from scalograph.cli.overrides import override_protocol
    from scalograph.study.catalogue import open_catalogue

    catalogue = open_catalogue(options.catalogue, quick, names)
    parts = {
        name: override_protocol(declared, wait_quiet=options.wait_quiet, when_busy=options.when_busy)
        for name, declared in catalogue.declared.items()
    }
    return replace(catalogue, declared=parts)


def _resume(options: ReproduceOptions, names: tuple[str, ...]) -> "ReproductionRun":
    from scalograph.cli.reproduce.reproduce_results import ReproductionRun, read_others
    from scalograph.protocol import results, saved_documents
    from scalograph.study.catalogue import open_catalogue

    folder = options.output or (results.ROOT / NAME / "latest").resolve()
    if not saved_documents.has_reproduction(folder):
        fix = "start it without --resume, or name its folder with -o"
        raise StudyError.one(str(folder), "no reproduction", "one that was begun", fix)
    before = saved_documents.read_reproduction(folder)
    if options.catalogue is None and before.catalogue:
        options = replace(options, catalogue=Path(before.catalogue))
    if options.quick and not before.quick:
        raise StudyError.one("--quick", "it was begun in full", "the same form", "leave --quick out")
    ids = tuple(study.id for study in before.studies)
    catalogue = _open_catalogue(options, before.quick, ids)
    if names and {study.id for study in open_catalogue(options.catalogue, before.quick, names).studies} != {*ids}:
        begun = ", ".join(study.name for study in before.studies)
        raise StudyError.one("--study", f"it was begun with {begun}", "the same studies", "leave --study out")
    others = read_others(catalogue, options.with_ or (), before.others)
    return ReproductionRun(
        catalogue, folder, before.quick, before.started, _consent(options), others=others, host=options.host
    )


def _plan(reproduction: "ReproductionRun", budget_s: float | None, busy_again: bool, more_s: float | None) -> None:
    from scalograph.cli.pipeline import machine_lock
    from scalograph.cli.reproduce.reproduce_plan import look_ahead, seconds_at_most
    from scalograph.run.hosts.host_names import open_host
    from scalograph.text.units import format_duration

    with machine_lock(elsewhere=is_elsewhere(reproduction.host)), open_host(reproduction.host) as host:
        plans = look_ahead(reproduction, host, busy_again, more_s)
    most = {name: seconds_at_most(reproduction, name) for name in plans}
    for i, (name, part) in enumerate(reproduction.parts.items()):
        state = f"skipped: {part.why}" if part.state == "skipped" else part.state
        if name in plans:
            seconds = most[name]
            within = "no time limit of its own" if seconds is None else f"at most {format_duration(round(seconds))}"
            state = f"{_goes_on(reproduction, name)}{plans[name].runs.outlook()}; {within}"
        say(f"{i + 1:3}  {part.of:3} {name}: {state}")
    say(_total([*most.values()], budget_s))


def _goes_on(reproduction: "ReproductionRun", name: str) -> str:
    from scalograph.cli.reproduce.reproduce_plan import inconclusive_claims
    from scalograph.text.short_names import join_first

    if name in reproduction.further and reproduction.parts[name].state == "done":
        return f"goes on for {join_first(inconclusive_claims(reproduction.folder / name), MOST_NAMED)}; "
    return {"begun": "goes on; ", "done": "once more; "}.get(reproduction.parts[name].state, "")


def _total(most: list[float | None], budget_s: float | None) -> str:
    from scalograph.text.quantities import count_noun
    from scalograph.text.units import format_duration

    seconds = sum(limit for limit in most if limit is not None)
    bound = "at least " if None in most else "at most "
    text = f"{count_noun(len(most), 'part')} to run" + (
        f", {bound}{format_duration(round(seconds))}" if seconds else ""
    )
    if budget_s is not None:
        text += f", within {format_duration(budget_s)}"
        text += "; the last ones may not run" if seconds > budget_s else ""
    return text


def _make_folder(reproduction: "ReproductionRun", options: ReproduceOptions) -> None:
    from scalograph.protocol import results

    if not options.resume:
        created = results.create(NAME, options.output)
        reproduction.folder = created.folder
        if created.warning:
            say(created.warning, "yellow")
    reproduction.save()
    say(f"results: {_short_folder(reproduction.folder)}")


def _run(reproduction: "ReproductionRun", options: ReproduceOptions, budget_s: float | None) -> int:
    from scalograph.cli.overrides import option_words
    from scalograph.cli.pipeline import machine_lock
    from scalograph.cli.reproduce.reproduce_parts import run_parts

    again = ["scalograph", NAME, "--resume", "-o", _short_folder(reproduction.folder)]
    again += ["--catalogue", str(options.catalogue)] if options.catalogue else []
    again += option_words(None, None, options.wait_quiet, options.when_busy, options.host)
    again += reproduction.consent.words()
    try:
        # Over all parts: who waits for the machine would else take it between two of them.
        with machine_lock(elsewhere=is_elsewhere(options.host)):
            code = run_parts(reproduction, budget_s)
    except KeyboardInterrupt as error:
        reproduction.save()
        again += ["--again"] * options.again
        say(f"interrupted: nothing finished is lost. Resume with: {shlex.join(again)}", "yellow")
        return Exit.TERMINATED if isinstance(error, Terminated) else Exit.INTERRUPTED
    document = reproduction.save()
    if options.json:
        emit_json(document.model_dump(mode="json"))
        return code
    from scalograph.cli.reproduce.reproduce_results import show

    show(document, reproduction.folder, _next(reproduction, again))
    return code


def _next(reproduction: "ReproductionRun", again: list[str]) -> tuple[str, str] | None:
    from scalograph.cli.reproduce.reproduce_plan import may_decide
    from scalograph.protocol import results

    if (results.ROOT / NAME / "latest").resolve() == reproduction.folder.resolve():
        again = [word for word in again if word not in ("-o", _short_folder(reproduction.folder))]
    if reproduction.parts_left():
        return "go on", shlex.join(again)
    is_open = any(
        may_decide(findings, reproduction.catalogue.declared[name]) for name, findings in reproduction.findings.items()
    )
    return ("further", shlex.join([*again, "--more", "5min"])) if is_open else None


def _short_folder(folder: Path) -> str:
    return str(folder.relative_to(Path.cwd())) if folder.is_relative_to(Path.cwd()) else str(folder)


def _list(catalogue: "OpenedCatalogue", options: ReproduceOptions) -> int:
    from scalograph.cli.reproduce.reproduce_plan import look_at_claims
    from scalograph.run.hosts.host_names import open_host
    from scalograph.text.short_names import join_names

    with open_host(options.host) as host:
        looked_at = look_at_claims(catalogue, host.facts(), _consent(options))
    if options.json:
        studies = [study.model_dump(mode="json") for study in catalogue.studies]
        for part in (part for study in studies for part in study["parts"]):
            look = looked_at[part["study"]]
            reasons = [{"why": reason, "claims": names} for reason, names in look.group_reasons()]
            part |= {"limit": look.limit, "decidable": look.decidable, "undecidable": reasons}
        emit_json(studies)
        return 0
    for study in catalogue.studies:
        tell(f"{study.id}  {study.name}: {study.title}{f' ({study.year})' if study.year else ''}")
        tell(f"    {study.line}")
        for part in study.parts:
            tell(f"    {part.study}: {catalogue.declared[part.study].study.title}")
            look = looked_at[part.study]
            tell(f"        {look.limit}; can decide {join_names(look.decidable) if look.decidable else 'no claim'}")
            for reason, names in look.group_reasons():
                tell(f"        not {join_names(names)}: {reason}")
    return 0


command = group_options(_reproduce, ReproduceOptions)
