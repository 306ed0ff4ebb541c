"""Stops 2 and 3 from a folder to a folder, with a host that measures nothing."""

import json
import shutil
import signal
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from scalograph.design.planner import Planner
from scalograph.errors import HostError, ProtocolError, StudyError, Terminated
from scalograph.findings import table
from scalograph.protocol import journal, results
from scalograph.protocol.facts import Jvm
from scalograph.protocol.record import Record
from scalograph.protocol.results import Results
from scalograph.questions.assemble import findings
from scalograph.run.plan import Plan, plan
from scalograph.run.session import Session, begin, run_in_memory, run_session
from scalograph.study.declare import declare, declare_shipped
from scalograph.study.identity import MORE_RUNS
from scalograph.study.levels import Run
from tests.kit.processes import write_program
from tests.kit.records import record
from tests.kit.refusals import refuses
from tests.kit.simulated import Simulated
from tests.kit.studies import a_study, facts_of, plan_of

HOST = facts_of(
    jvms=(
        Jvm(name="17", java="/j17/bin/java", release=17, build="17.0.1+2"),
        Jvm(name="25", java="/j25/bin/java", release=25, build="25.0.1+3"),
    )
)
HASH = r"resume: study_hash: .*--accept-difference study_hash"
ANEW = r"resume: configurations: .*; start over$"


class Quiet(Simulated):
    def measure(self, run: Run) -> Record:
        return record()


def planned(
    folder: Path, command: str = "true {n}", runs: int = 2, factors: Mapping[str, Any] | None = None,
    facts: Mapping[str, Any] | None = None, protocol: Mapping[str, Any] | None = None, **tables: Any,
) -> Plan:  # fmt: skip
    """Plan a study of two levels of n; `factors` and `facts` are further ones, or in their place."""
    text = a_study(
        {"n": "1,2", **(factors or {})}, command=command, name="small", protocol={"runs": runs, **(protocol or {})},
        **{"seed": 1, **tables},
    )  # fmt: skip
    return plan_of(folder, text, HOST.model_copy(update=facts))


def run(planned: Plan, made: Results, accepted: list[str] | None = None) -> Session:
    return run_session(planned, made, Quiet(), "probe", lambda *_: nullcontext(Quiet()), accepted)


def results_of(plan: Plan, folder: Path) -> Results:
    made = begin(plan, folder)
    assert run(plan, made).reason == "complete"
    return made


@pytest.fixture
def made(tmp_path: Path) -> Results:
    return results_of(planned(tmp_path / "study"), tmp_path / "results")


def events(made: Results, kind: str) -> list[dict[str, Any]]:
    return [event for event in journal.read(made.journal) if event["event"] == kind]


def edit_journal(made: Results, edit: Callable[[dict[str, Any]], object]) -> None:
    lines = [json.loads(line) for line in made.journal.read_text().splitlines()]
    for line in lines:
        edit(line)
    made.journal.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def test_accepted_counts_go_on_and_the_journal_has_the_design_as_it_is_now(tmp_path: Path, made: Results) -> None:
    assert run(planned(tmp_path / "study", runs=3), made, ["study_hash"]).n_before == 4
    (resumed,) = events(made, "resume")
    assert resumed["design"] == {"configurations": [{"n": 1}, {"n": 2}], "runs": [3, 3], "dropped": []}
    assert resumed["accepted"] == ["study_hash"]
    assert {"key": "study.protocol.runs", "before": 2, "now": 3} in resumed["differences"]
    assert [event["run"] for event in events(made, "run")][4:] == ["b0002-0000", "b0002-0001"]
    # Further ones that are asked for are no difference.
    assert run(planned(tmp_path / "study", runs=4), made, [MORE_RUNS]).n_made == 2
    (_, resumed) = events(made, "resume")
    assert (resumed["accepted"], resumed["differences"]) == ([], []) and table.load(made.journal).n_asked == [4, 4]


def test_what_earlier_starts_took_is_told_to_who_says_how_long_it_lasts(tmp_path: Path, made: Results) -> None:
    at = {"ask": "2026-11-28T10:00:00.000Z", "run": "2026-11-28T10:00:05.000Z"}
    edit_journal(made, lambda event: event.update(at=at.get(event["event"], event["at"])))
    told = list[tuple[int, float]]()

    def showing(n_before: int, spent_s: float, planner: Planner) -> nullcontext[Quiet]:
        told.append((n_before, spent_s))
        return nullcontext(Quiet())

    run_session(planned(tmp_path / "study", runs=3), made, Quiet(), "probe", showing, [MORE_RUNS])
    assert told == [(4, 20.0)]


