"""A run in a guest whose CPUs are emulated shows what happens, and not how fast: its record keeps no figure of time."""

import re
from collections.abc import Collection
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from scalograph.protocol.record import Record, Values
from scalograph.study.model import Study
from scalograph.study.output_patterns import printed_name
from scalograph.text.units import unit_of

Part = TypeVar("Part", bound=Struct)

# Names of values that are times, rates or shares of time, as workloads call them.
_NAMES = re.compile(r"(.+_)?(s|ms|us|ns|hz|rate|percent|per_minute|rate_second)|ceiling|in_flight")
# Figures of time, beside those whose names end in _ns.
_FIGURES = ("wall_source", "cpu_source", "neighbors", "frequency_hz")


def without_times(record: Record, study: Study) -> Record:
    """Return what is left of a record whose times are those of no machine: counts, sizes, and how the run ended.

    Args:
        record: of a run, which is returned as it is unless its guest was emulated.
        study: its responses say by their units which values are times or rates.
    """
    if record.guest is None or record.guest.accelerator == "kvm":
        return record
    timed = {
        printed_name(name) if response.printed else response.source.removeprefix("value.")
        for name, response in study.responses.items()
        if unit_of(response.unit)
    }
    return replace(
        record,
        copies=[_untimed(copy) for copy in record.copies],
        processes=[_untimed(process) for process in record.processes],
        values=[_untimed_values(part, timed) for part in record.values],
        run=_untimed(record.run),
        guest=replace(record.guest, has_times=False),
        iterations=[], phases=[], histograms=[], timeline=None,
    )  # fmt: skip


def _untimed(part: Part) -> Part:
    names = (name for name in part.__struct_fields__ if name.endswith("_ns") or name in _FIGURES)
    return replace(part, **dict.fromkeys(names))


def _untimed_values(part: Values, timed: Collection[str]) -> Values:
    kept = {name: found for name, found in part.values.items() if name not in timed and not _NAMES.fullmatch(name)}
    return replace(part, values=kept)
