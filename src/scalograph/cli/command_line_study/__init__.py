"""A command line as a study.

In: the options of `measure`, `ab`, `find`, `load`. Out: the text of a study.toml, and the answer of `measure`.
Types to know: `declaration.CommandStudy`, `declaration.PrintedFigure`.
"""
