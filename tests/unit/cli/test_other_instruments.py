"""Files of other instruments in `import`, `compare` and `gate`: what is printed, refused, and answered."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from scalograph.cli.main import _code
from scalograph.errors import Exit
from tests.golden.command import scalograph
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded
from tests.unit.cli.test_compare import journal
from tests.unit.exchange.instruments import FILES, exported, given, result, timed, written


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert _code(["import", "jmh", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def results(folder: Path) -> Path:
    runs = [(configuration, recorded(0.5 + r / 100)) for configuration in CONFIGURATIONS for r in range(3)]
    write_journal(folder / "journal.jsonl", runs)
    return folder


def test_alone_it_tells_a_row_for_each_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    assert "jmh" in said(capsys, "--help")
    shown = said(capsys, FILES["jmh"], "--tables")
    assert "is the fastest" in " ".join(shown.split()) and "\nForkJoinBench.shot n=3000" in shown
    assert "ForkJoinBench.shot" in shown and "version=pool" in shown and "p99" in shown
    told = json.loads(said(capsys, FILES["jmh"], "--json"))
    assert [one["n_forks"] for one in told["benchmarks"]] == [5, 5]
    assert told["benchmarks"][0]["estimate"]["low"] < told["benchmarks"][0]["p50"] < 1e-3


def test_beside_a_study_it_says_whether_both_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, result([[500.0], [510.0], [520.0]], params={"threads": "2"}))
    shown = said(capsys, file, "--beside", results(tmp_path), "--where", "lock=cas")
    assert "Sum.run threads=2: JMH agrees with the study within " in shown
    told = json.loads(said(capsys, file, "--beside", tmp_path, "--where", "lock=cas", "--json"))
    (one,) = told["benchmarks"]
    assert (told["study"], told["response"], one["label"]) == ("hello", "wall", "agree")
    assert one["ratio"]["value"] == pytest.approx(1.0) and one["sentence"] in shown
    params = {"threads": "2", "lock": "cas", "x": "\x1b[31m[red]"}
    file = written(tmp_path, {**result([[500.0]] * 3, params=params), "benchmark": "a.\x1b]0;title\x07"})
    shown = said(capsys, file, "--beside", results(tmp_path)) + said(capsys, file)
    assert "\x1b" not in shown and "\x07" not in shown and "[red]" in shown


def test_what_failed_is_named_and_agrees_with_no_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = timed("broken", [0.001] * 3, exit_codes=[127] * 3)
    file = exported(tmp_path, broken, timed("b", [0.5, 0.51, 0.52], exit_codes=[0] * 3))
    assert _code(["import", "hyperfine", str(file)]) == Exit.DONE
    told = " ".join(" ".join(capsys.readouterr().out.splitlines()[:5]).split())
    assert "b takes 510" in told and "Failed, without a value: broken (3 of 3 runs; exit code 127 in 3 runs)." in told
    assert _code(["import", "hyperfine", str(exported(tmp_path, broken)), "--json"]) == Exit.CONFIGURATION_FAILED
    (one,) = json.loads(capsys.readouterr().out)["benchmarks"]
    assert (one["n_failed"], one["n_forks"], one["p50"], one["estimate"]["value"]) == (3, 0, None, None)
    rows = [f"{i},{'ok' if n == 1 else 'failed'},{n},{'0.51' if n == 1 else ''},s" for n in (1, 2) for i in range(3)]
    file = given(tmp_path, "\n".join(["run,status,threads,value,unit", *rows]))
    asked = ["import", "csv", file, "--beside", results(tmp_path), "--where", "lock=cas"]
    assert _code([*map(str, asked)]) == Exit.DONE
    told = " ".join(capsys.readouterr().out.split())
    assert "threads=2 is not compared: failed in 3 of 3 runs." in told


SCORES = (1.0, 1.01, 0.99, 1.005, 0.995, 1.0, 1.002, 0.998)


def hyperfine(file: Path, command: str, times: dict[int, float], scores: Sequence[float] = SCORES) -> None:
    every = [
        timed(f"{command} -t {n}", [took * score for score in scores], parameters={"threads": str(n)})
        for n, took in times.items()
    ]
    exported(file.parent, *every, name=file.name)


@pytest.mark.parametrize(("factor", "code", "word"), [
    (1.2, Exit.SLOWER, "new.json is slower"), (0.8, Exit.DONE, "new.json is faster"), (1.0, Exit.DONE, "equivalent to"),
])  # fmt: skip
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


LAYOUT = ["--at=/results/*", "--name=/cmd", "--value=/mean", "--unit=ms", "--param=threads=/t", "--fact=CPU=/host"]


def means(file: Path, factor: float = 1.0, host: str = "x9") -> str:
    """Write a JSON file of our own, one mean a number of threads."""
    every = [{"cmd": "sort", "t": n, "mean": took * factor} for n, took in ((1, 15.0), (2, 8.0))]
    file.write_text(json.dumps({"host": host, "results": every}))
    return f"json:{file.name}"


def test_any_json_is_read_by_its_layout_and_single_values_have_the_spread_that_is_given(tmp_path: Path) -> None:
    old, new = means(tmp_path / "old.json"), means(tmp_path / "new.json", 1.5, "x10")
    alone = scalograph(["import", "json", "old.json", *LAYOUT], tmp_path)
    assert alone.code == 0 and "one process has no interval" in " ".join(alone.printed.split())
    spread = scalograph(["import", "old.json", *LAYOUT, "--spread", "10%"], tmp_path)
    shown = " ".join(spread.printed.split())
    assert spread.code == 0 and "takes 90% more time (95% CI 40\N{EN DASH}150%)" in shown, shown
    assert "8.0 \N{PLUS-MINUS SIGN}22%" in shown and "spread as given: 10%" in shown
    compared = scalograph(["compare", old, new, *LAYOUT], tmp_path)
    assert compared.code == Exit.INCONCLUSIVE and "CPU x9 \N{RIGHTWARDS ARROW} x10" in compared.printed
    for command in (["compare", old, new], ["gate", new, "--against", old]):
        decided = scalograph([*command, *LAYOUT, "--spread", "5%"], tmp_path)
        shown = " ".join(decided.printed.split())
        assert decided.code == Exit.SLOWER and "rest on the spread as given, 5%" in shown, shown
        assert scalograph([*command, *LAYOUT, "--spread", "20%"], tmp_path).code == Exit.INCONCLUSIVE
    printed = scalograph(["compare", "published:8", "published:15", "--spread", "2%"], tmp_path)
    assert printed.code == Exit.SLOWER and "512 threads (95% CI 1.93\N{EN DASH}2.24)" in " ".join(
        printed.printed.split()
    )


def test_files_of_several_processes_keep_their_own_spread(tmp_path: Path) -> None:
    hyperfine(tmp_path / "old.json", "./old", {1: 4.0})
    plain, spread = (scalograph(["import", "old.json", *more], tmp_path) for more in ((), ("--spread", "30%")))
    assert plain.printed.splitlines()[:6] == spread.printed.splitlines()[:6] and "as given" not in spread.printed


@pytest.mark.parametrize(("arguments", "words"), [
    ("import json old.json", "a JSON document of unknown layout"),
    ("import old.json --value mean --unit s", "--value mean is not valid"),
    ("import old.json --value /mean", "--unit"),
    ("import old.json --value /mean --unit s --param threads", "--param threads is not valid"),
    ("import old.json --value /results/0/mean --unit furlong", "'furlong' is neither a time nor a rate"),
    ("import wrk old.json --value /mean --unit s", "--value is for the format json"),
    ("import json old.json --value /results/0/mean --unit s --over t --spread 5%", "exclude each other"),
    ("import old.json --value /results/0/mean --unit s --spread 5", "--spread 5 is not valid"),
    ("import old.json --value /results/0/mean --unit s --spread 0%", "--spread 0% is not valid"),
    ("compare old.json old.json --value /mean --unit s", "json:FILE"),
    ("compare json:old.json json:old.json", "a JSON document of unknown layout"),
])  # fmt: skip
def test_a_layout_that_is_none_is_refused(tmp_path: Path, arguments: str, words: str) -> None:
    means(tmp_path / "old.json")
    refused = scalograph(arguments.split(), tmp_path)
    assert refused.code == Exit.STUDY and words in " ".join(refused.printed.split()), refused.printed


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
