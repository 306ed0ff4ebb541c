"""How services that stayed up over runs ended: the `services` event of protocol/journal.md."""

from typing import Annotated

from msgspec import Meta

from scalograph.protocol.record_part import Count, Name, RecordPart, Text

# A signal, as `stop.signal` of a study has it.
SignalName = Annotated[str, Meta(max_length=16)]


class EndedService(RecordPart, frozen=True, kw_only=True):
    """One of them: the signal that it was to end by, the one that ended it, and how long that took.

    `stopped_by` and `stop_ns` are None if it ended by itself.
    """

    name: Name
    stop_signal: SignalName
    stopped_by: SignalName | None = None
    stop_ns: Count | None = None
    exit_code: int | None = None
    signal: int | None = None

    @property
    def was_killed(self) -> bool:
        """Whether it had not ended in time."""
        return self.stopped_by == "KILL" != self.stop_signal


class ServicesEnded(RecordPart, frozen=True, kw_only=True):
    """Those that were up together, in the order in which they were started, after runs of `block`.

    `n_survivors` are processes that they left, which were killed; `reason` is what was wrong; None: nothing.
    """

    block: int
    services: Annotated[list[EndedService], Meta(max_length=64)]
    n_survivors: Count | None = None
    reason: Text | None = None
