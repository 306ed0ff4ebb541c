"""Entry point: one command, one exit code.

All else is imported inside `_code`: imports take a tenth of a second, and a signal during one should not end in a
traceback, nor leave a folder.
"""

import atexit
import gc
import sys

# Modules are made of objects that stay, and a table of 100,000 runs too: Python would look through them for cycles each
# time that there are 700 more, for an eighth of a start. Cycles that are dropped are found a little later.
_MORE_OBJECTS = 200_000

# As `Exit.INTERRUPTED` of scalograph.errors, which may not be imported yet.
_INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit with a code of `errors.Exit`."""
    gc.set_threshold(_MORE_OBJECTS)
    atexit.register(gc.freeze)  # to look through them all at the end takes a quarter of a start
    code = _code(sys.argv[1:])
    try:
        from scalograph.errors import end_on_signals

        atexit.register(end_on_signals)  # nothing is left to restore
    except KeyboardInterrupt:
        code = _INTERRUPTED
    sys.exit(code)


def _code(arguments: list[str]) -> int:
    try:
        from scalograph.errors import raise_on_signals, raised_signal, release_signals
    except KeyboardInterrupt:
        return _INTERRUPTED
    try:
        raise_on_signals()
        from scalograph.run.caller_environment import limit_to_one_thread

        limit_to_one_thread()  # before the first import of numpy
        from scalograph.cli.ending import run_guarded

        code = run_guarded(arguments)
        release_signals()
        return code
    except BaseException as error:  # also what an import makes of a signal: a broken module
        number = raised_signal()
        release_signals()
        if number is None and not isinstance(error, KeyboardInterrupt):
            raise
        return _INTERRUPTED if number is None else int(number)
