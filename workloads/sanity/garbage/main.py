"""Breaks the line protocol in one of several ways."""

import os
import sys
import time

LINES = {
    "text": b"hello\n",
    "binary": b"\xff\x1b[31m\x00\n",
    "long": b"value " + b"a" * 600 + b" 1\n",
    "endless": b"x" * 65536,
    "torn": b"value a 1\nvalue b",
    "backwards": b"iteration 0 5 4 1\n",
}
kind = sys.argv[1]
events = os.open(os.environ.get("SCALOGRAPH_EVENTS", "/dev/stdout"), os.O_WRONLY)
while True:
    os.write(events, LINES[kind])
    if kind == "torn":
        break
    if kind != "endless":
        time.sleep(60)
