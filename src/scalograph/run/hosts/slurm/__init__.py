"""Runs as job steps of a cluster: a block goes to the queue as jobs, whose answers come back by a shared folder.

`slurm_host.SlurmHost` is the host, `engine.Engine` all that it asks of a queue (submit, state, cancel, end),
`slurm_engine.SlurmEngine` the one that is built, `job_plan` decides which runs share a job, and `job_folder` holds what
a job is given and gives back.
"""
