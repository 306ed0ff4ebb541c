"""The command in this process: what it prints, without color and 80 columns wide, and its exit code."""

import io
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

from scalograph.cli.main import main

COLUMNS = "80"
# What makes a terminal of a stream that is none.
_COLORS = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")


class Said(NamedTuple):
    """Standard output and standard error in order, and the exit code."""

    printed: str
    code: int


def scalograph(arguments: list[str], folder: Path) -> Said:
    """Run `scalograph ARGUMENTS` in a folder, so that no path of this machine need be printed."""
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed), redirect_stderr(printed):
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["scalograph", *arguments])
        patch.setitem(os.environ, "COLUMNS", COLUMNS)
        for variable in _COLORS:
            patch.delenv(variable, raising=False)
        with pytest.raises(SystemExit) as ended:
            main()
    printed.seek(0)
    return Said(printed.read(), int(ended.value.code or 0))
