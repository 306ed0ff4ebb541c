"""Writes many iterations with known contents."""

import os
import sys
import time
from pathlib import Path

n = int(sys.argv[1])
start = time.monotonic_ns()
with Path(os.environ.get("SCALOGRAPH_EVENTS", "/dev/stdout")).open("w") as events:
    for i in range(n):
        events.write(f"iteration {i} {start + i} {start + i + 1} {i}\n")
