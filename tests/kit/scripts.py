"""Scripts and programs that lie in no package, as modules."""

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


class Benchmarks:
    """Each module of benchmarks/ by its name, imported when a test first asks for it."""

    def __getattr__(self, name: str) -> ModuleType:
        return import_module(name)


def load_script(file: Path) -> ModuleType:
    """Run a file of no package as a module, named after its folder and itself."""
    spec = spec_from_file_location(f"{file.parent.name}_{file.stem}".replace("-", "_"), file)
    assert spec and spec.loader
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their own module up
    spec.loader.exec_module(module)
    return module
