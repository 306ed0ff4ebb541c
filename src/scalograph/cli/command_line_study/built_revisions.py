"""Build git revisions named by options; {version} becomes the folder of each."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from scalograph.cli.command_line_study.declaration import CommandStudy
from scalograph.cli.command_line_study.option_texts import split, sweep_study
from scalograph.cli.console import say
from scalograph.cli.options import CommandOptions
from scalograph.cli.overrides import seconds_of
from scalograph.cli.pipeline import machine_lock
from scalograph.cli.sweep_options import VERSION, SweepOptions
from scalograph.errors import StudyError
from scalograph.run.revisions import Revision, build_revisions, find_repository, list_revisions, resolve_revisions

_PLACE = f"{{{VERSION}}}"
# Each is measured in every block. No name that git takes holds a colon, or two dots.
MOST, MOST_OF_SPAN = 64, 10
_SPAN = re.compile(r"([^,:]+?)\.\.([^,:]+?)(?::([0-9]{1,4}))?")


def require_placeholder(command: Sequence[str], example: str) -> None:
    """Raise StudyError for a command without {version}."""
    if not any(_PLACE in word for word in command):
        raise StudyError.one("command", f"no {_PLACE}", "", f"write it where the versions differ: {example}")


def revision_study(sweep: SweepOptions, options: CommandOptions) -> CommandStudy:
    require_placeholder(options.command, "measure --revisions v1,main --build make -- {version}/prog")
    if sweep.revisions is None or sweep.build is None:
        raise StudyError.one("--revisions", "one of --revisions and --build", "both; --build '' builds nothing")
    every = _revisions(sweep.revisions)
    levels = f"{VERSION}={','.join(revision.name for revision in every)}"
    study = sweep_study(replace(sweep, factor=[*(sweep.factor or ()), levels]), options)
    return insert_build_folders(study, every, sweep.build, options)


def _revisions(text: str) -> list[Revision]:
    """Resolve A,B,C as named, or A..B:N to at most N revisions including both ends."""
    home, span = find_repository(Path()), _SPAN.fullmatch(text)
    if span and not 2 <= int(span[3] or MOST_OF_SPAN) <= MOST:
        raise StudyError.one("--revisions", f"{span[3]} of them", f"2 to {MOST}")
    if span:
        return list_revisions(home, span[1], span[2], int(span[3] or MOST_OF_SPAN))
    texts = [part.strip() for part in text.split(",")]
    if len(texts) > MOST:
        raise StudyError.one("--revisions", f"{len(texts)} of them", f"at most {MOST}", "leave some out")
    return resolve_revisions(home, texts)


def insert_build_folders(
    study: CommandStudy, every: Sequence[Revision], build: str, options: CommandOptions
) -> CommandStudy:
    """Build revisions under the machine lock; return the study with their folders in command and steps.

    Its factor `version` has their names; `build` is empty where there is nothing to build.
    """
    argv = split("--build", build, options.shell) if build.strip() else ()
    with machine_lock(seconds_of("--wait-lock", options.wait_lock)):  # it would disturb what is measured meanwhile
        home = build_revisions(find_repository(Path()), every, argv, say)

    def words(argv: Sequence[str]) -> tuple[str, ...]:
        return tuple(word.replace(_PLACE, f"{home}/{_PLACE}") for word in argv)

    steps = {name: words(argv) for name, argv in study.steps.items()}
    return replace(study, command=words(study.command), steps=steps)
