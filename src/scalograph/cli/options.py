"""Arguments and options that several commands share."""

from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from scalograph.questions.asked import Option
from scalograph.run.hosts.host_names import LOCAL

if TYPE_CHECKING:
    from scalograph.control.consent import Consent


StudyFile = Annotated[Path, typer.Argument(help="A study.toml, or a folder that holds one.")]
Quick = Annotated[bool, typer.Option("--quick", help="The quick form, which the study declares in [quick].")]
OutDir = Annotated[
    Path | None, typer.Option("-o", "--output", help="Results folder; default scalograph-results/NAME/TIME-ID.")
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, for machines.")]
Tables = Annotated[bool, typer.Option("--tables", help="All tables above the answer.")]
TableName = Annotated[str | None, typer.Option("--table", metavar="NAME", help="One table above the answer.")]
# `--gate` is its name of earlier releases.
Strict = Annotated[
    bool, typer.Option("--strict", "--gate", help="Exit with 4 for a failed configuration, 5 for one short of runs.")
]
StrictAnswer = Annotated[bool, typer.Option("--strict", help="Exit with 5 if a configuration is short of runs.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the latest results of this study (or those of -o).")]
Accept = Annotated[
    list[str] | None,
    typer.Option("--accept-difference", help="Resume although this differs (kernel, study_hash, ...); is recorded."),
]
Budget = Annotated[str | None, typer.Option("--budget", help='Time budget such as "10min"; no block begins past it.')]
Pilot = Annotated[
    bool,
    typer.Option(
        "--pilot",
        help="A few short runs at the ends of the study, in results of their own; then runs and iterations proposed.",
    ),
]
Ceiling = Annotated[
    bool, typer.Option("--ceiling", help="Beside each curve, what this machine itself scales to: 20 s, then kept.")
]
MaxRuns = Annotated[
    int | None, typer.Option("--max-runs", min=1, help="No block is begun that would take the study past so many runs.")
]
Runs = Annotated[
    int | None,
    typer.Option(
        "--runs", min=1, max=10_000, help="Runs of each configuration, not the study's; with --resume, further ones."
    ),
]
WaitQuiet = Annotated[
    str | None, typer.Option("--wait-quiet", help='Wait for a quiet machine before blocks, at most "10m" in all.')
]
WhenBusy = Annotated[
    str | None,
    typer.Option("--when-busy", help="On a machine that stays busy: report (go on), cpu-time (go by it), or stop."),
]
MachineWide = Annotated[
    bool, typer.Option("--machine-wide", help="Settings of the whole machine that the study names may be changed.")
]
Dangerous = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="With --machine-wide: this setting too, although its levels may harm others."),
]
WaitLock = Annotated[
    str | None, typer.Option("--wait-lock", help='Wait so long for another start on this machine: "10m"; default 10s.')
]
Env = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME[=VALUE]", help="Beside PATH, HOME, LANG, TMPDIR; NAME alone: as it is set here."),
]
HostName = Annotated[str, typer.Option("--host", help="Where runs are made: local, guest, ssh:NAME, or reboot:NAME.")]
Source = Annotated[Path, typer.Argument(help="A results folder or a journal (.jsonl, .jsonl.gz).")]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="FACTOR=LEVEL",
        help="Only configurations with this level; of one factor named again, with either.",
    ),
]
NoHost = Annotated[
    bool,
    typer.Option(
        "--no-host",
        help="Look at no machine: plan for an assumed one, which grants everything and has the study's JVMs.",
    ),
]
Cpus = Annotated[
    int | None, typer.Option("--cpus", min=1, max=4096, help="With --no-host: CPUs of the assumed machine; default 1.")
]


@dataclass(frozen=True, kw_only=True)
class StartOptions:
    """Options of a start; None leaves a key as the study declares it."""

    quick: Quick = False
    output: OutDir = None
    resume: Resume = False
    accept_difference: Accept = None
    runs: Runs = None
    budget: Budget = None
    max_runs: MaxRuns = None
    wait_quiet: WaitQuiet = None
    when_busy: WhenBusy = None
    wait_lock: WaitLock = None
    pilot: Pilot = False
    ceiling: Ceiling = False
    host: HostName = LOCAL
    machine_wide: MachineWide = False
    dangerous: Dangerous = None
    tables: Tables = False
    table: TableName = None
    json: Json = False


@dataclass(frozen=True, kw_only=True)
class CommandOptions:
    """Options of `measure` and every search: the command, its steps, and time limits."""

    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="The command, after --.")]
    response: Annotated[
        list[str] | None,
        typer.Option(help="A figure it prints: 'ops:higher: ([0-9.]+) ops/s' or 'iops:higher: /jobs/0/iops'."),
    ] = None
    max_reruns: Annotated[int, typer.Option(min=0, max=10, help="How often a disturbed run is made again.")] = 1
    budget: Annotated[str, typer.Option(help="No block of runs begins past it.")] = "10min"
    timeout: Annotated[str, typer.Option(help="Of one run.")] = "10min"
    shell: Annotated[bool, typer.Option("--shell", help="COMMAND and steps go to sh -c, one text each.")] = False
    setup: Annotated[str | None, typer.Option("-s", "--setup", help="Once, before all runs.")] = None
    prepare: Annotated[str | None, typer.Option("-p", "--prepare", help="Before each run, outside its window.")] = None
    cleanup: Annotated[str | None, typer.Option("-c", "--cleanup", help="After each run, outside its window.")] = None
    env: Env = None
    env_all: Annotated[bool, typer.Option("--env-all", help="Your whole environment; its values are not kept.")] = False
    input: Annotated[Path | None, typer.Option("--input", help="A file that each run reads as standard input.")] = None
    ok_exit: Annotated[str, typer.Option("--ok-exit", help="Exit codes that are no failure: 0,1.")] = "0"
    output: OutDir = None
    wait_quiet: WaitQuiet = None
    when_busy: WhenBusy = None
    wait_lock: WaitLock = None
    strict: StrictAnswer = False
    tables: Tables = False
    table: TableName = None
    json: Json = False


@dataclass(frozen=True, kw_only=True)
class SearchOptions(CommandOptions):
    """Options of every search."""

    max_runs: MaxRuns = None
    machine_wide: MachineWide = False
    dangerous: Dangerous = None

    def consent(self) -> "Consent":
        """Return which machine settings the start may change."""
        from scalograph.control.consent import Consent

        return Consent(self.machine_wide, tuple(self.dangerous or ()))


def group_options(function: Callable[..., int], *bundles: type) -> Callable[..., int]:
    """Make a function of option dataclasses a command of their fields."""

    def command(**given: Any) -> int:
        return function(*(bundle(**{field.name: given[field.name] for field in fields(bundle)}) for bundle in bundles))

    named = {p.name: p for bundle in reversed(bundles) for p in _parameters(bundle)}
    # In their order; a name that two bundles have is declared by the first.
    parameters = [named[name] for name in dict.fromkeys(p.name for bundle in bundles for p in _parameters(bundle))]
    command.__doc__ = function.__doc__
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return command


def _parameters(bundle: Any) -> Iterator[Parameter]:
    hints = get_type_hints(bundle, include_extras=True)
    for field in fields(bundle):
        default = Parameter.empty if field.default is MISSING else field.default
        hint = hints[field.name]
        kind, option = get_args(hint)
        if isinstance(option, Option):
            hint = Annotated[kind, typer.Option(f"--{field.name.replace('_', '-')}", **option._asdict())]
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)
