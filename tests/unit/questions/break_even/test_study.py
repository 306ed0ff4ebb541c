"""A study that asks for break-even, from its file to its findings and back, on a simulated machine."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from scalograph.cli import analyze_steps
from scalograph.design.search import run_plan
from scalograph.errors import Exit, HostError, StudyError
from scalograph.protocol.findings import Findings
from scalograph.questions.break_even.document import BreakEvenLine
from scalograph.questions.break_even.model_mean import comparison_space
from scalograph.run.session import Session
from scalograph.study.levels import Configuration
from scalograph.study.load import parse
from tests.kit import simulated
from tests.kit.findings import cases_of, cells_of, claim_of
from tests.kit.refusals import refuses
from tests.kit.shown_numbers import check_numbers
from tests.kit.simulated import Machine, break_even_of, notes_of
from tests.kit.studies import a_study, facts_of, plan_of

HOST = facts_of(8)
START, WORKER = 1000.0, 20.0
VERSIONS = ("sequential", "parallel")


def study(
    *, sizes: object = "16:65536:*2", workers: Sequence[int] = (1, 2, 4, 8), versions: Sequence[str | int] = VERSIONS,
    more: dict[str, Any] | None = None, **tables: Any,
) -> str:  # fmt: skip
    """A study of two versions, of which the first is the baseline, over sizes and workers."""
    roles = {"size": {"levels": sizes, "role": "size"}, "workers": {"levels": [*workers], "role": "workers"}}
    asked = {"question": "break-even", "seed": 3, "baseline": {"version": versions[0]}}
    responses = {"wall": {"from": "window.wall", "unit": "s"}}
    return a_study({"version": [*versions], **roles, **(more or {})}, **asked | {"responses": responses} | tables)


STUDY = study()


def line(workers: int) -> float:
    """The size at which both are as fast."""
    return (START + WORKER * workers) / (1 - 1 / workers)


def forked(levels: Configuration) -> float:
    """Starting costs as much as 1000 elements, and each worker as much as 20."""
    n, p = int(levels["size"]) * int(levels.get("cost", 1)), int(levels["workers"])
    return 1e-4 * (START + WORKER * p + n / p if levels["version"] in ("parallel", 2) else n)


def run(folder: Path, machine: Machine, text: str = STUDY) -> tuple[Session, Findings]:
    return simulated.run(folder, machine, text, HOST)


def lines_of(found: Findings) -> list[BreakEvenLine]:
    return break_even_of(found).maps[0].lines


Searched = tuple[Machine, Session, Findings]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Searched:
    """The search as it is declared above, on a machine that knows no surprises."""
    machine = Machine(forked)
    return machine, *run(tmp_path_factory.mktemp("plain"), machine)


def test_the_line_is_found_with_an_interval_that_holds_it(plain: Searched) -> None:
    machine, done, found = plain
    even, each = break_even_of(found), cases_of(found)["from each"]
    assert done.reason == "complete" and even.decided and analyze_steps.exit_code(found) == Exit.DONE
    assert even.n == len(machine.made) / 2 <= 30
    assert even.shares["undecided"] == 0 and even.shares["wins"] > 0.2 and even.shares["loses"] > 0.4
    (one,) = even.maps
    assert {row.level: row.kind for row in one.lines} == {1: "never", 2: "from", 4: "from", 8: "from"}
    for row in one.lines[1:]:
        assert row.location == pytest.approx(line(int(row.level or 0)), rel=0.15)
        assert (row.low or 0) < line(int(row.level or 0)) < (row.high or 0)
    assert (each["first"], each["last"]) == ("8 workers", "2 workers")
    assert [e.value for e, _ in (each["least"], each["most"])] == [one.lines[3].location, one.lines[1].location]
    assert cases_of(found)["beside"] == {"never": ["1 worker"]} and claim_of(found).figure == "even"
    assert [*cells_of(found)] == ["1 worker", "2 workers", "4 workers", "8 workers"]
    assert cells_of(found)["1 worker"][0] == "never"
    check_numbers(claim_of(found))
    # As a formula, which is not told, because the lines say the same.
    assert even.formula is not None and even.formula.powers == {"size": pytest.approx(1, abs=0.1)}
    work = {levels["workers"]: product for levels, product in even.formula.work}
    assert work[1] is None and (work[4] or 0) == pytest.approx(line(4) ** even.formula.powers["size"], rel=0.15)
    assert not any(text.startswith("As a formula") for text in found.answer)


def test_each_pair_is_made_together_in_a_drawn_order(plain: Searched) -> None:
    machine, done, _ = plain
    steps = [machine.made[i : i + 2] for i in range(0, len(machine.made), 2)]
    for number, (first, second) in enumerate(steps):
        assert first.block == second.block == number
        one, other = ({**made.configuration} for made in (first, second))
        assert {one.pop("version"), other.pop("version")} == {*VERSIONS} and one == other
    assert {first.configuration["version"] for first, _ in steps} == {*VERSIONS}
    assert len(done.results.design.read_text().splitlines()) == 1 + 16, "pairs that are known in advance"


def test_versions_that_are_numbers_have_their_factors_name_and_two_sizes_a_formula(tmp_path: Path) -> None:
    _, found = run(tmp_path, Machine(forked), study(versions=(1, 2)))
    assert cases_of(found)["from each"].items() >= {"other": "version 2", "base": "version 1"}.items()
    _, found = run(tmp_path / "two", Machine(forked), study(more={"cost": {"levels": [1, 4, 16], "role": "size"}}))
    assert len(break_even_of(found).maps) == 3
    assert any(text.startswith("As a formula: parallel is faster where size") for text in found.answer)


def test_where_a_whole_map_is_of_one_kind_its_levels_are_not_listed(tmp_path: Path) -> None:
    text = study(sizes="16:1024:*2", more={"cost": {"levels": [1, 256], "role": "size"}})
    _, found = run(tmp_path, Machine(forked), text)
    assert cases_of(found)["never"]["who"] == ["cost 1", "1 worker"] and {"cost 1", "1 worker"} <= {*cells_of(found)}


def test_a_disturbed_run_is_made_again_and_its_pair_counts_once(tmp_path: Path) -> None:
    machine = Machine(forked, disturbed=(4,))
    _, found = run(tmp_path, machine)
    assert break_even_of(found).n == (len(machine.made) - 1) / 2


@pytest.mark.parametrize(("workers", "failing_from"), [((1, 2, 4, 8), 32768), ((4,), 8192)], ids=["some", "at first"])
def test_failed_points_go_start_points_are_replaced(
    tmp_path: Path, workers: tuple[int, ...], failing_from: int
) -> None:
    fails = Machine(forked, lambda levels: levels["version"] == "parallel" and int(levels["size"]) >= failing_from)
    done, found = run(tmp_path, fails, study(workers=workers))
    notes = [text for text in notes_of(done) if "failed 2 times: excluded" in text]
    assert workers == (4,) or any(text.startswith("size 32768, workers ") for text in notes)
    assert done.reason == "complete" and break_even_of(found).decided
    assert lines_of(found)[workers.index(4)].location == pytest.approx(line(4), rel=0.2)


def test_of_a_setting_where_all_pairs_fail_nothing_is_told(tmp_path: Path) -> None:
    fails = Machine(forked, lambda levels: levels["version"] == "parallel" and levels["workers"] == 64)
    done, found = run(tmp_path, fails, study(workers=(2, 4, 8, 64)))
    even = break_even_of(found)
    assert done.reason == "complete" and even.decided
    last = even.maps[0].lines[-1]
    assert (last.level, last.kind, last.location, last.low) == (64, "unmeasured", None, None)
    assert cells_of(found)["64 workers"][0] == "not measured"
    assert cases_of(found)["beside"] == {"unmeasured": ["64 workers"]}
    assert [row.kind for row in even.maps[0].lines[:-1]] == ["from"] * 3
    assert even.formula is not None and [levels["workers"] for levels, _ in even.formula.work] == [2, 4, 8]


@pytest.mark.parametrize("seed", range(4))
def test_beside_a_jump_nothing_wrong_is_told_for_sure(tmp_path: Path, seed: int) -> None:
    """The parallel version is slower up to 1000, and then suddenly three times as fast."""

    def cut_off(levels: Configuration) -> float:
        return 1.0 if levels["version"] == "sequential" else 1.15 if int(levels["size"]) < 1000 else 0.37

    sizes = [round(2 ** (4 + 12 * i / 63)) for i in range(64)]
    _, found = run(tmp_path, Machine(cut_off, noise=0.03), study(sizes=sizes, workers=[4], seed=seed))
    (told,) = lines_of(found)
    if break_even_of(found).decided:
        assert told.kind == "from" and (told.low or 0) < 1000 < (told.high or 0)
    else:
        assert analyze_steps.exit_code(found) == Exit.NO_ANSWER


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_of_two_that_are_alike_neither_wins(tmp_path: Path, seed: int) -> None:
    _, found = run(tmp_path, Machine(lambda levels: 1.0, noise=0.06), study(seed=seed))
    assert {row.kind for row in lines_of(found)} <= {"never", "undecided"}


def test_what_is_known_of_a_setting_that_is_open_is_told(tmp_path: Path) -> None:
    _, found = run(tmp_path, Machine(forked, noise=0.5), study(protocol={"budget_runs": 30}))
    assert not break_even_of(found).decided and "undecided" in [row.kind for row in lines_of(found)]
    assert cases_of(found)["beside"]["undecided"] and ["inconclusive"] in [
        cells[:1] for cells in cells_of(found).values()
    ]
    assert found.trust.codes[0] == "points open" and "after 15 pairs" in found.trust.sentence
    assert "pairs differ" in found.trust.codes


def test_where_it_wins_in_the_middle_no_line_goes_on_for_ever(tmp_path: Path) -> None:
    def wins_between(levels: Configuration) -> float:
        n = int(levels["size"])
        return 3 * (16 / n) ** 0.35 + (n / 65536) ** 2 * 1.2 if levels["version"] == "parallel" else 1.0

    _, found = run(tmp_path, Machine(wins_between), study(workers=[4]))
    (one,) = lines_of(found)
    assert one.kind == "several" or (one.kind == "from" and one.sure_to is not None and one.sure_to < 65536)
    assert "several" in cases_of(found) or cases_of(found)["from"]["sure"]


def test_levels_may_be_real_and_linear(tmp_path: Path) -> None:
    text = study(workers=[2], more={"load": {"levels": "0:8", "scale": "linear"}})
    _, found = run(tmp_path, Machine(forked), text)
    assert break_even_of(found).decided
    (one,) = break_even_of(found).maps
    assert (one.x, one.y, one.y_levels) == ("size", "load", [*map(float, range(9))])
    assert all(row.location == pytest.approx(line(2), rel=0.25) for row in one.lines)


def test_what_a_host_cannot_search_is_refused(tmp_path: Path) -> None:
    granted = {"version": {"levels": ["other", "fifo:10"], "control": "policy", "if_granted": ["fifo:10"]}}
    with pytest.raises(HostError, match=r"policy fifo:10 is refused here, expected a level of version"):
        text = study(versions=("other",), more=granted)
        run_plan(plan_of(tmp_path, text, HOST.model_copy(update={"granted_priority": 0})).design)
    refuses(StudyError, "12288 points along size, workers", plan_of, tmp_path, study(sizes="1:3072"), HOST)
    # Names that a host spells out, as all of its JVMs: only there it shows that they are several.
    names = [{"version": version, "size": 16, "workers": name} for version in VERSIONS for name in "abc"]
    message = r"factors\.workers: level 'a' of several, expected numbers"
    refuses(StudyError, message, comparison_space, parse(STUDY), names)


def test_what_is_decided_but_not_confirmed_says_how_many_pairs_are_missing(plain: Searched, tmp_path: Path) -> None:
    n = break_even_of(plain[-1]).n
    _, found = run(tmp_path, Machine(forked), study(protocol={"budget_runs": 2 * (n - 2) + 1}))
    assert not break_even_of(found).decided
    decided = break_even_of(found).n
    assert found.trust.causes == [f"{decided} pairs decide the whole range; {n - decided} more would confirm it"]
