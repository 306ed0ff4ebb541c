"""Options of `measure` and `load`: what is run, its levels, and how often."""

from dataclasses import dataclass
from typing import Annotated

import typer

from scalograph.cli.options import (
    Ceiling,
    CommandOptions,
    Env,
    ExportJson,
    Json,
    LimitOptions,
    OnHost,
    OutDir,
    StrictAnswer,
    TableName,
    Tables,
    UsualBudget,
    WaitLock,
    WaitQuiet,
    WhenBusy,
)
from scalograph.questions.asked import RequestOptions

LEVELS = "levels such as 1,2,8, 1:8, 1:512:*2, or 1:all"
VERSION = "version"
Vary = Annotated[str | None, typer.Option("--vary", help="Draw anew for each block: env (its size), hash-seed, layout")]


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """Options of `measure`: levels, number of runs, and efficiency target."""

    cpus: Annotated[str | None, typer.Option(help=f"CPUs that it may use: {LEVELS}")] = None
    threads: Annotated[str | None, typer.Option(help="Values to substitute for {threads}, e.g. 1,2,4")] = None
    jobs: Annotated[str | None, typer.Option(help="Values to substitute for {jobs}, e.g. 1,2,4")] = None
    copies: Annotated[str | None, typer.Option(help="Identical copies to run at once: levels")] = None
    factor: Annotated[
        list[str] | None, typer.Option("-v", "--factor", help="Values for {NAME}, as NAME=LEVELS; repeatable")
    ] = None
    revisions: Annotated[
        str | None,
        typer.Option("--revisions", help="Git revisions for {version}: A,B,C, or A..B (at most 10), or A..B:20"),
    ] = None
    build: Annotated[
        str | None, typer.Option("--build", help="Command that builds a revision in its folder, {version}; '' for none")
    ] = None
    per_worker: Annotated[bool, typer.Option("--per-worker", help="Treat the work as per worker")] = False
    runs: Annotated[
        int | None,
        typer.Option("-r", "--runs", min=1, help="Runs per configuration (default 10; 100 with --precision)"),
    ] = None
    warmup_runs: Annotated[
        int, typer.Option("-w", "--warmup-runs", "--warmup", min=0, help="Runs to discard first")
    ] = 0
    vary: Vary = None
    precision: Annotated[str | None, typer.Option(help="Add runs until the interval is this narrow, e.g. 1%")] = None
    target: Annotated[str, typer.Option(help="Target efficiency")] = "80%"
    at_least: Annotated[
        float | None, typer.Option("--at-least", min=0, help="Speedup to pass; exit with 7 if lower, 8 if inconclusive")
    ] = None
    cost: Annotated[float | None, typer.Option(min=0, help="Price per CPU-hour, any currency")] = None
    ceiling: Ceiling = False


@dataclass(frozen=True, kw_only=True)
class LoadOptions(RequestOptions, LimitOptions):
    """Options of `load`: server, requests, levels, and duration of the load."""

    serve: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Command that starts the server; {port} is a free port")
    ] = None
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the server running for the runs of a block that start it the same way")
    ] = False
    pid: Annotated[int | None, typer.Option(min=1, help="PID of a running server to measure")] = None
    clients: Annotated[str | None, typer.Option(help=f"Clients that wait for each answer: {LEVELS} (default 1)")] = None
    rate: Annotated[str | None, typer.Option(help="Requests per second, independent of answers: levels")] = None
    cpus: Annotated[str | None, typer.Option(help="CPUs of the server: levels")] = None
    copies: Annotated[str | None, typer.Option(help="Identical servers that share the load: levels")] = None
    runs: Annotated[int, typer.Option(min=1, help="Runs per configuration")] = 6
    down: Annotated[str, typer.Option(help="Load after the measured window")] = "0s"
    cycle: Annotated[str, typer.Option(help="Time between requests of a client: 0 (none), fixed:MS, or exp:MS")] = "0"
    limit: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE", help="Search the highest load that keeps p99<50ms, errors<0.1%, ...; repeatable"),
    ] = None
    pool: Annotated[str | None, typer.Option(metavar="PATH", help="URL path that reports the server's pool usage")] = (
        None
    )
    remote: Annotated[bool, typer.Option("--remote", help="Allow a server on another machine")] = False
    on: OnHost = None
    driver: Annotated[
        str, typer.Option(metavar="NAME", help="Load generator: load (built in), wrk, oha, or k6 (fewer metrics)")
    ] = "load"
    env: Env = None
    max_reruns: Annotated[int, typer.Option(min=0, max=10, help="Maximum repeats of a disturbed run")] = 1
    budget: UsualBudget = "10min"
    timeout: Annotated[str, typer.Option(help="Time limit per run")] = "10min"
    output: OutDir = None
    wait_quiet: WaitQuiet = None
    when_busy: WhenBusy = None
    wait_lock: WaitLock = None
    strict: StrictAnswer = False
    tables: Tables = False
    table: TableName = None
    json: Json = False
    export_json: ExportJson = None


# Of a command that makes a study.
AnswerOptions = CommandOptions | LoadOptions
