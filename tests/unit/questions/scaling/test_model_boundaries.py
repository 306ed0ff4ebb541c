"""Boundaries of machines that nobody has to own, along CPUs and along workers."""

from pathlib import Path
from typing import Any

import pytest

from scalograph.analysis.usl_predict import Boundary
from scalograph.findings.table import Table
from scalograph.questions.scaling.model_boundaries import NO_CPU, SIBLINGS, SPEED, boundaries
from scalograph.study.load import parse
from scalograph.system.topology import read_topology
from tests.kit.studies import a_study
from tests.unit.control.trees import MACHINES, bare, grown, planted

PLACES = {"control": "placement", "levels": ["compact", "scatter"]}
STUDY = a_study({"threads": [1, 2], "cpus": {"control": "cpus", "levels": [1, 2]}, "place": PLACES})
SOCKET, NODE, L3, L2 = "another socket", "another memory node", "another L3 cache", "another L2 cache"


def on(root: Path, **machine: Any) -> Table:
    topology = [cpu.model_dump() for cpu in read_topology(root)]
    return Table(parse(STUDY), "hash", {"topology": topology, **machine}, [], [])


def along_cpus(table: Table, place: str = "compact") -> list[Boundary]:
    return list(boundaries(table, "cpus", {"threads": 8, "place": place}, None))


@pytest.mark.parametrize(("machine", "place", "expected"), [
    ("two sockets", "compact", [(1, SIBLINGS), (16, f"{SOCKET} begins"), (32, f"{SOCKET} would begin")]),
    ("two sockets", "scatter", [(1, f"{SOCKET} begins"), (16, SIBLINGS), (32, f"{SOCKET} would begin")]),
    ("chiplets", "compact", [(4, f"{L3} begins"), (8, f"{L3} begins"), (10, f"{L3} would begin")]),
    ("hybrid", "compact", [(1, SIBLINGS), (4, SPEED)]),
    ("four nodes", "compact", [(2, f"{NODE} begins"), (4, f"{SOCKET} begins"), (6, f"{NODE} begins"),
                               (8, f"{SOCKET} would begin")]),
])  # fmt: skip
def test_along_cpus(machine: str, place: str, expected: list[tuple[int, str]], tmp_path: Path) -> None:
    assert along_cpus(on(grown(tmp_path, MACHINES[machine]())), place) == expected


def test_a_machine_of_one_kind_has_none(tmp_path: Path) -> None:
    assert along_cpus(on(planted(tmp_path / "guest", "two-cpu-guest"))) == []
    assert along_cpus(on(bare(tmp_path / "bare", 4))) == []


def test_the_cpus_of_a_node_bound_no_number_of_nodes(tmp_path: Path) -> None:
    table = on(bare(tmp_path, 4))
    table.study = parse(a_study({"nodes": {"control": "cluster:nodes", "levels": [1, 2, 4, 8]}, "threads": [1, 8]}))
    assert boundaries(table, "nodes", {"threads": 1}, 4) == ()
    assert boundaries(table, "threads", {"nodes": 8}, 4) == (Boundary(4, NO_CPU),)


@pytest.mark.parametrize("topology", [None, "none", [{"core": "x"}], [3]])
def test_a_topology_that_cannot_be_read_is_not_known(topology: Any, tmp_path: Path) -> None:
    table = on(bare(tmp_path, 2), topology=topology)
    assert along_cpus(table) == []
    assert boundaries(table, "threads", {"cpus": 2, "place": "compact"}, 2) == (Boundary(2, NO_CPU),)


@pytest.mark.parametrize(("cpus", "place", "expected"), [
    (32, "compact", [(16, SIBLINGS), (16, f"{SOCKET} begins"), (32, NO_CPU)]),
    (16, "compact", [(8, SIBLINGS), (16, NO_CPU)]), (4, "scatter", [(2, f"{SOCKET} begins"), (4, NO_CPU)]),
])  # fmt: skip
def test_more_workers_than_fit_share(cpus: int, place: str, expected: list[tuple[int, str]], tmp_path: Path) -> None:
    table = on(grown(tmp_path, MACHINES["two sockets"]()))
    found = boundaries(table, "threads", {"cpus": cpus, "place": place}, cpus)
    assert [*found] == expected
