"""Options become a study that means what they say, also those of `load` and of revisions; mistakes are told of them."""

import tomllib
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalograph.cli.ab_command import AbOptions, _build_versions
from scalograph.cli.app import app
from scalograph.cli.command_line_study import built_revisions
from scalograph.cli.command_line_study.built_revisions import revision_study
from scalograph.cli.command_line_study.declaration import (
    CommandStudy,
    PrintedFigure,
    map_error,
    quote,
    study_name,
    study_text,
)
from scalograph.cli.command_line_study.load_study import load_study, map_load_error
from scalograph.cli.command_line_study.option_texts import (
    argv,
    counts,
    read_exits,
    read_response,
    read_variable,
    responses,
    split,
    sweep_study,
)
from scalograph.cli.options import CommandOptions
from scalograph.cli.sweep_options import LoadOptions, SweepOptions
from scalograph.errors import HostError, Problem, StudyError
from scalograph.questions.asked import AskedFactors, read_factor
from scalograph.run.revisions import Revision
from scalograph.study.declare import declare
from scalograph.study.load import parse
from scalograph.study.model import Study
from scalograph.study.responses import primary_response
from tests.kit.refusals import refuses


def wished(command: tuple[str, ...], levels: dict[str, str], **more: Any) -> CommandStudy:
    return CommandStudy(command, AskedFactors(levels), **more)


def declared(wish: CommandStudy, tmp_path: Path) -> Study:
    """The study as `scalograph check` would read it."""
    file = tmp_path / "study.toml"
    file.write_text(study_text(wish))
    return declare(file).study


def test_a_command_alone_is_measured_on_all_cpus_and_a_curve_is_along_what_counts(tmp_path: Path) -> None:
    study = declared(CommandStudy(("./prog", "a b")), tmp_path)
    cpus = study.factors["cpus"]
    assert (study.workload.command, study.workload.cwd) == (["./prog", "a b"], "caller")
    assert (cpus.levels, cpus.control, study.baseline, study.work) == ("all", "cpus", {}, "total")
    assert study.title == "How long does `./prog a b` take?"
    wish = wished(("p", "{gc}", "{threads}"), {"gc": "g1,serial", "threads": "2,4,8", "cpus": "1:all"})
    study = declared(wish, tmp_path)
    assert study.baseline == {"threads": 2} and study.factors["gc"].levels == ["g1", "serial"]
    assert declared(CommandStudy(("p",), copies=3), tmp_path).workload.copies == 3
    study = declared(wished(("p",), {"copies": "1:4"}), tmp_path)
    assert study.workload.copies == "{copies}"
    assert (study.work, study.baseline) == ("per-worker", {"copies": 1})
    wish = wished(("p",), {"size": "1,2"}, steps={"prepare": ("make-input", "{size}")})
    assert declared(wish, tmp_path).factors["size"].levels == [1, 2]


@pytest.mark.parametrize(("factors", "worker"), [
    ({"cpus": "1:all"}, ("cpus", 1)),
    ({"cpus": "2", "size": "1.5,2"}, None),
    ({"processes": "1,2", "cpus": "1:all"}, ("processes", 1)),
    ({"size": "1:512:*2", "cpus": "1:all"}, ("cpus", 1)),
    ({"size": "1:512:*2"}, None),
])  # fmt: skip
def test_more_of_a_size_is_more_work_and_no_worker(factors: dict[str, str], worker: tuple[str, int] | None) -> None:
    assert CommandStudy(("p",), AskedFactors(factors)).worker_factor == worker


def test_versions_and_printed_figures_are_what_the_study_is_about(tmp_path: Path) -> None:
    study = declared(wished(("p-{version}",), {"version": "old,new"}), tmp_path)
    assert study.reference == {"version": "old"} and study.baseline == {}
    assert study.title == "`p-{version}`: old vs. new"
    both = declared(wished(("p", "{gc}", "{threads}"), {"gc": "g1,serial", "threads": "1,2"}), tmp_path)
    assert both.reference == {"gc": "g1"} and both.baseline == {"threads": 1}
    assert declared(wished(("gzip", "-{level}"), {"level": "1,9"}), tmp_path).reference == {"level": 1}
    assert declared(wished(("p", "{threads}"), {"threads": "1,2"}), tmp_path).reference == {}
    rate = PrintedFigure("ops", "ops/s", "higher", r"^(\d+) ops")
    bytes_ = PrintedFigure("bytes", "", "none", "/io/bytes")
    study = declared(wished(("p", "{threads}"), {"threads": "1,2"}, responses=(bytes_, rate)), tmp_path)
    assert primary_response(study) == "ops" and study.responses["ops"].pattern == r"^(\d+) ops"
    assert study.responses["bytes"].pointer == "/io/bytes" and study.responses["bytes"].better == "none"
    study = declared(wished(("p", "{threads}"), {"threads": "1,2"}, responses=(bytes_,)), tmp_path)
    assert primary_response(study) == "wall"


