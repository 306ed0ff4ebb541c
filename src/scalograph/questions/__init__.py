"""The questions a study can ask: one folder each, named in the registry."""
