"""The commands; each imports what it needs when it is called."""

import os

# One thread for linear algebra: more would take the CPUs that are measured, and are slower for matrices of our size.
# Before the first import of numpy, which reads it.
for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
