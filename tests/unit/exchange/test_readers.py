"""What eleven instruments wrote: read to seconds or rates as they print them themselves, or refused in one message."""

import json
import re
from contextlib import suppress
from pathlib import Path
from statistics import mean, median

import pytest

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, join_files
from scalograph.exchange.benchmark_values import scores
from scalograph.exchange.readers import foreign_file, registry
from scalograph.exchange.readers.registry import read, recognize
from scalograph.study.reader_names import READERS
from tests.kit import ROOT

HOME = ROOT / "tests" / "recorded"
RECORDED = {
    "hyperfine": "instruments/hyperfine-1.15.json",
    "pyperf": "instruments/pyperf-2.10.json",
    "google-benchmark": "instruments/google-benchmark-1.7.json",
    "criterion": "instruments/criterion-0.5",
    "gobench": "instruments/gobench-1.26.txt",
    "sysbench": "instruments/sysbench-1.0.txt",
    "pgbench": "instruments/pgbench-15.txt",
    "wrk": "drivers/wrk-4.1.txt",
    "oha": "drivers/oha-1.json",
    "k6": "drivers/k6-metrics-by-name.json",
}


def recorded(name: str) -> list[Benchmark]:
    return read(name, HOME / RECORDED[name])


def raw(name: str) -> str:
    return (HOME / RECORDED[name]).read_text()


def given(folder: Path, text: str, name: str = "given.txt") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_each_run_of_hyperfine_is_a_fork() -> None:
    first, second = recorded("hyperfine")
    document = json.loads(raw("hyperfine"))["results"]
    assert (first.name, first.unit, dict(first.params), len(first.forks)) == ("sleep 0.01", "s", {"n": "1"}, 6)
    assert [median(scores(one)) for one in (first, second)] == pytest.approx([one["median"] for one in document])


def test_each_process_of_pyperf_is_a_fork_and_calibration_is_none() -> None:
    (one,) = recorded("pyperf")
    runs = json.loads(raw("pyperf"))["benchmarks"][0]["runs"]
    assert (one.name, len(runs), len(one.forks)) == ("sorted", 4, 3)
    assert [list(fork.values) for fork in one.forks] == [run["values"] for run in runs if "values" in run]


def test_repetitions_of_google_benchmark_are_shots_of_one_fork() -> None:
    every = recorded("google-benchmark")
    assert [(one.name, dict(one.params), one.threads) for one in every[:2]] == [
        ("BM_Sum", {"n": "64", "threads": "1"}, 1),
        ("BM_Sum", {"n": "64", "threads": "2"}, 2),
    ]
    means = [b for b in json.loads(raw("google-benchmark"))["benchmarks"] if b.get("aggregate_name") == "mean"]
    assert [mean(one.forks[0].values) for one in every] == pytest.approx([b["real_time"] * 1e-9 for b in means])
    assert all(len(one.forks) == 1 for one in every)


def test_a_shot_of_criterion_is_the_time_of_an_iteration() -> None:
    large, small = recorded("criterion")
    assert (small.name, dict(small.params), dict(large.params)) == ("sum/iter", {"value": "64"}, {"value": "4096"})
    assert small.forks[0].values[0] == pytest.approx(567340.0 / 57459.0 * 1e-9)
    assert read("criterion", HOME / "instruments/criterion-0.5/sum/iter/64") == [small]


def test_counts_of_go_are_shots_and_its_procs_a_param() -> None:
    every = recorded("gobench")
    assert [dict(one.params) for one in every[:2]] == [
        {"n": "64", "gomaxprocs": "1"},
        {"n": "64", "gomaxprocs": "2"},
    ]
    assert every[0].name == "example.org/sum.Sum"
    assert list(every[0].forks[0].values) == pytest.approx([46.14e-9, 59.99e-9, 117.6e-9])


@pytest.mark.parametrize(
    ("name", "param", "printed"),
    [
        ("sysbench", "threads", r"events per second: +([0-9.]+)"),
        ("pgbench", "clients", r"tps = ([0-9.]+)"),
        ("wrk", "connections", r"Requests/sec: +([0-9.]+)"),
    ],
)
def test_each_output_of_a_load_tool_is_a_fork(name: str, param: str, printed: str) -> None:
    every = recorded(name)
    told = [float(text) for text in re.findall(printed, raw(name))]
    assert [rate for one in every for rate in scores(one)] == pytest.approx(told, rel=0.005)
    assert all(one.unit == "1/s" and one.params[param].isdecimal() for one in every)


