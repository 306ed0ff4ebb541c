"""The modules of benchmarks/, for tests of what they count."""

import sys
from collections.abc import Iterator

import pytest

from tests.kit import ROOT
from tests.kit.scripts import Benchmarks


@pytest.fixture(scope="module")
def b() -> Iterator[Benchmarks]:
    """They look for a probe when they are imported, and any program will do here."""
    folder, before = ROOT / "benchmarks", {*sys.modules}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCALOGRAPH_PROBE", sys.executable)
        patch.syspath_prepend(folder)
        yield Benchmarks()
    for name in {file.stem for file in folder.glob("*.py")} & {*sys.modules} - before:
        del sys.modules[name]
