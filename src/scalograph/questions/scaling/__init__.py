"""Sweeps: how time or throughput goes with the number of CPUs or workers, and what limits it.

In: curves with speedups. Out: `Swept`, a claim, the law of each curve (USL) and its table. Types to know:
`model_claim.ComparedPoint` (a point beside its baseline), `model_claim.BestGain` and `Decline` (the claim).
"""
