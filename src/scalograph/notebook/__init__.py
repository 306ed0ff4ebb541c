"""The Python interface for notebooks: `scalograph.open`, `scalograph.compare`, `scalograph.fit_usl`.

In: a results folder, a journal, or arrays of numbers. Out: objects with frames, curves and charts, from files only.
Three types to know: `OpenedResults` (a study), `FittedLaw` (a scaling law), `Picture` (an SVG chart).
"""
