"""What takes long and is only looked at: made once for all tests that do."""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scalograph.control.store import Store
from scalograph.machine.proofs import run_proofs
from scalograph.machine.proofs.proof_context import ProofContext
from tests.kit import samples
from tests.kit.command import LONG_S, in_process, study
from tests.kit.pages import Visit, write_page
from tests.kit.probes import probe_argv
from tests.kit.processes import write_program
from tests.kit.results import complete
from tests.kit.servers import LOAD

INSTALL = "apt-get install chromium"


@dataclass(frozen=True)
class Sanity:
    """`scalograph doctor --sanity --json`: how it ended, what it told and left behind, and what its proofs rest on."""

    code: int
    told: dict[str, Any]
    left: list[Path]
    bench: ProofContext


@pytest.fixture(scope="session")
def sanity(tmp_path_factory: pytest.TempPathFactory) -> Sanity:
    folder, benches = tmp_path_factory.mktemp("sanity"), list[ProofContext]()

    class Kept(ProofContext):
        def __enter__(self) -> ProofContext:
            benches.append(self)
            return super().__enter__()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(folder))
        patch.setattr("scalograph.cli.pipeline.WAIT_S", LONG_S)
        patch.setattr(run_proofs, "ProofContext", Kept)
        done = in_process("doctor", "--sanity", "--json", cwd=folder, store=Store.locate())
    return Sanity(done.returncode, json.loads(done.stdout), list(folder.iterdir()), *benches)


def missing(what: str) -> None:
    """Skip by name at home; where tests must not be skipped, fail."""
    message = f"{what} is missing; install it: {INSTALL}"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    path = shutil.which("chromium")
    if path is None:
        missing("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        missing("the python package playwright")
    with sync_playwright() as playwright:
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=path, args=[*root, "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of two blocks that has ended, in its folder."""
    folder = tmp_path_factory.mktemp("ended")
    write_program(folder / "prog", "exit 0")
    complete("run", study(folder, '["./prog", "{n}"]'), "-o", "results", cwd=folder)
    return folder


@pytest.fixture
def finished(ended: Path, tmp_path: Path) -> Path:
    """The results of a copy of it."""
    return shutil.copytree(ended, tmp_path, dirs_exist_ok=True) / "results"


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Visit]]:
    """Open a page of this test alone: a file, or the report of findings; options as of `Visit`."""
    with ExitStack() as stack:
        yield lambda what, **options: stack.enter_context(
            Visit(browser, what if isinstance(what, Path) else write_page(tmp_path, what), **options)
        )


@pytest.fixture(scope="module")
def sample(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Visit]]:
    """Turn the page of a sample to a width and a scheme: opened once for all who only read it."""
    with ExitStack() as stack:

        @cache
        def opened(name: str) -> Visit:
            file = write_page(tmp_path_factory.mktemp(name), getattr(samples, name)())
            return stack.enter_context(Visit(browser, file))

        yield lambda name, *shape, **scheme: opened(name).turn(*shape, **scheme)


@pytest.fixture
def probe(request: pytest.FixtureRequest) -> Sequence[str]:
    """The Rust probe, or the one that a test of both asks for."""
    return probe_argv(getattr(request, "param", "native"))


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver that cargo's tests built; a user's is built when it is first used."""
    if not LOAD.is_file():
        pytest.skip("not built: cd workloads/load && cargo test")
    (tmp_path / "built" / "bin").mkdir(parents=True)
    (tmp_path / "built" / "bin" / LOAD.name).symlink_to(LOAD)
    monkeypatch.setattr("scalograph.run.hosts.local.prepare_host.build", lambda *words: tmp_path / "built")
