"""`scalograph study`."""

from dataclasses import dataclass
from typing import Annotated

import typer

from scalograph.cli.console import emit_json, tell
from scalograph.cli.options import StartOptions, group_options


def complete_study(incomplete: str) -> list[str]:
    """Complete the name of a built-in study."""
    from scalograph.study.shipped import shipped_studies

    return [name for name in shipped_studies() if name.startswith(incomplete)]


@dataclass(frozen=True, kw_only=True)
class StudyOptions(StartOptions):
    """Options of `study`: the name of a built-in study, or --list."""

    name: Annotated[str | None, typer.Argument(help="Name of a built-in study", autocompletion=complete_study)] = None
    list_: Annotated[bool, typer.Option("--list", help="List the built-in studies")] = False
    show: Annotated[bool, typer.Option("--show", help="Print the study's declaration")] = False


def _study(options: StudyOptions) -> int:
    """Run a built-in study, all five steps: check, plan, run, analyze, report.

    \b
    scalograph study --list
    scalograph study thread-scaling --quick
    scalograph study thread-scaling --pilot                    how many runs and iterations does it need?
    scalograph study thread-scaling --show > my-study.toml     a start for your own
    """
    from scalograph.errors import StudyError
    from scalograph.study.declare import declare_shipped

    if options.list_:
        return _list(options.json)
    if options.name is None:
        raise StudyError.one("study", "no name", "a built-in study", "list them with: scalograph study --list")
    declared = declare_shipped(options.name, options.quick)
    if options.show:
        tell(declared.file.read_text(encoding="utf-8").rstrip())
        return 0
    from scalograph.cli.start import start

    return start(declared, options, ["scalograph", "study", options.name], report=True)


def _list(json: bool) -> int:
    from scalograph.study.declare import declare_shipped
    from scalograph.study.shipped import shipped_studies

    titles = {name: declare_shipped(name).study.title for name in shipped_studies()}
    if json:
        emit_json(titles)
        return 0
    width = max(map(len, titles), default=0)
    for name, title in titles.items():
        tell(f"{name:<{width}}  {title}")
    return 0


command = group_options(_study, StudyOptions)
