"""Controls: they make the machine obey a level, read it back, and restore the machine."""
