"""CPU time by CPU as it is drawn: a view for each line, a panel for each curve, and the numbers as text."""

from tests.kit import samples

from scalograph.protocol.figure import Figure
from scalograph.protocol.findings import Findings
from scalograph.report.payload import payload


def share(findings: Findings) -> Figure:
    (family,) = payload(findings)["families"]
    found = family["share"]
    assert isinstance(found, Figure)
    return found


def test_each_bar_is_split_over_the_cpus() -> None:
    figure = share(samples.small())
    plots = [plot for view in figure.views for plot in view.plots]
    first, second = plots[0].data
    assert all(a + b == 100 for a, b in zip(first["y"], second["y"], strict=True))
    assert (first["type"], plots[0].layout["barmode"]) == ("bar", "stack")
    assert [shape["y0"] for shape in plots[0].layout["shapes"]] == [50]
    assert "on CPU no. 2 of 2" in second["hovertemplate"]


def test_one_level_of_the_lines_or_each_of_too_many_curves_is_seen_at_a_time() -> None:
    figure = share(samples.full(n=2, levels=(1, 2)))
    assert figure.choice == "Lock" and len(figure.views) > 1
    assert len({view.name for view in figure.views}) == len(figure.views)
    tables = figure.details[0].tables
    assert len(tables) == sum(len(view.plots) for view in figure.views)
    findings = samples.small()
    first = findings.curves[0]
    findings.curves = [first.model_copy(update={"group": {"a": i % 2, "b": i}}) for i in range(40)]
    figure = share(findings)
    assert figure.choice == "Configuration" and {len(view.plots) for view in figure.views} == {1}
    assert len(figure.views) == 40


def test_many_cpus_are_a_map_and_runs_held_on_one_have_nothing_to_show() -> None:
    findings = samples.small()
    for point in findings.curves[0].points:
        point.per_cpu_share = [1 / 16] * 16
    figure = share(findings)
    wide = [plot for view in figure.views for plot in view.plots if plot.data[0]["type"] == "heatmap"]
    assert len(wide[0].data[0]["z"]) == 16 and wide[0].data[0]["y0"] == 1
    assert figure.caption.startswith("Rows: CPUs")
    findings = samples.small()
    for curve in findings.curves:
        for point in curve.points:
            point.per_cpu_share = [0.995, 0.005]
    (family,) = payload(findings)["families"]
    assert family["share"] is None
