"""Published studies by one command: run, killed at any moment, gone on with, shown on one page."""

import json
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.cli.pipeline import StudyStart
from scalograph.cli.reproduce import reproduce_parts
from scalograph.cli.reproduce.reproduce_results import ReproductionRun
from scalograph.control import store
from scalograph.errors import HostError
from scalograph.findings.published.reproduced_studies import OtherMachine, decide_elsewhere
from scalograph.protocol.findings import FactorDoc, Findings, StudyDoc
from scalograph.protocol.published_claim import ClaimValue, DecidedClaim
from scalograph.protocol.reproduction import ReproducedClaim
from scalograph.study.catalogue import OpenedCatalogue
from scalograph.study.declare import Declared
from scalograph.study.load import parse
from scalograph.study.published_claim import PublishedClaim
from tests.kit.command import LONG_S, environment, in_process, machine, scalograph, simulated
from tests.kit.processes import wait_until
from tests.kit.results import COMPLETE, complete, findings_in, run_names_in
from tests.unit.cli.reproduced import SLEEP, STUDY, catalogue

PARTS = ("one", "two")
WALLS = {f"sleep 0.05{n}": 0.05 for n in (1, 2)}


class Reproduction:
    """A catalogue of two studies that sleep, run in a folder, and its results."""

    def __init__(self, folder: Path, *commands: str, runs: int = 4, is_made_up: bool = False) -> None:
        """is_made_up: its times are, so that no noise of a few runs decides what becomes of a claim or a part."""
        self.cwd, self.results, self.file = folder, folder / "results", catalogue(folder, *commands, runs=runs)
        self.env = simulated(folder, WALLS) if is_made_up else {}

    def run(self, *more: object, codes: tuple[int, ...] = COMPLETE) -> "subprocess.CompletedProcess[str]":
        words = ("reproduce", "--catalogue", self.file, "-o", "results", *more)
        return complete(*words, cwd=self.cwd, env=self.env, codes=codes)

    def document(self) -> dict[str, Any]:
        return dict(json.loads((self.results / "reproduction.json").read_text()))

    def states(self) -> dict[str, str]:
        return {part["study"]: part["state"] for part in self.document()["parts"]}

    def claims(self) -> dict[str, dict[str, Any]]:
        return {claim["id"]: claim for claim in self.document()["studies"][0]["claims"]}

    def journal(self, part: str) -> Path:
        return self.results / part / "journal.jsonl"

    def runs(self) -> dict[str, list[str]]:
        return {name: run_names_in(self.results / name) if self.journal(name).exists() else [] for name in PARTS}


@pytest.mark.guarantee
@machine
@pytest.mark.parametrize(
    ("number", "code", "part"),
    [(signal.SIGKILL, -signal.SIGKILL, "two"), (signal.SIGINT, 130, "one"), (signal.SIGTERM, 143, "two")],
)
def test_it_goes_on_and_runs_nothing_twice(tmp_path: Path, number: signal.Signals, code: int, part: str) -> None:
    begun = Reproduction(tmp_path, runs=8)
    words = ["scalograph", "reproduce", "--catalogue", str(begun.file), "-o", "results", "--when-busy", "report"]
    with subprocess.Popen(words, cwd=tmp_path, env=environment(), stderr=-1, text=True) as process:
        journal = begun.journal(part)
        under_way = lambda: journal.exists() and journal.read_bytes().count(b'"event":"verdict"') >= 3  # noqa: E731
        wait_until(lambda: under_way() or process.poll() is not None, LONG_S)
        assert process.poll() is None
        process.send_signal(number)
        said = process.communicate(timeout=LONG_S)[1]
    assert process.returncode == code, said
    assert begun.states()[part] == "begun" and begun.document()["ended"] is None
    if number != signal.SIGKILL:
        assert "nothing finished is lost" in said and "scalograph reproduce --resume -o results" in said
        assert "--when-busy report" in said
    before = begun.runs()
    complete("reproduce", "--resume", "-o", "results", cwd=tmp_path)
    for name, after in begun.runs().items():
        assert after[: len(before[name])] == before[name] and len(set(after)) == len(after) >= 16
    assert part == "one" or begun.runs()["one"] == before["one"]
    assert set(begun.states().values()) == {"done"} and begun.document()["ended"]
    page = (begun.results / "reproduce.html").read_text()
    assert all(f'href="{name}/report.html"' in page for name in PARTS)
    assert all((begun.results / name / "report.html").exists() for name in PARTS)


