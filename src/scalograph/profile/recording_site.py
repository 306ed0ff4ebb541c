"""Where runs are recorded: on this machine, or on another one, whose recordings are brought here to be mended."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from scalograph.errors import HostError
from scalograph.profile.recording import TIMEOUT_S
from scalograph.text.quantities import mebibytes

_MOST_BYTES = 512 << 20


@dataclass(frozen=True)
class RecordingSite:
    """The machine of the runs: a folder on it, and the command of this machine that carries out a program there."""

    folder: Path
    tool: Callable[[Sequence[str]], Sequence[str]] = list
    is_here: bool = True

    def call(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Carry out a program there, and return its exit code and output."""
        return subprocess.run(
            self.tool(words), stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=TIMEOUT_S, check=False,
        )  # fmt: skip

    def has(self, program: str) -> bool:
        """Tell whether a program is on PATH there."""
        if self.is_here:
            return shutil.which(program) is not None
        return self.call("sh", "-c", 'command -v "$1"', "sh", program).returncode == 0

    @property
    def is_root(self) -> bool:
        """Tell whether runs there are root's."""
        return os.geteuid() == 0 if self.is_here else self.call("id", "-u").stdout.strip() == "0"

    @property
    def python(self) -> str:
        """Return the Python there; empty without one."""
        return sys.executable if self.is_here else "python3" if self.has("python3") else ""

    def read(self, file: Path) -> str:
        """Return the text of a small file there; empty without one."""
        if self.is_here:
            return file.read_text(encoding="utf-8").strip() if file.exists() else ""
        return self.call("cat", str(file)).stdout.strip()

    def remove(self, *files: Path) -> None:
        """Remove files there, if they are there."""
        if self.is_here:
            for file in files:
                file.unlink(missing_ok=True)
        elif files:
            self.call("rm", "-f", "--", *map(str, files))

    @contextmanager
    def open_copy(self, file: Path) -> Iterator[Path]:
        """Yield a file there as one of this machine; what the block changes of it is there afterwards."""
        if self.is_here:
            yield file
            return
        with TemporaryDirectory(prefix="scalograph-") as folder:
            copy = Path(folder, file.name)
            self._fetch(file, copy)
            yield copy
            if not copy.exists():
                return
            with copy.open("rb") as stream:
                subprocess.run(
                    self.tool(["sh", "-c", 'exec cat >"$1"', "sh", str(file)]), stdin=stream, timeout=TIMEOUT_S,
                    check=False,
                )  # fmt: skip

    def _fetch(self, file: Path, copy: Path) -> None:
        size = self.call("sh", "-c", 'wc -c <"$1"', "sh", str(file)).stdout.strip()
        if not size.isdecimal():
            return  # the run left none, which the reader says
        if int(size) > _MOST_BYTES:
            problem, expected = (
                f"a recording of {mebibytes(int(size))}",
                f"at most {mebibytes(_MOST_BYTES)} to bring here",
            )
            raise HostError(
                "perf record", problem, expected, "record shorter runs, or start scalograph on that machine"
            )
        with copy.open("wb") as stream:
            subprocess.run(
                self.tool(["cat", str(file)]), stdin=subprocess.DEVNULL, stdout=stream, timeout=TIMEOUT_S, check=False
            )


HERE = RecordingSite(Path())
