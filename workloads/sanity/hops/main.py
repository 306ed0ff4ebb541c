"""Leaves processes that fork, end and leave their session without rest: for a minute, so that one that escapes ends."""

import os
import sys
import time

END = time.monotonic() + 60
for _ in range(int(sys.argv[1])):
    if os.fork() == 0:
        while time.monotonic() < END:
            if os.fork():
                os._exit(0)
            os.setsid()