def test_its_end_is_counts_of_claims_and_places(tmp_path: Path) -> None:
    begun = Reproduction(tmp_path)
    begun.results = folder = tmp_path / "scalograph-results" / "reproduce" / "latest"
    (tmp_path / "one.old").mkdir()  # somebody's own
    busy = ("--wait-quiet", "1s", "--when-busy", "cpu-time")
    done = complete("reproduce", "--quick", "--catalogue", begun.file, *busy, cwd=tmp_path)
    assert (tmp_path / "one.old").is_dir()
    assert "part 1 of 2: one: 2 configurations" in done.stderr and "2 parts to run, at most 2 min" in done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 25
    # Of sleeps on a real machine claims may stay open. The path of the catalogue is long, and a command is never cut.
    further = f"further scalograph reproduce --resume --catalogue {begun.file} {' '.join(busy)} --more 5min"
    lines = lines[:-1] if lines[-1] == further else lines
    assert max(map(len, lines)) <= 80
    assert "of 3 claims of one published study" in lines[0] and "quick forms" in done.stdout
    assert lines[-2].split() == ["page", "scalograph-results/reproduce/latest/reproduce.html"]
    document = begun.document()
    (study,) = document["studies"]
    assert study["outcomes"]["P0-3"] == "not yet" and set(study["outcomes"]) == {"P0-1", "P0-2", "P0-3"}
    assert len(begun.runs()["one"]) >= 4 and document["quick"] is True
    for part in PARTS:
        protocol = json.loads(begun.journal(part).read_text().splitlines()[0])["study"]["protocol"]
        assert (protocol["wait_quiet_s"], protocol["when_busy"]) == (1.0, "cpu-time")
    page = (folder / "reproduce.html").read_text()
    shown = complete("report", folder, cwd=tmp_path, codes=(0,))
    assert shown.stdout.splitlines()[0] == lines[0]
    assert (folder / "reproduce.html").read_text() == page
    assert json.loads(in_process("report", folder, "--json", cwd=tmp_path).stdout) == document


def test_claims_are_read_again_when_it_goes_on(tmp_path: Path) -> None:
    begun = Reproduction(tmp_path, is_made_up=True)
    begun.run()
    before = begun.runs()["one"]
    study, sentence = tmp_path / "one" / "study.toml", "It takes a hundred times as long."
    study.write_text(study.read_text().replace("It takes as long.", sentence) + "holds = [50, 200]\n")
    begun.run("--resume")
    claim = begun.claims()["P0-1"]
    assert (claim["sentence"], claim["outcome"]) == (sentence, "does not hold")
    assert begun.runs()["one"] == before


def test_a_part_of_a_busy_machine_is_run_once_more(tmp_path: Path) -> None:
    begun = Reproduction(tmp_path, is_made_up=True)

    def say_disturbed() -> None:
        """Let the findings of a part say that all its runs were disturbed."""
        found = findings_in(begun.results / "one")
        found["runs"]["verdicts"] = {"disturbed": found["runs"]["n_done"]}
        (begun.results / "one" / "findings.json").write_text(json.dumps(found))

    begun.run()
    before = begun.journal("one").read_bytes()
    say_disturbed()
    short = begun.run("--resume", "--again", "--budget", "1s")
    assert "it ends here" in short.stderr and set(begun.states().values()) == {"done"}
    say_disturbed()
    done = begun.run("--resume", "--again")
    assert "one: once more; " in done.stderr and "the new result stays" in done.stderr
    assert begun.journal("one").read_bytes() != before
    assert set(begun.states().values()) == {"done"}
    assert not any(folder.suffix for folder in begun.results.iterdir() if folder.is_dir())


