"""The noise floor of this machine as it was measured last: kept for `doctor`, and for a second look before a study."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.noise_floor import Floor
from scalograph.protocol.written_file import replaced

_MAX_BYTES = 64 << 10


class SavedNoise(BaseModel):
    """Noise of one study, and of which machine: a home folder may be shared by many.

    What stands beside `floor` is that of one CPU, as earlier releases read it; `floor` None was written by one of them.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    study: str = Field(max_length=256)
    at: str = Field(max_length=64, description="UTC, RFC 3339")
    sd_log_percent: float = Field(ge=0, allow_inf_nan=False)
    minimum_detectable_percent: float = Field(ge=0, allow_inf_nan=False)
    n: int = Field(ge=1)
    cpu_model: str | None = None
    n_cpus: int = Field(ge=1)
    kernel: str | None = None
    results: str | None = Field(default=None, max_length=4096, description="folder of the study's results")
    floor: Floor | None = None

    def is_of(self, facts: HostFacts) -> bool:
        """Whether it was measured on such a machine; another kernel does not make another machine."""
        return self.is_of_machine(facts.machine())

    def is_of_machine(self, machine: Mapping[str, Any]) -> bool:
        """Whether it was measured on such a machine as a journal tells of; guests and far ones are others."""
        if machine.get("accelerator") or machine.get("reached"):
            return False
        return (self.cpu_model, self.n_cpus) == (machine.get("cpu_model"), machine.get("n_cpus"))


def noise_file(environ: Mapping[str, str] = os.environ) -> Path:
    """Where it is kept."""
    base = environ.get("XDG_STATE_HOME", "")
    home = Path(base) if base.startswith("/") else Path(environ.get("HOME") or "/") / ".local/state"
    return home / "scalograph/noise.json"


def read_noise(environ: Mapping[str, str] = os.environ) -> SavedNoise | None:
    """What was kept last; None where nothing was, or nothing that can be read."""
    try:
        with noise_file(environ).open("rb") as file:
            return SavedNoise.model_validate_json(file.read(_MAX_BYTES))
    except (OSError, ValidationError):
        return None


def save_noise(noise: SavedNoise, environ: Mapping[str, str] = os.environ) -> None:
    """Keep it instead of what was kept before.

    Raises:
        HostError: the folder cannot be written.
    """
    file = noise_file(environ)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replaced(file) as stream:
            stream.write((noise.model_dump_json() + "\n").encode())
    except OSError as error:
        fix = "set XDG_STATE_HOME to a folder that can be written"
        raise HostError(str(file), f"cannot be written: {error.strerror}", "a writable folder", fix) from error
