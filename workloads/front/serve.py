"""Becomes a load balancer on 127.0.0.1, by a configuration that it writes into the folder of the run."""

import os
import sys
from pathlib import Path

from programs import FRONTS, UNAVAILABLE, end, find, parse, port_of, targets_of, unprivileged


def main() -> None:
    """Write the configuration and become the program."""
    given = parse(sys.argv[1:], front="haproxy", port="8080", targets="", state=".")
    program, state = FRONTS[given["front"]], Path(given["state"]).resolve()
    text = program.configuration(port_of(given["port"], "port"), targets_of(given["targets"]), state)
    file = state / f"{given['front']}.conf"
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        end(UNAVAILABLE, f"state: {file.name} cannot be written ({error.strerror})")
    argv = unprivileged([find(given["front"]), *program.arguments(file)])
    os.execvp(argv[0], argv)  # noqa: S606 - becomes the server, so that it is the process that is waited for


if __name__ == "__main__":
    main()
