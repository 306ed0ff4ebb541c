"""Claims of a paper on runs whose truth is known: decided, as a table, and how many more runs would decide them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.findings.published.claim_texts import run_factor
from scalograph.findings.published.published_claims import decide_interval
from scalograph.findings.published.published_curves import claims_table
from scalograph.findings.published.reproduced_studies import collect_reproduced_studies
from scalograph.protocol.published_claim import ClaimValue, DecidedClaim, Decision
from scalograph.questions.assemble import findings
from scalograph.study.catalogue import open_catalogue
from scalograph.study.load import quick_form
from scalograph.text.quantities import runs_needed_text
from tests.kit import samples
from tests.kit.findings import findings_of, table_of
from tests.kit.records import recorded
from tests.kit.studies import VALID

# Seconds by (threads, lock): `none` halves with each doubling, `cas` doubles.
TRUTH = {(1, "none"): 1.0, (2, "none"): 0.5, (4, "none"): 0.25, (1, "cas"): 1.0, (2, "cas"): 2.0, (4, "cas"): 4.0}
CONFIGURATIONS = [{"threads": n, "lock": lock} for n, lock in TRUTH]
CLAIM = '[[published.claims]]\nid = "a-0"\nsentence = "b"\n'
# Four blocks, each with its own pace: what runs of a block share is in no comparison of them.
PACES = (0.8, 1.0, 1.25, 1.1)
# So many that 1 s of CPU time fits into any run.
EIGHT = {"cpus": tuple(range(8))}


def decided(folder: Path, *claims: str, paces: Sequence[float] = PACES, text: str = VALID, **changes: Any) -> Any:
    """The claims of one study, decided; a single one as itself."""
    made = [
        (
            t,
            recorded(
                pace * TRUTH[t["threads"], t["lock"]] * (1 + 0.002 * ((7 * i + 3 * j) % 5)), 1.0, **EIGHT, **changes
            ),
        )
        for i, pace in enumerate(paces)
        for j, t in enumerate(CONFIGURATIONS)
    ]
    declared = "\n".join(CLAIM.replace("a-0", f"a-{n}") + claim for n, claim in enumerate(claims))
    found = findings_of(folder, made, f"{text}\n{declared}").published_claims
    return found[0] if len(claims) == 1 else found


AT_THE_END = 'kind="ratio"\nwhere={lock="none"}\nof={threads=1}\nover={threads=4}\nholds=[4.0, 4.2]'
ALL_THE_SAME = 'kind="flat"\nresponse="cpu"\nwhere={lock="none"}\nalong="threads"'


@pytest.mark.parametrize(("claim", "decision", "values"), [
    ('kind="ratio"\nwhere={lock="none"}\nof={threads=1}\nover={threads=4}\nholds=[3.8, 4.2]', "holds", [4]),
    ('kind="ratio"\nwhere={lock="none"}\nof={threads=1}\nalong="threads"\nlevels=[2, 4]\nholds=[1.9, 2.1]',
     "does not hold", [2, 4]),
    (AT_THE_END, "inconclusive", [4]),
    ('kind="flat"\nwhere={lock="cas"}\nalong="threads"', "does not hold", [2, 4]),
    ('kind="order"\nwhere={lock="cas"}\nalong="threads"', "holds", [2, 2]),
    ('kind="order"\nwhere={lock="none"}\nalong="threads"\nholds=["any", 0.9]', "holds", [0.5, 0.5]),
    ('kind="ratio"\nwhere={threads=4}\nof={lock="cas"}\nover={lock="none"}\nholds=[10, "any"]', "holds", [16]),
    ('kind="value"\nof={threads=4, lock="cas"}\nholds=[9, "any"]', "does not hold", [4.1]),
    (ALL_THE_SAME, "inconclusive", [1, 1]),
], ids=["ratio", "one level fails", "at the end", "flat", "order", "falls", "other factor", "value",
        "all the same"])  # fmt: skip
def test_a_claim_is_decided_by_its_range(tmp_path: Path, claim: str, decision: str, values: list[float]) -> None:
    found: DecidedClaim = decided(tmp_path, claim)
    here = [figure.here.value if figure.here else None for figure in found.figures]
    assert (found.decision, here) == (decision, pytest.approx(values, rel=0.03))
    assert bool(found.why) == (decision == "inconclusive")
    # Where there is an interval, more runs may make it narrow enough.
    assert (" as many runs may " in found.why, " runs may " in found.why) == (claim == AT_THE_END, claim == AT_THE_END)


FOUR = 'kind="ratio"\nwhere={lock="none"}\nof={threads=1}\nover={threads=4}\n'  # what 4 threads are worth here


@pytest.mark.parametrize(("more", "decision", "kind", "text"), [
    ('holds=[1.5, 2]\nexceeds="above"', "exceeds", None, ""),
    ('holds=[1.5, 2]\nexceeds="below"', "does not hold", "unknown", ""),
    ('holds=[8, 9]\nexceeds="below"', "exceeds", None, ""),
    ('holds=[8, 9]\nexceeds="above"', "does not hold", "unknown", ""),
    ('holds=[3.8, 4.2]\nexceeds="above"', "holds", None, ""),
    ('holds=[1, 4.0]\nexceeds="above"', "exceeds", None, ""),
    ('holds=[3.8, 4.2]\nbuilt_in="so it was built"', "demonstration", None, "so it was built"),
    ('holds=[8, 9]\nbuilt_in="so it was built"', "does not hold", "unknown", ""),
    ('holds=[1.5, 2]\nexceeds="above"\nbuilt_in="so it was built"', "exceeds", None, ""),
    ('holds=[8, 9]\nno.since="CPUs changed"', "does not hold", "since", "CPUs changed"),
    ('holds=[8, 9]\nno.host="virtual CPUs"', "does not hold", "host", "virtual CPUs"),
    ('holds=[3.8, 4.2]\nno.since="CPUs changed"', "holds", None, ""),
    ('holds=[1, 4.0]\nno.since="CPUs changed"', "inconclusive", None, ""),
])  # fmt: skip
def test_what_came_of_a_claim_and_why(tmp_path: Path, more: str, decision: str, kind: str, text: str) -> None:
    one: DecidedClaim = decided(tmp_path, FOUR + more)
    assert (one.decision, one.reason_kind) == (decision, kind)
    if decision != "inconclusive":
        assert (one.reason if kind else one.why) == text and not (one.reason and one.why)


@pytest.mark.parametrize(("high", "decision", "figures"), [
    (2.5, "exceeds", ["holds", "exceeds"]),
    (2.0, "exceeds", ["holds", "exceeds"]),
    (1.8, "exceeds", ["exceeds", "exceeds"]),
    (9.0, "does not hold", ["does not hold", "holds"]),
])  # fmt: skip
def test_one_figure_that_exceeds_is_more_only_if_no_other_is_less(
    tmp_path: Path, high: float, decision: str, figures: list[str]
) -> None:
    low = 1.5 if high < 9 else 3.0
    along = 'kind="ratio"\nwhere={lock="none"}\nof={threads=1}\nalong="threads"\nlevels=[2, 4]\nexceeds="above"\n'
    one: DecidedClaim = decided(tmp_path, f"{along}holds=[{low}, {high}]")
    assert (one.decision, [figure.decision for figure in one.figures]) == (decision, figures)
    # What refutes is told beside what supports: at the confidence that the figures share.
    for figure in one.figures:
        here, deciding = figure.here, figure.deciding
        assert here and deciding and here.value == deciding.value
        assert deciding.low < here.low < here.high < deciding.high  # type: ignore[operator]
    assert decided(tmp_path, f"{FOUR}holds=[{low}, {high}]").figures[0].deciding is None


@pytest.mark.parametrize(("presupposed", "first"), [
    ("holds=[8, 9]", "does not hold"), ("holds=[3.8, 4.2]", "holds"), ("holds=[1, 4.0]", "inconclusive"),
    ('holds=[1, 2]\nexceeds="above"', "exceeds"), ("holds=[8, 9]\nneeds_cpus=99", "not testable here"),
])  # fmt: skip
@pytest.mark.parametrize(("holds", "own"), [("[3.8, 4.2]", "holds"), ("[8, 9]", "does not hold")])
def test_a_claim_is_moot_where_what_it_presupposes_does_not_hold(
    tmp_path: Path, presupposed: str, first: str, holds: str, own: str
) -> None:
    more = f'holds={holds}\npresupposes="a-0"\nno.since="CPUs changed"'
    basis, one = decided(tmp_path, FOUR + presupposed, FOUR + more)
    is_moot = first == "does not hold"
    assert (basis.decision, one.decision) == (first, "moot" if is_moot else own)
    assert one.why == ("it presupposes a-0, which does not hold" if is_moot else "")
    assert (one.reason_kind, one.reason) == ((None, "") if is_moot or own == "holds" else ("since", "CPUs changed"))


SAMPLED = "it needs a kernel that measures user and system time, this one samples user and system time at its tick"
UNKNOWN = "it needs a kernel that measures user and system time, this one is not known to do so"
GIB = 1 << 30


@pytest.mark.parametrize(("machine", "needs", "why"), [
    ({"cpu_accounting": "precise"}, "needs_cpu_accounting=true", ""),
    ({"cpu_accounting": "ticks"}, "needs_cpu_accounting=true", SAMPLED),
    ({"cpu_accounting": None}, "needs_cpu_accounting=true", UNKNOWN),
    ({"cpu_accounting": "ticks"}, "", ""),
    ({"memory_bytes": 4 * GIB}, "most_gib=2", "it needs a machine with at most 2 GiB, this one has 4 GiB"),
    ({"memory_bytes": 2 * GIB}, "most_gib=2", ""),
    ({}, "most_gib=2", ""),
    ({"n_cpus": 2}, "needs_cpus=3", "it needs 3 CPUs, this machine has 2"),
])  # fmt: skip
@pytest.mark.parametrize("holds", ["[0.9, 1.1]", "[8, 9]"])
def test_a_claim_that_a_machine_cannot_test_shows_the_published_figures_alone(
    tmp_path: Path, machine: dict[str, Any], needs: str, why: str, holds: str
) -> None:
    claim = f'{CLAIM}kind="flat"\nwhere={{lock="none"}}\nalong="threads"\npublished=[1.0, 0.5]\nholds={holds}\n'
    made = [(t, recorded(1.0 + 0.01 * i)) for i in range(4) for t in CONFIGURATIONS]
    read = table_of(tmp_path, made, f"{VALID}\n{claim}{needs}\n")
    read.machine = {**read.machine, **machine}
    (one,) = findings(read, tmp_path).published_claims
    tested = "holds" if holds == "[0.9, 1.1]" else "does not hold"
    assert (one.decision, one.why) == (("not testable here", why) if why else (tested, ""))
    assert [(figure.label, figure.published) for figure in one.figures] == [("2 threads", 1.0), ("4 threads", 0.5)]
    assert [figure.here is None for figure in one.figures] == [bool(why)] * 2
    assert [figure.decision for figure in one.figures] == ["not measured" if why else tested] * 2


@pytest.mark.parametrize(("holds", "against"), [("[3.8, 4.2]", False), ("[8, 9]", True), ("[1, 4.0]", False)])
def test_claims_that_should_come_out_alike_and_do_not_are_marked_on_both(
    tmp_path: Path, holds: str, against: bool
) -> None:
    listed = "\n".join(f'[[studies]]\nid = "{s}"\nname = "{n}"\ntitle = "t"\n{part}\n[studies.claims]\n{c} = "t"' for
        s, n, part, c in (("P0", "a", 'parts = [{ study = "one" }]', "P0-1"),
                          ("P1", "b", 'parts = [{ study = "two" }]', "P1-1")))  # fmt: skip
    (tmp_path / "published.toml").write_text(f"version = 1\n{listed}\n")
    claims = {"one": ("P0-1", 'holds=[3.8, 4.2]\nlike=["P1-1"]'), "two": ("P1-1", f"holds={holds}")}
    shown = {}
    for part, (name, more) in claims.items():
        (tmp_path / part).mkdir()
        text = CLAIM.replace("a-0", name) + FOUR + more
        declared = VALID.replace('"{threads}"', '"{threads}", "{lock}"')
        (tmp_path / part / "study.toml").write_text(f"{declared}\n{text}\n")
        one = decided(tmp_path, FOUR + more)
        shown[part] = samples.small().model_copy(update={"published_claims": [one.model_copy(update={"id": name})]})
    here = {"n_cpus": 2, "cpu_model": "AMD EPYC"}
    shown["one"].machine, shown["two"].machine = here, here | {"cpu_model": "Intel Xeon"}
    studies = collect_reproduced_studies(open_catalogue(tmp_path / "published.toml"), shown, {}, here)
    assert [claim.machine for study in studies for claim in study.claims] == ["", "2 CPUs, Intel Xeon"]
    marked = {claim.id: claim.contradicts for study in studies for claim in study.claims}
    assert marked == {"P0-1": ["P1-1"] if against else [], "P1-1": ["P0-1"] if against else []}


def test_what_runs_of_a_block_share_is_in_no_figure(tmp_path: Path) -> None:
    claim = 'kind="ratio"\nwhere={lock="none"}\nof={threads=1}\nover={threads=2}\nholds=[1.9, 2.1]'
    assert decided(tmp_path, claim).decision == "holds"
    found = decided(tmp_path, claim, text=VALID.replace("runs = 3", 'runs = 3\norder = "declared"'))
    assert found.decision == "inconclusive"


def test_published_figures_stand_beside_with_their_error_and_a_constant_count_is_known(tmp_path: Path) -> None:
    claim = 'kind="flat"\nwhere={lock="none"}\nalong="threads"\npublished=[1.0, 0.5]\nspread=0.1\n'
    claim += 'place="t"\nsaid="flat"'
    found = decided(tmp_path, claim)
    assert [(f.published_low, f.published, f.published_high) for f in found.figures] == [
        pytest.approx((0.9, 1.0, 1.1)), pytest.approx((0.45, 0.5, 0.55)),
    ]  # fmt: skip
    assert (found.low, found.high, found.place, found.said) == (0.95, 1.05, "t", "flat")
    counted = VALID + '[responses.wall]\nfrom = "window.wall"\nunit = "s"\n[responses.found]\nfrom = "value.found"\n'
    claim = 'kind="value"\nresponse="found"\nwhere={threads=4, lock="none"}\nholds=[180, 190]'
    found = decided(tmp_path, claim, text=counted, values={"found": [184.0]})
    assert (found.decision, found.figures[0].here.low, found.figures[0].here.high) == ("holds", 184, 184)


def test_what_a_machine_or_a_form_cannot_show_is_said(tmp_path: Path) -> None:
    flat = 'kind="flat"\nwhere={lock="none"}\nalong="threads"\n'
    found = decided(
        tmp_path, f"{flat}needs_cpus=64", f"{flat}needs_smt=true", f'{flat}unlike="half the work"',
        f"{flat}levels=[1, 2]\nresponse='wall'\nholds=['any', 9]",
    )  # fmt: skip
    assert [one.decision for one in found] == ["not testable here"] * 2 + ["not comparable", "holds"]
    assert [one.why for one in found][::2] == ["it needs 64 CPUs, this machine has 2", "half the work"]
    claim = f'{CLAIM}kind="value"\nwhere={{lock="none"}}\nof={{threads=4}}\nholds=[0, 9]\n'
    made = [(t, recorded(1.0)) for _ in PACES for t in CONFIGURATIONS if t["threads"] != 4]
    read = table_of(tmp_path, made, f"{VALID}\n{claim}[quick]\nfactors = {{ threads = [1, 2] }}\n")
    read.study = quick_form(read.study)
    (one,) = findings(read, tmp_path).published_claims
    assert (one.decision, one.why) == ("not measured", "the quick form leaves out 4 threads: run the full form")


@pytest.mark.parametrize("here", ["x86_64", "sparc64", None])
def test_a_claim_about_an_architecture(tmp_path: Path, here: str | None) -> None:
    claim = f'{CLAIM}kind="flat"\nwhere={{lock="none"}}\nalong="threads"\nlevels=[1, 2]\n'
    made = [(t, recorded(1.0)) for _ in PACES for t in CONFIGURATIONS]
    read = table_of(tmp_path, made, f'{VALID}\n{claim}needs_architecture="sparc64"\n')
    read.machine = {**read.machine, "architecture": here}
    (one,) = findings(read, tmp_path).published_claims
    assert (one.decision == "not testable here") is (here != "sparc64")
    wanted = f"it needs a CPU of the architecture sparc64, this machine's is {here or 'unknown'}"
    assert (one.why == wanted) is (here != "sparc64")


@pytest.mark.parametrize(("factor", "along", "made", "levels", "why"), [
    ('control = "cpus"\nlevels = "1:all"', "cpus", [1, 2], "[1, 12]", "it needs 12 CPUs, this machine has 2"),
    ("levels = ['a', 'b']\nif_granted = ['b']", "policy", ["a"], '["a", "b"]', "this machine does not grant policy b"),
])  # fmt: skip
def test_a_level_that_the_machine_does_not_have_cannot_be_seen(
    tmp_path: Path, factor: str, along: str, made: list[Any], levels: str, why: str
) -> None:
    text = VALID.replace("[factors.lock]", f"[factors.{along}]\n{factor}\n\n[factors.lock]")
    claim = f'{CLAIM}kind="flat"\nwhere={{threads=1}}\nalong="{along}"\nlevels={levels}\n'
    runs = [({"threads": 1, along: level, "lock": "none"}, recorded(1.0)) for _ in PACES for level in made]
    (one,) = findings_of(tmp_path, runs, text + claim).published_claims
    assert (one.decision, one.why) == ("not testable here", why)


@pytest.mark.parametrize("holds", ["[3.8, 4.2]", "[8, 9]"], ids=["inside", "outside"])
def test_runs_that_were_mostly_disturbed_decide_no_claim(tmp_path: Path, holds: str) -> None:
    claim = f'kind="ratio"\nwhere={{lock="none"}}\nof={{threads=1}}\nover={{threads=4}}\nholds={holds}'
    found = decided(tmp_path, claim, neighbor_s=2.0)
    assert (found.decision, found.doubt, found.figures[0].decision) == ("inconclusive", "", "inconclusive")
    assert found.why.startswith("8 of 8 runs were disturbed: ") and "preempted by someone else" in found.why
    value = decided(tmp_path, f'kind="value"\nof={{threads=4, lock="cas"}}\nholds={holds}', neighbor_s=2.0)
    assert value.decision == "inconclusive" and value.why.startswith("4 of 4 runs were disturbed: ")
    # CPU times that the study goes by are nearly as they were.
    by_cpu = VALID.replace("runs = 3", 'runs = 3\nwhen_busy = "cpu-time"')
    flat = 'kind="flat"\nresponse="cpu"\nwhere={lock="none"}\nalong="threads"'
    assert "disturbed" not in decided(tmp_path, flat, text=by_cpu, neighbor_s=2.0).why


def test_claims_that_rest_on_disturbed_runs_are_not_decided_or_say_so(tmp_path: Path) -> None:
    best = 'kind="location"\nquantity="best_level"\nwhere={lock="none"}\nholds=[4, 4]'
    assert decided(tmp_path, best).decision == "holds"
    found = decided(tmp_path, best, neighbor_s=2.0)
    assert found.decision == "inconclusive" and found.why.startswith("12 of 12 runs were disturbed: ")
    claim = CLAIM + 'kind="ratio"\nwhere={lock="none"}\nof={threads=1}\nover={threads=4}\nholds=["any", 99]'
    made = [
        (t, recorded(pace * TRUTH[t["threads"], t["lock"]], 1.0, neighbor_s=neighbor_s, **EIGHT))
        for pace, neighbor_s in ((1.0, 2.0), (1.01, 0.0))
        for t in CONFIGURATIONS
    ]
    (found,) = findings_of(tmp_path, made, f"{VALID}\n{claim}").published_claims
    assert (found.decision, found.doubt) == ("holds", "includes disturbed runs")


@pytest.mark.parametrize(("claim", "words"), [
    ('kind="ratio"\nwhere={lock="none"}\nof={threads=1}\nalong="threads"\nlevels=[2, 4]\nholds=[0, 9]',
     "wall time of 1 thread over that of n threads, lock none"),
    ('kind="ratio"\nwhere={threads=4}\nof={lock="cas"}\nover={lock="none"}\nholds=[0, 9]',
     "wall time of lock cas over that of lock none, 4 threads"),
    ('kind="ratio"\nof={lock="cas"}\nover={lock="none"}\nalong="threads"\nholds=[0, 99]',
     "wall time of lock cas over that of lock none, each number of threads"),
    ('kind="ratio"\nof={threads=4}\nover={threads=1}\nalong="lock"\nholds=[0, 9]',
     "wall time of 4 threads over that of 1 thread, each lock"),
    ('kind="flat"\nresponse="cpu"\nalong="threads"\nlevels=[2, 4]',
     "CPU time of n threads over that of 2 threads, lock none"),
    ('kind="order"\nwhere={threads=2}\nalong="lock"',
     "wall time of each lock over that of the one before, 2 threads"),
    ('kind="value"\nof={threads=4}\nalong="lock"\nholds=[0, 9]', "wall time of 4 threads, each lock"),
])  # fmt: skip
def test_figures_are_said_in_words(tmp_path: Path, claim: str, words: str) -> None:
    assert decided(tmp_path, claim).quantity == words


HERE = Estimate(1.9, 1.8, 2.0, n=5)


def claim(*labels: str, decision: Decision = "holds", **changed: object) -> DecidedClaim:
    figures = [ClaimValue(label=label, published=1.8, here=HERE, decision="holds") for label in labels]
    fields: dict[str, Any] = {"id": "S0-2", "sentence": "Twice as fast.", "place": "table 15", "quantity": "wall time"}
    return DecidedClaim.model_validate(fields | {"figures": figures, "decision": decision, "low": 1.6} | changed)


def claim_rows(*claims: DecidedClaim) -> list[dict[str, Any]]:
    table = claims_table(claims)
    assert table is not None and table.id == "published-claims"
    return [dict(zip((column.name for column in table.columns), row, strict=True)) for row in table.rows]


def test_the_sentence_stands_once_above_the_figures_or_beside_the_only_one() -> None:
    whole, *figures = claim_rows(claim("2 threads", "8 threads"))
    assert whole["what is claimed"] == "Twice as fast (table 15)"
    assert whole["bears it out"] == "at least 1.6"
    assert [one["figure"] for one in figures] == ["2 threads", "8 threads"]
    assert all((one["published"], one["here"], one["what is claimed"]) == (1.8, HERE, "") for one in figures)
    (only,) = claim_rows(claim(""))
    assert (only["figure"], only["published"], only["decision"]) == ("", 1.8, "holds")
    assert "why" not in claim_rows(claim("a"))[0] and claims_table([]) is None


def test_figures_are_told_in_the_unit_in_which_they_read_best_and_of_many_those_that_fail() -> None:
    figure = ClaimValue(label="", published=0.02, here=Estimate(0.03, 0.02, 0.04), decision="inconclusive")
    (only,) = claim_rows(claim(unit="s", figures=[figure], low=0.01))
    assert (only["figure"], only["published"], only["bears it out"]) == ("(ms)", 20.0, "at least 10 ms")
    assert only["here"].value == 30.0 and only["here"].high == 40.0
    many = [ClaimValue(label=f"{n}", decision="holds") for n in range(99)]
    many[98] = many[98].model_copy(update={"decision": "does not hold"})
    labels = [row["figure"] for row in claim_rows(claim(figures=many))]
    assert "98" in labels and labels[-1] == "35 more"


def test_what_was_not_shown_or_not_compared_says_why() -> None:
    none = ClaimValue(label="", published=220, none="no cliff", decision="does not hold")
    (only,) = claim_rows(claim(figures=[none], doubt="includes disturbed runs"))
    assert only["here"].warnings == ("no cliff",) and only["why"] == "includes disturbed runs"
    (only,) = claim_rows(claim(decision="not testable here", why="it needs 16 CPUs"))
    assert (only["here"], only["decision"], only["why"]) == (None, "not testable here", "it needs 16 CPUs")
    whole, one, other = claim_rows(claim("a", "b", decision="not comparable", why="built otherwise"))
    assert whole["decision"] == "not comparable" and (one["decision"], other["decision"]) == ("", "")


OPEN: Decision = "inconclusive"


def figure(value: float, low: float | None, high: float | None, decision: Decision = OPEN) -> ClaimValue:
    return ClaimValue(label="", here=Estimate(value, low, high, 0.95, 5, "t"), decision=decision)


@pytest.mark.parametrize(("here", "bounds", "times"), [
    ((1.0, 0.9, 1.1), (0.95, 1.05), 4),
    ((1.0, 0.9, 1.1), (0.95, None), 4),
    ((1.02, 0.96, 1.08), (0.95, 1.05), 4),  # the nearer end
    ((0.9, 0.7, 1.1), (0.95, 1.05), 16),  # outside: until all of it is
    ((1.2, 1.0, 1.4), (None, 1.1), 4),
    ((1.05, 1.0, 1.1), (0.95, 1.05), float("inf")),
])  # fmt: skip
def test_one_figure(here: tuple[float, float, float], bounds: tuple[float | None, float | None], times: float) -> None:
    assert run_factor([figure(*here)], bounds) == pytest.approx(times)


def test_of_several_the_widest_inside_or_the_first_outside_counts() -> None:
    figures = [figure(1.0, 0.9, 1.1), figure(1.0, 0.8, 1.2), figure(1.0, 0.99, 1.01, "holds")]
    assert run_factor(figures, (0.95, 1.05)) == pytest.approx(16)
    figures = [figure(1.0, 0.0, 2.0), figure(1.2, 1.0, 1.4), figure(1.1, 0.5, 1.7)]
    assert run_factor(figures, (0.9, 1.05)) == pytest.approx((0.2 / 0.15) ** 2)
    assert run_factor([figure(1.0, None, 1.1), figure(1.0, 0.9, 1.1)], (0.95, 1.05)) is None
    assert run_factor([figure(1.0, 0.99, 1.01, "holds")], (0.95, 1.05)) is None


@pytest.mark.parametrize(("high", "words"), [
    (1.06, "about twice as many runs may decide it"),
    (1.31, "about 39 times as many runs may decide it"),
    (2.0, "more than 100 times as many runs may be needed"),
    (None, ""),
])  # fmt: skip
def test_it_is_said_in_words(high: float | None, words: str) -> None:
    assert runs_needed_text(run_factor([figure(1.0, 0.99, high)], (0.95, 1.05))) == words


@pytest.mark.parametrize(("n", "decision"), [(6, "inconclusive"), (0, "not measured")])
def test_runs_without_a_value_are_inconclusive_and_none_at_all_are_not_measured(n: int, decision: str) -> None:
    here = Estimate(n=n, method="least level", warnings=("inconclusive where the plateau begins",))
    assert decide_interval(here, here, (1, 2), "") == decision
    assert decide_interval(None, None, (1, 2), "") == "not measured"
