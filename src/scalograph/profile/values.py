"""The document `profile.json` beside a journal: one profiled run of each chosen configuration."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from scalograph.protocol.facts import Value
from scalograph.protocol.old_names import rename_in_document
from scalograph.protocol.saved_documents import read_beside

FILE = "profile.json"
MAX_BYTES = 1 << 20
# So many stacks that what is left of the samples says little; 8 configurations of them stay below the limit of the
# file.
MAX_CONFIGURATIONS, MAX_FRAMES, MAX_STACKS, MAX_METHODS, MAX_OBJECTS = 8, 5, 40, 10, 5

Level = bool | int | float | str
Text = Annotated[str, StringConstraints(max_length=1000)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Count = Annotated[int, Field(ge=0, le=2**63 - 1)]
Part = Annotated[float, Field(ge=0, le=1)]
Amount = Annotated[float, Field(ge=0)]


class Stack(Value):
    """A stack of top frames, innermost first, and its share of all samples."""

    frames: tuple[Name, ...] = Field(min_length=1, max_length=MAX_FRAMES)
    n: Count
    share: Part


class Method(Value):
    """A method on top of samples."""

    name: Name
    n: Count
    share: Part


class ClassWaits(Value):
    """Waits for objects of one class; "" for a pause."""

    on: Annotated[str, StringConstraints(max_length=256)]
    n: Count
    mean_s: Amount


class Waits(Value):
    """Waits of one kind that began in counted iterations, all threads together."""

    n: Count = 0
    mean_s: Amount | None = None
    on: tuple[ClassWaits, ...] = Field(default=(), max_length=MAX_OBJECTS, description="most waits first")


class RecordedTasks(Value):
    """What a recording holds of the counted iterations.

    `n_lost`: events of the recording that were not read, because there were too many.
    """

    n_samples: Count = 0
    n_native: Count = Field(default=0, description="of the samples, those in native code")
    stacks: tuple[Stack, ...] = Field(default=(), max_length=MAX_STACKS)
    methods: tuple[Method, ...] = Field(default=(), max_length=MAX_METHODS)
    parks: Waits = Waits()
    blocked: Waits = Field(default=Waits(), description="for a monitor that another thread held")
    waits: Waits = Field(default=Waits(), description="in Object.wait")
    sleeps: Waits = Waits()
    n_lost: Count = 0


class ProfiledRun(Value):
    """One configuration; `seen` is None if the run failed, and `reason` says why.

    `switches` and `preemptions` (voluntary, involuntary) are of the whole run, start-up included.
    """

    configuration: dict[Name, bool | int | float | Text] = Field(max_length=16)
    jvm: Text = ""
    reason: Text = ""
    n_tasks: Count = Field(default=0, description="iterations that count")
    n_iterations: Count = 0
    seen: RecordedTasks | None = None
    switches: Count | None = None
    preemptions: Count | None = None
    steals_per_task: Amount | None = None
    score: float | None = Field(default=None, description="of the study's primary response, in this run")
    measured: float | None = Field(default=None, description="its median over the study's own runs")


class Profile(Value):
    """The document."""

    protocol: Literal[1, 2] = 2
    study: Name
    study_hash: Annotated[str, StringConstraints(min_length=1, max_length=128)]
    at: Annotated[str, StringConstraints(max_length=64)] = Field(description="UTC, RFC 3339")
    recorder: Literal["jfr", "perf"] = "jfr"
    period_s: Annotated[float, Field(gt=0)] = Field(description="samples of one thread")
    profiled: tuple[ProfiledRun, ...] = Field(max_length=MAX_CONFIGURATIONS)
    warnings: tuple[Text, ...] = Field(default=(), max_length=64)

    @model_validator(mode="before")
    @classmethod
    def _convert_protocol_1(cls, raw: Any) -> Any:
        return rename_in_document(raw) if isinstance(raw, dict) and raw.get("protocol") == 1 else raw


def read_profile(folder: Path, study_hash: str) -> Profile | None:
    """Read the profile in a results folder; None if there is none.

    Raises ProtocolError: it cannot be read, is too large, no profile, or that of another study.
    """
    return read_beside(Profile, folder / FILE, MAX_BYTES, "profile", study_hash)


Configuration = Mapping[str, Level]


def choose_configurations(
    configurations: Sequence[Configuration], baseline: Mapping[str, Level], most: int = MAX_CONFIGURATIONS
) -> list[Configuration]:
    """Choose at most `most`, in order: first, last, evenly between, and one at the baseline's level.

    >>> [t["p"] for t in choose_configurations([{"p": p} for p in range(9)], {"p": 6}, 4)]
    [0, 3, 6, 8]
    """
    n = len(configurations)
    if n <= most:
        return [*configurations]
    indices = [round(i * (n - 1) / (most - 1)) for i in range(most)]
    at = [i for i, configuration in enumerate(configurations) if baseline and baseline.items() <= configuration.items()]
    if at and not set(at) & set(indices):
        inner = range(1, most - 1)
        indices[min(inner, key=lambda index: abs(indices[index] - at[0]))] = at[0]
    return [configurations[i] for i in sorted(indices)]
