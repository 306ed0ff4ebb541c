"""Read results of other tools, and write ours for them."""
