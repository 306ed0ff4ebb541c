"""A study as a journal holds it: held against the checks that declaring makes, for nobody promised that it was made."""

from collections.abc import Iterator
from os.path import normpath, pardir
from pathlib import PurePosixPath
from typing import Any

from scalograph.study.check_published_claims import misquoted
from scalograph.study.check_question import unanswerable
from scalograph.study.cross_checks import Found, dangling, table
from scalograph.study.model import Study
from scalograph.study.toml_lines import dotted


def journaled(document: Any) -> Study:
    """Make a study of what a journal holds.

    Args:
        document: the `study` of a `study` or `resume` event.

    Raises:
        ValueError: it is none, names what it does not declare, or its question cannot be asked of it.
    """
    study = Study.model_validate(document, context={"journal": True})
    for path, found, expected, _ in _mistakes(study):
        raise ValueError(f"study.{dotted(path)}: {found}, expected {expected}")
    return study


def _mistakes(study: Study) -> Iterator[Found]:
    """Mistakes that no declared study has.

    Levels are those of one host: what a study excludes, or quotes of a paper, may be none of them. The protocol may
    be that of a quick form, or of options.
    """
    raw = study.model_dump(by_alias=True, exclude_defaults=True)
    raw.pop("protocol", None)
    factors = raw["factors"]
    named = {**raw, "factors": {name: {**factor, "levels": None} for name, factor in factors.items()}}
    yield from dangling(named)
    yield from misquoted({**named, "published": _without_quantities(table(raw, "published"))})
    listed = {name: {"levels": factor["levels"]} for name, factor in factors.items()}
    yield from dangling({"factors": listed, "baseline": table(raw, "baseline")})
    yield from unanswerable(raw)
    yield from _outside(study)


def _outside(study: Study) -> Iterator[Found]:
    """A published file that leads out of any folder; of a declared study its own folder is known."""
    file = study.published.file if study.published else ""
    if PurePosixPath(file).is_absolute() or PurePosixPath(normpath(file)).parts[:1] == (pardir,):
        expected = "a file inside the study's folder"
        yield ("published", "file"), f'"{file}" leads outside the study\'s folder', expected, "name one"


def _without_quantities(published: dict[str, Any]) -> dict[str, Any]:
    """Another release may have offered other ones."""
    claims = [{key: claim[key] for key in claim if key != "quantity"} for claim in published.get("claims", [])]
    return {**published, "claims": claims} if claims else published
