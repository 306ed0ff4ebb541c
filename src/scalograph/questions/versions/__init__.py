"""Versions: whether each configuration beats the reference, and by how much.

In: runs of a study that names a reference. Out: a claim, a matrix, a table. Types to know: `model.Version` (a
configuration beside its reference), `protocol.findings.Claim`, `protocol.findings.Matrix`.
"""
