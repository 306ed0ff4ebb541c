"""Stop 1, declare: study.toml to a `Study`, or every mistake at once."""
