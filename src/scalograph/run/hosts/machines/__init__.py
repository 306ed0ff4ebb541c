"""Runs whose processes are on several machines: a `Specification` is divided, and one gate opened.

`machines_host.MachinesHost` is the host, `shared_gate.conduct` opens the gates, `merged_record.merge` joins records.
"""
