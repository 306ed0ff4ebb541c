"""What a wheel holds beside the package: the probe, built here, and the studies and workloads that ship.

On Linux with cargo the wheel is of this machine; anywhere else it is of any system, and reads results only.
SCALOGRAPH_BUILT_PROBE names a probe that is built already.
"""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROGRAM = "scalograph-probe"
PAGE = "protocol/study.md"
# Kept results are for whoever reads the sources: they would be most of the wheel.
LEFT_OUT = ("example", "reproduced", "target", "__pycache__")
# A static program asks for no libc: it runs wherever one of these does.
STATIC = "manylinux_2_17_{0}.musllinux_1_1_{0}"


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the probe and the data to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name what is added; an editable wheel finds studies and workloads in the sources."""
        root = Path(self.root)
        if version != "editable":
            build_data["force_include"] |= {str(root / file): f"scalograph/data/{file}" for file in _data(root)}
            # What `check --schema` tells of each key.
            build_data["force_include"][str(root / PAGE)] = f"scalograph/data/{PAGE}"
        probe = self._probe(root)
        if probe is None:
            return
        build_data["shared_scripts"][str(probe)] = PROGRAM
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_system(probe)}"

    def _probe(self, root: Path) -> Path | None:
        """The probe; None where it cannot be built, which is told."""
        if built := os.environ.get("SCALOGRAPH_BUILT_PROBE"):
            return Path(built).resolve(strict=True)
        if sys.platform != "linux" or not (root / "probe").is_dir():
            self.app.display_warning("No probe is built: this wheel reads results, and measures nothing.")
            return None
        if not shutil.which("cargo"):
            self.app.display_warning("cargo is missing, so no probe is built: runs will be timed from outside only.")
            return None
        folder = root / "build" / "probe"
        subprocess.run([root / "probe" / "build.sh", folder], check=True)
        return folder / PROGRAM


def _data(root: Path) -> Iterator[Path]:
    for room in ("studies", "workloads"):
        for file in sorted((root / room).rglob("*")):
            inside = file.relative_to(root)
            if file.is_file() and not file.is_symlink() and not set(LEFT_OUT) & set(inside.parts):
                yield inside


def _system(probe: Path) -> str:
    """The systems that a probe runs on, as a wheel names them: those of any libc if it needs none."""
    machine = platform.machine()
    needs_interpreter = b"/ld-linux" in probe.read_bytes()
    return f"linux_{machine}" if needs_interpreter else STATIC.format(machine)
