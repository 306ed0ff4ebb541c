"""Reproduce published studies: plan every part, run them in order, decide each claim.

In: a catalogue of published studies. Out: one results folder per part, reproduction.json, one page.
Types to know: `reproduce_results.ReproductionRun`, `study.catalogue.OpenedCatalogue`, and the saved
`protocol.reproduction.Reproduction`.
"""
