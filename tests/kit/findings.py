"""Journals and findings of runs that a test makes up."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from msgspec import structs

from scalograph.analysis.estimate import Flag
from scalograph.findings import table
from scalograph.findings.answer import Answer
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Findings, Point, TableDoc
from scalograph.protocol.plain import Model
from scalograph.questions.assemble import findings
from scalograph.study.identity import dump_study
from scalograph.study.load import parse
from tests.kit.records import recorded
from tests.kit.studies import VALID

M = TypeVar("M", bound=Model)
JITTER = (0.99, 1.0, 1.01)
Made = Sequence[tuple[Mapping[str, Any], dict[str, Any]]]
CONFIGURATIONS = [{"threads": n, "lock": k} for n in (1, 2, 4) for k in ("none", "cas")]

# The valid study along threads alone.
ONE_FACTOR = VALID.replace('[factors.lock]\nlevels = ["none", "cas"]\n', "")


def write_journal(
    file: Path, runs: list[tuple[dict[str, Any], dict[str, Any]]], text: str = VALID, **changes: Any
) -> Path:
    """Write a journal of runs (configuration, record) of a study; `changes` are keys of its head."""
    study = parse(text)
    head = {
        "event": "study", "at": "2026-01-01T00:00:00.000Z", "protocol": 1, "scalograph": "0.1.0", "seed": study.seed,
        "study": dump_study(study), "study_hash": "h", "machine": {"n_cpus": 2},
        "design": {"configurations": CONFIGURATIONS, "runs": [3] * 6}, **changes,
    }  # fmt: skip
    lines = [head]
    for number, (configuration, record) in enumerate(runs):
        lines.append(
            {"event": "run", "at": "2026-01-01T00:00:01.000Z", "run": f"r{number}", "block": number // 6,
             "configuration": configuration, "replicate": number // 6, "warmup": False, "record": record}
        )  # fmt: skip
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def load_journal(
    folder: Path, runs: list[tuple[dict[str, Any], dict[str, Any]]], text: str = VALID, **changes: Any
) -> Table:
    """Load the table of a journal that is written into a folder."""
    return table.load(write_journal(folder / "journal.jsonl", runs, text, **changes))


def runs_of(
    seconds: Mapping[Any, float], n_blocks: int = 3, *, factor: str = "threads", spread: float = 0.01, **changes: Any
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Make blocks of one run of each level, which takes its seconds, a little more or less; `changes` of records."""
    return [
        ({factor: level}, recorded((1 + spread * (block % 3 - 1)) * wall_s, **{"cpus": (0, 1, 2, 3), **changes}))
        for block in range(n_blocks)
        for level, wall_s in seconds.items()
    ]


def table_of(folder: Path, made: Made, text: str) -> Table:
    """Load the table of a journal whose configurations are those of its runs."""
    configurations = [dict(levels) for levels in {tuple(t.items()): t for t, _ in made}.values()]
    n_asked = [sum(t == wanted for t, _ in made) for wanted in configurations]
    runs = [(dict(levels), record) for levels, record in made]
    design = {"configurations": configurations, "runs": n_asked}
    read = table.load(write_journal(folder / "journal.jsonl", runs, text, design=design))
    # Each configuration runs once in a block.
    read.rows[:] = [structs.replace(row, block=index // len(configurations)) for index, row in enumerate(read.rows)]
    return read


def findings_of(folder: Path, made: Made, text: str) -> Findings:
    """Analyze such a journal."""
    return findings(table_of(folder, made, text), folder)


def point_at(found: Findings, level: object, curve: int = 0) -> Point:
    """Return the point of a curve at a level."""
    return next(point for point in found.curves[curve].points if point.level == level)


def claim_of(found: Findings | Answer) -> Claim:
    """Return what a study says first."""
    assert found.claim is not None
    return found.claim


def check_claim(claim: Claim) -> None:
    """See that a claim answers or says why not, in few sentences, above a matrix whose rows are whole."""
    assert claim.answered != claim.sentences[0].startswith(("Inconclusive", "No answer"))
    assert 1 <= len(claim.sentences) <= 3
    names = tuple(str(value) for case in claim.cases for value in case.values.values())  # stay as they were typed
    assert all(
        text.endswith(".") and (text[0].upper() == text[0] or text.startswith(names)) for text in claim.sentences
    )
    if claim.matrix:
        assert len(" ".join(claim.sentences).split()) <= 75
        assert all(len(row.cells) == len(claim.matrix.columns) for row in claim.matrix.rows)
        assert len({row.label for row in claim.matrix.rows}) == len(claim.matrix.rows)


def cases_of(found: Findings | Answer | Claim) -> dict[str, dict[str, Any]]:
    """Return the values of each case of what a study says first, in order."""
    claim = found if isinstance(found, Claim) else claim_of(found)
    return {case.case: case.values for case in claim.cases}


def cells_of(found: Findings | Answer | Claim) -> dict[str, list[str]]:
    """Return the texts of the cells of each row of the matrix, by its label."""
    matrix = (found if isinstance(found, Claim) else claim_of(found)).matrix
    return {row.label: [cell.text for cell in row.cells] for row in matrix.rows} if matrix else {}


def part_of(found: Findings, name: str, kind: type[M]) -> M:
    """Return the document of a question or a reading."""
    part = found.document(name, kind)
    assert part is not None
    return part


def texts(flags: Iterable[Flag]) -> list[str]:
    """Return the words of flags, in order."""
    return [flag.text for flag in flags]


def table_named(found: Findings, name: str) -> TableDoc:
    """Return the only table with this id."""
    (shown,) = [shown for shown in found.tables if shown.id == name]
    return shown
