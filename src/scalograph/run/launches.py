"""A configuration of a plan to the processes that it starts, with arguments, environment and CPUs. Starts nothing."""

from dataclasses import replace
from typing import Any

from scalograph.control.apply import apply
from scalograph.control.control import Launch
from scalograph.control.process_cpus import cpu_demands, divide_cpus
from scalograph.control.process_quotas import process_quota
from scalograph.errors import StudyError
from scalograph.run.caller_environment import environment
from scalograph.run.plan import Plan
from scalograph.run.services import share_cpus
from scalograph.study.build_plan import ClassPath
from scalograph.study.levels import Configuration
from scalograph.study.processes import MAX_COMMANDS, fill, number_of, service_names
from scalograph.study.program import Process, Program
from scalograph.study.shipped import inside
from scalograph.text.quantities import count_noun

# Of a driver beside services: on a CPU that others use, too, what is due is sent then, and not at the next tick.
DRIVER_NICE = -10


def launches(planned: Plan, configuration: Configuration) -> tuple[Launch, ...]:
    """Return how each process of the program will be started, services first, each copy of one by itself.

    Services obey the levels, and so does a process that is alone. A driver beside services has what they leave: their
    templates' names, the CPUs that are not theirs, and the defaults of all else.

    Raises:
        HostError: a variable of the environment that is passed on holds bytes that are no UTF-8.
        LevelError: the levels do not go together on this host.
        StudyError: a template has a name that nothing fills.
    """
    processes = planned.program.processes_for(configuration)
    if not processes[0].name:
        launch = _apply_levels(planned, configuration, processes[0])
        return (replace(launch, argv=tuple(fill(processes[0].argv, launch.values))),)
    obeying = [_apply_levels(planned, configuration, process) for process in processes]
    wanted = cpu_demands(processes, _study_values(planned), configuration)
    cpus = divide_cpus(wanted, obeying[0], planned.facts)
    started = [
        launch
        for process, base in zip(processes, obeying, strict=True)
        for launch in _launch_copies(planned, process, replace(base, cpus=cpus[process.name]), len(processes) > 1)
    ]
    if len(started) > MAX_COMMANDS:
        problem = f"{len(started)} processes in a run"
        raise StudyError.one("copies", problem, f"at most {MAX_COMMANDS}", "start fewer copies")
    return tuple(started)


def input_file(planned: Plan) -> str | None:
    """Return the file that a study's own command reads as standard input; None where it reads nothing.

    Raises:
        StudyError: it leads outside the study's folder.
    """
    use, here = planned.design.study.workload, planned.program.here
    if use.input is None:
        return None
    return str(here / use.input if use.cwd == "caller" else inside(here, use.input, "workload.input"))


def sharing_note(planned: Plan) -> str | None:
    """Return the sentence on configurations whose driver has no CPU of its own; None where it has one in all of them."""
    configurations = planned.design.configurations
    running = bool(planned.program.running)
    if not running and not any(process.service for process in planned.program.processes):
        return None
    started = [launches(planned, configuration) for configuration in configurations]
    n = sum(share_cpus(each) or (running and each[-1].cpus is None) for each in started)
    what = "the driver has no CPU of its own, and takes from the services what it uses"
    return f"in {n} of {count_noun(len(configurations), 'configuration')} {what}" if n else None


def _launch_copies(planned: Plan, process: Process, base: Launch, has_services: bool) -> list[Launch]:
    quota = process_quota(process, base.values)
    launch = replace(base, name=process.name, role=process.role, argv=process.argv, own_quota_cpus=quota)
    if process.service is None:
        return [_driver_launch(launch, planned) if has_services else launch]
    return [
        replace(launch, service=process.service, copies=1, copy=copy, values={**launch.values, "copy": copy})
        for copy in range(launch.copies)
    ]


def _environment(planned: Plan) -> dict[str, str]:
    elsewhere = planned.facts.environment if planned.facts.reached else None
    return environment(planned.design.study.workload, elsewhere)


def _driver_launch(launch: Launch, planned: Plan) -> Launch:
    """A driver beside services: no level but those of its own CPUs, quota and templates is for it."""
    return Launch(
        name=launch.name, role=launch.role, argv=launch.argv, values=launch.values, copies=launch.copies,
        env=_environment(planned), cpus=launch.cpus, own_quota_cpus=launch.own_quota_cpus,
        nice=DRIVER_NICE if planned.facts.granted_nice <= DRIVER_NICE else None,
    )  # fmt: skip


def _study_values(planned: Plan) -> dict[str, Any]:
    """The study's own numbers and the program's values: a level goes before them, and a process's own values too."""
    protocol = planned.design.study.protocol
    own = {"iterations": protocol.iterations, "warmup": protocol.warmup, "think_ns": round(protocol.think_s * 1e9)}
    return {**own, **planned.program.values}


def _apply_levels(planned: Plan, configuration: Configuration, process: Process) -> Launch:
    study, program = planned.design.study, planned.program
    values = {**_missing_services(program, configuration), **_study_values(planned), **process.values, **configuration}
    if isinstance(path := values.get("classpath"), ClassPath):
        values["classpath"] = path.text_for(values)
    base = Launch(
        env=_environment(planned), values=values, copies=number_of(process.copies, values),
        stdin=input_file(planned), ok_exits=tuple(study.workload.ok_exits),
    )  # fmt: skip
    return apply(study, configuration, base, planned.facts)


def _missing_services(program: Program, configuration: Configuration) -> dict[str, str]:
    """What others know of services that a configuration does not start: nothing, as an empty text."""
    there = {process.name for process in program.processes_for(configuration)}
    return dict.fromkeys(
        service_names([process.name for process in program.processes if process.name not in there]), ""
    )
