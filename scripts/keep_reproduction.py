#!/usr/bin/env python3
"""Keep a finished reproduction: its page in studies/reproduced, each part's journal packed in studies/PART/example.

A study that has an example of its own, such as one of its full form, keeps it, unless PART names it; the journal of the
page then lies in studies/reproduced/PART.

A journal that is larger than a megabyte loses the timelines of runs that its report does not show. It is analyzed again
without them, and stays whole where any finding would differ.

Usage: scripts/keep_reproduction.py FOLDER [PART ...]   (such as scalograph-results/reproduce/latest)
"""

import gzip
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from scalograph.cli.last_stops import analyze
from scalograph.protocol import findings_file, reproduction_file
from scalograph.protocol.reproduction import Reproduction
from scalograph.report.reproduction_page import write

STUDIES = Path(__file__).resolve().parents[1] / "studies"
LARGE = 1_000_000
BESIDE = ("published.csv", "profile.json")


def main() -> None:
    """Keep all parts that are done, and the page."""
    if len(sys.argv) < 2:
        sys.exit("found no argument, expected the folder of a reproduction")
    folder, replaced = Path(sys.argv[1]), sys.argv[2:]
    made = reproduction_file.read(folder)
    if left := [part.study for part in made.parts if part.state in ("begun", "not run")]:
        sys.exit(f"{folder}: not finished ({', '.join(left)}), expected all parts; scalograph reproduce --resume")
    kept = STUDIES / "reproduced"
    shutil.rmtree(kept, ignore_errors=True)
    places = {part.study: place(part.study, replaced) for part in made.parts if part.state == "done"}
    for study, example in places.items():
        keep_part(folder / study, example)
    kept.mkdir(exist_ok=True)
    made = elsewhere(made, places)
    reproduction_file.write(made, kept)
    write(made, kept / reproduction_file.PAGE)
    print(f"{kept.relative_to(STUDIES.parent)}: {(kept / reproduction_file.PAGE).stat().st_size:,} bytes")


def place(study: str, replaced: Sequence[str]) -> Path:
    """Where the journal of a part is kept."""
    example = STUDIES / study / "example"
    return STUDIES / "reproduced" / study if example.exists() and study not in replaced else example


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
    return {timeline.run for timeline in findings_file.read(results / "findings.json").timelines}


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


def elsewhere(made: Reproduction, places: Mapping[str, Path]) -> Reproduction:
    """The document for the page that is kept: the reports of its parts are made by a command."""
    parts = [part.model_copy(update=_elsewhere(places.get(part.study))) for part in made.parts]
    return made.model_copy(update={"parts": parts})


def _elsewhere(example: Path | None) -> dict[str, str]:
    return {"page": "", "report": f"scalograph report {example.relative_to(STUDIES.parent)}" if example else ""}


if __name__ == "__main__":
    main()