def test_right_answers_count(tmp_path: Path) -> None:
    (oha,), (k6,), (listed,) = (
        recorded("oha"),
        recorded("k6"),
        read("k6", HOME / "drivers/k6-metrics-in-a-list.json"),
    )
    assert scores(oha) == pytest.approx([476 / 3.002729963])
    assert scores(k6) == pytest.approx([51 / 3.001184912]) and scores(listed) == pytest.approx([52 / 3.001589679])
    exported = {"metrics": {"http_reqs": {"count": 100, "rate": 50}, "http_req_failed": {"value": 0.1}}}
    assert scores(read("k6", given(tmp_path, json.dumps(exported)))[0]) == pytest.approx([45.0])
    text = raw("wrk").replace("Requests/sec", "  Non-2xx or 3xx responses: 33034\nRequests/sec")
    assert scores(read("wrk", given(tmp_path, text))[0]) == pytest.approx([21701.57 / 2])


TABLE = "run,threads,value,unit\na,1,10,ms\na,1,30,ms\nb,1,12,ms\n"


def test_a_table_has_a_fork_for_each_run(tmp_path: Path) -> None:
    (one,) = read("csv", given(tmp_path, TABLE))
    assert (one.unit, dict(one.params), scores(one)) == ("s", {"threads": "1"}, pytest.approx([0.02, 0.012]))
    (rows,) = read("csv", given(tmp_path, "benchmark,value,unit\nx,5,1/s\nx,6,ops/s\n"))
    assert (rows.name, rows.unit, scores(rows)) == ("x", "1/s", [5.0, 6.0])


def test_what_we_export_is_such_a_table(tmp_path: Path) -> None:
    text = "run,block,warmup,status,verdict,threads,response,iteration,value,unit\n"
    text += "a,0,false,ok,clean,1,wall,0,2,s\nb,0,true,ok,clean,1,wall,0,9,s\nc,0,false,failed,failed,1,,,,\n"
    (one,) = read("csv", given(tmp_path, text))
    assert (one.name, scores(one), dict(one.params)) == ("wall", [2.0], {"threads": "1"})


def test_a_disturbed_run_is_one_of_its_benchmark(tmp_path: Path) -> None:
    judged = {"a": "clean", "b": "disturbed"}
    rows = [f"{name},{run},{verdict},2,s" for name, verdict in judged.items() for run in (1, 2, 3)]
    every = read("csv", given(tmp_path, "\n".join(["benchmark,run,verdict,value,unit", *rows])))
    assert [(one.name, one.disturbed, len(one.forks)) for one in every] == [("a", (0, 3), 3), ("b", (3, 3), 3)]


def test_several_files_are_several_forks() -> None:
    files = [HOME / RECORDED["gobench"]] * 3
    assert [len(one.forks) for one in read("gobench", *files)] == [3] * 4
    same = Benchmark("x", "run", {}, "s", ())
    assert len(join_files([[same, same], [same, same]])) == 2


