"""A daemon that burns CPU time and then stays."""

import os
import signal
import sys
import time
from pathlib import Path

burn_ns = int(sys.argv[2]) * 1_000_000
done, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        while time.process_time_ns() < burn_ns:
            pass
        os.write(tell, b"d")
        while True:
            signal.pause()
    os._exit(0)
os.wait()
if os.read(done, 1) != b"d":
    sys.exit("the daemon ended early")
with Path(os.environ.get("SCALOGRAPH_EVENTS", "/dev/stdout")).open("w") as events:
    print(f"value burnt_ns {burn_ns}\nvalue own_ns {time.process_time_ns()}", file=events)
