"""What is the least CPU quota, and the least memory, with which a program keeps its limit?

In: a study with factors of what it is given (controls `quota`, `memory`, or keys of a process) and one response with a
limit. Out: for each the least amount with its interval, as a document, a claim and a table. Types to know:
`search_state.SizeState` (one search after the other), `document.SizeNeed` (what one of them found).
"""
