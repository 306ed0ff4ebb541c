"""Where `scalograph` begins: one command, one exit code."""

import sys

import typer

from scalograph.cli.app import app
from scalograph.cli.streams import guard, refusal
from scalograph.errors import Exit, HostError, ScalographError


def main() -> None:
    """Run the command line and exit with the code that README names."""
    answer = guard()
    code = _code(sys.argv[1:])
    if lost := refusal(answer):
        code = code or _told(HostError("standard output", lost.strerror or str(lost), "room for the answer"))
    sys.exit(code)


# The class of all usage errors, wherever this release of typer keeps it.
_UsageError = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def _code(arguments: list[str]) -> int:
    try:
        return int(app.main(arguments, prog_name="scalograph", standalone_mode=False) or 0)
    except ScalographError as error:
        return _told(error)
    except (typer.Abort, KeyboardInterrupt):
        return int(Exit.INTERRUPTED)
    except Exception as error:
        if not isinstance(error, _UsageError):
            raise
        error.show()  # type: ignore[attr-defined]
        return int(Exit.STUDY)


def _told(error: ScalographError) -> int:
    from scalograph.cli.console import complain

    complain(error)
    return int(error.exit_code)
