"""What a notebook imports from `scalograph.analysis`: functions and types, whatever was imported before."""

import importlib
import pkgutil
from types import ModuleType

import pytest

from scalograph import analysis


@pytest.mark.parametrize("name", analysis.__all__)
def test_a_name_is_no_module(name: str) -> None:
    for module in pkgutil.iter_modules(analysis.__path__):
        importlib.import_module(f"{analysis.__name__}.{module.name}")
    assert not isinstance(getattr(analysis, name), ModuleType)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        analysis.nothing  # noqa: B018
