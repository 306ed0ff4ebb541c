"""Results of other instruments for this project, and its results for other tools."""
