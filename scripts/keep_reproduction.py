#!/usr/bin/env python3
"""Keep a finished reproduction: its page in studies/reproduced, each part's journal packed in studies/PART/example.

A study that has an example of its own, such as one of its full form, keeps it, unless PART names it; the journal of the
page then lies in studies/reproduced/PART.

Usage: scripts/keep_reproduction.py FOLDER [PART ...]   (such as scalograph-results/reproduce/latest)
       scripts/keep_reproduction.py --again [FOLDER ...] decide the claims of the kept page again, from its journals

FOLDER of --again is a finished study, such as scalograph-results/cpu-surface/latest: it replaces the kept part of its
name.
"""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import keep_example

from scalograph.cli.analyze_steps import analyze
from scalograph.findings.published.reproduced_studies import collect_reproduced_studies
from scalograph.protocol import saved_documents
from scalograph.protocol.findings import Findings
from scalograph.protocol.reproduction import Reproduction
from scalograph.report.reproduction_page import write
from scalograph.study.catalogue import open_catalogue


def main() -> None:
    """Keep all parts that are done, and the page."""
    if len(sys.argv) < 2:
        sys.exit("found no argument, expected the folder of a reproduction")
    if sys.argv[1] == "--again":
        return decide_again(sys.argv[2:])
    folder, replaced = Path(sys.argv[1]), sys.argv[2:]
    made = saved_documents.read_reproduction(folder)
    if left := [part.study for part in made.parts if part.state in ("begun", "not run")]:
        sys.exit(f"{folder}: not finished ({', '.join(left)}), expected all parts; scalograph reproduce --resume")
    kept = keep_example.STUDIES / "reproduced"
    shutil.rmtree(kept, ignore_errors=True)
    places = {part.study: place(part.study, replaced) for part in made.parts if part.state == "done"}
    for study, example in places.items():
        keep_example.keep_part(folder / study, example)
    kept.mkdir(exist_ok=True)
    keep(elsewhere(made, places), kept)


def keep(made: Reproduction, kept: Path) -> None:
    """Write the document and its page."""
    saved_documents.write_reproduction(made, kept)
    write(made, kept / saved_documents.PAGE)
    print(f"{kept.relative_to(keep_example.STUDIES.parent)}: {(kept / saved_documents.PAGE).stat().st_size:,} bytes")


def replace_parts(made: Reproduction, folders: Sequence[str]) -> None:
    """Keep these results in the place of the kept parts of their studies."""
    places = {part.study: part.report.removeprefix("scalograph report ") for part in made.parts if part.report}
    results = {keep_example.studied(Path(folder)): Path(folder) for folder in folders}
    if unknown := results.keys() - places.keys():
        sys.exit(f"found {', '.join(sorted(unknown))}, expected parts of the kept page that have run")
    for study, folder in results.items():
        keep_example.keep_part(folder, keep_example.STUDIES.parent / places[study])


def decide_again(folders: Sequence[str]) -> None:
    """Decide every claim by its present range, from the journals of the kept page, and newer ones in their place."""
    kept = keep_example.STUDIES / "reproduced"
    made = saved_documents.read_reproduction(kept)
    replace_parts(made, folders)
    catalogue = open_catalogue(quick=made.quick)
    findings, parts = dict[str, Findings](), []
    for part in made.parts:
        if part.state == "done" and part.report:
            journal = keep_example.STUDIES.parent / part.report.removeprefix("scalograph report ")
            findings[part.study], _ = analyze(journal, catalogue.declared[part.study], keep=False)
            now = findings[part.study]
            parts.append(part.model_copy(update={"trust": now.trust, "runs": now.runs}))
        else:
            parts.append(part)
    reasons = {part.study: f"was {part.state}: {part.why}" for part in parts if part.study not in findings}
    studies = collect_reproduced_studies(catalogue, findings, reasons, made.machine)
    keep(made.model_copy(update={"protocol": 4, "parts": parts, "studies": studies}), kept)


def place(study: str, replaced: Sequence[str]) -> Path:
    """Where the journal of a part is kept."""
    example = keep_example.STUDIES / study / "example"
    return keep_example.STUDIES / "reproduced" / study if example.exists() and study not in replaced else example


def elsewhere(made: Reproduction, places: Mapping[str, Path]) -> Reproduction:
    """The document for the page that is kept: the reports of its parts are made by a command."""
    parts = [part.model_copy(update=_elsewhere(places.get(part.study))) for part in made.parts]
    return made.model_copy(update={"parts": parts})


def _elsewhere(example: Path | None) -> dict[str, str]:
    place = example.relative_to(keep_example.STUDIES.parent) if example else ""
    return {"page": "", "report": f"scalograph report {place}" if place else ""}


if __name__ == "__main__":
    main()
