"""Prints without regard for the reader."""

import os
import sys

mib = int(sys.argv[1])
written = 0
while mib == 0 or written < mib << 20:
    text = f"{written:015d}\n".encode() * 4096  # 64 KiB
    for fd in (1, 2):
        left = text
        while left:
            left = left[os.write(fd, left) :]
    written += len(text)
os.write(2, b"the last line\n")
