"""Readers of the files of other benchmark tools: one module per format.

In: a file, bounded and untrusted. Out: a list of `Benchmark`. Each module has one function, `read(file)`; all of them
raise StudyError where the file is missing, too large, or of another format. `registry.read` finds them by name.
"""
