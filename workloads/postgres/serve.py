"""A PostgreSQL server on a copy of the prepared database, on 127.0.0.1 alone."""

import os
import shutil
import sys
from pathlib import Path

from programs import UNAVAILABLE, USAGE, end, find, number, parse, unprivileged

SWITCHES = ("on", "off")
DEFAULTS = {"shared_mib": "128", "connections": "200", "max_prepared": "0"}


def main() -> None:
    """Become the server."""
    given = parse(sys.argv[1:], port="", state="", database="", fsync="on", **DEFAULTS)
    port, shared = number(given, "port", 1, 65535), number(given, "shared_mib", 1, 1 << 20)
    connections, prepared = number(given, "connections", 1, 10_000), number(given, "max_prepared", 0, 10_000)
    if given["fsync"] not in SWITCHES:
        end(USAGE, f"fsync: found {given['fsync'][:40]}, expected on or off")
    data = Path(given["state"]) / "data"
    try:
        shutil.copytree(Path(given["database"]) / "data", data)
        data.chmod(0o700)
    except (OSError, shutil.Error) as error:
        end(UNAVAILABLE, f"state: the database could not be copied ({str(error)[:300]})")
    settings = {
        "port": port,
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": "",
        "shared_buffers": f"{shared}MB",
        "max_connections": connections,
        "max_prepared_transactions": prepared,
        "fsync": given["fsync"],
        # Nothing that begins by itself in the middle of one run and not of another.
        "autovacuum": "off",
        "checkpoint_timeout": "1h",
    }
    words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    argv = unprivileged([find("postgres"), "-D", str(data), *words])
    os.execvp(argv[0], argv)  # noqa: S606 - becomes the server, so that it is the process that is waited for


if __name__ == "__main__":
    main()
