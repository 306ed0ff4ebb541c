"""`scalograph find`: searches that place each run where it decides most."""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import typer
from typer.main import get_command

from scalograph.cli.app import LateCommands
from scalograph.cli.explaining import ExplainedOptions
from scalograph.cli.help_layout import GroupedCommand
from scalograph.cli.options import SearchOptions, group_options
from scalograph.errors import StudyError
from scalograph.questions.asked import AskedFactors, AskedRevisions, QuestionOptions
from scalograph.questions.registry import role, roles_present

if TYPE_CHECKING:
    from scalograph.run.session import Session


class Searches(LateCommands):
    """One command for each question with a role `find`."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List the questions that a command line can ask."""
        return sorted(roles_present("find"))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Make one command from its question's options."""
        if cmd_name not in roles_present("find"):
            return None
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name=cmd_name, cls=GroupedCommand)(_search(cmd_name))
        return get_command(single)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each command asks."""
        asked = {name: role(name, "find").OPTIONS.__doc__ or "" for name in self.list_commands(ctx)}
        with formatter.section("Commands"):
            formatter.write_dl([(name, f"{text.partition('?')[0]}?") for name, text in asked.items()])


group = typer.Typer(cls=Searches, add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@group.callback()
def _find() -> None:
    """Find one property of a command; each run goes where it is most informative.

    \b
    scalograph find effective-cpus -- ./prog
    scalograph find cliff --range 1:512 -- ./prog -t {threads}
    scalograph find size --within 30s --quota 0.1:2 --memory 16M:512M -- ./prog
    scalograph find break-even --size 16:65536 -- ./prog {version} {size}
    scalograph find commit --good v1.0 --bad main --build make -- {version}/prog
    scalograph find best -v threads=1:64 -v batch=1,8,64 -- ./prog -t {threads} -b {batch}
    scalograph find tunables --env MALLOC_ARENA_MAX=8,1,2 --option -O0,-O2 -- ./prog
    """


def _search(question: str) -> Callable[..., int]:
    """Make one command: the question's options, then those of every search."""
    options_of = role(question, "find").OPTIONS

    def search(asked: QuestionOptions, options: SearchOptions, explained: ExplainedOptions) -> int:
        return run(asked.factors(), options, explained)

    def run(factors: AskedFactors, options: SearchOptions, explained: ExplainedOptions) -> int:
        from scalograph.cli.command_line_study.declaration import study_text
        from scalograph.cli.command_line_study.option_texts import search_study
        from scalograph.cli.measure_output import print_findings, run_command_study, search_document

        if factors.service:
            return _run_service(question, factors.service, options, explained)
        study = search_study(question, factors, options)
        if revisions := factors.revisions:
            from scalograph.cli.command_line_study.built_revisions import insert_searched_revisions

            study = insert_searched_revisions(study, revisions, options)
        merged: list[AskedRevisions] = []

        def answer(session: "Session") -> int:
            code = print_findings(session, options, partial(search_document, question))
            if revisions and not code and not (options.json or options.export_json):  # one document each
                from scalograph.cli.command_line_study.built_revisions import merged_revisions

                merged.extend(merged_revisions(session, revisions))
            return code

        code = run_command_study(
            study_text(study), options, answer, consent=options.consent(), explains=explained.explain
        )
        for inside in merged:
            folder = options.output and options.output.with_name(f"{options.output.name}-inside")
            code = run(replace(factors, revisions=inside), replace(options, output=folder), explained)
        return code

    search.__doc__ = options_of.__doc__
    return group_options(search, options_of, SearchOptions, ExplainedOptions)


def _run_service(
    question: str, service: Mapping[str, Any], options: SearchOptions, explained: ExplainedOptions
) -> int:  # fmt: skip
    """Ask about a server: the study is that of `load`, the answer that of the question."""
    from scalograph.cli.command_line_study.load_study import load_study, map_load_error
    from scalograph.cli.measure_output import print_findings, run_command_study, search_document
    from scalograph.cli.sweep_options import LoadOptions

    names = {field.name for field in fields(LoadOptions)}
    own = {field.name: field.default for field in fields(options) if field.name not in {*names, "command"}}
    if name := next((name for name, default in own.items() if getattr(options, name) != default), ""):
        option = f"--{name.replace('_', '-')}"
        raise StudyError.one(option, "a server has no such option", "", "leave it out, or see scalograph load")
    common = {field.name: getattr(options, field.name) for field in fields(options) if field.name in names}
    load = LoadOptions(**{**common, **service})
    answer = partial(print_findings, options=load, document=partial(search_document, question))
    return run_command_study(
        load_study(load), load, answer, map_error=map_load_error, consent=options.consent(), explains=explained.explain
    )
