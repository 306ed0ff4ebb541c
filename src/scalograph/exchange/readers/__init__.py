"""Readers of the files of other instruments: one module per format."""
