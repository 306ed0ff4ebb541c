"""The catalogue of warnings: every code that the sources name is in it, and its sentences are short."""

import re

import pytest
from tests.kit.sources import SOURCES, readers

from scalograph.text.warning_catalog import CATALOG, Caveat, flag_text

pytestmark = readers
NAMED = re.compile(r'(?:Caveat|warning_text|flag_text)\(\s*"([^"]+)"')


def test_every_code_that_sources_name_is_in_the_catalogue() -> None:
    named = {code for path in SOURCES.rglob("*.py") for code in NAMED.findall(path.read_text(encoding="utf-8"))}
    assert len(named) > 40 and named <= CATALOG.keys()


@pytest.mark.parametrize("code", CATALOG)
def test_a_warning_is_short_and_its_remedy_is_a_sentence(code: str) -> None:
    form = CATALOG[code]
    assert all(len(part.split()) <= 25 for part in form)
    assert not form.remedy or (form.remedy[0].isupper() and form.remedy.endswith("."))
    assert not form.effect.endswith(".") and "@" not in "".join(form)


def test_what_a_warning_says() -> None:
    some, single, only = (Caveat("disturbed", {"n": n, "of": of}) for n, of in ((6, 46), (1, 46), (1, 1)))
    assert some.text == "6 of 46 configurations include disturbed runs; their times are upper bounds"
    assert single.text == "1 of 46 configurations includes disturbed runs; their times are upper bounds"
    assert only.text == "The only configuration includes disturbed runs; their times are upper bounds"
    assert only.remedy == "Rerun with --wait-quiet 10m."
    assert flag_text("unverified", unverified=11, runs=12) == "11 of 12 runs not checked for interference"
