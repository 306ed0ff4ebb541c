"""The catalogue of published studies: which studies test each, and which claims no study decides."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationError

from scalograph.errors import Problem, StudyError
from scalograph.protocol.bounded import read_whole
from scalograph.study import toml_text
from scalograph.study.declare import Declared, declare
from scalograph.study.fields import StudyPart, Text
from scalograph.study.published_claim import PublishedClaim
from scalograph.study.scalars import suggest
from scalograph.study.shipped import shipped_catalogue
from scalograph.study.toml_lines import line_of, locate

ClaimNumber = Annotated[str, StringConstraints(pattern=r"^[A-Z][0-9]+-[0-9]+$", max_length=32)]
StudyName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*$", max_length=64)]


class CataloguedPart(StudyPart):
    """A study that tests some claims.

    Attributes:
        study: the folder beside the catalogue that holds it.
        full: another one in its place in the full form, which takes hours; None where both forms are of one study.
        profile: FACTOR=LEVEL, of the configurations that run once more under a profiler, after its runs; none if empty.
    """

    study: StudyName
    full: StudyName | None = None
    profile: list[Text] = Field(default=[], max_length=16)


class OpenClaim(StudyPart):
    """A claim that no study decides, with the reason."""

    id: ClaimNumber
    sentence: Text
    decision: Literal["not yet", "cannot be seen here", "not comparable"]
    why: Text


class PublishedStudy(StudyPart):
    """One published study.

    Attributes:
        id: with which the numbers of its claims begin.
        name: short name.
        title: of the publication.
        year: None where it has no date.
        line: what it asks, in one line.
        parts: studies that put it to the test, in the order in which they run.
        claims: number of each claim, and where the publication makes it.
        open: claims that no study decides.
    """

    id: Annotated[str, StringConstraints(pattern=r"^[A-Z][0-9]+$", max_length=8)]
    name: StudyName
    title: Text
    year: Annotated[int, Field(ge=1900, le=2100)] | None = None
    line: Text = ""
    parts: list[CataloguedPart] = Field(default=[], max_length=64)
    claims: dict[ClaimNumber, Text] = Field(default={}, max_length=256)
    open: list[OpenClaim] = Field(default=[], max_length=256)


class Catalogue(StudyPart):
    """All published studies."""

    version: Literal[1]
    studies: list[PublishedStudy] = Field(min_length=1, max_length=64)


@dataclass(frozen=True)
class OpenedCatalogue:
    """A catalogue with its studies loaded.

    Attributes:
        file: it.
        studies: the published studies that are wanted.
        declared: every study that is a part of any of them, by name.
    """

    file: Path
    studies: tuple[PublishedStudy, ...]
    declared: dict[str, Declared]

    @property
    def parts(self) -> list[tuple[PublishedStudy, CataloguedPart]]:
        """The parts of the selected studies, in the order in which they run."""
        return [(study, part) for study in self.studies for part in study.parts]

    @property
    def is_shipped(self) -> bool:
        """Whether it is the built-in one."""
        return self.file == shipped_catalogue().resolve()


def claim_number(claim: str) -> str:
    """Return the number of the published claim of an id: a claim may be decided in several parts.

    >>> claim_number("S0-4b"), claim_number("S0-4")
    ('S0-4', 'S0-4')
    """
    return re.sub(r"(?<=[0-9])[a-z]+$", "", claim)


def open_catalogue(file: Path | None = None, quick: bool = False, names: tuple[str, ...] = ()) -> OpenedCatalogue:
    """Read a catalogue and the studies that lie beside it.

    Args:
        file: the one that ships if None.
        quick: the quick form of each study.
        names: ids or names of the published studies that are wanted; all of them if empty.

    Raises:
        StudyError: with every mistake; or a name that it does not hold.
    """
    file = (file or shipped_catalogue()).resolve()
    catalogue = _select_form(_read_catalogue(file), quick)
    by_name = {key: study for study in catalogue.studies for key in (study.id, study.name)}
    if unknown := [name for name in names if name not in by_name]:
        expected = "one of " + ", ".join(f"{study.name} ({study.id})" for study in catalogue.studies)
        raise StudyError.one("--study", f'no published study "{unknown[0]}"', expected, suggest(unknown[0], by_name))
    wanted = {by_name[name].id for name in names}
    chosen = tuple(study for study in catalogue.studies if not wanted or study.id in wanted)
    parts = [part.study for study in catalogue.studies for part in study.parts]
    declared = {name: declare(file.parent / name, quick) for name in dict.fromkeys(parts)}
    if mistakes := list(_mistakes(catalogue, declared, file.name)):
        raise StudyError(mistakes)
    return OpenedCatalogue(file, chosen, declared)


def claims_of(declared: Declared) -> list[PublishedClaim]:
    """Return the claims that a study decides."""
    return list(declared.study.published.claims) if declared.study.published else []


def _mistakes(catalogue: Catalogue, declared: dict[str, Declared], name: str) -> Iterator[Problem]:
    """Find claims decided twice, or made by no published study."""
    listed = {claim for study in catalogue.studies for claim in study.claims}
    places: dict[str, str] = {}
    decided = [(claim.id, part) for part, study_declared in declared.items() for claim in claims_of(study_declared)]
    opened = [(claim.id, "`open`") for study in catalogue.studies for claim in study.open]
    for claim, source in [*decided, *opened]:
        if claim in places:
            yield Problem(f"{name}: claim {claim}", f"in {places[claim]} and in {source}", "one of them", "drop one")
        if claim_number(claim) not in listed:
            yield Problem(f"{name}: claim {claim}", f"in {source}, in no list of claims", "a listed number", "list it")
        places[claim] = source


def _select_form(catalogue: Catalogue, quick: bool) -> Catalogue:

    def parts(study: PublishedStudy) -> list[CataloguedPart]:
        return [row if quick or row.full is None else row.model_copy(update={"study": row.full}) for row in study.parts]

    studies = [study.model_copy(update={"parts": parts(study)}) for study in catalogue.studies]
    return catalogue.model_copy(update={"studies": studies})


def _read_catalogue(file: Path) -> Catalogue:
    try:
        text = read_whole(file, toml_text.MAX_BYTES).decode()
        raw = toml_text.parse(text, file.name)
    except OSError as error:
        raise StudyError.one(str(file), f"cannot be read: {error.strerror}", "a catalogue of studies") from error
    except UnicodeDecodeError as error:
        raise StudyError.one(file.name, f"byte {error.start} is not UTF-8", "UTF-8 text") from error
    try:
        return Catalogue.model_validate(raw)
    except ValidationError as error:
        lines = locate(text)
        raise StudyError([_make_problem(file.name, lines, detail) for detail in error.errors()]) from error


def _make_problem(name: str, lines: Any, detail: Any) -> Problem:
    line = line_of(lines, detail["loc"])
    where = ".".join(map(str, detail["loc"]))
    full_place = f"{name}:{line}: {where}" if line else f"{name}: {where}"
    return Problem(full_place, detail["msg"], "what docs/howto/reproduce.md tells")