@pytest.mark.parametrize("levels", ["a" * 70 + ",b", "1:512:*2"])
def test_a_title_is_short(levels: str, tmp_path: Path) -> None:
    wish = wished(("/usr/bin/" + "long" * 20, "{x}", "\n"), {"x": levels})
    assert len(declared(wish, tmp_path).title) <= 60


def test_what_is_around_a_run_is_in_the_study(tmp_path: Path) -> None:
    wish = CommandStudy(
        ("make", "-j{jobs}"),
        AskedFactors({"jobs": "1:3"}, per_worker=True),
        steps={"setup": ("true",), "prepare": ("make", "clean")},
        env={"A B": 'q"\\'},
        protocol={"runs": 9, "precision": "2%", "budget": "3min"},
    )
    study = declared(wish, tmp_path)
    assert study.work == "per-worker" and study.workload.env == {"A B": 'q"\\'}
    assert (study.workload.setup, study.workload.prepare, study.workload.cleanup) == (["true"], ["make", "clean"], None)
    assert (study.protocol.runs, study.protocol.precision, study.protocol.budget_s) == (9, 0.02, 180)
    command = CommandStudy(("grep", "x"), env_all=True, input="in.txt", ok_exits=(0, 1), protocol={"runs": 3})
    use = parse(study_text(command)).workload
    assert (use.env_all, use.input, use.ok_exits) == (True, "in.txt", [0, 1])
    plain = study_text(CommandStudy(("grep", "x"), protocol={"runs": 3}))
    assert not {"env_all", "input", "ok_exits"} & set(plain.split())


@given(st.text())
def test_any_text_is_quoted_and_other_bytes_are_refused(text: str) -> None:
    assert tomllib.loads(f"x = {quote(text)}") == {"x": text}


def test_a_host_that_refuses_is_told_of_the_option_too() -> None:
    setup = HostError("workload.setup", "false: exit code 1", "exit code 0", "correct workload.setup")
    assert str(map_error(setup)) == "--setup: false: exit code 1, expected exit code 0; correct --setup"
    missing = map_error(HostError("workload", 'no program "x"', "on PATH", "install it or correct workload.command"))
    assert str(missing) == 'command: no program "x", expected on PATH; install it or correct the command'
    assert isinstance(missing, HostError)


@pytest.mark.parametrize("program", ["./Prog_2", "/usr/bin/gcc-12", "...", "ü", "x" * 200, "a/b.py"])
def test_every_program_gives_a_name(program: str) -> None:
    text = study_text(CommandStudy((program,)))
    assert parse(text).name == study_name([program])


def test_options_as_people_write_them(tmp_path: Path) -> None:
    assert responses(["cpus: ([0-9.]+)"])
    assert read_response("p99(ms):lower: p99 ([0-9.]+)") == PrintedFigure("p99", "ms", "lower", "p99 ([0-9.]+)")
    assert read_response("iops: /jobs/0/iops") == PrintedFigure("iops", "", "none", "/jobs/0/iops")
    assert read_factor("gc=g1,serial") == ("gc", "g1,serial")
    assert read_response("ops: more: ([0-9]+)").place == "more: ([0-9]+)"
    assert read_response("ops:lower:more: ([0-9]+)").place == "more: ([0-9]+)"
    assert read_response("ops:([0-9]+):").place == "([0-9]+):"
    refuses(StudyError, "is not UTF-8", study_text, CommandStudy(("p", "\udcff")))
    read = [read_response(f"{name}:lower: {place}") for name, place in (("a", r"@ ([0-9.]+)"), ("b", r"@op: (\d+)"))]
    study = declared(CommandStudy(("p",), responses=(*read, read_response("c:lower: @gobench  Sort n=64"))), tmp_path)
    assert [(one.pattern, one.reader, one.benchmark, one.unit) for one in map(study.responses.__getitem__, "abc")] == [
        (r"@ ([0-9.]+)", None, None, ""),
        (r"@op: (\d+)", None, None, ""),
        (None, "gobench", "Sort n=64", "s"),
    ]


