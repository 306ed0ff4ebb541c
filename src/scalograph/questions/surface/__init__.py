"""Surfaces: the time of N workers on M CPUs.

In: times over a factor of workers and one of CPUs. Out: `Surfaces`, a claim, tables, a map. Types to know:
`document.Surface`, `document.SurfaceCell`, `model.Deviation` (a time over the expected one).
"""
