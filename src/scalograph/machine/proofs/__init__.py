"""Proves a machine and an installation with workloads whose right record is known before they run."""
