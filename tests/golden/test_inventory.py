"""Nothing that a user can name is lost, and what is new is recorded."""

import pytest

from tests.golden.inventory import inventory, kept_entries

AGAIN = "record what is meant: python -m tests.golden.remake inventory"


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return inventory(tmp_path_factory.mktemp("inventory"))


def test_nothing_is_lost(entries: list[str]) -> None:
    lost = sorted({*kept_entries()} - {*entries})
    assert not lost, f"{len(lost)} lost; {AGAIN}\n" + "\n".join(lost[:60])


def test_what_is_new_is_recorded(entries: list[str]) -> None:
    new = sorted({*entries} - {*kept_entries()})
    assert not new, f"{len(new)} new; {AGAIN}\n" + "\n".join(new[:60])


def test_the_inventory_is_sorted_and_holds_every_kind() -> None:
    kept = kept_entries()
    assert kept == sorted({*kept})
    kinds = "command option question reader host control study key column attribute"
    assert {entry.split(maxsplit=1)[0] for entry in kept} >= {*kinds.split()}


def test_an_option_that_goes_is_named(entries: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.golden.test_inventory.kept_entries", lambda: [*entries, "option scalograph run --gone"])
    with pytest.raises(AssertionError, match=r"1 lost; (.|\n)*option scalograph run --gone"):
        test_nothing_is_lost(entries)
