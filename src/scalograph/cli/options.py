"""Arguments and options that several commands share."""

from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from inspect import Parameter, Signature
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from scalograph.errors import HostError, StudyError
from scalograph.questions.asked import Option, Words
from scalograph.run.hosts.host_names import LOCAL
from scalograph.text.units import parse_percent

if TYPE_CHECKING:
    from scalograph.control.machine_control import Consent
    from scalograph.exchange.readers.plain_json import JsonLayout

# Of the place of a value.
_MOST_STEPS = 64


StudyFile = Annotated[Path, typer.Argument(help="A study.toml, or its folder")]
Quick = Annotated[bool, typer.Option("--quick", help="Use the quick form of the study ([quick])")]
OutDir = Annotated[
    Path | None, typer.Option("-o", "--output", help="Results folder (default scalograph-results/NAME/TIME-ID)")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON")]


def _refuse_unwritable(file: Path | None) -> Path | None:
    """Refuse a place that cannot be written before anything is measured, by a file that is gone at once."""
    if file is not None:
        if file.is_dir() or (file.exists() and not file.is_file()):
            raise StudyError.one("--export-json", f'"{file}"', "a plain file")
        try:
            with TemporaryFile(dir=file.parent):
                pass
        except OSError as error:
            raise HostError(str(file), f"cannot be written: {error.strerror}", "a writable folder") from error
    return file


ExportJson = Annotated[
    Path | None,
    typer.Option(
        "--export-json", metavar="FILE", callback=_refuse_unwritable, help="Write the document of --json to a file too"
    ),
]
Tables = Annotated[bool, typer.Option("--tables", help="Print all tables above the answer")]
TableName = Annotated[str | None, typer.Option("--table", metavar="NAME", help="Print one table above the answer")]
# `--gate` is its name of earlier releases.
Strict = Annotated[
    bool, typer.Option("--strict", "--gate", help="Exit with 4 if a configuration failed, 5 if runs are missing")
]
StrictAnswer = Annotated[bool, typer.Option("--strict", help="Exit with 5 if a configuration has too few clean runs")]
Resume = Annotated[bool, typer.Option("--resume", help="Continue the latest results of this study, or those of -o")]
Accept = Annotated[
    list[str] | None, typer.Option("--accept-difference", help="Resume despite this change; the change is recorded")
]
# The one limit of time, of every command that measures.
TIME_LIMIT = "Time limit, such as 90s, 2min, or 1h; no new block starts after it"
Budget = Annotated[str | None, typer.Option("--budget", metavar="TIME", help=TIME_LIMIT)]
UsualBudget = Annotated[str, typer.Option("--budget", metavar="TIME", help=TIME_LIMIT)]
Pilot = Annotated[
    bool, typer.Option("--pilot", help="Make a few short runs, and propose the number of runs and iterations")
]
Ceiling = Annotated[
    bool, typer.Option("--ceiling", help="Compare each curve with what the machine itself scales to; takes 20 s once")
]
MaxRuns = Annotated[int | None, typer.Option("--max-runs", min=1, help="Maximum runs; no new block starts beyond it")]
Runs = Annotated[
    int | None, typer.Option("--runs", min=1, max=10_000, help="Runs per configuration; with --resume, further ones")
]
WaitQuiet = Annotated[
    str | None, typer.Option("--wait-quiet", help="Wait for a quiet machine before each block, such as 10m in total")
]
# As protocol/study.md; the model would say so too, but of a key and not of the option.
WHEN_BUSY = ("report", "cpu-time", "stop")
WhenBusy = Annotated[
    str | None,
    typer.Option("--when-busy", help="If the machine stays busy: report (continue), cpu-time (use CPU time), or stop"),
]
Sentinel = Annotated[
    bool | None,
    typer.Option("--sentinel/--no-sentinel", help="Measure CPU speed during runs (default: if versions are compared)"),
]
MachineWide = Annotated[bool, typer.Option("--machine-wide", help="Allow the study to change system-wide settings")]
Dangerous = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="With --machine-wide, allow this setting too, whose levels may harm others"),
]
WaitLock = Annotated[
    str | None, typer.Option("--wait-lock", help="How long to wait if another measurement is running (default 10s)")
]
Env = Annotated[
    list[str] | None, typer.Option(metavar="NAME[=VALUE]", help="Pass a variable; NAME alone passes its current value")
]
HostName = Annotated[
    str, typer.Option("--host", help="Where to make the runs: local, guest, ssh:NAME, reboot:NAME, or slurm")
]
MaxIdle = Annotated[
    str | None,
    typer.Option("--max-idle", metavar="PERCENT", help="Idle node-hours of a job on a cluster (default 30%)"),
]
MaxNodeHours = Annotated[
    float | None,
    typer.Option("--max-node-hours", metavar="HOURS", min=0.001, help="Node-hours on a cluster; no new block beyond"),
]
OnHost = Annotated[
    list[str] | None,
    typer.Option(
        "--on", metavar="PROCESS=HOST", help="Start this process on local or ssh:NAME; a driver on several: ssh:A,ssh:B"
    ),
]
Source = Annotated[Path, typer.Argument(help="A results folder or a journal (.jsonl, .jsonl.gz)")]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="FACTOR=LEVEL",
        help="Use only configurations with this level; repeat to allow more levels of the same factor",
    ),
]
NoHost = Annotated[
    bool, typer.Option("--no-host", help="Plan for an assumed machine that supports everything, with the study's JVMs")
]
Cpus = Annotated[
    int | None, typer.Option("--cpus", min=1, max=4096, help="With --no-host, CPUs of the assumed machine (default 1)")
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
    max_idle: MaxIdle = None
    max_node_hours: MaxNodeHours = None
    on: OnHost = None
    machine_wide: MachineWide = False
    dangerous: Dangerous = None
    tables: Tables = False
    table: TableName = None
    json: Json = False


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """Where a program runs, and what it is given: levels of its CPU time, memory, and place, each a factor."""

    host: HostName = LOCAL
    cwd: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder of the runs, on the machine that makes them")
    ] = None
    quota: Annotated[
        str | None, typer.Option(metavar="LEVELS", help="CPU time, in CPUs: 0.5,1,2, or none; a cgroup limits it")
    ] = None
    memory: Annotated[
        str | None, typer.Option(metavar="LEVELS", help="Memory, without swap: 256M,1G, 256M:2G:*2, or none")
    ] = None
    placement: Annotated[
        str | None, typer.Option(metavar="LEVELS", help="CPUs to choose: compact, scatter, one-per-core, siblings")
    ] = None


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """What a run asks of a cluster (--host slurm). Each option is a factor."""

    nodes: Annotated[str | None, typer.Option(metavar="LEVELS", help="Nodes of a run on a cluster, such as 1,2,4")] = (
        None
    )
    tasks_per_node: Annotated[str | None, typer.Option(metavar="LEVELS", help="Processes on each node (default 1)")] = (
        None
    )
    cpus_per_task: Annotated[
        str | None, typer.Option(metavar="LEVELS", help="CPUs of each process (default: all, divided among them)")
    ] = None
    launcher: Annotated[
        str | None, typer.Option(metavar="LEVELS", help="What starts the processes: srun, srun:PLUGIN, mpirun, none")
    ] = None
    max_idle: MaxIdle = None
    max_node_hours: MaxNodeHours = None


