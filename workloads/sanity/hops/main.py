"""Leaves processes that fork, end and leave their session without rest."""

import os
import sys

for _ in range(int(sys.argv[1])):
    if os.fork() == 0:
        while True:
            if os.fork():
                os._exit(0)
            os.setsid()
