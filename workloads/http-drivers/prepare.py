"""Looks for the program that is to send requests, and tells its release, so that a study without it ends at once."""

import subprocess
import sys

from asked import UNAVAILABLE, leave
from tools import TOOLS, find


def main() -> None:
    """Say which release is here."""
    name = dict(argument.split("=", 1) for argument in sys.argv[1:]).get("tool", "")
    if name not in TOOLS:
        leave(UNAVAILABLE, f"tool: found {name[:40]}, expected one of {', '.join(TOOLS)}")
    # wrk tells its release with the exit code of a mistake.
    done = subprocess.run([find(name), TOOLS[name].VERSION], capture_output=True, text=True, timeout=60, check=False)
    print(f"uses {find(name)}")
    told = (done.stdout or done.stderr).strip()
    print(told.splitlines()[0][:80] if told else f"{name}: release not told")


if __name__ == "__main__":
    main()