@dataclass(frozen=True, kw_only=True)
class CommandOptions(LimitOptions, ClusterOptions):
    """Options of `measure` and every search: the command, its limits and steps, and time limits."""

    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="The command, after --")]
    response: Annotated[
        list[str] | None,
        typer.Option(help="Measure a value it prints: 'ops:higher: ([0-9.]+) ops/s' or 'iops:higher: /jobs/0/iops'"),
    ] = None
    max_reruns: Annotated[int, typer.Option(min=0, max=10, help="Maximum repeats of a disturbed run")] = 1
    sentinel: Sentinel = None
    budget: UsualBudget = "10min"
    timeout: Annotated[str, typer.Option(help="Time limit per run")] = "10min"
    shell: Annotated[bool, typer.Option("--shell", help="Pass COMMAND and the steps to sh -c")] = False
    setup: Annotated[str | None, typer.Option("-s", "--setup", help="Command to run once, before all runs")] = None
    prepare: Annotated[str | None, typer.Option("-p", "--prepare", help="Command to run before each run")] = None
    cleanup: Annotated[str | None, typer.Option("-c", "--cleanup", help="Command to run after each run")] = None
    env: Env = None
    env_all: Annotated[bool, typer.Option("--env-all", help="Pass all variables; values are not saved")] = False
    input: Annotated[Path | None, typer.Option("--input", help="Standard input of each run, a file")] = None
    stdout: Annotated[
        str | None, typer.Option("--stdout", metavar="null|pipe|tty|FILE", help="Standard output (default null)")
    ] = None
    events: Annotated[
        bool, typer.Option("--events", help="The command writes the times of its own window (SCALOGRAPH_EVENTS)")
    ] = False
    ok_exit: Annotated[str, typer.Option("--ok-exit", help="Exit codes to treat as success, such as 0,1")] = "0"
    output: OutDir = None
    wait_quiet: WaitQuiet = None
    when_busy: WhenBusy = None
    wait_lock: WaitLock = None
    strict: StrictAnswer = False
    show_output: Annotated[
        bool, typer.Option("--show-output", help="Print what each run writes, as it comes, to standard error")
    ] = False
    tables: Tables = False
    table: TableName = None
    json: Json = False
    export_json: ExportJson = None


