"""Settings of the machine that runs changed: whether each was as before when the run had ended, as it was read."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from scalograph.protocol.record import Record
from scalograph.text.quantities import counted

# Settings that a sentence names.
MOST_NAMED = 12
Restored = tuple[tuple[str, str, str], ...]


class _Changing(Protocol):
    @property
    def run(self) -> str:
        """The name of a run."""

    @property
    def settings(self) -> Restored:
        """Name, value before and value after of what it changed."""


def restored(record: Record) -> Restored:
    """Return the settings that a run changed, with the values before and after it; none of a machine that has ended."""
    if not record.settings:  # as of most runs
        return ()
    told = (one for one in record.settings if one.after)
    return tuple((one.name, one.before, one.after) for one in told if {one.asked, one.after} != {one.before})


def restored_sentences(rows: Sequence[_Changing]) -> Iterator[str]:
    """Yield what became of the machine's settings: all restored, or which run left one otherwise."""
    changing = [row for row in rows if row.settings]
    if not changing:
        return
    left = [(row.run, *one) for row in changing for one in row.settings if one[1] != one[2]]
    for run, name, before, after in left[:MOST_NAMED]:
        yield f"after run {run} the setting {name} was {after}, and {before} before it"
    if not left:
        values = {name: before for row in changing for name, before, _ in row.settings}
        named = ", ".join(f"{name} {value}" for name, value in [*values.items()][:MOST_NAMED])
        n = counted(len(changing), "run")
        yield f"settings of the machine were changed for {n} and restored after each, as read back: {named}"
