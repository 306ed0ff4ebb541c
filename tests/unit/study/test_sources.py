"""The sources of a workload, which a study's hash is of: neither data nor a file system."""

import os
from pathlib import Path

import pytest

from scalograph.errors import StudyError
from scalograph.study import identity
from scalograph.study.identity import hash_folder
from scalograph.system.private_dir import remove_tree


@pytest.mark.parametrize(
    ("name", "message"), [("MAX_SOURCE_BYTES", "larger than 7 bytes"), ("MAX_SOURCES", "more than 7 files")]
)
def test_more_than_the_sources_of_a_workload_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    for n in range(8):
        (tmp_path / f"{n}.c").write_text("x")
    assert hash_folder(tmp_path) == hash_folder(tmp_path)
    monkeypatch.setattr(identity, name, 7)
    with pytest.raises(StudyError, match=f"{tmp_path}: cannot be read: {message}, expected the sources of a workload"):
        hash_folder(tmp_path)


def test_folders_nested_too_deeply_are_refused(tmp_path: Path) -> None:
    at = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1000):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    with pytest.raises(StudyError, match="folders nested too deeply"):
        hash_folder(tmp_path)
    remove_tree(tmp_path / "d")
    assert [*tmp_path.iterdir()] == []
