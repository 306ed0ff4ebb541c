"""Hosts that carry out runs."""
