"""Results of other instruments, and ours for other tools."""
