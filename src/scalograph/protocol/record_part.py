"""What every part of a record shares: its kind, and the limits of its numbers and texts."""

from typing import Annotated

from msgspec import Meta, Struct

MAX_COPIES = 4096
MAX_NAMES = 256
MAX_CPUS = 8192
MAX_TEXT = 4096
LAST = 2**63 - 1  # the largest number for which a reader of records has a place

Count = Annotated[int, Meta(ge=0, le=LAST)]
Nanoseconds = Annotated[int, Meta(ge=-LAST, le=LAST)]  # a point in time may lie before the gate
Work = Annotated[int, Meta(ge=0)]
Number = Annotated[int, Meta(ge=-LAST, le=LAST)] | float
Text = Annotated[str, Meta(max_length=MAX_TEXT)]
Name = Annotated[str, Meta(min_length=1, max_length=128)]
ValueName = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
CopyIndex = Annotated[int, Meta(ge=0, lt=MAX_COPIES)]
PerCpu = Annotated[list[Count], Meta(max_length=MAX_CPUS)]
PerBin = Annotated[list[Count], Meta(max_length=512)]


class RecordPart(Struct, frozen=True, gc=False, rename={"copy_index": "copy"}):
    """A frozen part of a record; fields of a later version are ignored."""
