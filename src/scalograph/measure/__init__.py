"""`scalograph measure`: a command line to a study, and its results to an answer in a few lines."""
