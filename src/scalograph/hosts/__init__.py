"""Where a run happens: carries a probe and a stream, nothing else."""
