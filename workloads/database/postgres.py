"""PostgreSQL: a process for each connection."""

import os
import shutil
from pathlib import Path

from programs import UNAVAILABLE, end, find, run

# Debian keeps the server's programs apart from PATH.
PLACE = ("postgresql", "/usr/lib/postgresql/*/bin")
# Any user but root, as which the server refuses to run.
UNPRIVILEGED = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
# Small, for a copy is made before every run.
INIT = ("--auth=trust", "--no-sync", "--username=bench", "--encoding=UTF8", "--no-locale", "--wal-segsize=4")


def prepare(data: Path, statements: list[str], given: dict[str, str]) -> str:
    """Make the database in a folder, without a server; return its release."""
    make(data)
    # It takes a statement a line.
    alone = [program("postgres"), "--single", "-D", str(data), "-c", "exit_on_error=on", "-c", "fsync=off", "postgres"]
    run(unprivileged(alone), "\n".join([*statements, "VACUUM (FREEZE, ANALYZE)"]) + "\n")
    return release()


def make(data: Path) -> None:
    """Make a database without tables in a folder."""
    run(unprivileged([program("initdb"), *INIT, f"--pgdata={data}"]))


def release() -> str:
    """Return the server's release, and say which file it is."""
    print(f"uses {program('postgres')}")
    return run([program("postgres"), "--version"]).strip()


def program(name: str) -> str:
    """Return the path of one of its programs; without it the program ends."""
    return find(name, *PLACE)


def serve(data: Path, given: dict[str, str]) -> list[str]:
    """Return the command of a server; nothing in it begins by itself in one run and not in another."""
    if given["address"] != "127.0.0.1":  # initdb lets this machine in alone
        with (data / "pg_hba.conf").open("a") as rules:
            rules.write("host all bench samenet trust\n")
    settings = {
        "port": given["port"],
        "listen_addresses": given["address"],
        "unix_socket_directories": "",
        "shared_buffers": f"{given['memory_mib']}MB",
        "max_connections": given["connections"],
        "max_prepared_transactions": given["max_prepared"],
        "fsync": given["fsync"],
        "autovacuum": "off",
        "checkpoint_timeout": "1h",
    }
    words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    return unprivileged([program("postgres"), "-D", str(data), *words])


def unprivileged(argv: list[str]) -> list[str]:
    """Return a command that root may give, too: in a user namespace in which root's files belong to another user."""
    if os.geteuid() != 0:
        return argv
    if shutil.which(UNPRIVILEGED[0]) is None:
        end(UNAVAILABLE, "unshare: not found, without which root cannot start PostgreSQL; use another user")
    return [*UNPRIVILEGED, *argv]
