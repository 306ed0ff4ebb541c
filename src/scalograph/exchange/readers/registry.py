"""What a file of another instrument holds, by the name of its format.

The rows stand in `study/reader_names.py`, where a study finds them too.
"""

from importlib import import_module
from pathlib import Path

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, across
from scalograph.study.reader_names import READERS


def read(name: str, *files: Path) -> list[Benchmark]:
    """Read the benchmarks of files, in their order; one that several files have gets the forks of all.

    Args:
        name: of the format.
        files: what the instrument wrote.

    Raises:
        StudyError: no reader has that name (lists the existing ones), or a file has another format.
    """
    if name not in READERS:
        raise StudyError.one("import", f'no format "{name}"', f"one of {', '.join(READERS)}")
    module = import_module(READERS[name].module)
    return across(module.read(file) for file in files)
