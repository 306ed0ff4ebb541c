"""`scalograph plan`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scalograph.cli.console import emit_json, tell
from scalograph.cli.options import Json, Quick, StudyFile

if TYPE_CHECKING:
    from scalograph.conduct import Plan

# Where no earlier journal tells the noise, it is assumed and said so.
ASSUMED_SD = 0.03


def command(
    file: StudyFile,
    quick: Quick = False,
    earlier: Annotated[
        Path | None, typer.Option("--earlier", help="Results of an earlier run, for time and noise.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write design.jsonl into this folder.")] = None,
    json: Json = False,
) -> None:
    """Stop 2: which runs, how many, how long, what effect they can detect. Starts nothing.

    \b
    scalograph plan my-study.toml
    scalograph plan my-study.toml --earlier scalograph-results/my-study/latest
    """
    from scalograph import conduct, results
    from scalograph.control.discover import discover
    from scalograph.declare import declare

    declared = declare(file, quick)
    planned = conduct.plan(declared, discover())
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        conduct.write_design(planned, results.Results(output).design)
    journal = results.at(earlier).journal if earlier else None
    document = _document(planned, conduct.estimate(planned, journal), journal)
    if json:
        emit_json(document)
        return
    _print(document)


def _document(planned: "Plan", seconds: float | None, journal: Path | None) -> dict[str, object]:
    from math import expm1

    from scalograph.analysis import minimum_detectable_effect

    design = planned.design
    sd, origin = _noise(journal)
    effect = minimum_detectable_effect(sd, design.study.protocol.runs)
    return {
        "study": design.study.name,
        "treatments": len(design.treatments),
        "blocks": design.study.protocol.runs,
        "runs": design.n_runs,
        "expected_s": seconds,
        "budget_s": design.study.protocol.budget_s,
        "sd_log": sd,
        "sd_from": origin,
        "detectable_percent": None if effect is None else 100 * expm1(effect),
        "dropped": list(design.dropped),
    }


def _noise(journal: Path | None) -> tuple[float, str]:
    if journal is None:
        return ASSUMED_SD, "assumed"
    from scalograph import table
    from scalograph.answer.curves import primary, samples
    from scalograph.answer.noise import noise

    read = table.load(journal, keep_observations=False)
    found = noise(samples(read).values(), primary(read))
    return (found.sd_log_percent / 100, "the earlier runs") if found else (ASSUMED_SD, "assumed")


def _print(document: dict[str, object]) -> None:
    from scalograph.units import format_duration

    seconds, effect = document["expected_s"], document["detectable_percent"]
    runs = f"{document['runs']} runs in {document['blocks']} blocks"
    tell(f"{document['study']}: {document['treatments']} treatments, {runs}")
    known = format_duration(seconds) if isinstance(seconds, float) else None
    tell(f"  time: {known or 'unknown; give results of an earlier run with --earlier'}")
    if isinstance(effect, float):
        noise = f"if runs vary by {100 * float(str(document['sd_log'])):.2g} % ({document['sd_from']})"
        tell(f"  detectable: differences from {effect:.2g} % at 80 % power, {noise}")
    else:
        tell("  detectable: nothing; one run a treatment carries no interval, ask for at least 2 runs")
    dropped = document["dropped"]
    for text in dropped if isinstance(dropped, list) else []:
        tell(f"  {text}")
