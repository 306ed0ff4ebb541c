"""Stops 2 and 3 from a folder to a folder, with a host that measures nothing."""

import json
import shutil
import signal
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scalograph.design.planner import Planner
from scalograph.errors import HostError, ProtocolError, StudyError, Terminated
from scalograph.findings import table
from scalograph.protocol import journal, results
from scalograph.protocol.facts import CpuFact, HostFacts, Jvm
from scalograph.protocol.record import Record
from scalograph.protocol.results import Results
from scalograph.questions.assemble import findings
from scalograph.run.plan import Plan, plan
from scalograph.run.session import Session, begin, run_in_memory, run_session
from scalograph.study.declare import declare, declare_shipped
from scalograph.study.identity import MORE_RUNS
from scalograph.study.levels import Run
from scalograph.verdict.judge import Judgment
from tests.kit.records import record

STUDY = """\
version = 1
name = "small"
title = "A small study"
work = "total"
seed = 1
[workload]
command = {command}
[factors.n]
levels = {levels}
[protocol]
runs = {runs}
"""
PUBLISHED = '[published]\nfile = "FILE"\nmatch = { n = "n" }\nvalues = { wall = "wall" }\n'
HOST = HostFacts(
    cpus=(CpuFact(cpu=0, core=0),),
    jvms=(
        Jvm(name="17", java="/j17/bin/java", release=17, build="17.0.1+2"),
        Jvm(name="25", java="/j25/bin/java", release=25, build="25.0.1+3"),
    ),
)


class Quiet:
    def run_started(self, run: Run, n_left: int) -> None: ...

    def run_finished(self, run: Run, found: Mapping[str, Any], judgment: Judgment) -> None: ...

    def measure(self, run: Run) -> Record:
        """As a host: every run is clean."""
        return record()


def planned(
    folder: Path, command: str = '["true", "{n}"]', levels: str = '"1,2"', runs: int = 2, more: str = "", **facts: Any
) -> Plan:
    folder.mkdir(exist_ok=True)
    file = folder / "study.toml"
    file.write_text(STUDY.format(command=command, levels=levels, runs=runs) + more)
    return plan(declare(file), HOST.model_copy(update=facts))


def run(planned: Plan, made: Results, accepted: list[str] | None = None) -> Session:
    return run_session(planned, made, Quiet(), "probe", lambda *_: nullcontext(Quiet()), accepted)


@pytest.fixture
def made(tmp_path: Path) -> Results:
    """Results of the plan as it is."""
    plan = planned(tmp_path / "study")
    made = begin(plan, tmp_path / "results")
    assert run(plan, made).reason == "complete"
    return made


def events(made: Results, kind: str) -> list[dict[str, Any]]:
    return [event for event in journal.read(made.journal) if event["event"] == kind]


def test_accepted_counts_go_on_and_the_journal_has_the_design_as_it_is_now(tmp_path: Path, made: Results) -> None:
    more = planned(tmp_path / "study", runs=3)
    with pytest.raises(StudyError, match=r"resume: study_hash: .*--accept-difference study_hash"):
        run(more, made, [])
    assert run(more, made, ["study_hash"]).n_before == 4
    (resumed,) = events(made, "resume")
    assert resumed["design"] == {"configurations": [{"n": 1}, {"n": 2}], "runs": [3, 3], "dropped": []}
    assert resumed["accepted"] == ["study_hash"]
    assert {"key": "study.protocol.runs", "before": 2, "now": 3} in resumed["differences"]
    assert [event["run"] for event in events(made, "run")][4:] == ["b0002-0000", "b0002-0001"]


def test_further_runs_that_are_asked_for_are_no_difference(tmp_path: Path, made: Results) -> None:
    more = planned(tmp_path / "study", runs=3)
    assert run(more, made, [MORE_RUNS]).n_made == 2
    (resumed,) = events(made, "resume")
    assert (resumed["accepted"], resumed["differences"]) == ([], [])
    assert table.load(made.journal).n_asked == [3, 3]


