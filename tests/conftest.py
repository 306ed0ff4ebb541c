"""What tests keep of this machine is gone after them, and what its user keeps does not reach them."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No noise floor and no ceiling is kept: with a floor each study would look first whether it still holds."""
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
    yield
    if before is None:
        del os.environ["XDG_STATE_HOME"]
    else:
        os.environ["XDG_STATE_HOME"] = before
