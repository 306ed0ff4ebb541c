"""Stop 3, run: a `Design` on a host to a journal."""
