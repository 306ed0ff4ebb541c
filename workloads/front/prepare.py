"""Looks for the program that is to stand in front, and tells its release."""

import subprocess
import sys

from programs import FRONTS, UNAVAILABLE, end, find, parse, unprivileged


def main() -> None:
    """Say which release is here."""
    front = parse(sys.argv[1:], front="")["front"]
    argv = unprivileged([find(front), FRONTS[front].VERSION])
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        end(UNAVAILABLE, f"{front}: exit code {done.returncode} when asked for its version; install it again")
    print(f"uses {find(front)}")
    print((done.stdout or done.stderr).splitlines()[0])


if __name__ == "__main__":
    main()
