"""Where `scalograph` begins: one command, one exit code."""

import sys

from scalograph.cli.app import app
from scalograph.errors import Exit, ScalographError


def main() -> None:
    """Run the command line and exit with the code that README names."""
    sys.exit(_code(sys.argv[1:]))


def _code(arguments: list[str]) -> int:
    import click

    try:
        code = app.main(arguments, prog_name="scalograph", standalone_mode=False)
        return int(code or 0)
    except ScalographError as error:
        from scalograph.cli.console import complain

        complain(error)
        return int(error.exit_code)
    except click.ClickException as error:
        error.show()
        return int(Exit.STUDY)
    except (click.Abort, KeyboardInterrupt):
        return int(Exit.INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output has left (`| head`): not an error of ours.
        sys.stderr.close()
        return int(Exit.DONE)
