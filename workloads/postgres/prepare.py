"""Makes a database of pgbench's tables once; every run starts from a copy of it."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from programs import UNAVAILABLE, end, find, number, parse, unprivileged

LIMIT_S = 600
# Small, for a copy is made before every run.
INIT = ("--auth=trust", "--no-sync", "--username=bench", "--encoding=UTF8", "--no-locale", "--wal-segsize=4")


def main() -> None:
    """Fill the folder, and say what is in it."""
    given = parse(sys.argv[1:], into="", scale="")
    scale, into = number(given, "scale", 1, 10_000), Path(given["into"])
    data = into / "data"
    run(unprivileged([find("initdb"), *INIT, f"--pgdata={data}"]))
    with server(data, into / "socket"):
        run([find("pgbench"), "-i", "-q", "-s", str(scale), "-h", str(into / "socket"), "-U", "bench", "postgres"])
    version = subprocess.run([find("postgres"), "--version"], check=True, capture_output=True, text=True).stdout
    print(f"{version.strip()}, pgbench -s {scale}")


def run(argv: list[str]) -> None:
    """Run a command; one that fails ends this program with its last words."""
    done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode:
        end(UNAVAILABLE, f"{Path(argv[-1]).name}: exit code {done.returncode}: {done.stderr.strip()[-400:]}")


@contextmanager
def server(data: Path, socket: Path) -> Iterator[None]:
    """A server that listens on a socket in a folder and nowhere else; at the end all is on the disk."""
    socket.mkdir()
    options = ["-D", str(data), "-c", "listen_addresses=", "-c", f"unix_socket_directories={socket}", "-c", "fsync=off"]
    process = subprocess.Popen(
        unprivileged([find("postgres"), *options]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until = time.monotonic() + 60
        while not list(socket.glob(".s.PGSQL.*")):
            if process.poll() is not None or time.monotonic() > until:
                end(UNAVAILABLE, f"postgres: did not start (exit code {process.poll()})")
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(LIMIT_S)
    for left in socket.iterdir():
        left.unlink()
    socket.rmdir()


if __name__ == "__main__":
    main()
