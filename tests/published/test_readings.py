"""The same words of published claims are read alike, in whichever study they stand (docs/howto/published-claims.md)."""

import re
from functools import cache

import pytest

from scalograph.study.load import load
from scalograph.study.published_claim import PublishedClaim
from scalograph.study.shipped import shipped_catalogue

# Words of a sentence -> the range of a ratio of times, or of speeds, that bears it out.
READINGS: dict[str, tuple[float | None, float | None]] = {
    r"take the same time|take as long as|takes as long as counting|in proportion": (0.95, 1.05),
    r"takes? twice as long|doubles": (1.7, 2.3),
    r"nearly twice": (1.5, 2.1),
    r"halves": (0.43, 0.59),
    r"(is|are|task) slower|rises from 2 to|system time grows": (1.05, None),
}


@cache
def claims() -> tuple[PublishedClaim, ...]:
    """Those of all studies that ship, each once."""
    found = {}
    for file in sorted(shipped_catalogue().parent.glob("*/study.toml")):
        published = load(file).published
        found |= {claim.id: claim for claim in (published.claims if published else ())}
    return (*found.values(),)


@pytest.mark.parametrize("words", READINGS)
def test_like_sentences_have_like_ranges(words: str) -> None:
    like = [claim for claim in claims() if re.search(words, claim.sentence) and "printed errors" not in claim.sentence]
    assert like and {claim.id: claim.bounds for claim in like} == {claim.id: READINGS[words] for claim in like}


def test_each_sentence_stands_alone_and_its_range_holds_what_was_printed() -> None:
    leaning = re.compile(r"^(It|They|There)\b|\b(with it|do so too)\b")
    assert [claim.id for claim in claims() if leaning.search(claim.sentence)] == []
    assert [claim.id for claim in claims() if not claim.place] == []
    for claim in claims():
        printed = claim.published if isinstance(claim.published, list) else [claim.published]
        low, high = claim.bounds if not claim.unlike else (None, None)
        for value in (one for one in printed if one is not None):
            assert low is None or value * (1 + 0.001) >= low, claim.id
            assert high is None or value * (1 - 0.001) <= high, claim.id