def test_claims_that_are_not_resolved_get_further_runs(tmp_path: Path) -> None:
    """One run of each configuration resolves nothing. Further runs that were interrupted go on."""
    begun = Reproduction(tmp_path, runs=1, is_made_up=True)
    first = begun.run()
    command = f"scalograph reproduce --resume -o results --catalogue {begun.file} --more 5min"
    assert first.stdout.splitlines()[-1].split() == ["further", *command.split()]
    before = begun.runs()
    assert [claim["outcome"] for claim in begun.claims().values()][:2] == ["inconclusive", "inconclusive"]
    done = begun.run("--resume", "--more", "1s")
    assert "one: goes on for P0-1; " in done.stderr, done.stderr
    assert set(begun.states().values()) == {"done"}
    for name, after in begun.runs().items():
        assert after[: len(before[name])] == before[name] and len(set(after)) == len(after) > len(before[name])
    assert not any("need >= 2 runs" in claim["why"] for claim in begun.claims().values())
    further = [part.get("further_blocks", 0) for part in begun.document()["parts"]]
    assert min(further) >= 1
    page = (begun.results / "reproduce.html").read_text()
    decided = [name for name, claim in begun.claims().items() if claim["outcome"] == "holds"]
    assert not decided or f"rest on further blocks (one {further[0]}, two {further[1]})" in page
    assert f"It rests on {further[0]} blocks more than the form has" in page
    text = begun.journal("one").read_text()
    begun.journal("one").write_text(text[: text.index('{"event":"ask"', text.index('"event":"resume"'))])
    left = begun.runs()["one"]
    begun.run("--resume")
    assert begun.runs()["one"][: len(left)] == left and len(begun.runs()["one"]) > len(left) == 2


def test_a_part_that_cannot_run_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    begun = Reproduction(tmp_path, '["no-such-program-here", "{n}"]')
    done = begun.run()
    assert begun.states() == {"one": "skipped", "two": "done"}
    assert 'one: skipped: workload: no program "no-such-program-here" on PATH' in done.stderr
    claim = begun.claims()["P0-1"]
    assert claim["outcome"] == "not measured" and "no-such-program-here" in claim["why"]
    assert "no-such-program-here" in done.stdout


def test_a_part_all_of_whose_runs_fail_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    begun = Reproduction(tmp_path, '["false", "{n}"]')
    begun.run(codes=(4,))
    one, two = begun.document()["parts"]
    assert one["code"] == 4 and one["trust"]["level"] == "unusable" and two["state"] == "done"


def test_a_part_that_a_busy_machine_ended_goes_on_and_a_damaged_journal_is_told(tmp_path: Path) -> None:
    begun = Reproduction(tmp_path, is_made_up=True)
    begun.run()
    journal = begun.journal("one")
    *lines, end = journal.read_text().splitlines(keepends=True)
    second = next(i for i, line in enumerate(lines) if '"event":"ask"' in line and '"block":1' in line)
    journal.write_text("".join([*lines[:second], end.replace('"complete"', '"busy"')]))
    before = begun.runs()["one"]
    begun.run("--resume")
    after = begun.runs()["one"]
    assert after[: len(before)] == before and len(after) > len(before) > 0
    first, _, *rest = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join([first, "{\n", *rest]))
    done = begun.run("--resume")
    assert begun.states() == {"one": "skipped", "two": "done"}
    assert "one: skipped: journal.jsonl:2: not JSON" in done.stderr


