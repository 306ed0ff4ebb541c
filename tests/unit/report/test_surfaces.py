"""Surfaces as they are drawn: what is drawn, what is told, and how large it gets."""

from pathlib import Path

from tests.kit import samples

from scalograph.questions.surface.chart import figures
from scalograph.report.html import page, write


def test_a_surface_is_drawn_in_one_unit_with_its_evidence() -> None:
    (one,) = figures(samples.two_cpus())
    assert one.unit == "ms"
    for plot in one.views[0].plots:
        z, text = plot.data[0]["z"], plot.data[0]["text"]
        assert z[0][0] == 100.0 and z[-1][-1] is None and text[-1][-1] == ""
    assert one.views[0].plots[0].data[0]["text"][1][2].split("<br>") == [
        "processes: 3, CPUs: 2", "173.2 [171.5, 174.9] ms", "expected 150 ms", "over expected 1.155 [1.143, 1.166]",
        "fairness of finish times 0.9992 [0.9982, 1.0002]", "CPUs busy: 100 %, 100 %", "longer than the CPUs need",
    ]  # fmt: skip
    ((table,),) = [details.tables for details in figures(samples.two_cpus())[0].views[0].details]
    assert table.head == ["processes", "CPUs 1", "CPUs 2"] and len(table.rows) == 11
    assert table.rows[-1][-1] == "\N{EN DASH}"
    assert figures(samples.with_surfaces(samples.surface([1, 2, 3, 4], [1]))) == []
    assert samples.HOSTILE not in page(samples.hostile_surface(), figures(samples.hostile_surface()))
    assert samples.HOSTILE not in figures(samples.hostile_surface())[0].views[0].plots[0].data[0]["text"][0][0]


def test_the_ridge_and_the_cells_with_a_cpu_for_each_worker_are_marked() -> None:
    (flat,) = figures(samples.two_cpus())[0].views[0].plots
    lines = figures(samples.many_cpus())[0].views[0].plots[1]
    assert list(zip(flat.data[1]["x"], flat.data[1]["y"], strict=True)) == [(0, 0), (1, 1)]
    assert flat.layout["shapes"][0]["path"] == "M-0.5,-0.5L0.5,-0.5L0.5,0.5L1.5,0.5L1.5,1.5L-0.5,1.5Z"
    assert [shape["type"] for shape in lines.layout["shapes"]] == ["path", "line"]


def test_surfaces_of_a_large_machine_fit(tmp_path: Path) -> None:
    """Four of them: each adds as much to a page, for what is packed is not looked back at that far."""
    sizes = []
    for n_cpus in (2, 256):
        found = samples.with_surfaces(samples.surface(range(1, 25), range(1, n_cpus + 1)))
        write(found, figures(found), tmp_path / "report.html")
        sizes.append((tmp_path / "report.html").stat().st_size)
    small, large = sizes
    assert small + 4 * (large - small) < 3_000_000
