"""A study that asks what a program needs at least, from its file to its findings, on a simulated machine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scalograph.cli import analyze_steps
from scalograph.cli.command_line_study.load_study import load_study
from scalograph.cli.sweep_options import LoadOptions
from scalograph.errors import Exit
from scalograph.protocol.findings import Claim, Findings
from scalograph.protocol.record import Record
from scalograph.questions.asked import amount_levels
from scalograph.questions.size.document import Size
from scalograph.questions.size.find import SizeOptions, figures
from scalograph.study.levels import Configuration
from scalograph.study.load import parse
from scalograph.study.responses import limited_score, limits_of
from tests.kit import simulated
from tests.kit.findings import cases_of, cells_of, claim_of, part_of
from tests.kit.shown_numbers import check_numbers
from tests.kit.studies import a_study

AMOUNTS: dict[str, Any] = {
    "quota": {"control": "quota", "levels": amount_levels("0.1:2", "quota"), "unit": "CPUs"},
    "memory": {"control": "memory", "levels": amount_levels("16M:512M", "memory"), "unit": "MiB"},
}
WALL = {"wall": {"from": "window.wall", "unit": "s", "limit": 2.0, "title": "wall time"}}


def asked(
    folder: Path, names: tuple[str, ...], seconds: Callable[[Configuration], float],
    fails: Callable[[Configuration], bool] = lambda levels: False,
) -> tuple[Findings, Size, Claim]:  # fmt: skip
    """Return what was found, and what is said of it."""
    machine = simulated.Machine(seconds, fails)
    study = a_study({name: AMOUNTS[name] for name in names}, question="size", responses=WALL)
    _, found = simulated.run(folder, machine, study, 4)
    check_numbers(claim_of(found))
    return found, part_of(found, "size", Size), claim_of(found)


def test_a_quota_and_memory_are_searched_in_turn_and_failures_answer(tmp_path: Path) -> None:
    found, part, said = asked(
        tmp_path, ("quota", "memory"), lambda levels: 1 / float(levels["quota"]),
        lambda levels: float(levels["memory"]) < 100,
    )  # fmt: skip
    quota, memory = part.needs
    assert (quota.beside, memory.beside) == ({"memory": 512.0}, {"quota": 2.0})
    for need, truth in ((quota, 0.5), (memory, 100)):
        assert need.decided and need.need.low is not None and need.need.high is not None
        assert need.need.low <= truth <= need.need.high <= 1.25 * need.need.low
    assert [run.over is None for run in memory.runs] == [run.level < 100 for run in memory.runs]
    assert [*cases_of(said)][:1] == ["needs"] and "with less" in said.matrix.columns if said.matrix else False
    assert "failed" in cells_of(said)["memory (MiB)"][1]
    assert analyze_steps.exit_code(found) == Exit.DONE, "what fails with less is an answer"
    assert found.trust.level != "unusable"
    assert figures(found)["needs"][1]["factor"] == "memory"


@pytest.mark.parametrize(("seconds", "case", "cell"), [
    (1.0, "always", "at most 0.1 CPUs"), (9.0, "never", "more than 2 CPUs"),
])  # fmt: skip
def test_a_limit_that_every_or_no_level_keeps(tmp_path: Path, seconds: float, case: str, cell: str) -> None:
    found, part, said = asked(tmp_path, ("quota",), lambda levels: seconds)
    assert part.needs[0].need.value is None and [*cases_of(said)] == [case]
    assert [cells[0] for cells in cells_of(said).values()] == [cell]
    assert analyze_steps.exit_code(found) == Exit.DONE


def test_a_quota_that_keeps_no_limit_ends_the_search(tmp_path: Path) -> None:
    _, part, _ = asked(tmp_path, ("quota", "memory"), lambda levels: 9.0)
    assert [need.factor for need in part.needs] == ["quota"]


class Failing(simulated.Machine):
    """A program whose runs fail for a reason."""

    def record(self, levels: Configuration, wall: float, **figures: Any) -> Record:
        return super().record(levels, wall, **figures, reason="exit code 1: no license")


def test_a_program_that_always_fails_has_no_answer_and_its_reason_is_told(tmp_path: Path) -> None:
    study = a_study({"memory": AMOUNTS["memory"]}, question="size", responses=WALL)
    _, found = simulated.run(tmp_path, Failing(lambda levels: 1.0, lambda levels: True), study, 4)
    (sentence,) = claim_of(found).sentences
    assert sentence == "No answer: no run succeeded (exit code 1: no license)." and found.trust.level == "unusable"


def test_what_is_enough_of_both_together_is_confirmed_by_fresh_runs(tmp_path: Path) -> None:
    """It takes longer where it has little of both: 1.2 times the least is too little, 1.44 times is enough."""

    def seconds(levels: Configuration) -> float:
        is_short = float(levels["memory"]) < 135
        return (1.2 if is_short else 0.9) / float(levels["quota"]) if float(levels["quota"]) < 0.7 else 1.0

    _, part, said = asked(tmp_path, ("quota", "memory"), seconds, lambda levels: float(levels["memory"]) < 100)
    assert part.together is not None and part.together.keeps and len(part.together.over) == 3
    assert part.together.levels["memory"] == pytest.approx(144, rel=0.1)
    assert [*cases_of(said)] == ["needs", "together"]
    assert "confirmed" in (said.matrix.columns if said.matrix else [])


def test_a_server_is_asked_about_as_load_would(tmp_path: Path) -> None:
    url, limit = "http://127.0.0.1:{port}/", ["p99<50ms"]
    service = SizeOptions(serve="./app {port}", get=url, rate=100, limit=limit, quota="0.1:1.5").factors().service
    assert service["cpus"] == "2", "room for the highest quota"
    study = parse(load_study(LoadOptions(**service)))
    assert (study.question, study.responses["p99"].limit) == ("size", 5e7)
    assert study.factors["rate"].levels == [100] and len(study.factors["quota"].levels) > 100
    assert SizeOptions(serve="./app", get=url, rate=1, limit=limit, memory="1M:2M").factors().service["cpus"] is None


def test_an_undisturbed_time_has_the_limit_of_the_time_that_it_replaces() -> None:
    raw = {**WALL["wall"], "from": "run.wall"}
    corrected = {"undisturbed": {**raw, "from": "run.undisturbed"}, "wall": raw}
    study = parse(a_study({"quota": AMOUNTS["quota"]}, question="size", responses=corrected))
    assert limits_of(study) == {"undisturbed": 2.0}
    assert limited_score(study, {"undisturbed": 1.0, "wall": 9.0}) == 1.0
