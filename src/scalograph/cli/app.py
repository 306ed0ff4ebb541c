"""The table of commands. A module is imported when its command is called, so that `--help` is quick."""

import sys
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from scalograph import __version__
from scalograph.cli.help_layout import COMMAND_GROUPS, GroupedCommand
from scalograph.errors import Exit, HostError, Terminated

COMMANDS = {name: text for group in COMMAND_GROUPS.values() for name, text in group.items()}
# Those that need nothing but files: they work on any system.
READING = ("compare", "history", "watch", "site", "gate", "check", "analyze", "report", "export", "fit", "import")
# Commands that share a module, in which each is called by its name; any other is `command` in one of its own.
TOGETHER = {"analyze": "steps", "report": "steps", "watch": "watch", "site": "watch"}


class LateCommands(TyperGroup):
    """Commands imported when called, with the user's defaults; suggests the closest name for a mistyped one."""

    def invoke(self, ctx: Any) -> Any:
        """Give the defaults of the user to the command that is called."""
        from scalograph.cli.user_defaults import command_defaults

        ctx.default_map = command_defaults(self.list_commands(ctx))
        return super().invoke(ctx)

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
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
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
        single.command(name=cmd_name, cls=GroupedCommand, help=function.__doc__)(function)
        return get_command(single)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by group, without importing any."""
        for title, commands in COMMAND_GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))


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
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version"),
    man: bool = typer.Option(False, "--man", callback=_man, is_eager=True, help="Print the manual page, for man -l -"),
) -> None:
    """Measure how a program scales with CPUs, threads, processes, or JVMs.

    \b
    scalograph doctor                                           check this machine
    scalograph measure --threads 1,2,4 -- ./prog -t {threads}   measure a command
    scalograph study thread-scaling --quick                     run a built-in study (4 minutes)
    """


app: Any = get_command(_root)
