"""Proves a machine and an installation with workloads whose right record is known before they run."""

from scalograph.sanity.proof import DisprovedError, NotProvableError, Proof
from scalograph.sanity.proving import prove

__all__ = ["DisprovedError", "NotProvableError", "Proof", "prove"]
