"""Surfaces in the page's data: what is drawn, what is told, and how large it gets."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from scalograph.report.html import page, write
from scalograph.report.payload import payload


@pytest.fixture(scope="module")
def sample() -> ModuleType:
    spec = importlib.util.spec_from_file_location("surface_sample", Path(__file__).with_name("surface_sample.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_surface_is_drawn_in_one_unit_and_a_hole_stays_one(sample: ModuleType) -> None:
    (one,) = payload(sample.two_cpus())["surfaces"]
    assert one["unit"] == "ms"
    assert one["z"][0][0] == 100.0
    assert one["z"][-1][-1] is None
    assert one["told"][-1][-1] == []


def test_under_the_pointer_stands_the_evidence(sample: ModuleType) -> None:
    (one,) = payload(sample.two_cpus())["surfaces"]
    assert one["told"][1][2] == [
        "processes: 3, CPUs: 2", "173.2 [171.5, 174.9] ms", "expected 150 ms", "over expected 1.155 [1.143, 1.166]",
        "fairness of finish times 0.9992 [0.9982, 1.0002]", "CPUs busy: 100 %, 100 %", "longer than the CPUs need",
    ]  # fmt: skip


def test_a_single_row_is_a_curve_and_no_surface(sample: ModuleType) -> None:
    assert payload(sample.with_surfaces([sample.surface([1, 2, 3, 4], [1])]))["surfaces"] == []


def test_surfaces_of_a_large_machine_fit(sample: ModuleType, tmp_path: Path) -> None:
    found = sample.with_surfaces([sample.surface(range(1, 25), range(1, 257), {"options": str(i)}) for i in range(4)])
    write(found, tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < 3_000_000


def test_titles_of_a_surface_enter_as_text(sample: ModuleType) -> None:
    assert sample.HOSTILE not in page(sample.hostile())