def test_a_study_of_other_runs_is_the_same_and_analyzed_as_it_was_last_begun(tmp_path: Path, made: Results) -> None:
    before = journal.first_event(made.journal)
    fewer = planned(tmp_path / "study", runs=1).differs_in_runs(before)
    assert fewer is not None and (fewer.before, fewer.now) == (2, 1)
    assert planned(tmp_path / "study").differs_in_runs(before) is None
    assert planned(tmp_path / "study", "false {n}", runs=1).differs_in_runs(before) is None
    run(planned(tmp_path / "study", protocol={"when_busy": "cpu-time", "confidence": "90%"}), made, ["study_hash"])
    protocol = table.load(made.journal).study.protocol
    assert (protocol.when_busy, protocol.confidence) == ("cpu-time", 0.9)


@pytest.mark.parametrize(("changes", "accepted", "message"), [
    ({"runs": 3}, [], HASH),
    ({"runs": 1}, [MORE_RUNS], HASH),
    ({"runs": 3, "protocol": {"max_reruns": 2}}, [MORE_RUNS], HASH),
    ({"runs": 3, "command": "false {n}"}, [MORE_RUNS], HASH),
    # Not accepted by any name.
    ({"factors": {"n": "1,2,3"}}, ["study_hash", "configurations"], ANEW),
    ({"factors": {"n": "2,1"}}, ["study_hash", "configurations"], ANEW),
    ({"factors": {"n": "1"}}, ["study_hash", "configurations"], ANEW),
    ({"seed": 2}, ["study_hash", "seed"], r"resume: seed: now 2, expected 1 as in the journal; start over$"),
    ({"protocol": {"order": "declared"}}, ["study_hash"], "resume: design"),  # run by run
])  # fmt: skip
def test_what_differs_and_is_not_accepted_is_refused(
    tmp_path: Path, made: Results, changes: dict[str, Any], accepted: list[str], message: str
) -> None:
    refuses(StudyError, message, run, planned(tmp_path / "study", **changes), made, accepted)
    assert not events(made, "resume")


def test_further_runs_of_a_program_that_was_edited_are_refused(tmp_path: Path) -> None:
    write_program(tmp_path / "study" / "prog", "one")
    made = results_of(planned(tmp_path / "study", "./prog {n}"), tmp_path / "results")
    (tmp_path / "study" / "prog").write_text("two")
    with pytest.raises(StudyError, match="--accept-difference study_hash"):
        run(planned(tmp_path / "study", "./prog {n}", runs=3), made, [MORE_RUNS])


def test_claims_are_only_shown_and_a_finished_study_takes_them_over(tmp_path: Path, made: Results) -> None:
    def claimed(sentence: str) -> Plan:
        claim = {"id": "a", "sentence": sentence, "kind": "flat", "along": "n"}
        return planned(tmp_path / "study", published={"claims": [claim]})

    assert table.load(made.journal).study.published is None
    done = run(claimed("Two take as long as one."), made, [])
    assert (done.reason, done.n_before, len(events(made, "run"))) == ("complete", 4, 4)
    (resumed,) = events(made, "resume")
    assert (resumed["accepted"], resumed["differences"]) == ([], [])
    (claim,) = findings(table.load(made.journal)).published_claims
    assert (claim.id, claim.decision) == ("a", "inconclusive")  # all runs took one second
    run(claimed("Two take twice as long as one."), made, [])
    (changed,) = findings(table.load(made.journal)).published_claims
    assert changed.sentence == "Two take twice as long as one."


def test_factors_in_another_order_make_other_configurations(tmp_path: Path) -> None:
    first, other = (
        planned(tmp_path / "study", "true {n} {a} {b}", factors=dict.fromkeys(order, "1")) for order in ("ab", "ba")
    )
    made = results_of(first, tmp_path / "results")
    refuses(StudyError, r"resume: configurations: now 2, not the same or in another order", run, other, made, [])


def test_a_start_that_failed_at_its_first_line_may_be_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(journal, "MAX_LINE_BYTES", 500)
        with pytest.raises(StudyError, match=r"factors: 2 configurations, \d+ bytes, at most 500"):
            results_of(planned(tmp_path / "study"), tmp_path / "results")
    refuses(StudyError, "no journal", results.locate_latest, "small", tmp_path / "results")
    corrected = planned(tmp_path / "study", factors={"n": "1"})
    results_of(corrected, tmp_path / "results")
    refuses(StudyError, r"journal\.jsonl: exists", begin, corrected, tmp_path / "results")


def test_a_record_that_a_planner_cannot_read_is_a_protocol_error(tmp_path: Path, made: Results) -> None:
    edit_journal(made, lambda event: event["event"] == "run" and event["record"].pop("run"))
    refuses(ProtocolError, r"a broken `run` event", run, planned(tmp_path / "study"), made, [])


