"""What wrk, oha and k6 print becomes lines that a probe takes; what a load balancer before a server is told."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from scalograph.run.hosts.python_probe.lines import Limits, Speech
from scalograph.study.shipped import shipped_workload
from scalograph.study.workload import load_workload
from tests.kit import ROOT

HERE = shipped_workload("http-drivers")
SAMPLES = ROOT / "tests" / "recorded" / "drivers"
# Modules of the workload's folder; no other test may find them.
MODULES = ("asked", "drops", "told", "wrk", "oha", "k6", "tools", "drive", "prepare")
WRK_ERRORS = """\
  Socket errors: connect 3, read 5, write 0, timeout 2
  Non-2xx or 3xx responses: 40
Requests/sec:"""
Module = Callable[[str], ModuleType]


@pytest.fixture(scope="module")
def module() -> Iterator[Module]:
    sys.path.insert(0, str(HERE))
    yield importlib.import_module
    sys.path.remove(str(HERE))
    for name in MODULES:
        sys.modules.pop(name, None)


def sample(name: str) -> str:
    return (SAMPLES / name).read_text()


def lines(module: Module, tool: str, text: str, *asked: str) -> list[str]:
    wanted = module("asked").parse([f"tool={tool}", *asked])
    return [*module("told").lines(module(tool).read(text), wanted, 20 * 10**9, 1.25)]


def values(said: list[str]) -> dict[str, float]:
    return {words[1]: float(words[2]) for words in map(str.split, said) if words[0] == "value"}


@pytest.fixture
def refused(
    module: Module, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Exit code and last words of the program, with nothing but `path` to find programs in."""

    def run(*arguments: str, path: str = "/nowhere") -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["drive.py", *arguments])
        monkeypatch.setenv("PATH", path)
        with pytest.raises(SystemExit) as caught:
            module("drive").main()
        assert isinstance(caught.value.code, int)
        return caught.value.code, capsys.readouterr().err

    return run


def test_wrk_and_oha_leave_out_what_was_lost_or_cut_off(module: Module) -> None:
    assert values(lines(module, "wrk", sample("wrk-4.1.txt"), "clients=16")) == {
        "requests": 66068, "errors": 0, "rate": pytest.approx(21701.57), "p50_ns": 224_000, "p90_ns": 5_030_000,
        "p99_ns": 13_410_000, "max_ns": 28_660_000, "clients": 16, "threads": 1, "driver_cpu_ns": 1.25e9,
    }  # fmt: skip
    found = values(lines(module, "wrk", sample("wrk-4.1.txt").replace("Requests/sec:", WRK_ERRORS), "clients=16"))
    assert (found["requests"], found["errors"]) == (66076, 50)
    assert found["rate"] == pytest.approx(21701.57 * (66068 - 42) / 66068)
    found = values(lines(module, "oha", sample("oha-1.json"), "loop=open", "rate=300", "connections=8"))
    assert found == {
        "requests": 534, "errors": 58, "rate": pytest.approx(476 / 3.002729963), "mean_ns": 623_198_644,
        "p50_ns": 629_085_270, "p90_ns": 1_097_171_567, "p99_ns": 1_202_339_072, "max_ns": 1_222_479_669, "clients": 8,
        "offered_rate": 300, "driver_cpu_ns": 1.25e9,
    }  # fmt: skip


@pytest.mark.parametrize(("form", "answered", "rate", "times"), [
    # k6 1.3, with an open loop of 100 requests per second over one connection, which carries 19.
    ("by-name", (56, 5, 244), 51 / 3.001184912,
     {"mean": 46.753, "p50": 44.652, "p90": 51.876, "p99": 91.341, "max": 98.349}),
    # k6 1.8 with --new-machine-readable-summary: it knows no p99.
    ("in-a-list", (57, 5, 242), 52 / 3.001589679, {"mean": 46.583, "p50": 46.244, "p90": 54.624, "max": 83.603}),
])  # fmt: skip
def test_k6_counts_requests_that_it_never_sent(
    module: Module, form: str, answered: tuple[int, int, int], rate: float, times: dict[str, float]
) -> None:
    said = "INFO[0000] begins\n" * (form == "by-name") + sample(f"k6-metrics-{form}.json")
    found = values(lines(module, "k6", said, "clients=1"))
    n_sent, n_failed, n_never_sent = answered
    assert (found["requests"], found["errors"]) == (n_sent + n_never_sent, n_failed + n_never_sent)
    assert found["rate"] == pytest.approx(rate)
    shown = {name: round(value / 1e6, 3) for name, value in found.items() if name.startswith(("mean", "p", "max"))}
    assert shown == {f"{name}_ns": value for name, value in times.items()}


def test_the_window_ends_with_the_tool_and_a_probe_takes_the_lines(module: Module) -> None:
    said = lines(module, "wrk", sample("wrk-4.1.txt"), "clients=16")
    phase = next(words for words in map(str.split, said) if words[0] == "phase")
    assert int(phase[3]) - int(phase[2]) == pytest.approx(3.0444e9, rel=1e-3) and phase[3] == str(20 * 10**9)
    speech, limits = Speech(), Limits()
    speech.feed("".join(f"{line}\n" for line in said).encode(), limits)
    speech.finish()
    assert len(speech.values) == 10 and len(speech.iterations) == len(speech.phases) == 1


