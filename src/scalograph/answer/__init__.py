"""Stop 4, analyze: a `Table` of runs to `Findings`, with the evidence beside every estimate."""

from scalograph.answer.assemble import findings

__all__ = ["findings"]