@pytest.mark.parametrize("name", [name for name in RECORDED if name != "criterion"])
def test_a_file_that_was_cut_is_refused(tmp_path: Path, name: str) -> None:
    text = raw(name)
    place = {"wrk": "Requests/sec", "sysbench": "General statistics", "pgbench": "tps ="}.get(name)
    cut = text[: text.rindex(place)] if place else text[: len(text) // 2]
    if name == "gobench":
        cut = cut[: cut.rindex(" ns/op")]
    with pytest.raises(StudyError) as caught:
        read(name, given(tmp_path, cut))
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize("name", [*RECORDED, "jmh", "csv"])
def test_the_format_of_a_file_is_found_by_one_reader_alone(tmp_path: Path, name: str) -> None:
    others = {"jmh": HOME / "jmh-fork-join.json", "csv": given(tmp_path, TABLE, "table.csv")}
    file = others.get(name) or HOME / RECORDED[name]
    taken = []
    for reader in READERS:
        with suppress(StudyError):
            taken.append((reader, read(reader, file)))
    assert taken == [(name, read(name, file))] and recognize(file) == taken[0]


def test_what_no_reader_takes_has_no_format(tmp_path: Path) -> None:
    for content in (b"", b"\x00\xff" * 50, b"{}", b"[" * 10_000):
        (tmp_path / "odd").write_bytes(content)
        assert recognize(tmp_path / "odd") is None
    assert recognize(tmp_path) is None and recognize(Path("/dev/null")) is None


@pytest.mark.parametrize("name", READERS)
def test_what_is_no_such_file_is_refused_in_one_message(tmp_path: Path, name: str) -> None:
    for text in ("", "{}", "[]", "x,y\n1,2\n", "\x00" * 100, "value,unit\n", "[" * 100_000):
        with pytest.raises(StudyError) as caught:
            read(name, given(tmp_path, text))
        (problem,) = caught.value.problems
        assert problem.found and problem.expected and len(str(problem)) < 800
    with pytest.raises(StudyError):
        read(name, tmp_path / "none")


def google(**more: object) -> str:
    return json.dumps({"benchmarks": [{"name": "B", "real_time": 1.0, "time_unit": "ns", **more}]})


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("hyperfine", '{"results": [{"command": "x", "times": []}]}', r"results\[0\].times: .* at least 1 item"),
        ("hyperfine", '{"results": [{"command": "x", "times": [-1]}]}', r"times\[0\]: .* greater than or equal to 0"),
        ("pyperf", '{"version": "2.0", "benchmarks": [{"runs": [{}]}]}', "version: Input should be '1.0'"),
        ("pyperf", '{"version": "1.0", "benchmarks": [{"runs": [{}]}]}', "benchmark without a value"),
        (
            "pyperf",
            '{"version": "1.0", "metadata": {"unit": "byte"}, "benchmarks": [{"runs": [{"values": [1.0]}]}]}',
            'in unit "byte", expected times',
        ),
        ("google-benchmark", google(run_type="aggregate"), "at least 1 item"),
        ("google-benchmark", google(time_unit="min"), r"benchmarks\[0\].time_unit"),
        ("gobench", "BenchmarkX 10 5 MB/s\n", 'given.txt:1: "BenchmarkX 10 5 MB/s", expected a time in ns/op'),
        ("oha", '{"summary": {"total": 1.0}, "statusCodeDistribution": {"ok": 9}}', '"ok", expected a status'),
        ("k6", '{"metrics": {"http_reqs": {"count": 5}}}', "no count and rate"),
        ("k6", f'{{"metrics": {{"http_reqs": {{"count": {10**400}, "rate": 1}}}}}}', "no count and rate"),
        ("gobench", f"BenchmarkX 10 {10**400} ns/op\n", "given.txt: X: a figure above 1e308"),
        ("csv", "value,unit\n1_0,s\n", "given.txt:2: value = '1_0', expected a number"),
        ("csv", "value,unit\n1,furlong\n", "unit 'furlong', expected a time or a rate"),
        ("csv", "value,unit\n1,5,s\n", "given.txt:2: more fields"),
        ("csv", "value,ms\n1,2\n", '0 columns "unit"'),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, name: str, text: str, told: str) -> None:
    with pytest.raises(StudyError, match=told):
        read(name, given(tmp_path, text))


def test_criterion_follows_no_link_and_reads_files_that_belong_together(tmp_path: Path) -> None:
    home = tmp_path / "criterion" / "g" / "new"
    home.mkdir(parents=True)
    (home / "benchmark.json").write_text('{"group_id": "g"}')
    (home / "sample.json").write_text('{"iters": [1.0, 2.0], "times": [1.0]}')
    with pytest.raises(StudyError, match="2 iters and 1 times"):
        read("criterion", tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "new").symlink_to(home)
    with pytest.raises(StudyError, match="no benchmark"):
        read("criterion", tmp_path / "other")


@pytest.mark.parametrize(("name", "most"), [("MAX_TOGETHER", 3000), ("MAX_PARTS", 300)])
def test_files_that_are_read_together_are_limited_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    """Each of them is small: twenty benchmarks of a folder, or twenty files of one command."""
    for i in range(20):
        home = tmp_path / "criterion" / f"b{i}" / "new"
        home.mkdir(parents=True)
        (home / "benchmark.json").write_text('{"group_id": "g"}')
        (home / "sample.json").write_text(json.dumps({"iters": [1.0] * 20, "times": [5.0] * 20}))
    timed = given(tmp_path, json.dumps({"results": [{"command": "x", "times": [0.1] * 30}]}))
    rows = given(tmp_path, "value,unit\n" + "1,s\n" * 30, "rows.csv")
    asked = [("criterion", [tmp_path / "criterion"]), ("hyperfine", [timed] * 20), ("csv", [rows] * 30)]
    for reader, files in asked:
        read(reader, *files)
    monkeypatch.setattr(foreign_file, name, most)
    for reader, files in asked:
        read(reader, *(files[:2] if len(files) > 1 else [tmp_path / "criterion" / "b0"]))
        with pytest.raises(StudyError, match=r"with the files before it larger than|more than 300 values"):
            read(reader, *files)


def test_many_files_hold_no_more_benchmarks_than_one_may_ask_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "MOST_BENCHMARKS", 5)
    with pytest.raises(StudyError, match="more than 5 benchmarks"):
        read("hyperfine", *[HOME / RECORDED["hyperfine"]] * 3)
