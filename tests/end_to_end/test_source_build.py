"""A build of a tree of one's own, by the real path: declared, run, and told."""

import json
import shutil
from pathlib import Path

import pytest

from tests.kit.results import complete, findings_in

STUDY = """\
version = 1
name = "own-build"
title = "Which -j?"
work = "total"
seed = 1

[workload]
use = "source-build"
parameters = {{ tree = "own", source = "{source}", target = "{target}" }}

[factors.jobs]
levels = [1, 2]

[baseline]
jobs = 1

[responses.wall]
from = "window.wall"
unit = "s"

[responses.user]
from = "run.user"
unit = "s"

[protocol]
runs = 2
warmup_runs = 1
max_reruns = 0
"""
MAKEFILE = "all: a.o b.o c.o\n%.o: %.c\n\tcc -c -o $@ $<\nbroken:\n\tcc -c none.c\n"
# A Makefile that lacks a dependency builds by luck; this one fails where a lucky one might.
MAKEFILE += "alone: all\n\t@$(if $(findstring j2,$(MAKEFLAGS)),$(error b.h is not there yet))echo done\n"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of a user who has built such a tree before."""
    return str(tmp_path_factory.mktemp("cache"))


def study(folder: Path, target: str, iterations: int = 1) -> Path:
    tree = folder / "tree"
    tree.mkdir()
    (tree / "Makefile").write_text(MAKEFILE)
    for name in "abc":
        (tree / f"{name}.c").write_text(f"int {name}(void) {{ return 1; }}\n")
    file = folder / "study.toml"
    file.write_text(STUDY.format(source=tree, target=target) + f"iterations = {iterations}\n")
    return file


@pytest.mark.skipif(not (shutil.which("cc") and shutil.which("make")), reason="needs cc and make")
def test_every_run_compiles_everything_and_counts_it(tmp_path: Path, cache: str) -> None:
    env = {"XDG_CACHE_HOME": cache}
    complete("run", study(tmp_path, "all"), "-o", tmp_path / "out", cwd=tmp_path, env=env)
    events = [json.loads(line) for line in (tmp_path / "out/journal.jsonl").read_text().splitlines()]
    runs = [event["record"] for event in events if event["event"] == "run"]
    assert len(runs) >= 5
    for record in runs:
        assert record["run"]["status"] == "ok", record["run"]["reason"]
        (part,) = record["iterations"]
        assert part["work"] == [3]
        assert part["cpu_ns"][0] > 0
        # The copying is over before the window begins.
        assert part["start_ns"][0] > 0


@pytest.mark.skipif(not (shutil.which("cc") and shutil.which("make")), reason="needs cc and make")
def test_setting_up_is_told_of_each_build_alone(tmp_path: Path, cache: str) -> None:
    env = {"XDG_CACHE_HOME": cache}
    file = study(tmp_path, "all", iterations=4)
    file.write_text(file.read_text().replace("runs = 2\nwarmup_runs = 1", "runs = 1"))
    complete("run", file, "-o", tmp_path / "out", cwd=tmp_path, env=env)
    events = [json.loads(line) for line in (tmp_path / "out/journal.jsonl").read_text().splitlines()]
    records = [event["record"] for event in events if event["event"] == "run"]
    assert len(records) == 2
    for record in records:
        (values,) = (part["values"]["setup_cpu_s"] for part in record["values"])
        (built,) = (part["cpu_ns"] for part in record["iterations"])
        # The fourth would hold the three builds before it. To copy a few files takes less than to compile nine.
        assert len(values) == 4 and values[3] < sum(built[:3]) / 1e9


@pytest.mark.skipif(not (shutil.which("cc") and shutil.which("make")), reason="needs cc and make")
def test_a_level_says_what_is_prepared_and_the_journal_keeps_it(tmp_path: Path) -> None:
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    file = study(tmp_path, "all")
    text = file.read_text().replace('tree = "own", ', "")
    file.write_text(text.replace("[baseline]", '[factors.tree]\nlevels = ["own"]\n\n[baseline]'))
    done = complete("run", file, "-o", tmp_path / "out", cwd=tmp_path, env=env)
    assert "source-build: prepares own, once" in done.stderr
    assert "own: a tree of one's own" in done.stderr
    first = json.loads((tmp_path / "out/journal.jsonl").read_text().splitlines()[0])
    assert first["uses"]["prepared"] == {"own": "a tree of one's own"}


@pytest.mark.skipif(not (shutil.which("cc") and shutil.which("make")), reason="needs cc and make")
def test_a_tree_that_will_not_build_is_counted_and_says_why(tmp_path: Path, cache: str) -> None:
    env = {"XDG_CACHE_HOME": cache}
    complete("run", study(tmp_path, "broken"), "-o", tmp_path / "out", cwd=tmp_path, env=env, codes=(4,))
    found = findings_in(tmp_path / "out")
    ((reason, count),) = found["runs"]["failures"].items()
    assert count == 4
    assert "make ended with exit code 2" in reason
    assert "none.c" in reason


@pytest.mark.skipif(not (shutil.which("cc") and shutil.which("make")), reason="needs cc and make")
def test_what_fails_with_one_j_is_measured_with_the_others(tmp_path: Path, cache: str) -> None:
    env = {"XDG_CACHE_HOME": cache}
    complete("run", study(tmp_path, "alone"), "-o", tmp_path / "out", cwd=tmp_path, env=env, codes=(4,))
    found = findings_in(tmp_path / "out")
    assert found["runs"]["n_failed"] == 2
    assert found["runs"]["n_empty"] == 1
    ((reason, count),) = found["runs"]["failures"].items()
    assert count == 2 and "b.h is not there yet" in reason
    points = {point["level"]: point for curve in found["curves"] for point in curve["points"]}
    assert points[1]["responses"]["wall"]["estimate"]["value"] > 0
    assert points[2]["n_failed"] == 2


@pytest.mark.skipif(not (shutil.which("gcc") and shutil.which("make")), reason="needs gcc and make")
def test_a_synthetic_tree_is_made_built_and_its_phases_are_told(tmp_path: Path, cache: str) -> None:
    env = {"XDG_CACHE_HOME": cache}
    file = study(tmp_path, "all")
    text = file.read_text().replace('tree = "own", ', 'tree = "synthetic-modules", ').replace("[1, 2]", "[1]")
    # Its phases are the same however well its code is compiled.
    text = text.replace("[factors.jobs]", 'env = { MAKEFLAGS = " -- CFLAGS=-O0" }\n\n[factors.jobs]')
    file.write_text(text.replace("runs = 2\nwarmup_runs = 1", "runs = 1"))
    done = complete("run", file, "-o", tmp_path / "out", cwd=tmp_path, env=env)
    assert "synthetic-modules: synthetic tree 90 units" in done.stderr
    events = [json.loads(line) for line in (tmp_path / "out/journal.jsonl").read_text().splitlines()]
    (record,) = (event["record"] for event in events if event["event"] == "run")
    (values,) = (part["values"] for part in record["values"])
    (part,) = record["iterations"]
    assert part["work"] == values["objects"] == [90]
    window_s = (part["end_ns"][0] - part["start_ns"][0]) / 1e9
    assert values["image_wall_s"][0] + values["modules_wall_s"][0] == pytest.approx(window_s, abs=1e-4)
    assert values["image_end_ns"][0] / 1e9 == pytest.approx(values["image_wall_s"][0], abs=1e-5)
