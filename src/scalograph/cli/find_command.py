"""`scalograph find`: questions that are searched, each run where it tells most."""

import os
from typing import Annotated

import typer

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
from scalograph.cli.options import Json, MaxRuns, OutDir, WaitQuiet, WhenBusy

group = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@group.callback()
def _find() -> None:
    """Search for one figure of a command: each run is made where it tells most.

    \b
    scalograph find effective-cpus -- ./prog      how many CPUs does it really use?
    """


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
    from scalograph.cli.found import tell_effective_cpus
    from scalograph.cli.measured import Start, carried_out
    from scalograph.measure.cpu_levels import cpu_levels
    from scalograph.measure.wish import Wish
    from scalograph.measure.words_of_command import argv, responses, steps, variables

    cpus = {"cpus": cpu_levels(len(os.sched_getaffinity(0)), max_cpus)}
    protocol: dict[str, str | int] = {"max_reruns": max_reruns, "budget": budget, "timeout": timeout}
    wish = Wish(
        command=argv(command, shell),
        factors=({"threads": str(threads)} if threads else {}) | cpus,
        responses=responses(response),
        steps=steps(shell, setup=setup, prepare=prepare, cleanup=cleanup),
        env=variables(env),
        protocol=protocol | ({"budget_runs": max_runs} if max_runs else {}),
        question="effective-cpus",
        asked="find effective-cpus",
    )
    start = Start(wait_quiet=wait_quiet, when_busy=when_busy)
    return carried_out(wish, output, start, lambda conducted: tell_effective_cpus(conducted, json))
