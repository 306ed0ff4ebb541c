"""Commands of the program, one module each, imported when called.

In: a command line. Out: text or one JSON document on stdout, progress on stderr, an exit code (`errors.Exit`).
Failures raise `errors.ScalographError`, which `ending` prints.
Types to know: `options.CommandOptions` (what `measure` and searches share), `options.StartOptions` (`run`, `study`),
`pipeline.StudyStart` (how a declared study is started). `command_line_study` turns options into a study file,
`reproduce` runs the parts of published studies.
"""
