"""Built-in workloads and studies: in the installed package, else in the repository around it."""

from pathlib import Path

from scalograph.errors import StudyError
from scalograph.study.scalars import unknown_name_error

_PACKAGE = Path(__file__).resolve().parents[1]


def shipped_workload(name: str) -> Path:
    """Return the folder of a built-in workload, such as `java-threads` or `sanity/pinning`."""
    return _folder("workloads", "workload.toml", name)


def shipped_study(name: str) -> Path:
    """Return the folder of a built-in study; raises StudyError for an unknown name."""
    return _folder("studies", "study.toml", name)


def shipped_catalogue() -> Path:
    """Return the catalogue of published studies."""
    return _home("studies") / "published.toml"


def shipped_workloads() -> list[str]:
    """Return the sorted names of built-in workloads, without those of `sanity/`."""
    return _names("workloads", "workload.toml")


def shipped_studies() -> list[str]:
    """Return the sorted names of built-in studies."""
    return _names("studies", "study.toml")


def _folder(room: str, file: str, name: str) -> Path:
    home = _home(room).resolve()
    folder = (home / name).resolve()
    if folder != home and folder.is_relative_to(home) and (folder / file).is_file():
        return folder
    fix, empty = "or give the path of a folder of your own", f"none: {room}/ was not installed"
    raise unknown_name_error(room, f'no "{name}" ships', name, _names(room, file), fix, empty)


def _names(room: str, file: str) -> list[str]:
    return sorted(path.parent.name for path in _home(room).glob(f"*/{file}"))


def _home(room: str) -> Path:
    installed = _PACKAGE / "data" / room
    return installed if installed.is_dir() else _PACKAGE.parents[1] / room


def inside(folder: Path, name: str, where: str, what: str = "a file inside the study's folder") -> Path:
    """Return the path of `name` inside a folder, links resolved; `where` is its key, `what` is expected there."""
    try:
        path = (folder / name).resolve()
    except (ValueError, OSError, RuntimeError) as error:
        raise StudyError.one(where, f"{name!r} is no path: {error}", what) from error
    if not path.is_relative_to(folder.resolve()):
        raise StudyError.one(where, f'"{name}" leads outside the study\'s folder', what)
    return path