@pytest.mark.parametrize("key", ["seed", "study_hash", "study", "machine", "design", "uses"])
def test_a_first_event_that_lacks_something_is_a_protocol_error(tmp_path: Path, made: Results, key: str) -> None:
    edit_journal(made, lambda event: event.pop(key, None))
    with pytest.raises(ProtocolError, match="event 1: a broken `study` event") as caught:
        run(planned(tmp_path / "study", runs=3), made, ["study_hash"])
    assert caught.value.exit_code == 6


@pytest.mark.parametrize(("first", "then", "fix"), [(0, 1, "leave --quick out"), (1, 0, "add --quick")])
def test_one_form_is_resumed_as_the_other_only_by_name(tmp_path: Path, first: bool, then: bool, fix: str) -> None:
    planned(tmp_path / "study", quick={"protocol": {"runs": 1}})
    forms = [plan(declare(tmp_path / "study" / "study.toml", quick), HOST) for quick in (False, True)]
    made = results_of(forms[first], tmp_path / "results")
    said = f"resume: one is the study in full, the other its quick form, expected the same form; {fix}$"
    refuses(StudyError, said, run, forms[then], made, [])
    assert not events(made, "resume") and run(forms[then], made, ["study_hash"]).reason == "complete"


def test_only_jvms_that_configurations_use_are_compared(tmp_path: Path) -> None:
    def java(**facts: Any) -> Plan:
        return planned(tmp_path / "study", "{java} {n}", facts=facts)

    made = results_of(java(), tmp_path / "results")
    assert events(made, "study")[0]["uses"] == {"jvms": {"17": "17.0.1+2"}, "program": None}
    run(java(jvms=HOST.jvms[:1]), made, [])
    with pytest.raises(StudyError, match=r"resume: jvms: now \{'25': '25.0.1\+3'\}, .*--accept-difference jvms"):
        run(java(jvms=HOST.jvms[::-1]), made, [])


def test_memory_that_another_kernel_keeps_is_no_other_machine(tmp_path: Path) -> None:
    def sized(memory_bytes: int | None, kernel: str | None = None) -> Plan:
        return planned(tmp_path / "study", facts={"memory_bytes": memory_bytes, "kernel": kernel})

    made = results_of(sized(1 << 30), tmp_path / "results")
    other = results_of(sized(1 << 30, "6.1"), tmp_path / "others")
    for memory in (1000 << 20, 1054 << 20):
        run(sized(memory), made, [])
    wrong = [(sized(memory), made) for memory in (980 << 20, 1 << 31, None)]
    for again, earlier in (*wrong, (sized((1 << 30) - 1, "6.1"), other)):
        refuses(StudyError, r"resume: memory_bytes: .*--accept-difference memory_bytes", run, again, earlier, [])


def jvms_planned(folder: Path, *levels: str, **facts: Any) -> Plan:
    return planned(folder, "{java} {n}", factors={"jvm": {"control": "jvm", "levels": list(levels)}}, facts=facts)


def test_jvms_of_a_factor_are_compared_whatever_their_order_or_by_path(tmp_path: Path) -> None:
    both = jvms_planned(tmp_path, "25", "17").first_event("probe")["uses"]["jvms"]
    again = jvms_planned(tmp_path, "25", "17", jvms=HOST.jvms[::-1]).first_event("probe")["uses"]["jvms"]
    assert both == again == {"17": "17.0.1+2", "25": "25.0.1+3"}
    java = write_program(tmp_path / "java", 'echo "    java.version = 21.0.1"')
    first = jvms_planned(tmp_path / "study", "17", str(java)).first_event("probe")
    assert first["uses"]["jvms"] == {"17": "17.0.1+2", str(java): "21.0.1"}
    assert first["machine"]["jvms"][str(java)] == "21.0.1"
    assert next(iter(first["machine"]["jvms"])) == "17", "the default stays the default"


def test_a_program_on_path_is_known_by_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = write_program(tmp_path / "bin" / "tool", "#!/bin/sh\n")
    monkeypatch.setenv("PATH", str(tool.parent))
    monkeypatch.setenv("HOME", str(tmp_path))
    plan = planned(tmp_path / "study", "tool {n}")
    made = results_of(plan, tmp_path / "results")
    known = events(made, "study")[0]["uses"]["program"]
    assert (known["path"], known["bytes"]) == ("~/bin/tool", 10)
    shutil.move(tool, tmp_path / "tool")
    monkeypatch.setenv("PATH", str(tmp_path))
    run(plan, made, [])
    (tmp_path / "tool").write_text("#!/bin/bash\n")
    refuses(StudyError, r"resume: program: .*--accept-difference program", run, plan, made, [])
    run(plan, made, ["program"])


