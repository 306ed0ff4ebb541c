"""Files of other instruments in `compare` and `gate`: read as `import` reads them, answered as results are."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from scalograph.errors import Exit
from tests.golden.command import scalograph
from tests.unit.cli.test_compare import journal
from tests.unit.exchange.instruments import exported, result, timed, written

SCORES = (1.0, 1.01, 0.99, 1.005, 0.995, 1.0, 1.002, 0.998)


def hyperfine(file: Path, command: str, times: dict[int, float], scores: Sequence[float] = SCORES) -> None:
    every = [
        timed(f"{command} -t {n}", [took * score for score in scores], parameters={"threads": str(n)})
        for n, took in times.items()
    ]
    exported(file.parent, *every, name=file.name)


@pytest.mark.parametrize(
    ("factor", "code", "word"),
    [
        (1.2, Exit.SLOWER, "new.json is slower"),
        (0.8, Exit.DONE, "new.json is faster"),
        (1.0, Exit.DONE, "is equivalent to"),
    ],
)
def test_two_files_of_hyperfine_are_answered_with_care(tmp_path: Path, factor: float, code: Exit, word: str) -> None:
    """Their commands differ; the levels of the parameter match them."""
    hyperfine(tmp_path / "old.json", "./old", {1: 4.0, 2: 2.1, 4: 1.2})
    hyperfine(tmp_path / "new.json", "./new", {n: t * factor for n, t in {1: 4.0, 2: 2.1, 4: 1.2}.items()})
    said = scalograph(["compare", "old.json", "new.json"], tmp_path)
    shown = " ".join(said.printed.split())
    assert said.code == code and word in shown, said.printed
    assert "Of old.json and new.json: No verdict of the machine is known: runs that others disturbed count" in shown
    assert "command ./old -t 1 and 2 more \N{RIGHTWARDS ARROW} ./new -t 1 and 2 more" in shown
    if factor > 1:
        assert scalograph(["compare", "old.json", "new.json", "--page", "both.html"], tmp_path).code == code
        assert "new.json is slower" in (tmp_path / "both.html").read_text()
    gate = scalograph(["gate", "new.json", "--against", "old.json", "--format", "md"], tmp_path)
    assert gate.code == code and "No verdict of the machine is known" in gate.printed


def test_forks_of_jmh_are_runs_and_its_modes_are_chosen(tmp_path: Path) -> None:
    for name, factor in (("a", 1.0), ("b", 1.2)):
        (tmp_path / name).mkdir()
        every = [
            result([[x * factor * n] for x in SCORES], unit, mode, {"n": str(n)})
            for unit, mode in (("ms/op", "ss"), ("ops/ms", "thrpt"))
            for n in (1, 10)
        ]
        written(tmp_path / name, *every)
    asked = ["compare", "jmh:a/jmh.json", "b/jmh.json", "--response"]
    assert scalograph(["compare", "a/jmh.json", "b/jmh.json"], tmp_path).code == Exit.SLOWER
    rates = json.loads(scalograph([*asked, "thrpt", "--json"], tmp_path).printed)
    assert rates["answer"] == "faster" and rates["results"][0]["unit"] == "1/s"
    assert rates["results"][0]["configurations"][1]["levels"]["n"] == 10
    refused = scalograph([*asked, "wall"], tmp_path)
    assert refused.code == Exit.STUDY and "one of ss, thrpt" in refused.printed


def test_one_process_says_nothing_and_several_do(tmp_path: Path) -> None:
    for name, factor in (("a", 1.0), ("b", 1.2)):
        for i, score in enumerate(SCORES[:5]):
            lines = [f"BenchmarkSum-2 1000 {100 * factor * score * (1 + k / 500):.3f} ns/op\n" for k in range(5)]
            (tmp_path / f"{name}{i}.txt").write_text("".join(lines))
    one = scalograph(["compare", "a0.txt", "b0.txt"], tmp_path)
    shown = " ".join(one.printed.split())
    assert one.code == Exit.INCONCLUSIVE
    assert "one process has no interval" in shown and "time of b0.txt is 1.20\N{MULTIPLICATION SIGN}" in shown
    several = ["gobench:" + ",".join(f"{name}{i}.txt" for i in range(5)) for name in "ab"]
    found = scalograph(["compare", *several], tmp_path)
    assert found.code == Exit.SLOWER and "B is slower than A: 20.0% more time" in " ".join(found.printed.split())


def test_our_results_stand_beside_a_file_whose_params_are_their_factors(tmp_path: Path) -> None:
    journal(tmp_path, "ours")
    hyperfine(tmp_path / "theirs.json", "./prog", {1: 1.5, 2: 0.75, 4: 0.375}, SCORES[:6])
    asked = ["compare", "ours", "theirs.json", "--where", "lock=cas", "--json"]
    told = json.loads(scalograph(asked, tmp_path).printed)
    assert told["answer"] == "slower" and len(told["results"][0]["configurations"]) == 3
    assert scalograph(["export", "ours", "--to", "ours.csv"], tmp_path).code == 0
    assert scalograph(["compare", "ours", "ours.csv"], tmp_path).code == Exit.DONE


@pytest.mark.parametrize(("disturbed", "code"), [(1, Exit.SLOWER), (4, Exit.INCONCLUSIVE)])
def test_a_table_that_we_wrote_has_the_answer_of_its_results(tmp_path: Path, disturbed: int, code: Exit) -> None:
    journal(tmp_path, "old")
    journal(tmp_path, "new", slower=1.2, disturbed=disturbed)
    assert scalograph(["export", "new", "--to", "new.csv"], tmp_path).code == 0
    for other in ("new", "new.csv"):
        said = scalograph(["compare", "old", other], tmp_path)
        assert said.code == code and ("of 36 runs were disturbed" in said.printed) == (code == Exit.INCONCLUSIVE)
    assert "only which runs were disturbed is known" in " ".join(said.printed.split())
