"""Controls: they make the machine obey the level of a factor, read it back, and restore the machine.

In: a study, a configuration and the facts of the host. Out: launches that obey it, contexts that hold settings while a
run lasts, and what was not in force by the run's record. Every change is recorded before it is made (`store`).

Types to know: `Control` (one way to obey), `Launch` (how a process is started) and `Store` (recorded changes).
"""
