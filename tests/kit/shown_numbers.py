"""Check that the numbers of a claim are shown: each is one of its matrix."""

import re

from scalograph.protocol.findings import Claim
from scalograph.text.cell_numbers import cell_number, matrix_scale

NUMBER = re.compile(r"(?<![\w.])(?:\d[\d,.]*\d|\d)")
# Intervals, bounds and counts, which are no cells.
BESIDE = re.compile(
    r"\(\d+% CI .*?\)|\[.*?\]|\b(?:within|up to|under|at least|more than) [\d.]+%|\b\d+% margin"
    r"|(?<![\d.])\d+ of \d+\b(?! used)|\bbest of \d+|\bwith \d+ versions"
)


def check_numbers(claim: Claim) -> None:
    """Check that each measured number of the sentences is in a cell, a label or a heading of the matrix."""
    matrix = claim.matrix
    assert matrix is not None
    cells = [c.text or cell_number(c.estimate, matrix_scale(matrix)) for row in matrix.rows for c in row.cells]
    shown = {*NUMBER.findall(" ".join([*matrix.columns, *(row.label for row in matrix.rows), *cells]))}
    said = {*NUMBER.findall(BESIDE.sub("", " ".join(claim.sentences)))}
    assert said <= shown, (claim.sentences, said - shown)
