"""Studies: study.toml to a `Study`, or every mistake at once with its line.

In: study.toml, workload.toml, the `study` of a journal. Out: a `Study`, the `Program` it starts, its hash.
Types to know: `model.Study` (fields are the keys of study.toml), `program.Program` (processes to start),
`declare.Declared` (a study and its file). Checks read the raw document and yield `cross_checks.Mistake`; whatever is
wrong raises `errors.StudyError` with every mistake.
"""