@dataclass(frozen=True, kw_only=True)
class ForeignOptions:
    """How files of other tools are read: where any JSON file has its values, and how far single runs scatter."""

    at: Annotated[
        str | None, typer.Option("--at", metavar="PLACE", help="With json: the entries, such as '/results/*'")
    ] = None
    name: Annotated[str | None, typer.Option("--name", metavar="PLACE", help="With json: their names")] = None
    value: Annotated[
        str | None, typer.Option("--value", metavar="PLACE", help="With json: their value, or those of one process")
    ] = None
    unit: Annotated[
        str | None, typer.Option("--unit", metavar="UNIT", help="With json: s, ms, 1/s, .., or the place of it")
    ] = None
    param: Annotated[
        list[str] | None, typer.Option("--param", metavar="NAME=PLACE", help="With json: a param; repeatable")
    ] = None
    fact: Annotated[
        list[str] | None,
        typer.Option("--fact", metavar="NAME=PLACE", help="With json: a setting, or what is known of the machine"),
    ] = None
    spread: Annotated[
        str | None,
        typer.Option(
            "--spread", metavar="PERCENT", help="Standard deviation of single runs, for benchmarks of one run (10.7%)"
        ),
    ] = None

    def layout(self) -> "JsonLayout | None":
        """Return the layout of JSON files; None without one. Raises StudyError: it lacks a part, or is no layout."""
        given = {"at": self.at, "name": self.name, "value": self.value}
        pairs = {"--param": _pairs("--param", self.param), "--fact": _pairs("--fact", self.fact)}
        places = [*((f"--{name}", pointer) for name, pointer in given.items() if pointer is not None)]
        places += [(option, pointer) for option, each in pairs.items() for pointer in each.values()]
        if not places and self.unit is None:
            return None
        if lacking := [name for name in ("value", "unit") if not getattr(self, name)]:
            raise StudyError.one(f"--{lacking[0]}", "missing", "with --value POINTER and --unit UNIT", "add it")
        for option, pointer in places:
            if pointer and (not pointer.startswith("/") or pointer.count("/") > _MOST_STEPS):
                raise StudyError.one(option, f'"{pointer}"', "a JSON pointer such as /results/*/mean")
        from scalograph.exchange.readers.plain_json import JsonLayout

        texts = {name: pointer or "" for name, pointer in given.items()}
        return JsonLayout(**texts, unit=self.unit or "", params=pairs["--param"], facts=pairs["--fact"])

    def share(self) -> float:
        """Return the given spread as a share, 0 without one. Raises StudyError: it is none."""
        try:
            share = parse_percent(self.spread) if self.spread is not None else None
        except ValueError:
            share = 0.0
        if share is not None and not 0 < share <= 1:
            raise StudyError.one("--spread", f'"{self.spread}"', "a percentage above 0%, at most 100%, such as 10.7%")
        return share or 0.0


def _pairs(option: str, texts: list[str] | None) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts or ()]
    if wrong := next((text for text in texts or () if not text.partition("=")[2] or text.startswith("=")), None):
        raise StudyError.one(option, f'"{wrong}"', "NAME=POINTER, such as threads=/t")
    return {name: pointer for name, _, pointer in pairs}


@dataclass(frozen=True, kw_only=True)
class SearchOptions(CommandOptions):
    """Options of every search."""

    max_runs: MaxRuns = None
    machine_wide: MachineWide = False
    dangerous: Dangerous = None

    def consent(self) -> "Consent":
        """Return which machine settings the start may change."""
        from scalograph.control.machine_control import Consent

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
            names = [*filter(None, [option.short]), f"--{field.name.replace('_', '-')}"]
            hint = Annotated[kind, typer.Option(*names, help=option.help, metavar=option.metavar, min=option.min)]
        if isinstance(option, Words):
            hint = Annotated[kind, typer.Argument(metavar=option.metavar, help=option.help)]
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)
