"""A build of a tree of one's own, by the real path: declared, run, and told."""

import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.kit.results import COMPLETE, complete, events_in, findings_in, records_in
from tests.kit.studies import a_study, write_study

pytestmark = pytest.mark.skipif(not (shutil.which("cc") and shutil.which("make")), reason="needs cc and make")

MAKEFILE = "all: a.o b.o c.o\n%.o: %.c\n\tcc -c -o $@ $<\nbroken:\n\tcc -c none.c\n"
# A Makefile that lacks a dependency builds by luck; this one fails where a lucky one might.
MAKEFILE += "alone: all\n\t@$(if $(findstring j2,$(MAKEFLAGS)),$(error b.h is not there yet))echo done\n"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of a user who has built such a tree before."""
    return str(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def build(tmp_path: Path, cache: str) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Run a study of a target of a tree of one's own; what it declares otherwise is given."""

    def run(
        target: str, codes: tuple[int, ...] = COMPLETE, where: str = cache, tree: str = "own",
        factors: Mapping[str, Any] | None = None, workload: Mapping[str, Any] | None = None, **protocol: int,
    ) -> Any:  # fmt: skip
        source = tmp_path / "tree"
        source.mkdir()
        (source / "Makefile").write_text(MAKEFILE)
        for name in "abc":
            (source / f"{name}.c").write_text(f"int {name}(void) {{ return 1; }}\n")
        own = {"tree": tree, "source": str(source), "target": target}
        parameters = {name: value for name, value in own.items() if name not in (factors or {})}
        text = a_study(
            {"jobs": [1, 2], **(factors or {})}, baseline={"jobs": 1},
            workload={"use": "source-build", "parameters": parameters, **(workload or {})},
            protocol={"runs": 2, "warmup_runs": 1, "max_reruns": 0, **protocol},
            responses={"wall": {"from": "window.wall", "unit": "s"}, "user": {"from": "run.user", "unit": "s"}},
        )  # fmt: skip
        file, env = write_study(tmp_path, text), {"XDG_CACHE_HOME": where}
        return complete("run", file, "-o", "out", cwd=tmp_path, env=env, codes=codes)

    return run


def test_every_run_compiles_everything_and_counts_it(tmp_path: Path, build: Any) -> None:
    build("all")
    records = records_in(tmp_path / "out")
    assert len(records) >= 5
    for record in records:
        assert record["run"]["status"] == "ok", record["run"]["reason"]
        (part,) = record["iterations"]
        assert part["work"] == [3]
        assert part["cpu_ns"][0] > 0
        # The copying is over before the window begins.
        assert part["start_ns"][0] > 0


def test_setting_up_is_told_of_each_build_alone(tmp_path: Path, build: Any) -> None:
    build("all", iterations=4, runs=1, warmup_runs=0)
    records = records_in(tmp_path / "out")
    assert len(records) == 2
    for record in records:
        (values,) = (part["values"]["setup_cpu_s"] for part in record["values"])
        (built,) = (part["cpu_ns"] for part in record["iterations"])
        # The fourth would hold the three builds before it. To copy a few files takes less than to compile nine.
        assert len(values) == 4 and values[3] < sum(built[:3]) / 1e9


def test_a_level_says_what_is_prepared_and_the_journal_keeps_it(tmp_path: Path, build: Any) -> None:
    done = build("all", factors={"tree": ["own"]}, where=str(tmp_path / "cache"))
    assert "source-build: prepares own, once" in done.stderr
    assert "own: a tree of one's own" in done.stderr
    assert events_in(tmp_path / "out")[0]["uses"]["prepared"] == {"own": "a tree of one's own"}


@pytest.mark.parametrize(("target", "n_failed", "n_empty", "told"), [
    ("broken", 4, 2, ["make ended with exit code 2", "none.c"]),
    # With one -j it fails, and is measured with the others.
    ("alone", 2, 1, ["b.h is not there yet"]),
])  # fmt: skip
def test_a_tree_that_will_not_build_is_counted_and_says_why(
    tmp_path: Path, build: Any, target: str, n_failed: int, n_empty: int, told: list[str]
) -> None:
    build(target, codes=(4,))
    found = findings_in(tmp_path / "out")
    assert (found["runs"]["n_failed"], found["runs"]["n_empty"]) == (n_failed, n_empty)
    ((reason, count),) = found["runs"]["failures"].items()
    assert count == n_failed and [words for words in told if words not in reason] == []
    points = {point["level"]: point for curve in found["curves"] for point in curve["points"]}
    assert points[2]["n_failed"] == 2
    assert target == "broken" or points[1]["responses"]["wall"]["estimate"]["value"] > 0


def test_a_synthetic_tree_is_made_built_and_its_phases_are_told(tmp_path: Path, build: Any) -> None:
    if not shutil.which("gcc"):
        pytest.skip("needs gcc")
    # Its phases are the same however well its code is compiled.
    flags = {"MAKEFLAGS": " -- CFLAGS=-O0"}
    once = {"runs": 1, "warmup_runs": 0}
    done = build("all", tree="synthetic-modules", factors={"jobs": [1]}, workload={"env": flags}, **once)
    assert "synthetic-modules: synthetic tree 90 units" in done.stderr
    (record,) = records_in(tmp_path / "out")
    (values,) = (part["values"] for part in record["values"])
    (part,) = record["iterations"]
    assert part["work"] == values["objects"] == [90]
    window_s = (part["end_ns"][0] - part["start_ns"][0]) / 1e9
    assert values["image_wall_s"][0] + values["modules_wall_s"][0] == pytest.approx(window_s, abs=1e-4)
    assert values["image_end_ns"][0] / 1e9 == pytest.approx(values["image_wall_s"][0], abs=1e-5)
