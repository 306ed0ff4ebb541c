"""MariaDB: a thread for each connection."""

import os
from pathlib import Path

from programs import find, run

PACKAGE = "mariadb-server"
# Small, for a copy is made before every run; its own files only.
FILES = ("--innodb-log-file-size=8M", "--innodb-data-file-path=ibdata1:12M:autoextend", "--socket=socket")


def prepare(data: Path, statements: list[str], given: dict[str, str]) -> str:
    """Make the database in a folder, without a server; return its release."""
    make = [find("mariadb-install-db", PACKAGE), "--no-defaults", "--skip-test-db", *_as_root(), *FILES[:-1]]
    run([*make, f"--datadir={data}", "--auth-root-authentication-method=normal"])
    server = find("mariadbd", PACKAGE)
    script = ["CREATE DATABASE page", "USE page", *statements, "ANALYZE TABLE station", "ANALYZE TABLE reading"]
    alone = [server, "--no-defaults", "--bootstrap", f"--datadir={data}", *_as_root(), *FILES]
    run(alone, ";\n".join(script) + ";\n")
    print(f"uses {server}")
    version = run([server, "--no-defaults", "--version"])
    return f"MariaDB {version.split()[2]}"


def serve(data: Path, given: dict[str, str]) -> list[str]:
    """Return the command of a server that trusts who reaches it, as the others do."""
    settings = {
        "datadir": data,
        "port": given["port"],
        "bind-address": "127.0.0.1",
        "innodb-buffer-pool-size": f"{given['memory_mib']}M",
        "max-connections": given["connections"],
    }
    words = [f"--{name}={value}" for name, value in settings.items()]
    return [find("mariadbd", PACKAGE), "--no-defaults", *_as_root(), *FILES, *words, "--skip-grant-tables"]


def _as_root() -> list[str]:
    """Root has to say that root is meant."""
    return [] if os.geteuid() else ["--user=root"]
