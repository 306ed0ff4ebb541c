"""Options of `measure` and `load`: what is run, its levels, and how often."""

from dataclasses import dataclass
from typing import Annotated

import typer

from scalograph.cli.options import (
    Ceiling,
    CommandOptions,
    Env,
    Json,
    OutDir,
    StrictAnswer,
    TableName,
    Tables,
    WaitLock,
    WaitQuiet,
    WhenBusy,
)

LEVELS = "levels such as 1,2,8 or 1:8 or 1:512:*2 or 1:all"
VERSION = "version"


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """Options of `measure`: levels, number of runs, and efficiency target."""

    cpus: Annotated[str | None, typer.Option(help=f"How many CPUs it may use: {LEVELS}.")] = None
    threads: Annotated[str | None, typer.Option(help="Levels of {threads} in the command.")] = None
    jobs: Annotated[str | None, typer.Option(help="Levels of {jobs} in the command.")] = None
    copies: Annotated[str | None, typer.Option(help="Identical copies at once, each doing the same: levels.")] = None
    factor: Annotated[
        list[str] | None, typer.Option("-v", "--factor", help="NAME=LEVELS of a {NAME}; may be repeated.")
    ] = None
    revisions: Annotated[
        str | None,
        typer.Option("--revisions", help="{version}: git revisions A,B,C; or of A..B at most 10, evenly; A..B:20."),
    ] = None
    build: Annotated[
        str | None,
        typer.Option("--build", help="Builds each revision in its folder, which is {version}; '': nothing to do."),
    ] = None
    per_worker: Annotated[bool, typer.Option("--per-worker", help="Each worker does the same work.")] = False
    runs: Annotated[
        int | None, typer.Option("-r", "--runs", min=1, help="Runs a configuration; 10, with --precision 100.")
    ] = None
    warmup_runs: Annotated[
        int, typer.Option("-w", "--warmup-runs", "--warmup", min=0, help="First runs that do not count.")
    ] = 0
    precision: Annotated[str | None, typer.Option(help='Run until the interval is that narrow: "1%".')] = None
    target: Annotated[str, typer.Option(help="Efficiency that is worth having.")] = "80%"
    cost: Annotated[float | None, typer.Option(min=0, help="Of a CPU for an hour, in any money.")] = None
    ceiling: Ceiling = False


_READY = "The server answers this URL, listens on this port, or prints TEXT (line:TEXT). [default: its port listens]"


@dataclass(frozen=True, kw_only=True)
class LoadOptions:
    """Options of `load`: server, requests, levels, and duration of the load."""

    get: Annotated[str, typer.Option(metavar="URL", help="What is requested, such as http://127.0.0.1:{port}/.")]
    serve: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Starts the server, anew for each run; {port} is a free port. No shell."),
    ] = None
    keep: Annotated[
        bool,
        typer.Option("--keep", help="The server stays up for the runs of a block that would start it the same way."),
    ] = False
    pid: Annotated[
        int | None, typer.Option(min=1, help="A server that runs already, with its children: its CPU time is told.")
    ] = None
    ready: Annotated[str | None, typer.Option(metavar="WHEN", help=_READY)] = None
    ready_timeout: Annotated[str, typer.Option(help="A server that is not ready by then fails the run.")] = "60s"
    clients: Annotated[
        str | None, typer.Option(help=f"Clients, each of which waits for its answer: {LEVELS}. Default: 1.")
    ] = None
    rate: Annotated[str | None, typer.Option(help="Requests per second, whether or not answers come: levels.")] = None
    cpus: Annotated[str | None, typer.Option(help="CPUs of the server: levels. The driver has the others.")] = None
    copies: Annotated[str | None, typer.Option(help="Identical servers, which share the load: levels.")] = None
    runs: Annotated[int, typer.Option(min=1, help="Runs of each configuration.")] = 5
    ramp: Annotated[str, typer.Option(help="Load before the time that is measured.")] = "1s"
    steady: Annotated[str, typer.Option(help="Time that is measured, in each run.")] = "5s"
    down: Annotated[str, typer.Option(help="Load after the time that is measured.")] = "0s"
    warmup: Annotated[int, typer.Option(min=0, help="Requests to each server before each run.")] = 100
    cycle: Annotated[
        str, typer.Option(help="From one request of a client to its next: 0 (at once), fixed:MS or exp:MS.")
    ] = "0"
    connections: Annotated[int, typer.Option(min=1, help="With --rate: at most so many requests in flight.")] = 16
    status: Annotated[int, typer.Option(help="HTTP status of a right answer.")] = 200
    contains: Annotated[str | None, typer.Option(help="Text that a right answer contains.")] = None
    pool: Annotated[str | None, typer.Option(metavar="PATH", help="Where the server tells of a pool of its own.")] = (
        None
    )
    remote: Annotated[
        bool, typer.Option("--remote", help="The server may be another machine, one that you may load.")
    ] = False
    driver: Annotated[
        str,
        typer.Option(metavar="NAME", help="What sends the requests: load, our own, or wrk, oha, k6, which tell less."),
    ] = "load"
    env: Env = None
    max_reruns: Annotated[int, typer.Option(min=0, max=10, help="How often a disturbed run is made again.")] = 1
    budget: Annotated[str, typer.Option(help="No block of runs begins past it.")] = "10min"
    timeout: Annotated[str, typer.Option(help="Of one run.")] = "10min"
    output: OutDir = None
    wait_quiet: WaitQuiet = None
    when_busy: WhenBusy = None
    wait_lock: WaitLock = None
    strict: StrictAnswer = False
    tables: Tables = False
    table: TableName = None
    json: Json = False


# Of a command that makes a study.
AnswerOptions = CommandOptions | LoadOptions
