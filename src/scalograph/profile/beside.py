"""A profile beside the findings of its study: its tables after theirs. The file is read as data, and not trusted."""

from pathlib import Path

from scalograph.errors import ProtocolError
from scalograph.profile.values import read
from scalograph.profile.words import tables
from scalograph.protocol.findings import Findings


def profiled(found: Findings, folder: Path | None) -> Findings:
    """The findings with the tables of the profile that lies in `folder`; with a warning where it is none of theirs."""
    if folder is None:
        return found
    try:
        profile = read(folder, found.study.hash)
    except ProtocolError as error:
        return found.model_copy(update={"warnings": [*found.warnings, str(error)]})
    if profile is None:
        return found
    more = {"tables": [*found.tables, *tables(profile)], "warnings": [*found.warnings, *profile.warnings]}
    return found.model_copy(update=more)
