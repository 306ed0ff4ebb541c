"""The catalogue of published studies: which studies test each, and which claims no study decides."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, ValidationError

from scalograph.errors import Problem, StudyError
from scalograph.study import toml_text
from scalograph.study.declare import Declared, claims_of, declare
from scalograph.study.fields import StudyPart, Text
from scalograph.study.scalars import suggest
from scalograph.study.shipped import shipped_catalogue
from scalograph.study.toml_text import line_of, locate

ClaimNumber = Annotated[str, StringConstraints(pattern=r"^[A-Z][0-9]+-[0-9]+$", max_length=32)]
StudyName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*$", max_length=64)]


class CataloguedPart(StudyPart):
    """A study that tests some claims.

    Attributes:
        full: the study that replaces it in the full form.
        profile: FACTOR=LEVEL of what is profiled.
        explain: FACTOR=LEVEL of what `explain` compares, two levels of one factor: "jobs=1,8".
    """

    study: StudyName
    full: StudyName | None = None
    profile: list[Text] = Field(default=[], max_length=16)
    explain: list[Text] = Field(default=[], max_length=16)


class OpenClaim(StudyPart):
    """A claim that no study decides, with the reason."""

    id: ClaimNumber
    sentence: Text
    decision: Literal["not yet", "not testable here", "not comparable"]
    why: Text


class PublishedStudy(StudyPart):
    """One published study, with the studies that test it (`parts`, in running order) and the place of each claim."""

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
    """A catalogue with its studies: `studies` are those selected, `declared` every part of any, by name."""

    file: Path
    studies: tuple[PublishedStudy, ...]
    declared: dict[str, Declared]

    @property
    def parts(self) -> list[tuple[PublishedStudy, CataloguedPart]]:
        """The parts of the selected studies, in the order in which they run."""
        return [(study, part) for study in self.studies for part in study.parts]

    @property
    def is_shipped(self) -> bool:
        return self.file == shipped_catalogue().resolve()


def claim_number(claim: str) -> str:
    """Return the number of the published claim of an id: a claim may be decided in several parts.

    >>> claim_number("S0-4b"), claim_number("S0-4")
    ('S0-4', 'S0-4')
    """
    return re.sub(r"(?<=[0-9])[a-z]+$", "", claim)


def explained_levels(name: str) -> list[str]:
    """Return the FACTOR=LEVEL that `explain` compares of a built-in study; empty for others."""
    parts = [part for study in _read_catalogue(shipped_catalogue()).studies for part in study.parts]
    return next((part.explain for part in parts if part.study == name), [])


def open_catalogue(file: Path | None = None, quick: bool = False, names: tuple[str, ...] = ()) -> OpenedCatalogue:
    """Read a catalogue (the built-in one if None) and the studies beside it; `names` selects studies by id or name."""
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


def _mistakes(catalogue: Catalogue, declared: dict[str, Declared], name: str) -> Iterator[Problem]:
    listed = {claim for study in catalogue.studies for claim in study.claims}
    places: dict[str, str] = {}
    claims = [(claim, part) for part, study_declared in declared.items() for claim in claims_of(study_declared)]
    decided = [(claim.id, part) for claim, part in claims]
    opened = [(claim.id, "`open`") for study in catalogue.studies for claim in study.open]
    for claim, source in [*decided, *opened]:
        if claim in places:
            yield Problem(f"{name}: claim {claim}", f"in {places[claim]} and in {source}", "one of them", "drop one")
        if claim_number(claim) not in listed:
            yield Problem(f"{name}: claim {claim}", f"in {source}, in no list of claims", "a listed number", "list it")
        places[claim] = source
    for claim_of_part, part in claims:
        for other in claim_of_part.like:
            if other == claim_of_part.id or other not in places:
                where, wrong = f"{name}: claim {claim_of_part.id}", f'in {part}, like "{other}"'
                yield Problem(where, wrong, "another claim of the catalogue", suggest(other, places))


def _select_form(catalogue: Catalogue, quick: bool) -> Catalogue:
    def parts(study: PublishedStudy) -> list[CataloguedPart]:
        return [row if quick or row.full is None else row.model_copy(update={"study": row.full}) for row in study.parts]

    studies = [study.model_copy(update={"parts": parts(study)}) for study in catalogue.studies]
    return catalogue.model_copy(update={"studies": studies})


def _read_catalogue(file: Path) -> Catalogue:
    text = toml_text.read(file, "a catalogue of studies", str(file), name=file.name)
    raw = toml_text.parse(text, file.name)
    try:
        return Catalogue.model_validate(raw)
    except ValidationError as error:
        lines, problems = locate(text), list[Problem]()
        for detail in error.errors():
            line, key = line_of(lines, detail["loc"]), ".".join(map(str, detail["loc"]))
            where = f"{file.name}:{line}: {key}" if line else f"{file.name}: {key}"
            problems.append(Problem(where, detail["msg"], "what docs/howto/reproduce.md tells"))
        raise StudyError(problems) from error
