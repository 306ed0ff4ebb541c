"""Throughput of a service: the maximum rate, the load where it is reached, and the bottleneck.

In: runs with a load generator (driver) and services. Out: `Throughputs`, a claim, tables, a chart. Types to know:
`findings.driven_runs.DrivenRun` (a run in its steady window), `findings.bottleneck.Utilization` (of a part),
`model_plateau.Plateau`.
"""
