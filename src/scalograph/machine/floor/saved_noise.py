"""The saved noise floor of this machine: for `doctor`, and for a second look before a study."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.noise_floor import Floor
from scalograph.protocol.written_file import replace_file

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
        """Return whether it was measured on such a machine; another kernel does not make another machine."""
        return self.is_of_machine(facts.machine())

    def is_of_machine(self, machine: Mapping[str, Any]) -> bool:
        """Return whether it was measured on such a machine of a journal; guests and remote ones are others."""
        if machine.get("accelerator") or machine.get("reached"):
            return False
        return (self.cpu_model, self.n_cpus) == (machine.get("cpu_model"), machine.get("n_cpus"))


def noise_file(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the file of the saved noise floor."""
    base = environ.get("XDG_STATE_HOME", "")
    home = Path(base) if base.startswith("/") else Path(environ.get("HOME") or "/") / ".local/state"
    return home / "scalograph/noise.json"


def read_noise(environ: Mapping[str, str] = os.environ) -> SavedNoise | None:
    """Read the saved noise; None where there is none, or none that can be read."""
    return read_saved(noise_file(environ), SavedNoise, _MAX_BYTES)


def save_noise(noise: SavedNoise, environ: Mapping[str, str] = os.environ) -> None:
    """Save noise in place of an earlier one. Raises HostError if the folder cannot be written."""
    write_saved(noise_file(environ), noise)


Saved = TypeVar("Saved", bound=BaseModel)


def read_saved(file: Path, model: type[Saved], max_bytes: int) -> Saved | None:
    """Read what was saved of this machine; None where there is nothing that can be read."""
    try:
        with file.open("rb") as stream:
            return model.model_validate_json(stream.read(max_bytes))
    except (OSError, ValidationError):
        return None


def write_saved(file: Path, saved: BaseModel) -> None:
    """Write what is saved of this machine in place of an earlier file. Raises HostError."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(file) as stream:
            stream.write((saved.model_dump_json() + "\n").encode())
    except OSError as error:
        fix = "set XDG_STATE_HOME to a folder that can be written"
        raise HostError(str(file), f"cannot be written: {error.strerror}", "a writable folder", fix) from error
