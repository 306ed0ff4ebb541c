"""Claims of a paper as a table: the sentence once, a row for each figure."""

from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.findings.published.published_curves import claims_table
from scalograph.protocol.published_claim import ClaimValue, DecidedClaim, Decision

HERE = Estimate(1.9, 1.8, 2.0, n=5)


def claim(*labels: str, decision: Decision = "holds", **changed: object) -> DecidedClaim:
    figures = [ClaimValue(label=label, published=1.8, here=HERE, decision="holds") for label in labels]
    fields: dict[str, Any] = {"id": "S0-2", "sentence": "Twice as fast.", "place": "table 15", "quantity": "wall time"}
    return DecidedClaim.model_validate(fields | {"figures": figures, "decision": decision, "low": 1.6} | changed)


def rows(*claims: DecidedClaim) -> list[dict[str, Any]]:
    table = claims_table(claims)
    assert table is not None and table.id == "published-claims"
    return [dict(zip((column.name for column in table.columns), row, strict=True)) for row in table.rows]


def test_the_sentence_stands_once_above_the_figures_or_beside_the_only_one() -> None:
    whole, *figures = rows(claim("2 threads", "8 threads"))
    assert whole["what is claimed"] == "Twice as fast (table 15)"
    assert whole["bears it out"] == "at least 1.6"
    assert [one["figure"] for one in figures] == ["2 threads", "8 threads"]
    assert all((one["published"], one["here"], one["what is claimed"]) == (1.8, HERE, "") for one in figures)
    (only,) = rows(claim(""))
    assert (only["figure"], only["published"], only["decision"]) == ("", 1.8, "holds")
    assert "why" not in rows(claim("a"))[0] and claims_table([]) is None


def test_figures_are_told_in_the_unit_in_which_they_read_best() -> None:
    figure = ClaimValue(label="", published=0.02, here=Estimate(0.03, 0.02, 0.04), decision="not resolved")
    (only,) = rows(claim(unit="s", figures=[figure], low=0.01))
    assert (only["figure"], only["published"], only["bears it out"]) == ("(ms)", 20.0, "at least 10 ms")
    assert only["here"].value == 30.0 and only["here"].high == 40.0


def test_what_was_not_shown_or_not_compared_says_why() -> None:
    none = ClaimValue(label="", published=220, none="no cliff", decision="does not hold")
    (only,) = rows(claim(figures=[none], doubt="rests on disturbed runs"))
    assert only["here"].warnings == ("no cliff",) and only["why"] == "rests on disturbed runs"
    (only,) = rows(claim(decision="cannot be seen here", why="it needs 16 CPUs"))
    assert (only["here"], only["decision"], only["why"]) == (None, "cannot be seen here", "it needs 16 CPUs")
    whole, one, other = rows(claim("a", "b", decision="not comparable", why="built otherwise"))
    assert whole["decision"] == "not comparable" and (one["decision"], other["decision"]) == ("", "")


def test_of_very_many_figures_those_that_fail_are_told() -> None:
    many = [ClaimValue(label=f"{n}", decision="holds") for n in range(99)]
    many[98] = many[98].model_copy(update={"decision": "does not hold"})
    labels = [row["figure"] for row in rows(claim(figures=many))]
    assert "98" in labels and labels[-1] == "35 more"
