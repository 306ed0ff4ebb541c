"""Runs on this machine: a `Specification` comes in, a probe process makes the run, a `Record` goes out.

`local_host.LocalHost` is the host, `probe.measure` one exchange with a probe, `probe_process.ProbeProcess` its process.
"""
