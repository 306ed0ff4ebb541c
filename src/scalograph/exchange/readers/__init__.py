"""Readers of the files of other benchmark tools: one module per format."""
