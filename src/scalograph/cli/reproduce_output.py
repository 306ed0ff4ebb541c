"""How `reproduce` ends on the terminal, and how `report` shows what it left."""

from pathlib import Path

from scalograph.cli.answer_output import short
from scalograph.cli.console import out
from scalograph.protocol import reproduction_file
from scalograph.protocol.reproduction import Reproduction


def show(made: Reproduction, folder: Path, next_: tuple[str, str] | None = None, page: Path | None = None) -> None:
    """Print what became of the claims, and where the rest is.

    Args:
        made: the reproduction.
        folder: its results.
        next_: what may be done next, and the command for it.
        page: where it was made elsewhere.
    """
    from scalograph.report.reproduction_screen import render_reproduction

    latest = folder.parent / "latest"
    folder = latest if latest.is_symlink() and latest.resolve() == folder.resolve() else folder
    places = [("page", short(page or folder / reproduction_file.PAGE))]
    places += [("parts", f"scalograph report {short(folder)}/NAME")]
    render_reproduction(made, out(), [*places, *([next_] if next_ else [])])


def report_reproduction(folder: Path, to: Path | None, keep: bool) -> Reproduction:
    """Stop 5: read reproduction.json and write the page, where it is to be kept.

    Raises:
        ProtocolError: there is no readable document.
        HostError: the disk refuses.
    """
    from scalograph.report.reproduction_page import write

    made = reproduction_file.read(folder)
    if keep:
        write(made, to or folder / reproduction_file.PAGE)
    return made
