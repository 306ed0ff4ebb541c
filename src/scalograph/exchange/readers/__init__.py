"""Reads what other instruments wrote: one file a format."""
