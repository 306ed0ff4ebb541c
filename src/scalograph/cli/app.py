"""The table of commands. A module is imported when its command is called, so that `--help` is quick."""

import sys
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from scalograph import __version__
from scalograph.errors import Exit, HostError, Terminated

COMMANDS = {
    "measure": "How does this command scale? `scalograph measure --threads 1,2,4 -- ./prog -t {threads}`",
    "find": "Search one figure of a command: CPUs it uses, where its time jumps, from which size a version pays off",
    "load": "How much does a server carry? `scalograph load --get http://127.0.0.1:8080/ --clients 1:64:*2`",
    "study": "Run a study that ships, all five stops: `scalograph study thread-scaling --quick`",
    "reproduce": "What five published studies claim, each claim decided, on one page: `scalograph reproduce --quick`",
    "check": "Stop 1: read a study file, report every mistake at once",
    "plan": "Stop 2: which runs, how many, how long, what effect they can detect",
    "run": "Stop 3: run a study; `--resume` goes on where one ended",
    "analyze": "Stop 4: from a journal to findings",
    "report": "Stop 5: tables on the terminal and one HTML file",
    "compare": "Is B slower than A, faster, or equivalent? `scalograph compare results-before results-after`",
    "ab": "Is the new build faster? Both run in pairs: `scalograph ab --a ./old --b ./new -- {version}`",
    "history": "The results of a study over time: where does a new level begin? `scalograph history first`",
    "gate": "Fail a build that is slower than a kept result: `scalograph gate results --against kept`",
    "profile": "A study's configurations once more, apart, with a recorder: stacks, and of Java parks and waits",
    "export": "A journal for other tools: CSV, Parquet, Markdown, SVG, Extra-P",
    "fit": "Scaling laws for numbers measured elsewhere: `scalograph fit data.csv`",
    "import": "What another instrument measured, alone or beside a study: `scalograph import jmh jmh.json`",
    "doctor": "What this machine grants and refuses, and what to do about it",
}
# Those that need nothing but files: they work on any system.
READING = ("compare", "history", "gate", "check", "analyze", "report", "export", "fit", "import")
# Commands that share a module, in which each is called by its name; any other is `command` in one of its own.
TOGETHER = {"analyze": "steps", "report": "steps"}


class LateCommands(TyperGroup):
    """Commands imported when called; suggests the closest name for a mistyped one."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Name the command that was probably meant, if there is none of this name."""
        names = self.list_commands(ctx)
        if args[0] not in names and (near := get_close_matches(args[0], names, n=1)):
            ctx.fail(f"No such command '{args[0]}'. Did you mean '{near[0]}'?")
        return super().resolve_command(ctx, args)


class Commands(LateCommands):
    """Commands by name, imported when they are called."""

    def invoke(self, ctx: Any) -> Any:
        """Exit with the code of SIGTERM, which typer would not use."""
        try:
            return super().invoke(ctx)
        except Terminated:
            raise typer.Exit(Exit.TERMINATED) from None

    def list_commands(self, ctx: Any) -> list[str]:
        """List the commands in the order of the steps."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        if sys.platform != "linux" and cmd_name not in READING:
            here = f"{', '.join(READING)} work here"
            raise HostError("system", sys.platform, "Linux, which alone is measured", here)
        module = import_module(f"scalograph.cli.{TOGETHER.get(cmd_name, cmd_name)}_command")
        if hasattr(module, "group"):  # commands of its own
            return get_command(module.group)
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        function = getattr(module, cmd_name if cmd_name in TOGETHER else "command")
        single.command(name=cmd_name, help=function.__doc__)(function)
        return get_command(single)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the table of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"scalograph {__version__}")
        raise typer.Exit


def _man(wanted: bool) -> None:
    if wanted:
        from scalograph.cli.man_page import man_page

        typer.echo(man_page(app, COMMANDS), nl=False)
        raise typer.Exit


_root = typer.Typer(cls=Commands, rich_markup_mode=None, no_args_is_help=True)


@_root.callback()
def _callback(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the release."),
    man: bool = typer.Option(False, "--man", callback=_man, is_eager=True, help="Print the manual page, for man -l -."),
) -> None:
    """Scalograph: how does this program behave as it gets more CPUs, threads, processes or JVMs?

    \b
    scalograph study thread-scaling --quick     a study that ships, in four minutes
    scalograph check my-study.toml              then plan, run, analyze, report
    scalograph doctor                           what this machine can measure
    """


app: Any = get_command(_root)