@pytest.mark.parametrize(("command", "name"), [("./prog {n}", "prog"), ("sh {here}/x.sh {n}", "x.sh")])
def test_files_of_the_study_that_a_command_names_are_part_of_it(tmp_path: Path, command: str, name: str) -> None:
    def study_hash() -> object:
        return planned(tmp_path, command).first_event("probe")["study_hash"]

    write_program(tmp_path / name, "one")
    before = study_hash()
    (tmp_path / "other").write_text("not named")
    assert study_hash() == before
    (tmp_path / name).write_text("two")
    assert study_hash() != before


@pytest.mark.guarantee
def test_a_study_is_not_resumed_while_another_process_appends(tmp_path: Path, made: Results) -> None:
    other = journal.Journal(made.journal)
    refuses(HostError, "another process appends to it", run, planned(tmp_path / "study"), made, [])
    other.close()


def published(folder: Path, file: str = "paper.csv") -> Plan:
    return planned(folder, published={"file": file, "match": {"n": "n"}, "values": {"wall": "wall"}})


@pytest.mark.parametrize(("file", "said"), [
    ("missing.csv", 'no file "missing.csv"'), ("../outside.csv", "leads outside"), ("sub", 'no file "sub"'),
    ("sub/journal.jsonl", "a name that no file of the results has"),
])  # fmt: skip
def test_published_figures_are_looked_at_before_the_folder_is_made(tmp_path: Path, file: str, said: str) -> None:
    (tmp_path / "study/sub").mkdir(parents=True)
    for name in ("outside.csv", "study/sub/journal.jsonl"):
        (tmp_path / name).write_text("n,wall\n")
    refuses(StudyError, said, begin, published(tmp_path / "study", file), tmp_path / "results")
    assert not (tmp_path / "results").exists()


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    (tmp_path / "study").mkdir()
    (tmp_path / "study/paper.csv").write_text("n,wall\n1,2\n")
    return tmp_path / "study/paper.csv"


def test_results_may_lie_beside_the_study_and_a_start_is_repeated_in_its_own(tmp_path: Path, paper: Path) -> None:
    plan = published(paper.parent)
    before = plan.declared.file.read_text()
    made = begin(plan, paper.parent)
    assert made.study.read_text() == before and made.design.exists() and paper.read_text() == "n,wall\n1,2\n"
    plan = planned(tmp_path / "study")
    assert begin(plan, tmp_path / "results") == begin(plan, tmp_path / "results")


@pytest.mark.parametrize("name", ["study.toml", "paper.csv", "findings.json", "report.html"])
def test_files_of_somebody_elses_are_never_replaced(tmp_path: Path, paper: Path, name: str) -> None:
    plan = published(paper.parent)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / name).write_text("precious")
    refuses(StudyError, rf"mine: holds a {name} of its own, .*; choose another -o$", begin, plan, tmp_path / "mine")
    assert [file.read_text() for file in (tmp_path / "mine").iterdir()] == ["precious"]


def test_a_planted_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "results").mkdir()
    for name in ("study.toml", "design.jsonl", "design.jsonl.part"):
        (tmp_path / "results" / name).symlink_to(victim)
    made = begin(planned(tmp_path / "study"), tmp_path / "results")
    assert victim.read_text() == "precious" and not made.study.is_symlink() and not made.design.is_symlink()


def test_what_goes_on_is_the_file_that_was_given_and_not_its_copy(tmp_path: Path, made: Results) -> None:
    given, folder = tmp_path / "study/study.toml", made.folder
    with pytest.raises(StudyError, match=rf"go on with: scalograph run {given} --resume -o {folder}$"):
        begin(planned(tmp_path / "study"), folder)
    ships = plan(declare_shipped("thread-scaling", quick=True), HOST)
    refuses(StudyError, rf"go on with: scalograph study thread-scaling --resume -o {folder}$", begin, ships, folder)


def test_what_is_not_kept_comes_back_in_order_or_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(tmp_path / "study")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    finished = [(each.run.run, each.record, each.verdict) for each in run_in_memory(plan, Quiet())]
    assert finished == [(run.run, record(), "clean") for run in plan.runs.planned_runs()]
    assert not [*(tmp_path / "here").iterdir()]

    class Signaled(Quiet):
        def measure(self, run: Run) -> Record:
            signal.raise_signal(signal.SIGTERM)
            return record()

    with pytest.raises(Terminated):
        run_in_memory(planned(tmp_path / "study"), Signaled())
