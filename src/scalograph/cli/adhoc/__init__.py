"""A command line as a study, and its answer in a few lines."""
