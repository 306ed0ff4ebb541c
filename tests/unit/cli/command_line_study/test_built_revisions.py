"""Revisions as versions of a command: their folders stand in it and in its steps."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from scalograph.cli.ab_command import AbOptions, _build_versions
from scalograph.cli.command_line_study import built_revisions
from scalograph.cli.command_line_study.built_revisions import revision_study
from scalograph.cli.command_line_study.declaration import study_text
from scalograph.cli.options import CommandOptions
from scalograph.cli.sweep_options import SweepOptions
from scalograph.errors import StudyError
from scalograph.run.revisions import Revision

CACHED = Path("/cache/revisions/x-0")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was asked of git and of the build; the repository has any revision."""
    made: list[object] = []

    def named(_home: Path, texts: list[str]) -> list[Revision]:
        made.append(texts)
        return [Revision(f"{text}-0", "0") for text in texts]

    def between(_home: Path, *span: object) -> list[Revision]:
        made.append(span)
        return [Revision("0-a", "0"), Revision("7-b", "1")]

    def built(_home: Path, every: list[Revision], argv: tuple[str, ...], _tell: object) -> Path:
        made.append(argv)
        return CACHED

    for name, function in {"resolve_revisions": named, "list_revisions": between, "build_revisions": built}.items():
        monkeypatch.setattr(built_revisions, name, function)
    monkeypatch.setattr(built_revisions, "find_repository", lambda _: Path())
    monkeypatch.setattr(built_revisions, "machine_lock", lambda _: nullcontext())
    monkeypatch.setattr("scalograph.run.revisions.resolve_revisions", named)
    monkeypatch.setattr("scalograph.run.revisions.find_repository", lambda _: Path())
    return made


def test_revisions_are_levels_and_the_first_is_the_reference(asked: list[object]) -> None:
    options = CommandOptions(command=["{version}/prog", "{n}"], prepare="cp {version}/data .")
    text = study_text(revision_study(SweepOptions(revisions="v1, main", build="make -j2", factor=["n=1,2"]), options))
    assert asked == [["v1", "main"], ("make", "-j2")]
    assert f'command = ["{CACHED}/{{version}}/prog", "{{n}}"]' in text
    assert f'prepare = ["cp", "{CACHED}/{{version}}/data", "."]' in text
    assert 'levels = "v1-0,main-0"' in text and '[reference]\nversion = "v1-0"' in text and 'levels = "1,2"' in text


@pytest.mark.parametrize(("text", "span"), [("v1..main", ("v1", "main", 10)), ("v1..main:3", ("v1", "main", 3))])
def test_a_span_is_of_so_many_commits(asked: list[object], text: str, span: tuple[object, ...]) -> None:
    study = revision_study(SweepOptions(revisions=text, build=""), CommandOptions(command=["{version}/prog"]))
    assert asked == [span, ()] and study.factors["version"] == "0-a,7-b"


@pytest.mark.parametrize(("sweep", "command", "message"), [
    (SweepOptions(revisions="v1", build=""), "./prog", "command: no {version}"),
    (SweepOptions(revisions="v1"), "{version}/prog", "expected both"),
    (SweepOptions(build="make"), "{version}/prog", "expected both"),
    (SweepOptions(revisions="v1..main:1", build=""), "{version}/prog", "1 of them, expected 2 to 64"),
    (SweepOptions(revisions="v1..main:65", build=""), "{version}/prog", "65 of them, expected 2 to 64"),
    (SweepOptions(revisions="x," * 64 + "x", build=""), "{version}/prog", "65 of them, expected at most 64"),
    (SweepOptions(revisions="v1", build="'"), "{version}/prog", "--build: .* quot"),
    (SweepOptions(revisions="v1", build="", factor=["version=a"]), "{version}", '"version" twice'),
])  # fmt: skip
def test_what_are_no_revisions_is_refused(asked: list[object], sweep: SweepOptions, command: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        revision_study(sweep, CommandOptions(command=[command]))
    assert not any(isinstance(one, tuple) and one == () for one in asked), "nothing is built"


def test_two_revisions_are_compared_by_the_names_of_their_folders(asked: list[object]) -> None:
    options = CommandOptions(command=["{version}/prog"], shell=False)
    versions, study = _build_versions(AbOptions(a="main", b="HEAD", build="make"), "make", options)
    assert (versions.a, versions.b, asked) == ("main-0", "HEAD-0", [["main", "HEAD"], ("make",)])
    assert study.command == (f"{CACHED}/{{version}}/prog",) and study.subcommand == "ab"
