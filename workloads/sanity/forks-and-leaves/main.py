"""Leaves spinning children behind."""

import os
import sys

for _ in range(int(sys.argv[1])):
    if os.fork() == 0:
        while True:
            pass