def test_what_earlier_starts_took_is_told_to_who_says_how_long_it_lasts(tmp_path: Path, made: Results) -> None:
    seconds = {"ask": 0, "run": 5}
    aged = [
        event | {"at": f"2026-11-28T10:00:0{seconds[event['event']]}.000Z"} if event["event"] in seconds else event
        for event in map(json.loads, made.journal.read_text().splitlines())
    ]
    made.journal.write_text("".join(f"{json.dumps(event)}\n" for event in aged))
    told = list[tuple[int, float]]()

    def showing(n_before: int, spent_s: float, planner: Planner) -> nullcontext[Quiet]:
        told.append((n_before, spent_s))
        return nullcontext(Quiet())

    run_session(planned(tmp_path / "study", runs=3), made, Quiet(), "probe", showing, [MORE_RUNS])
    assert told == [(4, 20.0)]


def test_a_study_of_other_runs_than_its_file_has_is_known_as_the_same(tmp_path: Path, made: Results) -> None:
    before = journal.first_event(made.journal)
    fewer = planned(tmp_path / "study", runs=1).differs_in_runs(before)
    assert fewer is not None and (fewer.before, fewer.now) == (2, 1)
    assert planned(tmp_path / "study").differs_in_runs(before) is None
    assert planned(tmp_path / "study", '["false", "{n}"]', runs=1).differs_in_runs(before) is None


@pytest.mark.parametrize(
    "other", [{"runs": 1}, {"runs": 3, "more": "max_reruns = 2\n"}, {"runs": 3, "command": '["false", "{n}"]'}]
)
def test_whatever_else_differs_beside_further_runs_is_refused(
    tmp_path: Path, made: Results, other: dict[str, Any]
) -> None:
    with pytest.raises(StudyError, match="--accept-difference study_hash"):
        run(planned(tmp_path / "study", **other), made, [MORE_RUNS])


