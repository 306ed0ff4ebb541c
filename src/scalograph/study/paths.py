"""A path that a study names must stay in the study's folder."""

from pathlib import Path

from scalograph.errors import StudyError


def inside(folder: Path, name: str, where: str, what: str = "a file inside the study's folder") -> Path:
    """Return the path that `name` means, links followed.

    Args:
        folder: of the study.
        name: as written in the study.
        where: the key that holds it, for the message.
        what: what is expected there.

    Raises:
        StudyError: it leads outside, or is no valid path (a NUL byte).
    """
    try:
        path = (folder / name).resolve()
    except (ValueError, OSError, RuntimeError) as error:
        raise StudyError.one(where, f"{name!r} is no path: {error}", what) from error
    if not path.is_relative_to(folder.resolve()):
        raise StudyError.one(where, f'"{name}" leads outside the study\'s folder', what)
    return path
