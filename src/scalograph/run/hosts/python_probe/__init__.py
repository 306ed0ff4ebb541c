"""Implement protocol/probe.md in plain Python: executable specification, test double, a way without Rust.

A specification line comes in on standard input, events of one run go out. Only the standard library is used. Times are
taken from outside, by the clock, and interference is not seen: records say `degraded`, and their verdict is at best
unverified. In the order of a run: `spec` checks the line, `tree` forks who carries it out and kills what is left,
`launch` brings copies to the gate, `watch` follows them to their end, reads what they write (`lines`), and
reports it. Types to know: `Spec`, `Copy`, `RunWatch`.
"""

VERSIONS = {"protocol": 1, "probe": "0.1.0"}
HEADER = {**VERSIONS, "kind": "degraded", "backend": "plain", "containment": "best effort", "cgroup": None}
FIX = "install scalograph where cargo is"
