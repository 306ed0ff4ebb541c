"""Tunables: which of many settings matter, by how much, and which only seem to.

In: runs of an orthogonal array, and fresh runs that confirm. Out: `Tunables`, a claim, tables, charts. Types to know:
`model_array.FactorSpace` (what varies), `model_fit.SettingFit` (all effects), `search_state.PlannedRun`.
"""
