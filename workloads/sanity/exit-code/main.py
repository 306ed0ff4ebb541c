"""Ends with an exit code and a sentence."""

import sys

print(f"asked to end with {sys.argv[1]}", file=sys.stderr)
sys.exit(int(sys.argv[1]))
