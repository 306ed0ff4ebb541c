"""The arithmetic behind the figures of gates: what each tool said is counted; nothing is launched."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.kit import ROOT

FOLDER = ROOT / "benchmarks"
NAMES = (
    "probe_common",
    "probe_rounds",
    "verdict_common",
    "verdict_tools",
    "command_common",
    "gate_tools",
    "gate_peers",
)


@pytest.fixture(scope="module")
def b() -> Iterator[SimpleNamespace]:
    """The benchmarks as modules; they look for a probe when they are imported, and any program will do here."""
    patch = pytest.MonkeyPatch()
    patch.setenv("SCALOGRAPH_PROBE", sys.executable)
    patch.syspath_prepend(str(FOLDER))
    yield SimpleNamespace(**{name: importlib.import_module(name) for name in NAMES})
    for name in NAMES:
        sys.modules.pop(name, None)
    patch.undo()


def test_what_a_gate_said_is_counted(b: SimpleNamespace) -> None:
    words = b.gate_tools.WORDS
    said = {"same": ["passed", "slower", "refused", "passed"], "more": ["slower", "slower", "refused", "passed"]}
    found = {f"ab {case} said": [float(words.index(word)) for word in told] for case, told in said.items()}
    found |= {f"ab {case} ratio": [1.0] * 4 for case in said} | {f"ab {case} took": [2.0] * 4 for case in said}
    figures = {figure.name: figure for figure in b.gate_peers.figures(found)}
    assert [figure.value for figure in figures.values()] == [25.0, 25.0, 50.0, 25.0]
    false = figures["ab: same build, called slower"]
    assert (false.verdict, false.n) == ("MISSED", 4) and "2 passed, 1 slower, 1 refused; 2.0 s a gate" in false.note


def test_a_tool_that_gives_a_ratio_is_judged_by_each_threshold(b: SimpleNamespace) -> None:
    found = {f"hyperfine {case} said": [b.gate_peers.NOT_SAID] * 3 for case in ("same", "more")}
    found |= {"hyperfine same ratio": [1.0, 1.03, 0.9], "hyperfine more ratio": [1.049, 1.051, 1.2]}
    found |= {f"hyperfine {case} took": [1.0] * 3 for case in ("same", "more")}
    figures = {figure.name: figure for figure in b.gate_peers.figures(found)}
    assert figures["hyperfine, threshold 5 %: same build, called slower"].value == 0.0
    assert figures["hyperfine, threshold 2 %: same build, called slower"].value == pytest.approx(100 / 3)
    assert figures["hyperfine, threshold 5 %: 5 % more work, found"].value == pytest.approx(200 / 3)
    assert figures["hyperfine, threshold 2 %: 5 % more work, found"].value == 100.0
    assert not figures["hyperfine, threshold 5 %: same build, called slower"].verdict


def test_what_pyperf_prints_is_read(b: SimpleNamespace) -> None:
    line = "Mean +- std dev: [base] 101 ms +- 1 ms -> [more] 106 ms +- 1 ms: 1.05x {}"
    assert b.gate_tools.pyperf_said(line.format("slower")) == "slower"
    assert b.gate_tools.pyperf_said(line.format("faster")) == "faster"
    assert b.gate_tools.pyperf_said("Benchmark hidden because not significant (1): command") == "passed"


def test_a_round_of_other_sources_is_not_resumed_from(b: SimpleNamespace, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    found = []
    for text in ("one", "two"):
        file.write_text(text)
        b.probe_rounds.DEPENDS = {file}
        b.probe_rounds._fingerprint.cache_clear()
        found.append(b.probe_rounds._fingerprint())
    b.probe_rounds._fingerprint.cache_clear()
    assert found[0] != found[1]
