"""Reports when it was ready and when it was released."""

import os
import sys
import time
from pathlib import Path

# Copies have process numbers in a row: so they get ready one after the other.
time.sleep((int(sys.argv[1]) + os.getpid() % 5 * int(sys.argv[2])) / 1000)
ready = time.monotonic_ns()
with Path(os.environ.get("SCALOGRAPH_EVENTS", "/dev/stdout")).open("w", buffering=1) as events:
    print("ready", file=events)
    if go := os.environ.get("SCALOGRAPH_GO"):
        with Path(go).open("rb", buffering=0) as gate:
            if gate.read(1) == b"":
                sys.exit("the gate was closed without a byte")
    released = time.monotonic_ns()
    print(f"value ready_ns {ready}", file=events)
    print(f"value released_ns {released}", file=events)
