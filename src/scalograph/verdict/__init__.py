"""The verdict of each run: clean, contaminated, undecided, impossible, failed; with the cause and its amount."""
