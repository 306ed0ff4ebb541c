"""Text for people: numbers, units, levels, escaped text, and plotly pieces that questions and the report share.

In: numbers, estimates, levels and documents. Out: strings; nothing else in the project formats numbers. Types to know:
`Scale` (factor and unit of a column), `Shown` (a formatted estimate) and `Levels` (the levels of a factor on an axis).
"""