def test_further_runs_of_a_program_that_was_edited_are_refused(tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    program = tmp_path / "study" / "prog"
    program.write_text("one")
    program.chmod(0o755)
    before = planned(tmp_path / "study", '["./prog", "{n}"]')
    made = begin(before, tmp_path / "results")
    run(before, made)
    program.write_text("two")
    with pytest.raises(StudyError, match="--accept-difference study_hash"):
        run(planned(tmp_path / "study", '["./prog", "{n}"]', runs=3), made, [MORE_RUNS])


def test_a_study_is_analyzed_as_it_was_last_begun(tmp_path: Path, made: Results) -> None:
    now = planned(tmp_path / "study", more='when_busy = "cpu-time"\nconfidence = "90%"\n')
    run(now, made, ["study_hash"])
    protocol = table.load(made.journal).study.protocol
    assert (protocol.when_busy, protocol.confidence) == ("cpu-time", 0.9)


CLAIM = """
[[published.claims]]
id = "a"
sentence = "Two take as long as one."
kind = "flat"
along = "n"
"""


def test_claims_are_only_shown_and_a_finished_study_takes_them_over(tmp_path: Path, made: Results) -> None:
    assert table.load(made.journal).study.published is None
    now = planned(tmp_path / "study", more=CLAIM)
    done = run(now, made, [])
    assert (done.reason, done.n_before, len(events(made, "run"))) == ("complete", 4, 4)
    (resumed,) = events(made, "resume")
    assert (resumed["accepted"], resumed["differences"]) == ([], [])
    (claim,) = findings(table.load(made.journal)).published_claims
    assert (claim.id, claim.decision) == ("a", "not resolved")  # all runs took one second
    run(planned(tmp_path / "study", more=CLAIM.replace("as long as", "twice as long as")), made, [])
    (changed,) = findings(table.load(made.journal)).published_claims
    assert changed.sentence == "Two take twice as long as one."


def test_factors_in_another_order_make_other_configurations(tmp_path: Path) -> None:
    factors = {name: f'[factors.{name}]\nlevels = "{levels}"\n' for name, levels in (("a", "1"), ("b", "1"))}
    plans = []
    for order in ("ab", "ba"):
        plans.append(
            planned(tmp_path / "study", '["true", "{n}", "{a}", "{b}"]', more="".join(factors[n] for n in order))
        )
    made = begin(plans[0], tmp_path / "results")
    run(plans[0], made)
    with pytest.raises(StudyError, match=r"resume: configurations: now 2, not the same or in another order"):
        run(plans[1], made, [])


def test_a_design_that_no_line_holds_is_refused(tmp_path: Path, made: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MAX_LINE_BYTES", 500)
    with pytest.raises(StudyError, match=r"factors: 2 configurations, \d+ bytes, at most 500"):
        run(planned(tmp_path / "study"), begin(planned(tmp_path / "study"), tmp_path / "other"))


def test_a_start_that_failed_at_its_first_line_may_be_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(journal, "MAX_LINE_BYTES", 500)
        with pytest.raises(StudyError):
            run(planned(tmp_path / "study"), begin(planned(tmp_path / "study"), tmp_path / "results"))
    with pytest.raises(StudyError, match="no journal"):
        results.locate_latest("small", tmp_path / "results")
    corrected = planned(tmp_path / "study", levels='"1"')
    assert run(corrected, begin(corrected, tmp_path / "results")).reason == "complete"
    with pytest.raises(StudyError, match=r"journal\.jsonl: exists"):
        begin(corrected, tmp_path / "results")


def test_a_record_that_a_planner_cannot_read_is_a_protocol_error(tmp_path: Path, made: Results) -> None:
    lines = [json.loads(line) for line in made.journal.read_text().splitlines()]
    next(line for line in lines if line["event"] == "run")["record"].pop("run")
    made.journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(ProtocolError, match=r"a broken `run` event"):
        run(planned(tmp_path / "study"), made, [])


@pytest.mark.parametrize("levels", ['"1,2,3"', '"2,1"', '"1"'])
def test_other_configurations_are_never_accepted(tmp_path: Path, made: Results, levels: str) -> None:
    with pytest.raises(StudyError, match=r"resume: configurations: .*; start anew$"):
        run(planned(tmp_path / "study", levels=levels), made, ["study_hash", "configurations"])
    assert not events(made, "resume")


def test_the_other_form_is_accepted_by_name_like_any_other_difference(tmp_path: Path) -> None:
    planned(tmp_path / "study", more="[quick]\nprotocol = { runs = 1 }\n")
    full, quick = (plan(declare(tmp_path / "study" / "study.toml", quick), HOST) for quick in (False, True))
    made = begin(quick, tmp_path / "results")
    run(quick, made)
    assert run(full, made, ["study_hash"]).reason == "complete"


@pytest.mark.parametrize(("first", "then", "fix"), [(False, True, "leave --quick out"), (True, False, "add --quick")])
def test_the_quick_form_is_not_resumed_as_the_whole_nor_the_other_way(
    tmp_path: Path, first: bool, then: bool, fix: str
) -> None:
    planned(tmp_path / "study", more="[quick]\nprotocol = { runs = 1 }\n")
    full, quick = (plan(declare(tmp_path / "study" / "study.toml", quick), HOST) for quick in (False, True))
    made = begin(quick if first else full, tmp_path / "results")
    run(quick if first else full, made)
    said = f"resume: one is the study in full, the other its quick form, expected the same form; {fix}$"
    with pytest.raises(StudyError, match=said):
        run(quick if then else full, made, [])
    assert not events(made, "resume")


def test_another_seed_is_never_accepted(tmp_path: Path, made: Results) -> None:
    plan = planned(tmp_path / "study")
    study = plan.design.study.model_copy(update={"seed": 2})
    with pytest.raises(StudyError, match=r"resume: seed: now 2, expected 1 as in the journal; start anew$"):
        run(replace(plan, design=replace(plan.design, study=study)), made, ["study_hash", "seed"])


def test_repeats_that_change_the_order_are_refused_run_by_run(tmp_path: Path, made: Results) -> None:
    with pytest.raises(StudyError, match="resume: design"):
        run(planned(tmp_path / "study", more='order = "declared"\n'), made, ["study_hash"])
    assert not events(made, "resume")


def test_only_jvms_that_configurations_use_are_compared(tmp_path: Path) -> None:
    def java(**facts: Any) -> Plan:
        return planned(tmp_path / "study", '["{java}", "{n}"]', **facts)

    plan = java()
    made = begin(plan, tmp_path / "results")
    run(plan, made)
    assert events(made, "study")[0]["uses"] == {"jvms": {"17": "17.0.1+2"}, "program": None}
    run(java(jvms=HOST.jvms[:1]), made, [])
    with pytest.raises(StudyError, match=r"resume: jvms: now \{'25': '25.0.1\+3'\}, .*--accept-difference jvms"):
        run(java(jvms=HOST.jvms[::-1]), made, [])


def test_memory_that_another_kernel_keeps_is_no_other_machine(tmp_path: Path) -> None:
    def sized(memory_bytes: int | None, kernel: str | None = None) -> Plan:
        return planned(tmp_path / "study", memory_bytes=memory_bytes, kernel=kernel)

    plan, fixed = sized(1 << 30), sized(1 << 30, "6.1")
    made, other = begin(plan, tmp_path / "results"), begin(fixed, tmp_path / "others")
    run(plan, made)
    run(fixed, other)
    for memory in (1000 << 20, 1054 << 20):
        run(sized(memory), made, [])
    wrong = [(sized(memory), made) for memory in (980 << 20, 1 << 31, None)]
    for again, earlier in (*wrong, (sized((1 << 30) - 1, "6.1"), other)):
        with pytest.raises(StudyError, match=r"resume: memory_bytes: .*--accept-difference memory_bytes"):
            run(again, earlier, [])


def test_jvms_of_a_factor_are_compared_whatever_their_order(tmp_path: Path) -> None:
    factor = '[factors.jvm]\ncontrol = "jvm"\nlevels = ["25", "17"]\n'
    plan = planned(tmp_path / "study", '["{java}", "{n}"]', more=factor)
    again = planned(tmp_path / "study", '["{java}", "{n}"]', more=factor, jvms=HOST.jvms[::-1])
    both = plan.first_event("probe")["uses"]["jvms"]
    assert both == again.first_event("probe")["uses"]["jvms"] == {"17": "17.0.1+2", "25": "25.0.1+3"}


def test_a_jvm_that_a_level_gives_by_path_is_asked_for_its_build(tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text('#!/bin/sh\necho "    java.version = 21.0.1"\n')
    java.chmod(0o755)
    factor = f'[factors.jvm]\ncontrol = "jvm"\nlevels = ["17", "{java}"]\n'
    plan = planned(tmp_path / "study", '["{java}", "{n}"]', more=factor)
    first = plan.first_event("probe")
    assert first["uses"]["jvms"] == {"17": "17.0.1+2", str(java): "21.0.1"}
    assert first["machine"]["jvms"][str(java)] == "21.0.1"
    assert next(iter(first["machine"]["jvms"])) == "17", "the default stays the default"


def test_a_program_on_path_is_known_by_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "bin" / "tool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent))
    monkeypatch.setenv("HOME", str(tmp_path))
    plan = planned(tmp_path / "study", '["tool", "{n}"]')
    made = begin(plan, tmp_path / "results")
    run(plan, made)
    known = events(made, "study")[0]["uses"]["program"]
    assert (known["path"], known["bytes"]) == ("~/bin/tool", 10)
    shutil.move(tool, tmp_path / "tool")
    monkeypatch.setenv("PATH", str(tmp_path))
    run(plan, made, [])
    (tmp_path / "tool").write_text("#!/bin/bash\n")
    with pytest.raises(StudyError, match=r"resume: program: .*--accept-difference program"):
        run(plan, made, [])
    run(plan, made, ["program"])


@pytest.mark.parametrize(("command", "name"), [('["./prog", "{n}"]', "prog"), ('["sh", "{here}/x.sh", "{n}"]', "x.sh")])
def test_files_of_the_study_that_a_command_names_are_part_of_it(tmp_path: Path, command: str, name: str) -> None:
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / name).write_text("one")
    (tmp_path / "study" / name).chmod(0o755)
    before = planned(tmp_path / "study", command).first_event("probe")["study_hash"]
    (tmp_path / "study/other").write_text("not named")
    assert planned(tmp_path / "study", command).first_event("probe")["study_hash"] == before
    (tmp_path / "study" / name).write_text("two")
    assert planned(tmp_path / "study", command).first_event("probe")["study_hash"] != before


@pytest.mark.parametrize("key", ["seed", "study_hash", "study", "machine", "design", "uses"])
def test_a_first_event_that_lacks_something_is_a_protocol_error(tmp_path: Path, made: Results, key: str) -> None:
    lines = made.journal.read_text().splitlines(keepends=True)
    first = json.loads(lines[0])
    del first[key]
    made.journal.write_text(json.dumps(first) + "\n" + "".join(lines[1:]))
    with pytest.raises(ProtocolError, match="event 1: a broken `study` event") as caught:
        run(planned(tmp_path / "study", runs=3), made, ["study_hash"])
    assert caught.value.exit_code == 6


@pytest.mark.guarantee
def test_a_study_is_not_resumed_while_another_process_appends(tmp_path: Path, made: Results) -> None:
    other = journal.Journal(made.journal)
    with pytest.raises(HostError, match="another process appends to it"):
        run(planned(tmp_path / "study"), made, [])
    other.close()


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("missing.csv", 'no file "missing.csv"'),
        ("../outside.csv", "leads outside"),
        ("sub/journal.jsonl", "a name that no file of the results has"),
        ("sub", 'no file "sub"'),
    ],
)
def test_published_figures_are_looked_at_before_the_folder_is_made(tmp_path: Path, file: str, said: str) -> None:
    (tmp_path / "study/sub").mkdir(parents=True)
    for name in ("outside.csv", "study/sub/journal.jsonl"):
        (tmp_path / name).write_text("n,wall\n")
    plan = planned(tmp_path / "study", more=PUBLISHED.replace("FILE", file))
    with pytest.raises(StudyError, match=said):
        begin(plan, tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_results_may_lie_in_the_folder_of_the_study(tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    (tmp_path / "study/paper.csv").write_text("n,wall\n1,2\n")
    plan = planned(tmp_path / "study", more=PUBLISHED.replace("FILE", "paper.csv"))
    before = plan.declared.file.read_text()
    made = begin(plan, tmp_path / "study")
    assert made.study.read_text() == before and made.design.exists()
    assert (tmp_path / "study/paper.csv").read_text() == "n,wall\n1,2\n"


def test_a_planted_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "results").mkdir()
    for name in ("study.toml", "design.jsonl", "design.jsonl.part"):
        (tmp_path / "results" / name).symlink_to(victim)
    made = begin(planned(tmp_path / "study"), tmp_path / "results")
    assert victim.read_text() == "precious"
    assert not made.study.is_symlink() and not made.design.is_symlink()


@pytest.mark.parametrize("name", ["study.toml", "paper.csv", "findings.json", "report.html"])
def test_files_of_somebody_elses_are_never_replaced(tmp_path: Path, name: str) -> None:
    (tmp_path / "study").mkdir()
    (tmp_path / "study/paper.csv").write_text("n,wall\n1,2\n")
    plan = planned(tmp_path / "study", more=PUBLISHED.replace("FILE", "paper.csv"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / name).write_text("precious")
    with pytest.raises(StudyError, match=rf"mine: holds a {name} of its own, .*; choose another -o$"):
        begin(plan, tmp_path / "mine")
    assert [file.read_text() for file in (tmp_path / "mine").iterdir()] == ["precious"]


def test_a_start_that_came_to_nothing_is_repeated_in_its_folder(tmp_path: Path) -> None:
    plan = planned(tmp_path / "study")
    assert begin(plan, tmp_path / "results") == begin(plan, tmp_path / "results")


def test_what_goes_on_is_the_file_that_was_given_and_not_its_copy(tmp_path: Path, made: Results) -> None:
    given, folder = tmp_path / "study/study.toml", made.folder
    with pytest.raises(StudyError, match=rf"go on with: scalograph run {given} --resume -o {folder}$"):
        begin(planned(tmp_path / "study"), folder)
    ships = plan(declare_shipped("thread-scaling", quick=True), HOST)
    with pytest.raises(StudyError, match=rf"go on with: scalograph study thread-scaling --resume -o {folder}$"):
        begin(ships, folder)


def test_what_is_not_kept_comes_back_in_order_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(tmp_path / "study")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    finished = run_in_memory(plan, Quiet())
    assert [(each.run.run, each.verdict) for each in finished] == [
        (run.run, "clean") for run in plan.runs.planned_runs()
    ]
    assert all(each.record == record() for each in finished)
    assert not [*(tmp_path / "here").iterdir()]


def test_a_signal_ends_what_is_not_kept_as_it_means(tmp_path: Path) -> None:
    class Signaled(Quiet):
        def measure(self, run: Run) -> Any:
            signal.raise_signal(signal.SIGTERM)
            return record()

    with pytest.raises(Terminated):
        run_in_memory(planned(tmp_path / "study"), Signaled())
