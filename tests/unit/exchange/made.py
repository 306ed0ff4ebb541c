"""Results as JMH writes them, with the figures that a test is about."""

import json
from pathlib import Path
from typing import Any

from tests.kit import ROOT

RECORDED = ROOT / "tests" / "recorded" / "jmh-fork-join.json"


def result(
    forks: Any, unit: str = "ms/op", mode: str = "ss", params: dict[str, str] | None = None, **more: Any
) -> dict[str, Any]:
    """One benchmark; `forks` are its shots, or bins where the mode is sample."""
    data = "rawDataHistogram" if mode == "sample" else "rawData"
    metric = {"score": 1.0, "scoreError": "NaN", "scoreUnit": unit, data: forks}
    document = {"jmhVersion": "1.37", "benchmark": "a.b.Sum.run", "mode": mode, "primaryMetric": metric}
    return {**document, **({"params": params} if params else {}), "secondaryMetrics": {"x": {"y": "z"}}, **more}


def written(folder: Path, *results: Any) -> Path:
    """A file of these results."""
    file = folder / "jmh.json"
    file.write_text(json.dumps(list(results)))
    return file
