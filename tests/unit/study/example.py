"""A study that is valid, as text that tests change."""

VALID = """\
version = 1
name = "hello"
title = "Does it scale?"
work = "total"
seed = 0

[workload]
command = ["./prog", "-t", "{threads}"]

[factors.threads]
levels = "1,2,4"

[factors.lock]
levels = ["none", "cas"]

[protocol]
runs = 3
timeout = "10s"

[baseline]
threads = 1
"""