@pytest.mark.parametrize("text", ["1", "0,1,2", "1:8", "1:512:*2", "1, 4,all", "1:all:+2", None])
def test_counts_stay_as_they_were_given(text: str | None) -> None:
    assert counts("--threads", text) == text


def test_words_of_the_command_line_are_read_as_hyperfine_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "my prog"
    program.write_text("")
    program.chmod(0o755)
    assert argv([str(program)], shell=False) == (str(program),)
    assert argv(["sleep 1"], shell=True) == ("sh", "-c", "sleep 1")
    assert argv(["a", "b"], False) == ("a", "b")
    assert split("--prepare", "make 'a b'", False) == ("make", "a b")
    assert split("--prepare", "make; x", True) == ("sh", "-c", "make; x")
    monkeypatch.setenv("HERE", "x=y")
    variables = {"A=1": ("A", "1"), "A=": ("A", ""), "HERE": ("HERE", "x=y"), "A=b=c": ("A", "b=c")}
    assert {text: read_variable(text) for text in variables} == variables
    assert read_exits(" 1, 0,1") == [0, 1]
    measure = app.get_command(app.make_context("scalograph", ["measure", "--help"], resilient_parsing=True), "measure")
    options = {name: parameter.name for parameter in measure.params for name in parameter.opts}
    assert (options["-r"], options["-w"], options["--warmup"]) == ("runs", "warmup_runs", "warmup_runs")
    assert [options[name] for name in ("-s", "-p", "-c")] == ["setup", "prepare", "cleanup"]


PAGE = "http://127.0.0.1:{port}/a{b}"


def test_nodes_of_a_cluster_are_a_factor_along_which_speedup_is_taken(tmp_path: Path) -> None:
    options = CommandOptions(command=["p"], nodes="1,2,4", tasks_per_node="8", launcher="srun,mpirun", max_idle="50%")
    study = declared(sweep_study(SweepOptions(), options), tmp_path)
    controls = {name: factor.control for name, factor in study.factors.items()}
    assert controls == {
        "nodes": "cluster:nodes", "tasks_per_node": "cluster:tasks-per-node", "launcher": "cluster:launcher"
    }  # fmt: skip
    assert study.baseline == {"nodes": 1} and study.protocol.max_idle == 0.5


def made(**options: Any) -> dict[str, Any]:
    """The document of a study that `check` accepts."""
    text = load_study(LoadOptions(**options))
    parse(text)
    return tomllib.loads(text)


def test_a_server_of_ones_own_gets_a_port_and_the_driver_its_address() -> None:
    study = made(serve="./app 'a b' {port}", get=PAGE, clients="1:4", cpus="1:all", copies="2", env=["A=b"])
    server, driver = study["workload"]["process"]
    assert server["argv"] == ["./app", "a b", "{port}"] and server["copies"] == "{copies}"
    assert (server["ports"], server["ready"]) == (1, {"port": "{port}"})
    assert (driver["use"], driver["parameters"]["targets"]) == ("load", "{server_targets}")
    assert (driver["parameters"]["path"], driver["parameters"]["steady_s"]) == ("/a{{b}}", 5.0)
    assert study["factors"]["cpus"] == {"levels": "1:all", "control": "cpus", "title": "CPUs"}
    assert (study["baseline"], study["workload"]["env"]) == ({"clients": 1}, {"A": "b"})
    assert study["responses"]["server_cpu"]["from"] == "process.server.cpu_percent"


def test_a_body_headers_and_a_mix_are_what_the_driver_sends(tmp_path: Path) -> None:
    (tmp_path / "body").write_text('{"a": 1}')
    sent = made(post=PAGE, serve="./app {port}", body=f"@{tmp_path / 'body'}", header=["A: b", "C: d"])
    parameters = sent["workload"]["process"][1]["parameters"]
    assert {name: parameters[name] for name in ("method", "headers", "body")} == {
        "method": "POST", "headers": "A: b\nC: d", "body": '{{"a": 1}}',
    }  # fmt: skip
    (tmp_path / "mix.toml").write_text("")
    mixed = made(get=PAGE, serve="./app {port}", mix=tmp_path / "mix.toml", rate="5", arrivals="constant")
    parameters = mixed["workload"]["process"][1]["parameters"]
    assert (parameters["mix"], parameters["arrivals"]) == (str(tmp_path / "mix.toml"), "constant")


