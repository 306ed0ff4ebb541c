"""The commands; each imports what it needs when it is called."""
