"""Print the end of a command: the tables asked for, the answer and where to find more, or one JSON document."""

import json
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalograph.cli.console import emit_json, out
from scalograph.protocol.results import write_text
from scalograph.study.scalars import unknown_name_error

if TYPE_CHECKING:
    from pydantic import BaseModel

    from scalograph.protocol.findings import Findings
    from scalograph.report.screen import Screen


def answer(
    screen: "Screen", places: Sequence[tuple[str, str]] = (), tables: bool = False, table: str | None = None,
    document: dict[str, Any] | None = None,
) -> None:  # fmt: skip
    """Print the answer as the last thing of a command, or one JSON `document`, to which claim and trust are added.

    `places` are lines below it: ("report", its path), ("tables", the command), ("again", the command). `tables` prints
    all tables above it, `table` one by name: StudyError for an unknown one, after the answer.
    """
    if document is not None:
        return emit_json(_join_answer(screen, document))
    from scalograph.report.terminal_first import render_first
    from scalograph.report.terminal_table import render, render_table

    if tables:
        render(screen, out())
    is_missing = table is not None and not tables and not render_table(screen, table, out())
    render_first(screen, out(), places)
    if is_missing:
        names = [listed.id for listed in screen.tables]
        raise unknown_name_error("--table", f'"{table}"', table, names, empty="no table here")


def _join_answer(screen: "Screen", document: dict[str, Any]) -> dict[str, Any]:
    parts = {"claim": screen.claim, **({"trust": screen.trust} if screen.trust else {})}
    return {**document, **{name: part.model_dump(mode="json") for name, part in parts.items()}}


def export_document(file: Path | None, screen: "Screen", document: "dict[str, Any] | BaseModel") -> None:
    """Write the document that --json prints to a file; None for no file. Raises HostError where the disk refuses."""
    if file is not None:
        values = document if isinstance(document, dict) else document.model_dump(mode="json")
        text = json.dumps(_join_answer(screen, values), indent=2, allow_nan=False)
        write_text(file, f"{text}\n")


def tables_place() -> list[tuple[str, str]]:
    """Return the command that prints the tables: this one with --tables."""
    words = [word for word in sys.argv[1:] if word != "--tables"]
    return [("tables", shlex.join(["scalograph", *words, "--tables"]))]


def study_places(
    source: Path, findings: "Findings", again: str = "", page: Path | None = None
) -> list[tuple[str, str]]:
    """Return where to find more: page, tables, and the command that repeats the study (`again`, else the findings')."""
    from scalograph.protocol.results import locate_results

    latest = source.parent / "latest"
    source = latest if latest.is_symlink() and latest.resolve() == source.resolve() else source
    page, command = page or locate_results(source).report, f"scalograph report {short_path(source)}"
    places = [("report", short_path(page) if page.exists() else command), ("tables", f"{command} --tables")]
    again = again or _localize_command(next(iter(findings.reproduce), ""), locate_results(source).study)
    return places + ([("again", again)] if again else [])


def _localize_command(command: str, study: Path) -> str:
    path = shlex.quote(str(study.resolve())) if "#" in command else short_path(study)
    return re.sub(r" (RESULTS/)?study\.toml", lambda _: f" {path}", command)


def short_path(path: Path) -> str:
    """Return a path as typed from here or from home, quoted for a shell."""
    for base, prefix in ((Path.cwd(), ""), (_home(), "~/")):
        if base and path.absolute().is_relative_to(base):
            rest = str(path.absolute().relative_to(base))
            return prefix + shlex.quote(rest)
    return shlex.quote(str(path))


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # a user who is in no list
        return None
