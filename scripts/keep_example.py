#!/usr/bin/env python3
"""Keep the journal of a finished study, packed, in studies/NAME/example.

A journal that is larger than a megabyte loses the timelines of runs that its report does not show. It is analyzed again
without them, and stays whole where any finding would differ.

Usage: scripts/keep_example.py FOLDER ...   (such as scalograph-results/cpu-surface/latest)
"""

import gzip
import json
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from scalograph.cli.analyze_steps import analyze
from scalograph.findings.table import load
from scalograph.protocol import saved_documents

STUDIES = Path(__file__).resolve().parents[1] / "studies"
LARGE = 1_000_000
ENDS = ("complete", "budget")
BESIDE = ("published.csv", "profile.json")


def main() -> None:
    """Keep each of these results as the example of its study."""
    if len(sys.argv) < 2:
        sys.exit("found no argument, expected the folders of finished studies")
    for results in map(Path, sys.argv[1:]):
        keep_part(results, STUDIES / studied(results) / "example")


def studied(results: Path) -> str:
    """The name of the study, which is one that ships and has come to its end."""
    table = load(results / "journal.jsonl", keep_observations=False)
    if not (STUDIES / table.study.name / "study.toml").exists():
        sys.exit(f"{results}: found the study {table.study.name}, expected one in {STUDIES.name}/")
    if table.end_reason not in ENDS:
        sys.exit(f"{results}: not finished ({table.end_reason}); scalograph study {table.study.name} --resume")
    return table.study.name


def keep_part(results: Path, example: Path) -> None:
    """Replace the example of a study by these results."""
    lines = (results / "journal.jsonl").read_bytes()
    packed, note = pack(lines), ""
    if len(packed) > LARGE:
        thinner = pack(thin(lines, shown(results)))
        same = is_told_the_same(results, thinner)
        packed, note = (thinner, "without timelines that no report shows") if same else (packed, "whole")
    shutil.rmtree(example, ignore_errors=True)
    example.mkdir(parents=True)
    (example / "journal.jsonl.gz").write_bytes(packed)
    for name in BESIDE:
        if (results / name).is_file():
            shutil.copy(results / name, example)
    large = "; LARGE" if len(packed) > LARGE else ""
    print(f"{example.relative_to(STUDIES)}: {len(packed):,} bytes{f', {note}' if note else ''}{large}")


def pack(lines: bytes) -> bytes:
    """The same bytes each time: no date, no name."""
    return gzip.compress(lines, compresslevel=9, mtime=0)


def shown(results: Path) -> set[str]:
    """Runs whose timelines the findings hold."""
    return {timeline.run for timeline in saved_documents.read_findings(results / "findings.json").timelines}


def thin(lines: bytes, runs: set[str]) -> bytes:
    """The journal without the timelines of other runs; every other line, and every other figure, stays as it is."""
    return b"".join(_thinner(line, runs) for line in lines.splitlines(keepends=True))


def _thinner(line: bytes, runs: set[str]) -> bytes:
    event = json.loads(line)
    if event.get("event") != "run" or event["run"] in runs or not event["record"].get("timeline"):
        return line
    event["record"]["timeline"] = None
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def is_told_the_same(results: Path, packed: bytes) -> bool:
    """Whether the thinner journal leads to the same findings."""
    with TemporaryDirectory() as scratch:
        whole, thinner = Path(scratch, "whole"), Path(scratch, "thinner")
        for copy in (whole, thinner):
            copy.mkdir()
            for file in results.iterdir():
                if file.is_file() and file.name not in ("findings.json", "report.html", "journal.jsonl"):
                    shutil.copy(file, copy)
        shutil.copy(results / "journal.jsonl", whole)
        (thinner / "journal.jsonl.gz").write_bytes(packed)
        return analyze(whole)[0] == analyze(thinner)[0]


if __name__ == "__main__":
    main()
