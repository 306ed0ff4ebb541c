"""Carry out a study: a design and a host come in, a journal with one record for each run goes out.

`plan.Plan` holds the study, its design and its program on a host; `loop.run_study` asks the planner for runs, measures
them and appends to the journal; `session.Session` is one such call of the tool with its outcome. How a host makes one
run is in `hosts`; `build`, `fetch` and `prepare` make a workload ready before the first run.
"""
