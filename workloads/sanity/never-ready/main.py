"""Says nothing, and stays."""

import signal

while True:
    signal.pause()
