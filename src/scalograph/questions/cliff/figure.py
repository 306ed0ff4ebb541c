"""Cliffs as figures take them: bands over the axis along which they were searched."""

from math import log10
from typing import Any

from scalograph.protocol.findings import Findings


def cliff_marks(findings: Findings, factor: str) -> list[dict[str, Any]]:
    """Where each begins and is over, on the logarithmic axis of its factor; empty on any other."""
    if findings.cliffs is None or findings.cliffs.factor != factor:
        return []
    found = [cliff for cliff in findings.cliffs.cliffs if 0 < cliff.low < cliff.high]
    return [{"low": round(log10(cliff.low), 5), "high": round(log10(cliff.high), 5)} for cliff in found]
