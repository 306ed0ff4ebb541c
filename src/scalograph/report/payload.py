"""What the page's script reads: figures as plain numbers and texts that are already formatted."""

from typing import Any

from scalograph.protocol.findings import Findings
from scalograph.questions.break_even.figure import even_maps
from scalograph.questions.surface.figure import surfaces
from scalograph.report.axis import Factors, Levels
from scalograph.report.curves import families
from scalograph.report.samples import Samples
from scalograph.report.timelines import timelines, untimed
from scalograph.report.traces import traces
from scalograph.text.escape import visible


def payload(findings: Findings) -> dict[str, Any]:
    """Everything the figures, the raw samples and the download need, and nothing else."""
    factors = Factors(findings)
    samples = Samples(factors)
    drawn = families(findings, factors, samples)
    shown = timelines(findings, factors)
    responses = {r.name: visible(r.unit) for r in findings.study.responses}
    responses |= {name: "" for row in samples.rows for name in row.scores if name not in responses}
    return {
        "study": visible(findings.study.name),
        "families": drawn,
        "even": even_maps(findings, factors),
        "surfaces": surfaces(findings, factors),
        "timelines": shown,
        "traces": traces(findings, factors),
        "untimed": untimed(findings),
        "samples": samples.columns(responses),
        "responses": [[name, visible(name), unit] for name, unit in responses.items()],
        "factors": {f.name: _factor(f) for f in factors.known.values()},
    }


def _factor(one: Levels) -> dict[str, Any]:
    """A factor as it is shown, and its levels as they are, for the download."""
    raw = [visible(x) if isinstance(x, str) else x for x in one.levels]
    return {"title": one.title, "unit": one.unit, "levels": one.texts(), "raw": raw}
