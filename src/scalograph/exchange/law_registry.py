"""Registry of the laws that `scalograph fit` knows. A further one is a module and a row here."""

from typing import NamedTuple


class LawRow(NamedTuple):
    """A law of points. `protocol.by_name` imports what stands as "module:function".

    Attributes:
        asks: the question, with the columns in it as {x} and {y}.
        column: read where none is named.
        of_times: whether the column always holds times, whatever `--times` says.
        document: "module:function" of points, weights, confidence and sizes to predict: the JSON document.
        claim: "module:function" of that and the name of the sizes: the answer.
        tables: "module:function" of that: what it rests on.
    """

    asks: str
    column: str
    of_times: bool
    document: str
    claim: str
    tables: str


_USL, _GROWTH = "scalograph.exchange.fit", "scalograph.exchange.complexity_claim"
LAWS = {
    "usl": LawRow(
        "Up to which size does {y} grow?", "throughput", False,
        "scalograph.exchange.fit:laws", f"{_USL}:fit_claim", f"{_USL}:fit_tables",
    ),
    "complexity": LawRow(
        "How does time grow with {x}?", "seconds", True,
        f"{_GROWTH}:complexities", f"{_GROWTH}:complexity_claim", f"{_GROWTH}:complexity_tables",
    ),
}  # fmt: skip
