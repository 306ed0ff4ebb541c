"""Defaults of options that a user keeps: `scalograph/config.toml` in the folder of configurations.

They stand in place of the built-in defaults; an option on the command line wins.
"""

import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

from scalograph.cli.options import WHEN_BUSY
from scalograph.errors import StudyError
from scalograph.protocol.bounded import read_whole
from scalograph.study.scalars import short_repr, unknown_name_error
from scalograph.text.units import parse_duration, parse_percent

MAX_BYTES = 64 << 10
# A key with what reads its value, and an example of it.
KEYS: Mapping[str, tuple[Callable[[str], object], str]] = {
    "margin": (parse_percent, "5%"), "budget": (parse_duration, "5min"), "wait_quiet": (parse_duration, "10min"),
    "wait_lock": (parse_duration, "1min"), "when_busy": (WHEN_BUSY.index, "cpu-time"),
}  # fmt: skip
# A study declares its own time limit, and a reproduction is longer than any command.
OWN_LIMIT = ("run", "study", "reproduce", "doctor")


def defaults_file(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the file of the defaults, whether there is one or not."""
    base = environ.get("XDG_CONFIG_HOME", "")
    # The specification of XDG_CONFIG_HOME says to ignore a path that is not absolute.
    home = Path(base) if base.startswith("/") else Path(environ.get("HOME") or "/") / ".config"
    return home / "scalograph" / "config.toml"


def read_defaults(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the defaults by key; none without the file. Raises StudyError for a wrong file, key, or value."""
    file = defaults_file(environ)
    try:
        values = tomllib.loads(read_whole(file, MAX_BYTES).decode())
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return {}  # a plain `su` leaves XDG_CONFIG_HOME as the other user had it
    except OSError as error:
        raise StudyError.one(str(file), f"cannot be read: {error.strerror}", "", "correct or remove it") from error
    except ValueError as error:  # no TOML, or no text
        fix = 'write lines such as margin = "5%"'
        raise StudyError.one(str(file), f"is not valid TOML: {error}", "", fix) from error
    for key, value in values.items():
        if key not in KEYS:
            raise unknown_name_error(str(file), f'unknown key "{key}"', key, KEYS)
        _check(file, key, value)
    return values


def _check(file: Path, key: str, value: object) -> None:
    parse, example = KEYS[key]
    try:
        if not isinstance(value, str):
            raise ValueError
        parse(value)
    except ValueError:
        fix = f'write {key} = "{example}"'
        raise StudyError.one(str(file), f"{key} = {short_repr(value)} is not valid", "", fix) from None


def command_defaults(names: list[str]) -> dict[str, dict[str, str]]:
    """Return the defaults for each of these commands, by the names of its parameters."""
    values = read_defaults()
    return {name: {key: v for key, v in values.items() if key != "budget" or name not in OWN_LIMIT} for name in names}
