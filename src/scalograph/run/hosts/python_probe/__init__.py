"""A probe of protocol/probe.md in plain Python: executable specification, test double, a way without Rust.

It needs the standard library only. Times are taken from outside, by the clock, and nothing is known of neighbors: its
records say `degraded`, and no verdict on them is better than undecided. Files in the order of a run: `spec` checks
the line, `tree` forks who carries it out and kills what is left, `launch` brings copies to the gate, `watch` follows
them to their end and reads what they write (`lines`), `figures` reports it. `simulate` makes up runs without starting
anything.
"""

VERSIONS = {"protocol": 1, "probe": "0.1.0"}
HEADER = {**VERSIONS, "kind": "degraded", "backend": "plain", "containment": "best effort", "cgroup": None}
FIX = "install scalograph where cargo is"
