"""Plans of large machines and large grids: what they take grows with what they hold."""

import os
import subprocess
import sys

import pytest

from scalograph.design.resolve import Exclusions
from scalograph.errors import StudyError
from tests.kit import ROOT
from tests.kit.studies import VALID

# Seconds of CPU time for all of these, imports counted: a second look at every CPU for each takes minutes.
LIMIT_S = 8
PLANNED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({limit}, {limit}))
from scalograph.design.resolve import design
from scalograph.protocol.facts import CpuFact, HostFacts
from scalograph.study.load import parse
cpus = tuple(CpuFact(cpu=n, core=n // 2, l2=n // 4, l3=n // 32, node=n // 512, package=n // 1024) for n in range(4096))
made = design(parse(sys.stdin.read()), HostFacts(cpus=cpus, smt=True))
print(len(made.configurations), *made.dropped, sep="|")
"""
CONTROLLED = """
[factors.cpus]
control = "cpus"
levels = "1:all"
[factors.place]
control = "placement"
levels = ["compact", "scatter", "siblings", "one-per-core"]
"""


def planned(text: str) -> str:
    argv = [sys.executable, "-c", PLANNED.format(limit=LIMIT_S)]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(argv, env=env, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    return done.stdout


def test_a_plan_for_4096_cpus_or_thousands_of_exclusions_looks_at_each_once() -> None:
    study = VALID.replace('[factors.threads]\nlevels = "1,2,4"', CONTROLLED).replace('"{threads}"', '"{lock}"')
    study = study.replace("threads = 1", "cpus = 1").replace('["none", "cas"]', '["none"]')
    n, *dropped = planned(study).strip().split("|")
    assert int(n) == 3 * 4096 + 2048
    assert len(dropped) == 2048 and dropped[0].startswith("1 configuration not planned: 2049 CPUs placed one-per-core")
    names = [f"n{i}" for i in range(5)]
    factors = "".join(f'[factors.{name}]\nlevels = "1:10"\n' for name in names)
    exclude = "".join(
        f"[[exclude]]\nn0 = [{i % 9 + 1}]\nn1 = [{i // 9 % 9 + 1}]\nn2 = [1, {i // 99 % 9 + 2}]\n" for i in range(999)
    )
    study = VALID.replace('"{threads}"', ", ".join(f'"{{{name}}}"' for name in names)).partition("[factors.threads]")[0]
    assert 10_000 < int(planned(f"{study}{factors}{exclude}").strip()) < 100_000


@pytest.mark.parametrize(("exclude", "left"), [
    ([], {(1, "a"), (1, "b"), (2, "a"), (2, "b")}),
    ([{}], {(1, "a"), (1, "b"), (2, "a"), (2, "b")}),
    ([{"n": [1]}], {(2, "a"), (2, "b")}),
    ([{"n": [1], "m": ["a"]}], {(1, "b"), (2, "a"), (2, "b")}),
    ([{"n": [1], "m": ["a"]}, {"m": ["b"]}], {(2, "a")}),
    ([{"n": []}, {"n": [3]}], {(1, "a"), (1, "b"), (2, "a"), (2, "b")}),
])  # fmt: skip
def test_what_is_left_out(exclude: list[dict[str, list[object]]], left: set[tuple[int, str]]) -> None:
    excluded = Exclusions(exclude)  # type: ignore[arg-type]
    grid = [(n, m) for n in (1, 2) for m in ("a", "b")]
    assert {(n, m) for n, m in grid if not excluded.contains({"n": n, "m": m})} == left


def test_runs_are_counted_before_they_are_made() -> None:
    factors = "".join(f'[factors.n{i}]\nlevels = "1:300"\n' for i in range(2))
    study = VALID.replace('"{threads}"', '"{n0}", "{n1}"').partition("[factors.threads]")[0]
    study += f"{factors}[protocol]\nruns = 10_000\n"
    from scalograph.design.resolve import assumed_host, design
    from scalograph.study.load import parse

    made = parse(study)
    with pytest.raises(
        StudyError, match="900000000 runs of 90000 configurations, expected at most 2000000 runs in all"
    ):
        design(made, assumed_host(made, 1))
