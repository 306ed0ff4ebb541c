"""Experimental design: from a study and the facts of a host to its runs in order.

In: a `Study` and `HostFacts`. Out: a `Design` (levels resolved, configurations that run) and a `Planner`, which is
asked for the next run and told its record and verdict: a grid in randomized blocks, a grid that stops by precision, or
a search. Planners touch no machine, so a journal can be replayed. Types to know: `Design`, `Planner`, `Search`.
"""
