"""`scalograph.compare(a, b)`: two results, as `scalograph compare` compares them."""

import os
from collections.abc import Sequence

from scalograph.cli.comparing import compare_sources
from scalograph.protocol.compared_results import ResultComparison

Comparable = str | os.PathLike[str]


def compare_results(
    reference: Comparable,
    other: Comparable,
    *,
    margin: str | None = None,
    response: str | None = None,
    where: Sequence[str] = (),
    allow_missing: Sequence[str] = (),
) -> ResultComparison:
    """Compare a result with another one, treatment by treatment.

    Args:
        reference: a results folder, a journal, a file of findings, a published table such as "published:15", or a file
            of another instrument, whose format is found or named before it: "hyperfine:old.json".
        other: the same.
        margin: differences within it are none, such as "5%"; None for 2 %, or the noise floor of
            this machine where that is more.
        response: that is compared; None for the one that the studies are about.
        where: texts such as "lock=none", of the treatments that are compared; none for all.
        allow_missing: names of treatments of the reference that may have failed, or be missing, in the other.

    Returns:
        `answer` is faster, slower, same or not measurable; `treatments` has each ratio with its interval.

    Raises:
        StudyError: they have no treatment in common, or an argument has another form.
        ProtocolError: one cannot be read.
    """
    sources = [os.fspath(path) for path in (reference, other)]
    return compare_sources(sources, margin, response, where=where, allow_missing=allow_missing).results[0]
