#!/usr/bin/env python3
"""Sleep as long as the rows would take on so many threads, in each iteration; say how many rows there were."""

import os
import sys
import time

given = dict(word.split("=", 1) for word in sys.argv[1:])
size, threads = int(given["size"]), int(given["threads"])
fast = 0.5 if given["version"] == "fast" else 1.0
events = os.environ.get("SCALOGRAPH_EVENTS")
lines = []
if events:
    with open(events, "w") as told:
        told.write("ready\n")
    with open(os.environ["SCALOGRAPH_GO"], "rb", buffering=0) as gate:
        gate.read(1)
for iteration in range(int(given["iterations"])):
    begun = time.monotonic_ns()
    time.sleep(int(given["pause_ms"]) / 1000 * size / threads * fast)
    ended = time.monotonic_ns()
    lines.append(f"iteration {iteration} {begun} {ended} {size} {time.process_time_ns()}")
    time.sleep(int(given["think_ns"]) / 1e9)
lines += [f"value rows {size}", f"phase steady {begun} {ended}", "histogram steady row 130:2 131:1"]
if events:
    with open(events, "w") as told:
        told.write("".join(f"{line}\n" for line in lines))
print(f"rows: {size}")
