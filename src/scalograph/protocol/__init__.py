"""File formats as typed values (protocol/*.md): the contract between measuring, analyzing and reporting.

In: event lines of a probe, lines of a journal, documents on disk; all of them are checked, with bounds on their size.
Out: the same as values, and files that are appended to or replaced as a whole.
Three types to know: `Record` (one run as the probe measured it), `Journal` (append-only events of a study) and
`Findings` (the result that reports show). `old_names` reads what earlier releases wrote.
"""
