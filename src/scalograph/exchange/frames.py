"""Columns as a data frame of whichever library is installed: polars or pandas."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from scalograph.errors import HostError
from scalograph.exchange.export import Columns

if TYPE_CHECKING:
    import polars

LIBRARIES = ("polars", "pandas")
# Columns that hold texts or numbers in every study, also where all of their rows are empty.
_TEXTS = ("run", "status", "verdict", "response", "unit", "cause")
_WHOLE, _NUMBERS = ("block", "replicate", "iteration"), ("value",)


def frame(columns: Columns) -> Any:
    """Return columns as a frame: of polars if it is there, else of pandas.

    Raises:
        HostError: neither is installed.
    """
    library = next((name for name in LIBRARIES if find_spec(name)), None)
    if library is None:
        raise HostError("frame", "neither polars nor pandas", "one of them", 'pip install "scalograph[frames]"')
    return polars_frame(columns) if library == "polars" else import_module(library).DataFrame(columns)


def polars_frame(columns: Columns) -> "polars.DataFrame":
    """Return columns as a frame of polars.

    Raises:
        HostError: it is not installed.
    """
    if not find_spec("polars"):
        raise HostError("Parquet", "no polars", "polars, which writes it", 'pip install "scalograph[frames]", or .csv')
    import polars

    kinds = [(_TEXTS, polars.String), (_WHOLE, polars.Int64), (_NUMBERS, polars.Float64)]
    known = {name: kind for names, kind in kinds for name in names if name in columns}
    return polars.DataFrame(columns, schema_overrides=known, infer_schema_length=None)
