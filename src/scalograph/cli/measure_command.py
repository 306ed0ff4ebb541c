"""`scalograph measure`."""

from typing import Annotated

import typer

from scalograph.cli.options import (
    Ceiling,
    Json,
    OutDir,
    WaitQuiet,
    WhenBusy,
)

Command = Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="The command, after --.")]
Response = Annotated[
    list[str] | None,
    typer.Option(help="A figure it prints: 'ops:higher: ([0-9.]+) ops/s' or 'iops:higher: /jobs/0/iops'."),
]
MaxReruns = Annotated[int, typer.Option(min=0, max=10, help="How often a disturbed run is made again.")]
Within = Annotated[str, typer.Option(help="No block of runs begins past it.")]
Timeout = Annotated[str, typer.Option(help="Of one run.")]
Shell = Annotated[bool, typer.Option("--shell", help="COMMAND and steps go to sh -c, one text each.")]
Setup = Annotated[str | None, typer.Option(help="Once, before all runs.")]
Prepare = Annotated[str | None, typer.Option(help="Before each run, outside its window.")]
Cleanup = Annotated[str | None, typer.Option(help="After each run, outside its window.")]
Env = Annotated[list[str] | None, typer.Option(help="NAME=VALUE beside PATH, HOME, LANG, TMPDIR.")]
Levels = "levels such as 1,2,8 or 1:8 or 1:512:*2 or 1:all"


def command(
    command: Command,
    cpus: Annotated[str | None, typer.Option(help=f"How many CPUs it may use: {Levels}.")] = None,
    threads: Annotated[str | None, typer.Option(help="Levels of {threads} in the command.")] = None,
    jobs: Annotated[str | None, typer.Option(help="Levels of {jobs} in the command.")] = None,
    copies: Annotated[str | None, typer.Option(help="Identical copies at once, each doing the same: levels.")] = None,
    factor: Annotated[list[str] | None, typer.Option(help="NAME=LEVELS of a {NAME}; may be repeated.")] = None,
    per_worker: Annotated[bool, typer.Option("--per-worker", help="Each worker does the same work.")] = False,
    response: Response = None,
    runs: Annotated[int | None, typer.Option(min=1, help="Runs of each treatment; 10, with --precision 100.")] = None,
    warmup_runs: Annotated[int, typer.Option(min=0, help="First runs that do not count.")] = 0,
    precision: Annotated[str | None, typer.Option(help='Run until the interval is that narrow: "1%".')] = None,
    max_reruns: MaxReruns = 1,
    budget: Within = "10min",
    timeout: Timeout = "10min",
    shell: Shell = False,
    setup: Setup = None,
    prepare: Prepare = None,
    cleanup: Cleanup = None,
    env: Env = None,
    target: Annotated[str, typer.Option(help="Efficiency that is worth having.")] = "80%",
    cost: Annotated[float | None, typer.Option(min=0, help="Of a CPU for an hour, in any money.")] = None,
    output: OutDir = None,
    wait_quiet: WaitQuiet = None,
    when_busy: WhenBusy = None,
    ceiling: Ceiling = False,
    json: Json = False,
) -> int:
    """Measure a command, over levels of CPUs, threads or whatever it takes; keeps a study.toml of what was done.

    \b
    scalograph measure -- ./prog                              how long does it take?
    scalograph measure --cpus 1:all -- ./prog                 does it use more CPUs?
    scalograph measure --threads 1,2,4 -- ./prog -t {threads}
    scalograph measure --jobs 1:8 --prepare 'make clean' -- make -j{jobs}
    scalograph measure --copies 1:4 -- ./prog                 copies at once
    """
    from scalograph.cli.adhoc.argv import (
        argv,
        responses,
        steps,
        unique,
        variables,
    )
    from scalograph.cli.adhoc.command_study import Wish, read_factor
    from scalograph.cli.measure_output import Start, measured

    asked = [("threads", threads), ("jobs", jobs), ("copies", None if _is_count(copies) else copies)]
    asked += [*map(read_factor, factor or ()), ("cpus", cpus)]
    protocol: dict[str, str | int | None] = {
        "runs": runs or (100 if precision else 10), "warmup_runs": warmup_runs, "precision": precision,
        "max_reruns": max_reruns, "budget": budget, "timeout": timeout,
    }  # fmt: skip
    wish = Wish(
        command=argv(command, shell),
        factors=unique("--factor", [(name, levels) for name, levels in asked if levels is not None]),
        copies=int(copies) if copies and _is_count(copies) else 1,
        per_worker=per_worker,
        responses=responses(response),
        steps=steps(shell, setup=setup, prepare=prepare, cleanup=cleanup),
        env=variables(env),
        protocol={key: value for key, value in protocol.items() if value is not None},
    )
    start = Start(target, cost, wait_quiet, when_busy, ceiling)
    return measured(wish, output, start, json)


def _is_count(text: str | None) -> bool:
    return bool(text) and str(text).isascii() and str(text).isdecimal()
