"""Proofs of a machine and an installation, with workloads whose right record is known before they run.

In: a host. Out: a `Proof` for each `GuaranteeCheck`, made in one `ProofContext` from the `ProofRun`s of its studies.
"""
