"""The machine of the runs, when it is another one: its programs are called, and its recordings mended."""

from pathlib import Path

import pytest

from scalograph.errors import HostError
from scalograph.profile import recording_site
from scalograph.profile.recording_site import RecordingSite
from tests.kit.refusals import refuses


def far(folder: Path) -> RecordingSite:
    """A machine that is reached by a shell, as ssh reaches one."""
    return RecordingSite(folder, lambda words: ["sh", "-c", 'exec "$@"', "sh", *words], is_here=False)


def test_a_recording_is_brought_here_and_what_is_mended_of_it_lies_there(tmp_path: Path) -> None:
    site, file = far(tmp_path), tmp_path / "perf"
    file.write_bytes(b"PERF\0\xff")
    with site.open_copy(file) as copy:
        assert copy != file and copy.read_bytes() == b"PERF\0\xff"
        copy.write_bytes(b"mended")
    assert file.read_bytes() == b"mended" and not copy.exists()
    site.remove(file, tmp_path / "none")
    assert not file.exists()
    with RecordingSite(tmp_path).open_copy(file) as copy:
        assert copy == file


def test_a_recording_that_is_missing_or_too_large_is_not_brought(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with far(tmp_path).open_copy(tmp_path / "none") as copy:
        assert not copy.exists()
    assert not (tmp_path / "none").exists()
    monkeypatch.setattr(recording_site, "_MOST_BYTES", 1 << 20)
    (tmp_path / "perf").write_bytes(bytes(2 << 20))
    expected = "perf record: a recording of 2 MiB, expected at most 1 MiB to bring here"
    refuses(HostError, expected, far(tmp_path).open_copy(tmp_path / "perf").__enter__)


def test_what_is_there_is_asked_of_its_own_programs(tmp_path: Path) -> None:
    (tmp_path / "level").write_text("2\n")
    for site in (far(tmp_path), RecordingSite(tmp_path)):
        assert site.has("sh") and not site.has("no-such-program")
        assert site.read(tmp_path / "level") == "2" and site.read(tmp_path / "none") == ""
        assert site.is_root == RecordingSite(tmp_path).is_root and site.call("echo", "a b").stdout == "a b\n"
