"""`scalograph find break-even`."""

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
from scalograph.cli.measure_output import Start, carried_out
from scalograph.cli.options import (
    Json,
    MaxRuns,
    OutDir,
    WaitQuiet,
    WhenBusy,
)
from scalograph.cli.search_options import Asked, wish_of

Axis = list[str] | None
_NAMED = "LOW:HIGH or levels; NAME=... where it is no {{{}}}; may be repeated."


def break_even(
    command: Command,
    versions: Annotated[str, typer.Option(help="Baseline and what may be faster: both fill {version}.")] = (
        "sequential,parallel"
    ),
    size: Annotated[Axis, typer.Option(help=f"Work grows with it: {_NAMED.format('size')}")] = None,
    workers: Annotated[Axis, typer.Option(help=f"They divide it: {_NAMED.format('workers')}")] = None,
    clients: Annotated[Axis, typer.Option(help=f"They share the CPUs: {_NAMED.format('clients')}")] = None,
    factor: Annotated[Axis, typer.Option(help="NAME=LEVELS of anything else; may be repeated.")] = None,
    even: Annotated[str, typer.Option(help="A difference of so much counts as none.")] = "10%",
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
    """From where on is one version of a command faster than another? Some 8 to 24 pairs of runs; keeps a study.toml.

    \b
    scalograph find break-even --size 16:65536 -- ./prog --mode {version} -n {size}
    scalograph find break-even --size n=16:65536 --workers p=1,2,4,8 -- ./prog {version} {n} {p}
    scalograph find break-even --versions ./plain,./threaded --size 1:4096 -- {version} {size}
    """
    from scalograph.cli.adhoc.break_even_levels import checked_share, even_axes, two_versions
    from scalograph.cli.search_output import tell_break_even

    axes = even_axes({"size": size, "workers": workers, "clients": clients, None: factor})
    both = two_versions(versions)
    asked = Asked(command, max_reruns, budget, max_runs, timeout, shell, setup, prepare, cleanup, env, response)
    wish = wish_of(
        "break-even",
        asked,
        {"version": ",".join(both), **{axis.name: axis.levels for axis in axes}},
        roles={axis.name: axis.role for axis in axes if axis.role},
        baseline=("version", both[0]),
        precision=checked_share(even),
    )
    start = Start(wait_quiet=wait_quiet, when_busy=when_busy)
    return carried_out(wish, output, start, lambda conducted: tell_break_even(conducted, json))
