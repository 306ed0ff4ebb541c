"""The answer that stands first: what is claimed in at most three sentences, and the few numbers that carry it."""

from typing import Literal

from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.plain import Model, Text


class MatrixCell(Model):
    """One number of the matrix."""

    estimate: Estimate | None = None
    text: Text = Field(default="", description='in place of the estimate, such as "never"')
    doubt: Text = Field(default="", description="why it is marked; empty where it is not")


class MatrixRow(Model):
    """One setting, or a few whose intervals overlap."""

    label: Text
    cells: list[MatrixCell] = Field(max_length=12)


class Matrix(Model):
    """The numbers that carry the claim: a row for each setting, a column for each level that tells something."""

    title: Text = Field(description="the quantity and what it is over, such as `speedup over 1 thread`")
    unit: str = ""
    better: Literal["lower", "higher", "none"] = "none"
    rows_are: Text = Field(default="", description="heading of the labels")
    columns: list[Text] = Field(max_length=12)
    rows: list[MatrixRow] = Field(max_length=24)
    note: Text = ""


class Claim(Model):
    """What a study says: one claim, one exception, one limit.

    Attributes:
        sentences: one to three; the first answers the title, or says why it cannot be said.
        answered: whether it does.
        matrix: None where the sentences hold all there is.
        figure: id of the figure that shows it; empty for the first one.
    """

    sentences: list[Text] = Field(min_length=1, max_length=3)
    answered: bool = True
    matrix: Matrix | None = None
    figure: str = ""