@pytest.mark.parametrize("tool", ["wrk", "oha", "k6"])
@pytest.mark.parametrize("text", ["", "{}", "[]", '{"summary": 1}', "Requests/sec:      0.00\n", '{"metrics": {}}'])
def test_what_is_no_result_is_no_figure(module: Module, tool: str, text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        module(tool).read(text)


@pytest.mark.parametrize(("arguments", "code", "said"), [
    (["tool=wrk"], 69, "wrk: not found; install it with: apt-get install wrk"),
    (["tool=k6"], 69, "install it with: go install"),
    (["tool=wrk", "loop=open"], 69, "wrk has no open loop"),
    (["tool=wrk", "clients=3", "threads=2"], 69, "a divisor of 3 clients"),
    (["tool=oha", "threads=2"], 69, "oha chooses"),
    (["tool=k6", "loop=open", "rate=0.5"], 69, "a whole number"),
    (["tool=oha", "targets=127.0.0.1:1,127.0.0.1:2"], 69, "oha sends to one server"),
    (["targets=10.1.2.3:80"], 64, "remote=yes"),
    (["targets=localhost"], 64, "expected HOST:PORT"),
    (["path=x"], 64, "path: found x"),
    (["steady_s=nan"], 64, "steady_s: found nan"),
    (["clients=0"], 64, "expected int from 1 to 100000"),
    (["cycle=0"], 64, "arguments: found cycle"),
])  # fmt: skip
def test_what_cannot_be_done_is_said_in_a_sentence(
    refused: Callable[..., tuple[int, str]], arguments: list[str], code: int, said: str
) -> None:
    ended, words = refused(*arguments)
    assert (ended, said in words) == (code, True), words


def test_a_tool_that_fails_is_quoted(refused: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    (tmp_path / "wrk").write_text("#!/bin/sh\necho unable to connect >&2\nexit 1\n")
    (tmp_path / "wrk").chmod(0o755)
    assert refused("tool=wrk", path=str(tmp_path)) == (70, "wrk: exit code 1: unable to connect\n")


@pytest.mark.parametrize(("text", "found"), [
    ("TcpExt: A ListenDrops\nTcpExt: 1 2\n", 2), ("TcpExt: ListenDrops\nTcpExt: x\n", None), ("", None),
])  # fmt: skip
def test_dropped_connections_are_counted(module: Module, tmp_path: Path, text: str, found: int | None) -> None:
    (tmp_path / "netstat").write_text(text)
    drops = module("drops")
    assert (drops.listen_drops(tmp_path / "netstat"), drops.listen_drops(tmp_path / "none")) == (found, None)
    assert drops.dropped_since(None) == [] and drops.dropped_since(0)[0].startswith("value listen_drops ")


def test_each_tool_has_a_row_and_asks_for_what_was_asked(module: Module) -> None:
    assert [*module("tools").TOOLS] == load_workload(HERE).parameters["tool"].choices
    closed = module("asked").parse(["targets=127.0.0.1:9", "path=/a?b", "clients=8", "timeout_ms=1500"])
    of_open = module("asked").parse(["tool=oha", "loop=open", "rate=250", "connections=5"])
    wrk = module("wrk").argv("/bin/wrk", closed, 2.5)
    assert wrk[-1] == "http://127.0.0.1:9/a?b" and {"3s", "2s", "8"} < set(wrk)
    assert {"2500ms", "5", "250", "--latency-correction"} < set(module("oha").argv("/bin/oha", of_open, 2.5))
    assert {"LOOP=open", "RATE=250", "CLIENTS=5", "DURATION=2500ms"} < set(module("k6").argv("/bin/k6", of_open, 2.5))


FRONT = ROOT / "workloads" / "front"
FRONT_MODULES = ("programs", "haproxy", "nginx")


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(FRONT))
    for name in FRONT_MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module("programs")
    for name in FRONT_MODULES:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("front", ["haproxy", "nginx"])
def test_it_listens_on_loopback_and_asks_each_server(programs: ModuleType, tmp_path: Path, front: str) -> None:
    servers = programs.targets_of("127.0.0.1:8081,localhost:8082")
    text = programs.FRONTS[front].configuration(8080, servers, tmp_path)
    listening = [line.split() for line in text.splitlines() if line.split()[:1] in (["bind"], ["listen"])]
    assert [words[1].rstrip(";") for words in listening] == ["127.0.0.1:8080"]
    asked = [line.split()[-1].rstrip(";") for line in text.splitlines() if line.strip().startswith("server ")]
    assert [one for one in asked if one != "{"] == servers


@pytest.mark.parametrize(
    "target", ["", "127.0.0.1", "127.0.0.1:0", "a:80;", "a b:80", "a\n:80", "a:80,", "a:99999", "{x}:80", "a:80 check"]
)
def test_what_is_no_address_is_refused(programs: ModuleType, capsys: pytest.CaptureFixture[str], target: str) -> None:
    with pytest.raises(SystemExit) as ended:
        programs.targets_of(target)
    assert ended.value.code == programs.USAGE and capsys.readouterr().err.startswith("targets: found")


def test_a_front_that_is_missing_or_unknown_is_named(
    programs: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(programs, "APART", ())
    with pytest.raises(SystemExit) as ended:
        programs.find("haproxy")
    assert ended.value.code == programs.UNAVAILABLE
    assert capsys.readouterr().err == "haproxy: not found; install it with: apt-get install haproxy\n"
    with pytest.raises(SystemExit):
        programs.parse(["front=apache"], front="haproxy")
    assert capsys.readouterr().err == "front: found apache, expected one of haproxy, nginx\n"
