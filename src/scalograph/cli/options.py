"""Arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

StudyFile = Annotated[Path, typer.Argument(help="A study.toml, or a folder that holds one.")]
Quick = Annotated[bool, typer.Option("--quick", help="The shorter form that the study declares in [quick].")]
OutDir = Annotated[
    Path | None, typer.Option("-o", "--output", help="Results folder; default scalograph-results/NAME/TIME-ID.")
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, for machines.")]
Gate = Annotated[bool, typer.Option("--gate", help="Exit with the run's own code: 4 or 5 where treatments are short.")]
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
    bool,
    typer.Option("--ceiling", help="Beside each curve, what this machine itself scales to: 20 s, then kept."),
]
MaxRuns = Annotated[
    int | None, typer.Option("--max-runs", min=1, help="No block is begun that would take the study past so many runs.")
]
WaitQuiet = Annotated[
    str | None, typer.Option("--wait-quiet", help='Wait for a quiet machine before blocks, at most "10m" in all.')
]
WhenBusy = Annotated[
    str | None,
    typer.Option("--when-busy", help="On a machine that stays busy: report (go on), cpu-time (go by it), or stop."),
]
HostName = Annotated[str, typer.Option("--host", help="Where runs are made, by name.")]
Source = Annotated[Path, typer.Argument(help="A results folder or a journal (.jsonl, .jsonl.gz).")]
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