def test_a_budget_is_what_a_part_may_take_beside_what_it_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float | None] = []

    def stopped(declared: Declared, start: StudyStart) -> None:
        asked.append(declared.study.protocol.budget_s)
        raise HostError("here", "nothing", "to run")

    made = ReproductionRun(OpenedCatalogue(Path("published.toml"), (), {}), tmp_path, False, "")
    monkeypatch.setattr(reproduce_parts, "run_declared", stopped)
    monkeypatch.setattr("scalograph.protocol.results.is_begun", lambda file: file.exists())
    monkeypatch.setattr(reproduce_parts, "spent_s", lambda file: 300.0)
    text = STUDY.format(name="one", command=SLEEP, runs=2, budget="60s", claim="P0-1")
    one = Declared(parse(text), Path("study.toml"))
    endless = one.study.protocol.model_copy(update={"budget_s": None})
    endless_one = Declared(one.study.model_copy(update={"protocol": endless}), one.file)
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / "journal.jsonl").touch()
    for declared, folder in ((endless_one, "new"), (endless_one, "begun"), (one, "begun")):
        with pytest.raises(HostError):
            reproduce_parts._run(made, declared, tmp_path / folder, "", 100.0)
    assert asked == [100.0, 400.0, 60.0]


MACHINES = """
[[published.claims]]
id = "P0-1b"
sentence = "Another machine sleeps less."
kind = "machines"
per = "clock"
where = { n = 2 }
published = 0.7
holds = ["any", 0.95]
[[published.claims]]
id = "P0-1c"
sentence = "It takes as long on many CPUs."
kind = "flat"
along = "n"
holds = [0.8, 1.3]
needs_cpus = 512
"""


def other_machine(folder: Path, begun: Reproduction, walls: dict[str, float], **facts: object) -> Path:
    """Results of the same catalogue on a machine that is made up."""
    done = complete(
        "reproduce", "--catalogue", begun.file, "-o", folder, cwd=begun.cwd, env=simulated(begun.cwd, walls)
    )  # fmt: skip
    assert done.returncode in COMPLETE
    for journal in folder.glob("*/journal.jsonl"):
        first, rest = journal.read_text().split("\n", 1)
        event = json.loads(first)
        event["machine"] |= {"topology": [], **facts}
        journal.write_text(f"{json.dumps(event)}\n{rest}")
    return folder


def test_another_machine_decides_what_this_one_cannot(tmp_path: Path) -> None:
    begun = Reproduction(tmp_path, is_made_up=True)
    study = tmp_path / "one" / "study.toml"
    study.write_text(study.read_text() + MACHINES)
    facts = {"n_cpus": 512, "cpu_model": "Abacus"}
    fast = other_machine(tmp_path / "fast", begun, {name: 0.6 * wall for name, wall in WALLS.items()}, **facts)
    begun.env = simulated(tmp_path, WALLS)
    begun.run()
    before, runs = begun.claims(), begun.runs()
    assert [before[f"P0-1{x}"]["outcome"] for x in "bc"] == ["not testable here"] * 2
    assert "reproduce --with" in before["P0-1b"]["why"]
    done = begun.run("--resume", "--with", fast)
    claims = begun.claims()
    assert begun.runs() == runs, "nothing is run again"
    assert "on 512 CPUs, Abacus" in done.stdout and "Decided on 512 CPUs, Abacus" in (
        begun.results / "reproduce.html"
    ).read_text()  # fmt: skip
    assert {name: (each["outcome"], each["machine"]) for name, each in claims.items() if "machine" in each} == {
        "P0-1b": ("holds", "512 CPUs, Abacus"), "P0-1c": ("holds", "512 CPUs, Abacus"),
    }  # fmt: skip
    # It is kept; where the folder is gone it is told, and what was measured here stays.
    begun.run("--resume")
    assert begun.claims()["P0-1c"]["outcome"] == "holds" and begun.document()["others"] == [str(fast)]
    shutil.rmtree(fast)
    gone = begun.run("--resume")
    assert f"--with {fast} is excluded" in gone.stderr and begun.claims()["P0-1c"]["outcome"] == "not testable here"
    refused = begun.run("--resume", "--with", tmp_path / "none", "--with", fast, codes=(2,))
    assert refused.stderr.count("--with") == 2 and "give another folder" in refused.stderr


