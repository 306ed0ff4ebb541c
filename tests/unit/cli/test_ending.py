"""What fails below a command ends in one message and its exit code; what cannot be said goes nowhere."""

import errno
import os
import subprocess
import sys

import pytest

from scalograph.cli import ending


def test_a_folder_that_nobody_may_enter_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/root/s/study.toml")

    monkeypatch.setattr(ending.app, "main", refused)
    assert ending.execute(["check", "/root/s/study.toml"]) == 3
    message = capsys.readouterr().err
    assert "/root/s/study.toml" in message and "permission denied" in message and "Traceback" not in message


# Says more than a pipe holds, waits for nobody, and tells by its code why something was lost.
CODE = """
import os, sys
from scalograph.cli.ending import guard, refusal
answer = guard()
taken = os.open("/dev/null", os.O_RDONLY)
for stream in (sys.stdout, sys.stderr):
    for _ in range(100):
        print("x" * 1000, file=stream)
    stream.flush()
lost = refusal(answer)
sys.exit(taken if lost is None else 100 + lost.errno)
"""


@pytest.mark.parametrize(("streams", "code"), [
    ("", 3), (">&-", 3), ("<&- >&- 2>&-", 3), ("2>/dev/full", 3), (">/dev/full 2>&1", 128), ("| true", 3),
    ("2>&1 >/dev/null | true", 3),
])  # fmt: skip
def test_no_stream_ends_a_program(streams: str, code: int) -> None:
    """No file of ours has the number of a standard stream, and a full disk is told from a reader who has left."""
    script = f'set -o pipefail; "{sys.executable}" -c "$CODE" {streams}'
    done = subprocess.run(["bash", "-c", script], env={**os.environ, "CODE": CODE}, capture_output=True, check=False)
    assert done.returncode == code and b"rror" not in done.stderr
    assert len(done.stdout) == (100_100 if streams in ("", "2>/dev/full") else 0)


def test_a_slow_reader_of_a_pipe_that_does_not_block_gets_all() -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with subprocess.Popen([sys.executable, "-c", CODE], stdout=writer, stderr=subprocess.DEVNULL) as program:
        os.close(writer)
        with os.fdopen(reader, "rb") as stream:
            assert len(stream.read()) == 100_100
    assert program.returncode == 3
