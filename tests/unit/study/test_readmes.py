"""The page of every study that ships says how it is started and how long that takes, what it decides, what is kept."""

import re
from pathlib import Path

import pytest

from scalograph.study.catalogue import claim_number, claims_of
from scalograph.study.declare import declare_shipped
from scalograph.study.shipped import shipped_studies, shipped_study

STUDIES = sorted(shipped_studies())
LASTS = re.compile(r"\b(seconds?|s|minutes?|hours?)\b")


def page(study: str) -> str:
    return (Path(shipped_study(study)) / "README.md").read_text()


@pytest.mark.parametrize("study", STUDIES)
def test_it_says_how_long_it_takes_what_it_decides_and_what_is_kept(study: str) -> None:
    # Whatever host it needs.
    text = page(study).replace(" --host guest", "")
    lines = [line.strip() for line in text.splitlines() if line.startswith("    scalograph ")]
    for form in (f"scalograph study {study} --quick", f"scalograph study {study}"):
        said = [
            after for line in lines if (after := line.removeprefix(form)) != line and after.lstrip()[:1] in ("#", "")
        ]
        assert len(said) == 1 and LASTS.search(said[0]), f"{form}: {said}"
    ranges = re.findall(r"`?([SP]\d+)-(\d+)[a-z]?`? to `?\1-(\d+)[a-z]?`?", text)
    named = set(re.findall(r"[SP]\d+-\d+", text))
    named |= {f"{paper}-{n}" for paper, low, high in ranges for n in range(int(low), int(high) + 1)}
    decided = {claim_number(claim.id) for claim in claims_of(declare_shipped(study))}
    assert decided <= named, sorted(decided - named)
    is_kept = (Path(shipped_study(study)) / "example").is_dir()
    report = f"scalograph report studies/{study}/example"
    assert (report in page(study)) == is_kept
    if is_kept:
        kept = page(study).partition("**Kept**")[2]
        assert re.search(r"\bCPUs?\b", kept), "on which machine"