@pytest.mark.parametrize(
    ("mhz", "outcome"), [(1000.0, "holds"), (2000.0, "does not hold"), (1583.0, "inconclusive"), (None, "holds")]
)
def test_machines_are_compared_per_clock_where_both_record_it(mhz: float | None, outcome: str) -> None:
    """0.6 of the time at the same clock, at twice the clock 1.2 times the cycles."""
    claim = PublishedClaim(id="a", sentence="b", kind="machines", per="clock", holds=[0, 0.95], published=0.7)

    def findings(wall: float, clock: float | None, n: int) -> Findings:
        here = Estimate(wall, 0.99 * wall, 1.01 * wall)
        value = ClaimValue(label="", here=here, decision="holds")
        each = DecidedClaim(id="a", sentence="b", quantity="c", figures=[value], decision="not testable here")
        study = StudyDoc.model_construct(hash="x", factors=[FactorDoc(name="n", title="", levels=[n])], work="total")
        machine = {"clock_mhz": clock}
        return Findings.model_construct(published_claims=[each], study=study, machine=machine)

    here = findings(1.0, 1000.0, 1)
    mine = ReproducedClaim(
        id="a", number="a", sentence="b", outcome="not testable here", part="p", decided=here.published_claims[0]
    )
    there = OtherMachine("16 CPUs", {"p": findings(0.6, mhz, 1)})
    decided = decide_elsewhere(claim, mine, here, [there])
    assert (decided.outcome, decided.machine) == (outcome, "16 CPUs")
    assert ("time alone" in decided.why) == (mhz is None)
    other_work = findings(0.6, mhz, 2)
    other_work.study.hash = "y"
    left = decide_elsewhere(claim, mine, here, [OtherMachine("16 CPUs", {"p": other_work})])
    assert left.outcome == "not testable here" and "ran another n" in left.why


def test_the_machine_is_held_between_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another start that waits for it would else take it there, and all further parts would fail."""
    held: list[bool] = []

    def parts(made: ReproductionRun, budget_s: float | None) -> int:
        held.append(any(store._lock_counts.values()))
        return 0

    monkeypatch.setattr(reproduce_parts, "run_parts", parts)
    file, env = catalogue(tmp_path), simulated(tmp_path, WALLS)
    own = store.Store(tmp_path / "state", None)
    in_process("reproduce", "--catalogue", file, "-o", "results", cwd=tmp_path, env=env, store=own)
    assert held == [True] and not any(store._lock_counts.values())


def test_a_part_begins_only_where_it_fits_into_the_budget(tmp_path: Path) -> None:
    begun = Reproduction(tmp_path)
    short = begun.run("--budget", "30s", codes=(5,))
    assert "the last ones may not run" in short.stderr and "go on" in short.stdout.splitlines()[-1]
    assert begun.states() == {"one": "not run", "two": "not run"}
    assert not (begun.results / "one").exists()
    # What a part leaves of its own time is for the others.
    complete("reproduce", "--catalogue", begun.file, "-o", "whole", "--budget", "65s", cwd=tmp_path)


def test_the_published_studies_are_listed(tmp_path: Path) -> None:
    done = scalograph("reproduce", "--list", cwd=tmp_path)
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines() if line[0] == "S"] == ["S0", "S1", "S2", "S3", "S4"]
    told = json.loads(in_process("reproduce", "--list", "--json", cwd=tmp_path).stdout)
    parts = {part["study"]: part for study in told for part in study["parts"]}
    assert "S0-2" in parts["thread-scaling-paper"]["decidable"]
    assert ["S0-15"] in [each["claims"] for each in parts["thread-scaling-paper"]["undecidable"]]
    assert "can decide S0-1a" in done.stdout and "not S0-15: it compares two machines" in done.stdout
    assert sum(len(study["claims"]) for study in told) == 53
