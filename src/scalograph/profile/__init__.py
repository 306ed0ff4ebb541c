"""Profiles: where a program spends its time, by configurations of a study run once more with a recorder.

In: the results of a study and its plan (`plan_again`). Out: `profile.json` beside the journal, tables, and decisions on
claims about stacks. Three types to know: `Profile` (the document), `ProfiledRun` (one configuration), `RecordedTasks`
(what a flight recorder or perf saw of its counted iterations).
"""
