"""The ceiling as it was measured last: kept, and measured anew for another machine, probe or workload."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scalograph.errors import HostError
from scalograph.machine.ceiling.measure import STUDY, ceiling
from scalograph.machine.floor.kept_floor import noise_file
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.machine_ceiling import Ceiling
from scalograph.protocol.written_file import replaced
from scalograph.run.hosts.base import Host
from scalograph.study.declare import declare_shipped
from scalograph.study.program import program

_MAX_BYTES = 1 << 20


class KeptCeiling(BaseModel):
    """A ceiling, and of what: a home folder may be shared by many machines."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    key: str = Field(max_length=64, description="of machine, kernel, probe and workload")
    ceiling: Ceiling


def machine_ceiling(host: Host, *, fresh: bool = False, environ: Mapping[str, str] = os.environ) -> Ceiling:
    """The ceiling of a host: the kept one where it is of this machine, kernel, probe and workload, else measured.

    Args:
        host: to know or to measure.
        fresh: measure in any case.
        environ: says where it is kept.

    Returns:
        With a warning where it is not kept: disturbed, or the folder cannot be written.

    Raises:
        HostError: there is no compiler. Whoever calls it has the machine to itself.
        KeyboardInterrupt: a signal came meanwhile.
    """
    wanted = key(host.facts(), host.probe.argv)
    kept = None if fresh else read_ceiling(environ)
    if kept is not None and kept.key == wanted:
        return kept.ceiling
    found = ceiling(host)
    warnings = (*found.warnings, *_keep(KeptCeiling(key=wanted, ceiling=found), environ))
    return found.model_copy(update={"warnings": warnings})


def _keep(kept: KeptCeiling, environ: Mapping[str, str]) -> tuple[str, ...]:
    """What stands against keeping it."""
    if not kept.ceiling.is_sound:
        return ("the ceiling is not kept: too few of its runs were undisturbed; stop what else runs here",)
    try:
        keep_ceiling(kept, environ)
    except HostError as error:
        return (str(error),)
    return ()


def key(facts: HostFacts, probe: Sequence[str]) -> str:
    """What a ceiling is of. A process is made and a page given by the kernel, so another one is another machine."""
    here = [facts.cpu_model, facts.kernel, [cpu.model_dump() for cpu in facts.cpus], list(probe[1:])]
    digest = hashlib.sha256(repr(here).encode())
    digest.update(_digest(Path(probe[0])))
    declared = declare_shipped(STUDY)
    digest.update(program(declared.study.workload, declared.folder).sources)
    return digest.hexdigest()


def _digest(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").digest()
    except OSError:
        return str(file).encode()  # found on PATH: its name has to do


def ceiling_file(environ: Mapping[str, str] = os.environ) -> Path:
    """Where it is kept."""
    return noise_file(environ).with_name("ceiling.json")


def read_ceiling(environ: Mapping[str, str] = os.environ) -> KeptCeiling | None:
    """What was kept last; None where nothing was, or nothing that can be read."""
    try:
        with ceiling_file(environ).open("rb") as file:
            return KeptCeiling.model_validate_json(file.read(_MAX_BYTES))
    except (OSError, ValidationError):
        return None


def keep_ceiling(kept: KeptCeiling, environ: Mapping[str, str] = os.environ) -> None:
    """Keep it instead of what was kept before.

    Raises:
        HostError: the folder cannot be written.
    """
    file = ceiling_file(environ)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replaced(file) as stream:
            stream.write((kept.model_dump_json() + "\n").encode())
    except OSError as error:
        fix = "set XDG_STATE_HOME to a folder that can be written"
        raise HostError(str(file), f"cannot be written: {error.strerror}", "a writable folder", fix) from error
