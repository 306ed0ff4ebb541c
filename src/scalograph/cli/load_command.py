"""`scalograph load`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scalograph.cli.bundles import bundled
from scalograph.cli.measure_command import LEVELS
from scalograph.cli.options import Env, Json, OutDir, TableName, Tables, WaitLock, WaitQuiet, WhenBusy

if TYPE_CHECKING:
    from scalograph.run.session import Session


_READY = "The server answers this URL, listens on this port, or prints TEXT (line:TEXT). [default: its port listens]"


@dataclass(frozen=True, kw_only=True)
class LoadOptions:
    """What `load` takes: the server, the requests, the levels, and how long a run sends them."""

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
    tables: Tables = False
    table: TableName = None
    json: Json = False


def _load(options: LoadOptions) -> int:
    """How much does a server carry, with more clients, CPUs and copies? With --serve it is started anew for each run.

    \b
    scalograph load --serve './app --port {port}' --get http://127.0.0.1:{port}/ --clients 1:64:*2
    scalograph load --serve './app {port}' --get http://127.0.0.1:{port}/ --clients 32 --cpus 1:all --ready line:started
    scalograph load --pid 4711 --get http://127.0.0.1:8080/ --rate 100,1000    a server that runs already
    """
    from scalograph.cli.adhoc.load_study import load_options, load_study, load_text
    from scalograph.cli.measure_output import carried_out

    text = load_text(load_study(options))
    return carried_out(text, options, lambda session: _tell(session, options), as_told=load_options)


def _tell(session: "Session", options: Any) -> int:
    from scalograph.cli.last_stops import report
    from scalograph.cli.measure_output import close
    from scalograph.report.screen import screen

    found, _ = report(session.results.folder)
    return close(session, found, screen(found), options, found.model_dump(mode="json"))


command = bundled(_load, LoadOptions)
