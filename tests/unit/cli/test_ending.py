"""What fails below a command ends in one message and its exit code."""

import errno
import os

import pytest

from scalograph.cli import ending


def test_a_folder_that_may_not_be_entered_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/root/s/study.toml")

    monkeypatch.setattr(ending.app, "main", refused)
    assert ending.execute(["check", "/root/s/study.toml"]) == 3
    told = capsys.readouterr().err
    assert "/root/s/study.toml" in told and "permission denied" in told and "Traceback" not in told