def test_a_server_over_tls_is_asked_so(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("")
    page = PAGE.replace("http", "https")
    for options, wanted in (
        ({}, {"tls": "yes"}), ({"insecure": True}, {"tls": "insecure"}),
        ({"ca": tmp_path / "ca.pem"}, {"tls": "yes", "ca": str(tmp_path / "ca.pem")}),
    ):  # fmt: skip
        study = made(get=page, serve="./app {port}", **options)
        parameters = study["workload"]["process"][1]["parameters"]
        assert {name: x for name, x in parameters.items() if name in ("tls", "ca")} == wanted
    assert made(get="https://127.0.0.1/x")["workload"]["process"][0]["parameters"]["targets"] == "127.0.0.1:443"


def test_limits_are_searched_and_a_limited_server_has_them_alone() -> None:
    study = made(get=PAGE, serve="./app {port}", limit=["errors<0.1%", "p99<50ms"], rate="10:5000")
    responses = study["responses"]
    assert (study["question"], [*responses][:2]) == ("within-limit", ["p99", "error_share"])
    assert (responses["p99"]["limit"], responses["error_share"]["limit"]) == (5e7, 0.1)
    assert {response["better"] for response in [*responses.values()][2:]} == {"none"}
    sized = made(get=PAGE, serve="./app {port}", limit=["p99<50ms"], rate="100", cpus="1", quota="0.1:1", memory="64M")
    assert (sized["question"], sized["factors"]["rate"]["levels"]) == ("size", "100")
    assert sized["factors"]["quota"]["levels"].startswith("0.1,0.102,")
    limited = made(get=PAGE, serve="./app {port}", quota="0.5,1", memory="64M", placement="scatter", cpus="1")
    server, driver = limited["workload"]["process"]
    assert (server["quota"], server["memory"]) == ("{quota}", "{memory}") and "quota" not in driver
    assert limited["factors"]["memory"] == {"levels": "64", "title": "memory limit", "unit": "MiB"}
    assert limited["factors"]["placement"]["control"] == "placement"


@pytest.mark.parametrize(("ready", "expected"), [
    ("http://127.0.0.1:{port}/up", {"http": "http://127.0.0.1:{port}/up"}),
    ("line:listens on {port}: yes", {"line": "listens on {port}: yes"}),
    ("8081", {"port": 8081}),
])  # fmt: skip
def test_a_server_is_ready_by_an_answer_a_line_or_a_port(ready: str, expected: dict[str, Any]) -> None:
    assert made(serve="./app", get=PAGE, ready=ready)["workload"]["process"][0]["ready"] == expected


def test_a_server_with_a_port_of_its_own_keeps_it_and_one_that_runs_is_asked_at_a_rate() -> None:
    server, driver = made(serve="./app", get="http://localhost:8080")["workload"]["process"]
    assert (server["ports"], server["ready"]) == ([8080], {"port": "localhost:8080"})
    assert driver["parameters"]["targets"] == "localhost:{server_port}"
    server, driver = made(serve="./app", get="http://[::1]:{port}/", copies="1,2")["workload"]["process"]
    assert (server["ready"], driver["parameters"]["targets"]) == ({"port": "[::1]:{port}"}, "{server_targets}")
    assert made(serve="./app", get=PAGE, keep=True)["workload"]["keep"] == "block"
    assert "keep" not in made(serve="./app", get=PAGE)["workload"]
    study = made(get="http://127.0.0.1:8080/x", rate="100,1000", connections=4)
    (driver,) = study["workload"]["process"]
    wanted = {"targets": "127.0.0.1:8080", "path": "/x", "loop": "open", "connections": 4}
    assert {name: driver["parameters"][name] for name in wanted} == wanted
    assert [*study["factors"]] == ["rate"]


@pytest.mark.parametrize("name", ["wrk", "oha", "k6"])
def test_another_program_drives_with_what_it_can_do(name: str) -> None:
    study = made(serve="./app {port}", get="http://127.0.0.1:{port}/x", clients="1:4", driver=name)
    driver = study["workload"]["process"][1]
    assert driver["use"] == "http-drivers"
    assert driver["parameters"] == {
        "tool": name, "targets": "{server_targets}", "path": "/x", "ramp_s": 1.0, "steady_s": 5.0, "warmup": 100,
    }  # fmt: skip


@pytest.mark.parametrize(("where", "option"), [
    ("workload.process[0].argv", "--serve"), ("workload.process[0].ready.http", "--ready"),
    ("workload.process[0].copies", "--copies"), ("workload.process[1].parameters.steady_s", "--steady"),
    ("factors.cpus.levels", "--cpus"), ("protocol.max_reruns", "--max-reruns"), ("factors", "levels"),
    ("real-time policy", "real-time policy"),
])  # fmt: skip
def test_what_is_wrong_with_the_study_is_told_of_the_options(where: str, option: str) -> None:
    at = f"study.toml:9: {where}" if "." in where else where
    error = map_load_error(StudyError([Problem(at, "found", "expected", "")]))
    assert [problem.where for problem in error.problems] == [option]


CACHED = Path("/cache/revisions/x-0")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was asked of git and of the build; the repository has any revision."""
    made: list[object] = []

    def named(_home: Path, texts: list[str]) -> list[Revision]:
        made.append(texts)
        return [Revision(f"{text}-0", "0") for text in texts]

    def between(_home: Path, *span: object) -> list[Revision]:
        made.append(span)
        return [Revision("0-a", "0"), Revision("7-b", "1")]

    def built(_home: Path, every: list[Revision], argv: tuple[str, ...], _tell: object) -> Path:
        made.append(argv)
        return CACHED

    for name, function in {"resolve_revisions": named, "list_revisions": between, "build_revisions": built}.items():
        monkeypatch.setattr(built_revisions, name, function)
    monkeypatch.setattr(built_revisions, "find_repository", lambda _: Path())
    monkeypatch.setattr(built_revisions, "machine_lock", lambda _: nullcontext())
    monkeypatch.setattr("scalograph.run.revisions.resolve_revisions", named)
    monkeypatch.setattr("scalograph.run.revisions.find_repository", lambda _: Path())
    return made


def test_revisions_are_levels_and_the_first_is_the_reference(asked: list[object]) -> None:
    options = CommandOptions(command=["{version}/prog", "{n}"], prepare="cp {version}/data .")
    text = study_text(revision_study(SweepOptions(revisions="v1, main", build="make -j2", factor=["n=1,2"]), options))
    assert asked == [["v1", "main"], ("make", "-j2")]
    assert f'command = ["{CACHED}/{{version}}/prog", "{{n}}"]' in text
    assert f'prepare = ["cp", "{CACHED}/{{version}}/data", "."]' in text
    assert 'levels = "v1-0,main-0"' in text and '[reference]\nversion = "v1-0"' in text and 'levels = "1,2"' in text


@pytest.mark.parametrize(("text", "span"), [("v1..main", ("v1", "main", 10)), ("v1..main:3", ("v1", "main", 3))])
def test_a_span_is_of_so_many_commits(asked: list[object], text: str, span: tuple[object, ...]) -> None:
    study = revision_study(SweepOptions(revisions=text, build=""), CommandOptions(command=["{version}/prog"]))
    assert asked == [span, ()] and study.asked.levels["version"] == "0-a,7-b"


@pytest.mark.parametrize(("sweep", "command", "message"), [
    (SweepOptions(revisions="v1", build=""), "./prog", "command: no {version}"),
    (SweepOptions(revisions="v1"), "{version}/prog", "expected both"),
    (SweepOptions(build="make"), "{version}/prog", "expected both"),
    (SweepOptions(revisions="v1..main:1", build=""), "{version}/prog", "1 of them, expected 2 to 64"),
    (SweepOptions(revisions="v1..main:65", build=""), "{version}/prog", "65 of them, expected 2 to 64"),
    (SweepOptions(revisions="x," * 64 + "x", build=""), "{version}/prog", "65 of them, expected at most 64"),
    (SweepOptions(revisions="v1", build="'"), "{version}/prog", "--build: .* quot"),
    (SweepOptions(revisions="v1", build="", factor=["version=a"]), "{version}", '"version" is given twice'),
])  # fmt: skip
def test_what_are_no_revisions_is_refused(asked: list[object], sweep: SweepOptions, command: str, message: str) -> None:
    refuses(StudyError, message, revision_study, sweep, CommandOptions(command=[command]))
    assert not any(isinstance(one, tuple) and one == () for one in asked), "nothing is built"


def test_two_revisions_are_compared_by_the_names_of_their_folders(asked: list[object]) -> None:
    options = CommandOptions(command=["{version}/prog"], shell=False)
    versions, study = _build_versions(AbOptions(a="main", b="HEAD", build="make"), "make", options)
    assert (versions.a, versions.b, asked) == ("main-0", "HEAD-0", [["main", "HEAD"], ("make",)])
    assert study.command == (f"{CACHED}/{{version}}/prog",) and study.subcommand == "ab"
