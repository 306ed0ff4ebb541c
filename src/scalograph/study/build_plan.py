"""What is fetched and compiled for a workload before its first run, and for which levels (protocol/workload.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

MAX_FETCHED = 256
_PART = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*$", max_length=64)]
Text = Annotated[str, StringConstraints(max_length=1000)]
ParameterValue = bool | int | float | str


class WorkloadPart(BaseModel):
    """A table of workload.toml; every key must be known."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Fetch(WorkloadPart):
    """A file of a Maven repository, accepted only with this checksum."""

    artifact: Annotated[str, StringConstraints(pattern=rf"^{_PART}(:{_PART}){{2,4}}$", max_length=300)]
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    bytes: int = Field(gt=0, le=4 << 30)
    unpack: bool = False

    @property
    def name(self) -> str:
        """The name in templates: `{fetched.NAME}`."""
        return self.artifact.split(":")[1]

    @property
    def title(self) -> str:
        """Name and version, for people."""
        return " ".join(self.artifact.split(":")[1:3])

    @property
    def packaging(self) -> str:
        """The file type."""
        return (*self.artifact.split(":"), "jar")[3]

    @model_validator(mode="after")
    def _zip(self) -> "Fetch":
        if self.unpack and self.packaging != "zip":
            raise ValueError(f"found unpack of {self.packaging}, expected GROUP:NAME:VERSION:zip")
        return self


class Build(WorkloadPart):
    """A build from sources, and downloads for it or beside it; `when` names the levels that need it."""

    tool: Literal["javac", "cc", "cargo"] | None = None
    sources: list[Text] = []
    flags: list[Text] = []
    release: int | None = Field(default=None, ge=8)
    fetch: list[Fetch] = Field(default=[], max_length=MAX_FETCHED)
    when: dict[Name, list[ParameterValue]] = {}

    @property
    def jars(self) -> list[Fetch]:
        """Files of the class path."""
        return [file for file in self.fetch if file.packaging == "jar"]

    @model_validator(mode="after")
    def _something(self) -> "Build":
        if bool(self.tool) != bool(self.sources):
            raise ValueError("found one of `tool` and `sources`, expected both, or neither beside [[build.fetch]]")
        if not self.tool and not self.fetch:
            raise ValueError("found nothing to do, expected `tool` and `sources`, or [[build.fetch]]")
        return self


def applies(when: Mapping[str, Sequence[Any]], values: Mapping[str, Any]) -> bool:
    """Return whether values have a listed level of each name.

    >>> applies({"server": ["jetty"]}, {"server": "jetty"}), applies({}, {}), applies({"server": ["jetty"]}, {})
    (True, True, False)
    """
    return all(values.get(name) in levels for name, levels in when.items())


def select_builds(
    builds: Sequence[Build], values: Mapping[str, Any], configurations: Sequence[Mapping[str, Any]]
) -> list[Build]:
    """Return the builds that some configuration needs; its levels override values of the same name."""
    return [
        plan
        for plan in builds
        if not plan.when
        or any(applies(plan.when, {**values, **configuration}) for configuration in configurations or [{}])
    ]


def fetched_names(builds: Sequence[Build]) -> list[str]:
    """Return the names that downloads fill in templates.

    Raises:
        ValueError: two different files have one name.
    """
    artifacts: dict[str, str] = {}
    for file in (file for plan in builds for file in plan.fetch):
        if artifacts.setdefault(file.name, file.artifact) != file.artifact:
            raise ValueError(f"found {artifacts[file.name]} and {file.artifact}, expected one artifact of each name")
    return [f"fetched.{name}" for name in artifacts]


def written_names(builds: Any) -> list[str]:
    """Return the same of an unchecked document, skipping what is malformed."""
    listed = builds if isinstance(builds, list) else []
    tables = [file for plan in listed if isinstance(plan, dict) for file in _tables(plan.get("fetch"))]
    artifacts = [file.get("artifact") for file in tables]
    return [f"fetched.{text.split(':')[1]}" for text in artifacts if isinstance(text, str) and ":" in text]


def _tables(listed: Any) -> list[dict[str, Any]]:
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


@dataclass(frozen=True)
class ClassPath:
    """Folders and jars in order, each with the levels under which it belongs to `{classpath}`."""

    entries: tuple[tuple[Mapping[str, Sequence[Any]], str], ...]

    def text_for(self, values: Mapping[str, Any]) -> str:
        """Return the class path for these values, joined by colons.

        >>> path = ClassPath((({}, "/build"), ({"server": ["jetty"]}, "/jetty.jar")))
        >>> path.under({"server": "jdk"}), path.under({"server": "jetty"})
        ('/build', '/build:/jetty.jar')
        """
        return ":".join(entry for when, entry in self.entries if applies(when, values))
