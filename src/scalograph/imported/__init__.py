"""Results of other instruments, and a study of our own held against them."""
