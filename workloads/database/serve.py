"""A database server on a copy of what was prepared, at one address alone."""

import os
import shutil
import sys
from pathlib import Path

from kinds import kind
from programs import UNAVAILABLE, USAGE, end, number, parse

NUMBERS = {"port": (1, 65535), "memory_mib": (32, 1 << 20), "connections": (1, 10_000), "max_prepared": (0, 10_000)}
SWITCHES = ("on", "off")


def main() -> None:
    """Become the server."""
    given = parse(
        sys.argv[1:], port="", address="127.0.0.1", state="", database="h2", prepared="", memory_mib="128",
        connections="200", fsync="on", max_prepared="0", java="java", jar="",
    )  # fmt: skip
    for name, (low, high) in NUMBERS.items():
        number(given, name, low, high)
    if given["fsync"] not in SWITCHES:
        end(USAGE, f"fsync: found {given['fsync'][:40]}, expected on or off")
    made, data = kind(given), Path(given["state"]) / "data"
    try:
        shutil.copytree(Path(given["prepared"]) / "data", data)
        data.chmod(0o700)
    except (OSError, shutil.Error) as error:
        end(UNAVAILABLE, f"state: the database could not be copied ({str(error)[:300]})")
    argv = made.serve(data, given)
    os.execvp(argv[0], argv)  # noqa: S606 - becomes the server, so that it is the process that is waited for


if __name__ == "__main__":
    main()
