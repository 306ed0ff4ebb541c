"""Services that stay up over runs: the specifications of a block come in, records and `ServicesEnded` go out."""
