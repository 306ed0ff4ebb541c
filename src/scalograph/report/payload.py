"""What the page's script reads: figures as plain numbers and texts that are already formatted."""

from collections.abc import Sequence
from typing import Any

from scalograph.protocol.figure import Figure, Overlay
from scalograph.protocol.findings import Findings
from scalograph.report import timeline_figure, trace_figure
from scalograph.report.families import families
from scalograph.report.samples import Samples
from scalograph.text.axes import Factors, Levels
from scalograph.text.escape import visible


def payload(findings: Findings, drawn: Sequence[Figure | Overlay] = ()) -> dict[str, Any]:
    """Everything the figures, the raw samples and the download need, and nothing else.

    Args:
        findings: as they are written.
        drawn: what the questions make of them: figures of their own, and what stands over curves.
    """
    overlays = [one for one in drawn if isinstance(one, Overlay)]
    factors = Factors(findings, by_ratio=[one.factor for one in overlays])
    samples = Samples(factors)
    curves = families(findings, factors, samples, overlays)
    responses = {r.name: visible(r.unit) for r in findings.study.responses}
    responses |= {name: "" for row in samples.rows for name in row.scores if name not in responses}
    logged = samples.take(findings.log) if findings.log else {}
    return {
        "study": visible(findings.study.name),
        "before": [one for one in drawn if isinstance(one, Figure)],
        "families": curves,
        "after": [*trace_figure.figures(findings, factors), *timeline_figure.figures(findings, factors)],
        "untimed": timeline_figure.untimed(findings),
        "samples": samples.columns(responses) | logged,
        "responses": [[name, visible(name), unit] for name, unit in responses.items()],
        "factors": {f.name: _factor(f) for f in factors.known.values()},
    }


def _factor(one: Levels) -> dict[str, Any]:
    """A factor as it is shown, and its levels as they are, for the download."""
    raw = [visible(x) if isinstance(x, str) else x for x in one.levels]
    return {"title": one.title, "unit": one.unit, "levels": one.texts(), "raw": raw}
