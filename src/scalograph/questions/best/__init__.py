"""Best: which configuration is fastest, which may be as fast, and what fresh runs confirm.

In: runs of a grid of numbers and texts, each where the set of the best may still change. Out: `Best`, a claim, tables,
a chart. Types to know: `model.BestSpace` (the grid), `model_surface.TimeSurface` (its times), `search_state.BestState`.
"""
