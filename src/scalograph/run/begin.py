"""A results folder before its first run: the study, its design, and the published figures that go with it."""

from pathlib import Path

from scalograph.errors import HostError, StudyError
from scalograph.protocol import results
from scalograph.protocol.bounded import read_whole
from scalograph.protocol.results import Results
from scalograph.run.plan import Plan, write_design
from scalograph.study.check_published import MAX_BYTES
from scalograph.study.declare import Declared
from scalograph.study.shipped import inside, shipped_studies, shipped_study


def begin(planned: Plan, folder: Path | None) -> Results:
    """A new results folder with the study and its design in it.

    Raises:
        StudyError: the published file is missing, outside the study's folder, or named as one of ours; or the folder
            holds files that are not of this study.
        HostError: the folder cannot be written.
    """
    file, published = planned.declared.file, _published_file(planned.declared)
    created = results.create(planned.design.study.name, folder, _resume_command(planned.declared))
    sources = {created.study: file, **({created.folder / published.name: published} if published else {})}
    copies = {target: _read_source(source, target, created.journal.exists()) for target, source in sources.items()}
    for target, content in copies.items():  # all of them may be written, or none is
        if content is not None:
            results.write_bytes(target, content)
    write_design(planned, created.design)
    return created


def _resume_command(declared: Declared) -> tuple[str, str]:
    """The command that goes on with a study: its copy in the results lacks what lies beside it."""
    name = declared.study.name
    ships = name in shipped_studies() and declared.folder == shipped_study(name)
    return ("study", name) if ships else ("run", str(declared.file))


def _published_file(declared: Declared) -> Path | None:
    """The file of published figures, which goes with the results."""
    if declared.study.published is None or not declared.study.published.file:
        return None
    name, where, expected = declared.study.published.file, "published.file", "a file inside the study's folder"
    file = inside(declared.folder, name, where, expected)
    if Path(name).name in results.RESERVED:
        raise StudyError.one(where, f'"{name}"', "a name that no file of the results has", "rename it")
    if not file.is_file():
        raise StudyError.one(where, f'no file "{name}"', expected, "correct the name or add the file")
    return declared.folder / name


def _read_source(source: Path, target: Path, ours: bool) -> bytes | None:
    """What goes to the target; None where -o is the study's own folder. Raises StudyError where it would be lost.

    What lies beside an empty journal is `ours`: a start left it that failed at the first line.
    """
    try:
        if target.exists() and source.samefile(target):
            return None
        content = read_whole(source, MAX_BYTES)
        if not ours and results.is_owned(target) and not _has_content(target, content):
            raise results.owned(target)
    except OSError as error:
        raise HostError(str(source), f"cannot be read: {error.strerror}", "a readable file") from error
    return content


def _has_content(target: Path, content: bytes) -> bool:
    """Whether it is a plain file of this content."""
    if not target.is_file():
        return False
    with target.open("rb") as stream:
        return stream.read(len(content) + 1) == content
