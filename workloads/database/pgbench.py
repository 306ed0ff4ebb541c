"""The tables of pgbench in PostgreSQL, which pgbench itself fills."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from postgres import make, program, release, unprivileged
from programs import FAILED, LIMIT_S, end, run

START_S = 60


def prepare(data: Path, scale: int) -> str:
    """Make the database in a folder, with 100,000 accounts for each unit of scale; return its release."""
    make(data)
    # The path of a socket may have 107 bytes, which a folder of the cache may exceed.
    with TemporaryDirectory() as folder, server(data, Path(folder)):
        run([program("pgbench"), "-i", "-q", "-s", str(scale), "-h", folder, "-U", "bench", "postgres"])
    return release()


@contextmanager
def server(data: Path, folder: Path) -> Iterator[None]:
    """A server that listens on a socket in a folder and nowhere else; at the end all is on the disk."""
    options = ["-D", str(data), "-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}", "-c", "fsync=off"]
    with (folder / "log").open("w+b") as log:
        process = subprocess.Popen(unprivileged([program("postgres"), *options]), stdout=log, stderr=log)
        try:
            until = time.monotonic() + START_S
            while b"ready to accept connections" not in (folder / "log").read_bytes():
                if process.poll() is not None or time.monotonic() > until:
                    end(FAILED, f"postgres: did not start: {(folder / 'log').read_text()[-400:].strip()}")
                time.sleep(0.05)
            yield
        finally:
            process.terminate()
            process.wait(LIMIT_S)
