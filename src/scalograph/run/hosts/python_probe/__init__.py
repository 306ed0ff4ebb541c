"""A probe of protocol/probe.md in plain Python: executable specification, and the way to work without Rust.

It needs the standard library only. Times are taken from outside, by the clock: each run says `degraded`.
Files in the order of a run: `spec` checks the line, `launch` brings copies to the gate, `watch` follows them
to their end, `tree` kills what is left, `figures` says what was seen. `lines` reads what workloads write,
`simulate` makes up runs from a declared law without starting anything.
"""

PROTOCOL = 1
VERSION = "0.1.0"
