"""`scalograph check`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from scalograph.cli.console import emit_json, tell

# Levels of a factor beyond which only some are named.
MOST_LISTED = 40


def command(
    file: Annotated[Path | None, typer.Argument(help="A study.toml, or a folder that holds one.")] = None,
    json: Annotated[bool, typer.Option("--json", help="The study as one JSON document.")] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of study.toml and stop.")] = False,
) -> None:
    """Stop 1: read a study file and report every mistake at once. Touches no machine.

    \b
    scalograph check my-study.toml
    scalograph check --schema > study.schema.json    for an editor: first line `#:schema study.schema.json`
    """
    from scalograph.errors import StudyError
    from scalograph.study.declare import check
    from scalograph.study.identity import dump_study
    from scalograph.study.model import study_schema

    if schema:
        emit_json(study_schema())
        return
    if file is None:
        raise StudyError.one("check", "no study file", "a path", "for example: scalograph check study.toml")
    study = check(file)
    if json:
        emit_json(dump_study(study))
        return
    tell(f"{file}: a valid study")
    tell(f"  {study.title}")
    for name, factor in study.factors.items():
        tell(f"  {name}: {_format_levels(factor.levels)}" + (f"   ({factor.control})" if factor.control else ""))


def _format_levels(levels: str | Sequence[object]) -> str:
    if isinstance(levels, str):
        return levels
    if len(levels) <= MOST_LISTED:
        return ", ".join(map(str, levels))
    return f"{', '.join(map(str, levels[:3]))}, ... {levels[-1]} ({len(levels)} levels)"
