"""`scalograph find`: questions that are searched, each run where it tells most."""

import os
from typing import Annotated

import typer

from scalograph.cli.find_even_command import break_even
from scalograph.cli.measure_command import (
    Cleanup,
    Command,
    Env,
    MaxReruns,
    Prepare,
    Response,
    Setup,
    Shell,
    Timeout,
    Within,
)
from scalograph.cli.measure_output import Start, carried_out
from scalograph.cli.options import (
    Json,
    MaxRuns,
    OutDir,
    WaitQuiet,
    WhenBusy,
)
from scalograph.cli.search_options import Asked, wish_of

group = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@group.callback()
def _find() -> None:
    """Search for one figure of a command: each run is made where it tells most.

    \b
    scalograph find effective-cpus -- ./prog                         how many CPUs does it really use?
    scalograph find cliff --range 1:512 -- ./prog -t {threads}       where does its time jump?
    scalograph find break-even --size 16:65536 -- ./prog {version} {size}
                                                                     from which size on does parallel pay?
    """


group.command("break-even")(break_even)


@group.command("effective-cpus")
def effective_cpus(
    command: Command,
    max_cpus: Annotated[int | None, typer.Option(min=2, help="Try at most so many CPUs; default all.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Fills {threads} in the command.")] = None,
    response: Response = None,
    max_reruns: MaxReruns = 1,
    budget: Within = "10min",
    max_runs: MaxRuns = None,
    timeout: Timeout = "10min",
    shell: Shell = False,
    setup: Setup = None,
    prepare: Prepare = None,
    cleanup: Cleanup = None,
    env: Env = None,
    output: OutDir = None,
    wait_quiet: WaitQuiet = None,
    when_busy: WhenBusy = None,
    json: Json = False,
) -> int:
    """How many CPUs does a command really use, and what keeps it from more? About ten runs; keeps a study.toml.

    \b
    scalograph find effective-cpus -- ./prog
    scalograph find effective-cpus --threads 8 -- ./prog -t {threads}
    scalograph find effective-cpus --max-cpus 16 --prepare 'make clean' -- make -j64
    scalograph find effective-cpus --response 'believed_cpus: using ([0-9]+) cores' -- ./prog
    """
    from scalograph.cli.adhoc.cpu_levels import cpu_levels
    from scalograph.cli.search_output import tell_effective_cpus

    cpus = {"cpus": cpu_levels(len(os.sched_getaffinity(0)), max_cpus)}
    factors = ({"threads": str(threads)} if threads else {}) | cpus
    asked = Asked(command, max_reruns, budget, max_runs, timeout, shell, setup, prepare, cleanup, env, response)
    start = Start(wait_quiet=wait_quiet, when_busy=when_busy)
    wish = wish_of("effective-cpus", asked, factors)
    return carried_out(wish, output, start, lambda conducted: tell_effective_cpus(conducted, json))


@group.command("cliff")
def cliff(
    command: Command,
    factor: Annotated[str, typer.Option(help="What is counted: fills its {NAME} in the command.")] = "threads",
    range_: Annotated[str, typer.Option("--range", metavar="LOW:HIGH", help="Where it is searched.")] = "1:512",
    per_worker: Annotated[bool, typer.Option("--per-worker", help="Each worker does the same work.")] = False,
    response: Response = None,
    max_reruns: MaxReruns = 1,
    budget: Within = "10min",
    max_runs: MaxRuns = None,
    timeout: Timeout = "10min",
    shell: Shell = False,
    setup: Setup = None,
    prepare: Prepare = None,
    cleanup: Cleanup = None,
    env: Env = None,
    output: OutDir = None,
    wait_quiet: WaitQuiet = None,
    when_busy: WhenBusy = None,
    json: Json = False,
) -> int:
    """Where does the time of a command jump, if it does? About 21 runs instead of hundreds; keeps a study.toml.

    \b
    scalograph find cliff --factor threads --range 1:512 -- ./prog -t {threads}
    scalograph find cliff --factor size --range 1:65536 --json -- ./prog {size}
    """
    from scalograph.cli.adhoc.search_levels import search_levels
    from scalograph.cli.search_output import tell_cliffs

    asked = Asked(command, max_reruns, budget, max_runs, timeout, shell, setup, prepare, cleanup, env, response)
    start = Start(wait_quiet=wait_quiet, when_busy=when_busy)
    wish = wish_of("cliff", asked, {factor: search_levels(range_)}, per_worker=per_worker)
    return carried_out(wish, output, start, lambda conducted: tell_cliffs(conducted, json))
