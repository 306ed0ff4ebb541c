"""What tests keep of this machine is gone after them, and what its user keeps does not reach them."""

import gc
import os
import signal
from collections.abc import Generator, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from warnings import catch_warnings

import pytest
from hypothesis import HealthCheck, settings

from scalograph import errors
from tests.rerun_alone import pytest_addoption, pytest_configure  # noqa: F401 - hooks of --rerun-alone

# Before numpy is imported: on matrices as small as ours its threads wait for each other longer than they compute.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Maven compiles more of itself than it would take to end.
os.environ.setdefault("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
# To look for garbage every 700 objects, among all tests that were collected, takes 4 to 15% of the CPU time of tests;
# what is collected stays, and is not looked at at all.
gc.set_threshold(20_000, 20, 50)
gc.disable()

HERE = Path(__file__).resolve().parent
MAX_NAME = 100
# The groups that take longest are begun first, one by each worker. The others follow as they are collected: long files
# of few tests before short ones of many, so that no worker is left alone with one at the end.
LONGEST = ("machine", "browser")

# How long an example takes on a busy machine decides nothing; each start draws other ones.
settings.register_profile(
    "any machine", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)  # fmt: skip
settings.load_profile("any machine")


def pytest_sessionstart() -> None:
    """Each worker imports another part of the tests first: what was never compiled is compiled once, not by all."""
    worker, n = os.environ.get("PYTEST_XDIST_WORKER", "gw0"), int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    names = sorted(".".join(file.relative_to(HERE.parent).with_suffix("").parts) for file in HERE.rglob("test_*.py"))
    first = len(names) * int(worker.removeprefix("gw")) // n
    for name in [*names[first:], *names[:first]] if n > 1 else []:
        with suppress(Exception), catch_warnings(action="error"):  # is told where it is collected
            import_module(name)


@pytest.fixture(autouse=True)
def ctrl_c_as_before() -> Iterator[None]:
    """What a command that ran in this process left of Ctrl-C would end a worker that another test sends it.

    So would a signal that it remembers: the next command would end by its code.
    """
    before = signal.getsignal(signal.SIGINT)
    yield
    errors._raised.clear()
    if signal.getsignal(signal.SIGINT) is not before:
        signal.signal(signal.SIGINT, before)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    done = yield
    gc.freeze()
    gc.enable()
    return done


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker takes the tests of a file, which share its fixtures, unless they name another group."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(str(item.path.name)))
    items.sort(key=_place)


def _place(item: pytest.Item) -> int:
    marker = item.get_closest_marker("xdist_group")
    name = marker.args[0] if marker and marker.args else ""
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)


def pytest_make_parametrize_id(val: object) -> str | None:
    """A long text is called by its beginning: a program gets the name of its test in its environment."""
    return ascii(val)[:MAX_NAME] if isinstance(val, str | bytes) and len(val) > MAX_NAME else None


@pytest.fixture(autouse=True, scope="session")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No noise floor, no ceiling and no default is kept: with a floor each study would first look whether it holds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield


@pytest.fixture(scope="session")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a workload is compiled once, by whichever worker needs it first."""
    own = tmp_path_factory.getbasetemp()
    return (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "builds"


@pytest.fixture(autouse=True, scope="session")
def dispositions() -> Iterator[None]:
    """Under nohup and in the background some signals arrive ignored, and the commands we start would inherit that.

    What has a handler is at its default again in a new program.
    """
    ignored = [number for number in (signal.SIGINT, signal.SIGHUP) if signal.getsignal(number) == signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else _nothing)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


def _nothing(*_: object) -> None:
    """We ourselves go on."""
