"""The verdict of each run: clean, disturbed, undecided, impossible, failed; with the cause and its amount."""
