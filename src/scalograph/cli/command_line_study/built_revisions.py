"""Build git revisions named by options; {version} becomes the folder of each."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scalograph.cli.command_line_study.declaration import CommandStudy
from scalograph.cli.command_line_study.option_texts import split, sweep_study
from scalograph.cli.console import say
from scalograph.cli.options import CommandOptions, SearchOptions
from scalograph.cli.overrides import seconds_of
from scalograph.cli.pipeline import machine_lock
from scalograph.cli.sweep_options import VERSION, SweepOptions
from scalograph.errors import StudyError
from scalograph.questions.asked import AskedRevisions
from scalograph.run.hosts.host_names import is_elsewhere
from scalograph.run.revisions import (
    Revision,
    build_revisions,
    find_merged,
    find_repository,
    list_revisions,
    list_subjects,
    resolve_revisions,
    step_argv,
)

if TYPE_CHECKING:
    from scalograph.run.session import Session

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
    _refuse_elsewhere(options)
    argv = split("--build", build, options.shell) if build.strip() else ()
    with machine_lock(seconds_of("--wait-lock", options.wait_lock)):  # it would disturb what is measured meanwhile
        home = build_revisions(find_repository(Path()), every, argv, say)

    return _insert_folder(study, home)


def _refuse_elsewhere(options: CommandOptions) -> None:
    if is_elsewhere(options.host):
        fix = "build there, and compare the builds by their paths"
        raise StudyError.one("--host", "revisions are built here, and do not travel", "", fix)


def insert_searched_revisions(study: CommandStudy, asked: AskedRevisions, options: SearchOptions) -> CommandStudy:
    """Return the study of all commits between two; a step before each run builds its commit, once."""
    _refuse_elsewhere(options)
    require_placeholder(study.command, "find commit --good v1 --bad main --build make -- {version}/prog")
    argv, home = split("--build", asked.build, options.shell) if asked.build.strip() else (), find_repository(Path())
    every = list_subjects(home, asked.good, asked.bad)
    with machine_lock(seconds_of("--wait-lock", options.wait_lock)):  # the ends are measured in any case
        into = build_revisions(home, [every[0], every[-1]], argv, say)
    names = [revision.name for revision in every]
    study = _insert_folder(study, into)
    steps = {**study.steps, "prepare": step_argv(home, into, _PLACE, argv, study.steps.get("prepare", ()))}
    levels = {VERSION: ",".join(names)}
    return replace(study, steps=steps, asked=replace(study.asked, levels=levels, lists={VERSION: names}))


def merged_revisions(session: "Session", asked: AskedRevisions) -> Iterator[AskedRevisions]:
    """Yield the branch that was merged by the commit that a search named, to be searched next; nothing for others."""
    from scalograph.cli.analyze_steps import report
    from scalograph.questions.commit.document import Commits

    result = report(session.results.folder)[0].document("commit", Commits)
    steps = result.steps if result else []
    if steps and len(steps[0].candidates) == 1:
        commit = steps[0].candidates[0].rpartition("-")[2]
        if branch := find_merged(find_repository(Path()), commit):
            say(f"{commit[:7]} merges a branch; its commits are searched next, from {branch[0][:7]} to {branch[1][:7]}")
            yield replace(asked, good=branch[0], bad=branch[1])


def _insert_folder(study: CommandStudy, home: Path) -> CommandStudy:
    def words(argv: Sequence[str]) -> tuple[str, ...]:
        return tuple(word.replace(_PLACE, f"{home}/{_PLACE}") for word in argv)

    steps = {name: words(argv) for name, argv in study.steps.items()}
    return replace(study, command=words(study.command), steps=steps)
