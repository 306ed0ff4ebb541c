"""What of a study is not done on another machine: what is set, read or started where we stand, and not there."""

from collections.abc import Iterator

from scalograph.errors import HostError
from scalograph.study.model import Study
from scalograph.study.program import Program
from scalograph.study.reset import NO_RESET

_LEAVE_OUT = "leave it out, or start scalograph on that machine"


def refuse_elsewhere(study: Study, program: Program) -> None:
    """Refuse a study of which another machine would leave a part out.

    Args:
        study: what is asked.
        program: what it starts.

    Raises:
        HostError: names the first such part.
    """
    for name in _parts(study, program):
        raise HostError(name, "not done over ssh", "a study without", _LEAVE_OUT)


def _parts(study: Study, program: Program) -> Iterator[str]:
    found = {
        "conditions": bool(study.conditions), "reset": study.reset != NO_RESET,
        "workload.env_all": study.workload.env_all, 'workload.cwd = "caller"': study.workload.cwd == "caller",
        "workload.process": bool(program.running) or any(one.name for one in program.processes),
    }  # fmt: skip
    yield from (name for name, is_there in found.items() if is_there)
    for name, response in study.responses.items():
        if response.source.startswith("kernel."):  # its counters are read on the machine that we stand on
            yield f'responses.{name}: from = "{response.source}"'
