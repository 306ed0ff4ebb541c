"""`scalograph check`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from scalograph.cli.console import emit_json, tell

# Levels of a factor beyond which only some are named.
MOST_LISTED = 40


def command(
    file: Annotated[Path | None, typer.Argument(help="A study.toml, or its folder")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the study as JSON")] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of study.toml")] = False,
) -> None:
    """Step 1 (check): report every mistake in a study file.

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
        raise StudyError.one("", "no study file is named", "", "name one: scalograph check study.toml")
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
