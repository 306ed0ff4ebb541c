"""Makes a database of pgbench's tables once; every run starts from a copy of it."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from programs import FAILED, end, find, number, parse, unprivileged

LIMIT_S, START_S = 600, 60
# Small, for a copy is made before every run.
INIT = ("--auth=trust", "--no-sync", "--username=bench", "--encoding=UTF8", "--no-locale", "--wal-segsize=4")


def main() -> None:
    """Fill the folder, and say what is in it."""
    given = parse(sys.argv[1:], into="", scale="")
    scale, into = number(given, "scale", 1, 10_000), Path(given["into"])
    data = into / "data"
    run(unprivileged([find("initdb"), *INIT, f"--pgdata={data}"]))
    # The path of a socket may have 107 bytes, which a folder of the cache may exceed.
    with TemporaryDirectory() as folder, server(data, Path(folder)):
        run([find("pgbench"), "-i", "-q", "-s", str(scale), "-h", folder, "-U", "bench", "postgres"])
    print(f"uses {find('postgres')}")
    version = subprocess.run([find("postgres"), "--version"], check=True, capture_output=True, text=True).stdout
    print(f"{version.strip()}, pgbench -s {scale}")


def run(argv: list[str]) -> None:
    """Run a command; one that fails ends this program with its last words."""
    done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode:
        end(FAILED, f"{Path(argv[-1]).name}: exit code {done.returncode}: {done.stderr.strip()[-400:]}")


@contextmanager
def server(data: Path, folder: Path) -> Iterator[None]:
    """A server that listens on a socket in a folder and nowhere else; at the end all is on the disk."""
    options = ["-D", str(data), "-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}", "-c", "fsync=off"]
    with (folder / "log").open("w+b") as log:
        process = subprocess.Popen(unprivileged([find("postgres"), *options]), stdout=log, stderr=log)
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


if __name__ == "__main__":
    main()
