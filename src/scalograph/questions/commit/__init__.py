"""Which commit made a program slower? A search over commits in their order, each beside both ends in one block.

In: a study with one factor of versions, the good one first, the bad one last. Out: the steps with their sizes and
shares, what stays open, and the versions that failed. Types to know: `model.Effects` (what is known of the measured
versions), `search_state.CommitState` (which is next), `document.Commits` (the answer).
"""
