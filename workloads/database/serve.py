"""A database server on a copy of the prepared rows, on 127.0.0.1 alone."""

import os
import shutil
import sys
from pathlib import Path

from kinds import kind
from programs import UNAVAILABLE, end, number, parse


def main() -> None:
    """Become the server."""
    given = parse(
        sys.argv[1:], port="", state="", database="h2", prepared="", memory_mib="128", connections="200",
        java="java", jar="",
    )  # fmt: skip
    port, memory = number(given, "port", 1, 65535), number(given, "memory_mib", 32, 1 << 20)
    connections, made = number(given, "connections", 1, 10_000), kind(given)
    data = Path(given["state"]) / "data"
    try:
        shutil.copytree(Path(given["prepared"]) / "data", data)
        data.chmod(0o700)
    except (OSError, shutil.Error) as error:
        end(UNAVAILABLE, f"state: the database could not be copied ({str(error)[:300]})")
    argv = made.serve(data, port, memory, connections, given["java"], given["jar"])
    os.execvp(argv[0], argv)  # noqa: S606 - becomes the server, so that it is the process that is waited for


if __name__ == "__main__":
    main()
