"""Classes of CPUs as they were measured, as values: which differ in speed, and which slow each other."""

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.facts import HostFacts, Value
from scalograph.protocol.noise_floor import noise_file, read_saved, write_saved

_MAX_BYTES = 16 << 20


class MeasuredCpu(Value):
    """One CPU alone."""

    cpu: int = Field(ge=0)
    speed: Estimate = Field(description="over the fastest CPU")
    speed_class: int = Field(ge=0, description="CPUs of one cannot be told apart; 0 is the fastest")
    slow_share: float = Field(ge=0, le=1, description="of its slices, those that took clearly longer than its fastest")
    shared: int | None = Field(default=None, description="lowest CPU of those that slow each other, itself included")


class MeasuredPair(Value):
    """Two CPUs at work at once."""

    cpus: tuple[int, int]
    slowdown: Estimate = Field(description="time of the same work over that of each alone")


class CpuClasses(Value):
    """The CPUs of a machine, alone and in pairs; intervals hold simultaneously for all CPUs, and for all pairs."""

    at: str = Field(default="", max_length=64, description="UTC, RFC 3339")
    cpu_model: str | None = None
    cpus: tuple[MeasuredCpu, ...] = Field(max_length=4096)
    pairs: tuple[MeasuredPair, ...] = Field(default=(), max_length=1 << 16)

    def add_to(self, facts: HostFacts) -> HostFacts:
        """Return the facts with the class of each CPU; unchanged where all are alike, or of other CPUs."""
        is_same = self.cpu_model == facts.cpu_model and [c.cpu for c in facts.cpus] == [c.cpu for c in self.cpus]
        if not is_same or not any(cpu.speed_class or cpu.shared is not None for cpu in self.cpus):
            return facts
        pairs = zip(facts.cpus, self.cpus, strict=True)
        classes = ((cpu, {"speed_class": seen.speed_class, "shared": seen.shared}) for cpu, seen in pairs)
        return facts.model_copy(update={"cpus": tuple(cpu.model_copy(update=update) for cpu, update in classes)})


def classes_file(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the file of the saved classes."""
    return noise_file(environ).with_name("cpus.json")


def read_classes(environ: Mapping[str, str] = os.environ) -> CpuClasses | None:
    """Read the saved classes; None where there are none, or none that can be read."""
    return read_saved(classes_file(environ), CpuClasses, _MAX_BYTES)


def save_classes(classes: CpuClasses, environ: Mapping[str, str] = os.environ) -> None:
    """Save classes in place of earlier ones. Raises HostError if the folder cannot be written."""
    write_saved(classes_file(environ), classes)
