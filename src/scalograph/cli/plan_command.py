"""`scalograph plan`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scalograph.cli.console import emit_json, tell
from scalograph.cli.options import Cpus, HostName, Json, NoHost, Quick, StudyFile
from scalograph.errors import HostError, StudyError
from scalograph.run.hosts.host_names import GUEST, LOCAL

if TYPE_CHECKING:
    from scalograph.protocol.facts import HostFacts
    from scalograph.run.plan import Plan
    from scalograph.study.model import Protocol, Study

# Where no earlier journal tells the noise, it is assumed and said so.
ASSUMED_SD = 0.03


def command(
    file: StudyFile,
    quick: Quick = False,
    earlier: Annotated[Path | None, typer.Option("--earlier", help="Earlier results, for time and noise")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Folder for design.jsonl")] = None,
    host: HostName = LOCAL,
    no_host: NoHost = False,
    cpus: Cpus = None,
    json: Json = False,
) -> None:
    """Step 2 (plan): print the number of runs, the time, and the detectable effect. Starts no run.

    The plan depends on the CPUs, rights, and JVMs of the host ("1:all"). With --no-host no machine is examined.

    \b
    scalograph plan my-study.toml
    scalograph plan my-study.toml --earlier scalograph-results/my-study/latest
    scalograph plan my-study.toml --host guest
    scalograph plan my-study.toml --no-host --cpus 64
    """
    from scalograph.cli.start import document as as_document
    from scalograph.cli.start import proposal, show
    from scalograph.protocol import results
    from scalograph.questions.registry import is_search
    from scalograph.run.plan import expected_time, plan
    from scalograph.study.declare import declare

    declared = declare(file, quick)
    planned = plan(declared, _facts(declared.study, host, no_host, cpus), starts=False)
    _write(planned, output)
    journal = results.locate_journal(earlier) if earlier else None
    document = _document(planned, None if no_host else host, expected_time(planned, journal), journal)
    proposed = proposal(planned, journal) if journal and not is_search(declared.study.question) else None
    if proposed is not None:
        document["proposal"] = as_document(proposed, planned.design.study.protocol.budget_s)
    if json:
        emit_json(document)
        return
    _print(document)
    if proposed is not None:
        show(proposed, planned.design.study.protocol.budget_s)


def _facts(study: "Study", name: str, no_host: bool, cpus: int | None) -> "HostFacts":
    if no_host and name != LOCAL:
        raise StudyError.one("--host", f"{name}, and --no-host", "one of both", "leave one out")
    if no_host:
        from scalograph.design.resolve import assumed_host

        return assumed_host(study, cpus or 1)
    if cpus is not None:
        raise StudyError.one("", "--cpus is for --no-host only", "", "add --no-host, or leave it out")
    from scalograph.run.hosts.host_names import open_host

    with open_host(name) as host:
        return host.facts()


def _write(planned: "Plan", output: Path | None) -> None:
    from scalograph.protocol import results
    from scalograph.run.plan import write_design

    if output is None:
        return
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fix = "choose another -o"
        raise HostError(
            str(output), f"cannot be made: {error.strerror}", "a folder that can be written", fix
        ) from error
    write_design(planned, results.Results(output).design)


def _document(planned: "Plan", host: str | None, seconds: float | None, journal: Path | None) -> dict[str, object]:
    from math import expm1

    from scalograph.analysis.comparisons import minimum_detectable_effect
    from scalograph.questions.registry import is_search

    design = planned.design
    sd, origin = _noise(journal)
    protocol = design.study.protocol
    search = is_search(design.study.question)
    effect = None if search else minimum_detectable_effect(sd, _fewest(protocol), confidence=protocol.confidence)
    return {
        "study": design.study.name,
        "question": design.study.question,
        "configurations": len(design.configurations),
        "blocks": None if search else protocol.runs,
        "runs": sum(planned.runs.runs_per_configuration()),
        "outlook": planned.runs.outlook(),
        "expected_s": None if search else seconds,
        "budget_s": protocol.budget_s,
        "sd_log": sd,
        "sd_from": origin,
        "confidence": protocol.confidence,
        "detectable_percent": None if effect is None else 100 * expm1(effect),
        "settings": _settings(planned),
        "dropped": list(design.dropped),
        **({"jobs": _describe_jobs(planned, journal)} if planned.facts.cluster else {}),
        "host": {"assumed": host is None, "n_cpus": planned.facts.n_cpus, **({"name": host} if host else {})},
    }


def _describe_jobs(planned: "Plan", journal: Path | None) -> str:
    from scalograph.design.planner import seconds_per_configuration
    from scalograph.design.replay import timed_runs
    from scalograph.protocol import journal as journals
    from scalograph.run.hosts.slurm.job_plan import describe_study

    study, runs = planned.design.study, planned.runs.planned_runs()
    if journal is None:
        return describe_study(study, runs)
    timed = seconds_per_configuration((run.configuration, s) for run, s in timed_runs(journals.read(journal)))
    usual = sum(timed.values()) / len(timed) if timed else 0.0
    return describe_study(study, runs, lambda run: timed.get(tuple(run.configuration.items()), usual))


def _settings(planned: "Plan") -> list[str]:
    """Return the machine settings the study changes, which need consent; a guest changes its own."""
    from scalograph.control.machine_control import machine_controls

    if planned.facts.accelerator is not None:
        return []
    return [control.label for control in machine_controls(planned.design.study).values()]


def _fewest(protocol: "Protocol") -> int:
    """Return the least number of runs of a configuration: precision may end them early."""
    if protocol.precision is None:
        return protocol.runs
    from scalograph.analysis.stopping import Stopping

    return min(protocol.runs, Stopping(protocol.precision, protocol.runs).first_look + 1)


def _noise(journal: Path | None) -> tuple[float, str]:
    if journal is None:
        return ASSUMED_SD, "assumed"
    from scalograph.findings import table
    from scalograph.findings.visible_effect import estimate_noise
    from scalograph.findings.whole_run import comparable_samples

    read = table.load(journal, keep_observations=False)
    floor = estimate_noise(read, comparable_samples(read).values())
    return (floor.sd_log_percent / 100, "the earlier runs") if floor else (ASSUMED_SD, "assumed")


def _print(document: dict[str, object]) -> None:
    from scalograph.text.units import format_duration

    seconds, effect = document["expected_s"], document["detectable_percent"]
    tell(f"{document['study']}: {document['outlook']}")
    tell(f"  host: {_format_host(document['host'])}")
    time = format_duration(seconds) if isinstance(seconds, float) else None
    if "jobs" in document:
        tell(f"  jobs: {document['jobs']}")
    if document["blocks"] is not None:  # a search has none
        tell(f"  time: {time or 'unknown; give results of an earlier run with --earlier'}")
        _detectable(document, effect)
    if isinstance(settings := document["settings"], list) and settings:
        tell(f"  settings of the machine: {', '.join(settings)}; run it with --machine-wide")
    dropped = document["dropped"]
    for text in dropped if isinstance(dropped, list) else []:
        tell(f"  {text}")


def _detectable(document: dict[str, object], effect: object) -> None:
    if isinstance(effect, float):
        noise = f"if runs vary by {100 * float(str(document['sd_log'])):.2g}% ({document['sd_from']})"
        confidence = f"{100 * float(str(document['confidence'])):g}% confidence and 80% power"
        tell(f"  detectable: differences from {effect:.2g}% at {confidence}, {noise}")
    else:
        tell("  detectable: nothing; one run of a configuration gives no interval, ask for at least 2 runs")


def _format_host(host: object) -> str:
    assert isinstance(host, dict)
    cpus = f"{host['n_cpus']} CPU{'s' * (host['n_cpus'] > 1)}"
    if host["assumed"]:
        return f"assumed, {cpus} on cores of their own, everything granted"
    if host["name"] == GUEST:
        return f"{GUEST}, {cpus}; times only if these are not emulated"
    return f"{'this machine' if host['name'] == LOCAL else host['name']}, {cpus}"
