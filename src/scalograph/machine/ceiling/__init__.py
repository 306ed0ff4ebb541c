"""The ceiling of a machine: how far it scales one resource at a time, and a program's curve compared with it.

In: runs of the study `ceiling`, findings of a program. Out: sentences, tables and the document of the findings. Types:
`SavedCeiling` (a ceiling of one machine), `CeilingRatio` (a speedup over one ceiling), `CeilingComparison`.
"""
