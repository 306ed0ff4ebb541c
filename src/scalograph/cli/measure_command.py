"""`scalograph measure`."""

from dataclasses import dataclass
from typing import Annotated

import typer

from scalograph.cli.bundles import bundled
from scalograph.cli.options import Ceiling, CommandOptions

LEVELS = "levels such as 1,2,8 or 1:8 or 1:512:*2 or 1:all"
VERSION = "version"


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """What `measure` takes beside: the levels, how often each is run, and what the answer is to weigh."""

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


def _measure(sweep: SweepOptions, options: CommandOptions) -> int:
    """Measure a command, over levels of CPUs, threads or whatever it takes; keeps a study.toml of what was done.

    \b
    scalograph measure -- ./prog                              how long does it take?
    scalograph measure --cpus 1:all -- ./prog                 does it use more CPUs?
    scalograph measure --threads 1,2,4 -- ./prog -t {threads}
    scalograph measure --jobs 1:8 --prepare 'make clean' -- make -j{jobs}
    scalograph measure --copies 1:4 -- ./prog                 copies at once
    scalograph measure -v version=old,new -- ./prog-{version} is new faster than old?
    scalograph measure --revisions v1..main --build make -- {version}/prog
    """
    from scalograph.control import quiet

    quiet.begin()  # before the imports that take a third of a second, which then need not be waited for
    from scalograph.cli.adhoc.from_options import swept_study
    from scalograph.cli.measure_output import measured

    if sweep.revisions is None and sweep.build is None:
        return measured(swept_study(sweep, options), sweep, options)
    from scalograph.cli.adhoc.built_revisions import revised_study

    return measured(revised_study(sweep, options), sweep, options)


command = bundled(_measure, SweepOptions, CommandOptions)
