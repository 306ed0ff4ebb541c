"""Making the machine obey a level, reading it back, and giving the machine back."""
