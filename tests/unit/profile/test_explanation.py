"""What an explanation says, draws and refuses."""

import json

import pytest

from scalograph.cli.analyze_steps import load_findings
from scalograph.cli.explaining import ExplainOptions, choose_published
from scalograph.errors import StudyError
from scalograph.profile.cpu_budget import CpuBudget
from scalograph.profile.explain_recorder import choose_pair
from scalograph.profile.level_losses import LevelRuns, compare_stacks, efficiencies
from scalograph.profile.perf_runs import Rates, record_command
from scalograph.profile.perf_trace import Frame
from scalograph.profile.profile_tables import add_explanation, efficiency_table, explanation_table
from scalograph.profile.wait_kinds import LossCause
from scalograph.profile.what_if import Change, changes, judge_trial
from scalograph.protocol.explanation import FILE, PART, Explanation, LossPart, Share, Trial
from scalograph.protocol.published_claim import DecidedClaim
from scalograph.questions.assemble import findings
from scalograph.report import explanation_chart, html
from scalograph.report.cells import table_layout
from scalograph.text.explained import answer_sentences, cause_text, closing_sentences
from tests.kit.command import in_process
from tests.kit.findings import ONE_FACTOR, table_of, write_journal
from tests.kit.records import recorded

LOST = Share(value=1.0, low=0.9, high=1.1)
PARTS = (
    LossPart(
        kind="lock", what="insert", caller="worker", before_s=0, after_s=0.7, share=Share(value=0.7, low=0.6, high=0.8)
    ),
    LossPart(kind="inflation", what="spin", share=Share(value=0.3), before_s=1.0, after_s=1.3),
)  # fmt: skip


def explanation(**changes):
    values = {
        "study": "s", "study_hash": "h", "at": "2026-01-01T00:00:00Z", "factor": "threads", "levels": (1, 2),
        "cpus": (1, 2), "n_runs": (3, 3), "capacity_s": (1.0, 2.0), "gain": 1.0, "lost_cpus": LOST, "parts": PARTS,
        "unexplained": Share(value=0.0, low=0.0, high=0.0),
    }  # fmt: skip
    return Explanation(**{**values, **changes})


def test_the_answer_names_the_largest_part():
    assert answer_sentences(explanation()) == [
        "From 1 thread to 2 threads, speedup is 1.00× in the recorded runs.",
        "Of 2 CPUs 1.00 (95% CI 0.90–1.10) are lost.",
        "70% of the loss: waiting for a lock in insert, called by worker.",
    ]  # fmt: skip


def test_nothing_is_named_where_nothing_is_lost_or_the_runs_show_none():
    scales = explanation(lost_cpus=Share(value=0.05, low=0.01, high=0.09))
    assert scales.scales
    assert answer_sentences(scales)[-1].endswith("there is nothing to explain.")
    gains = explanation(lost_cpus=Share(value=-1.0, low=-1.1, high=-0.9))
    assert answer_sentences(gains)[-1] == "No CPU time is lost: there is nothing to explain."
    one = explanation(cpus=(1, 1), lost_cpus=Share(value=0.4, low=0.2, high=0.6))
    assert answer_sentences(one)[1].startswith("Of 1 CPU 0.4")
    open_loss = explanation(lost_cpus=Share(value=0.02, low=-4.0, high=4.0))
    assert not open_loss.scales and open_loss.is_inconclusive
    noisy = explanation(lost_cpus=Share(value=0.6, low=-0.2, high=1.4))
    assert noisy.is_inconclusive
    assert answer_sentences(noisy)[-1].startswith("Inconclusive")


def test_the_closing_says_what_is_ruled_out_tried_and_slowed():
    trial = Trial(
        name="malloc", change="env", speed=Share(value=1.0, low=0.99, high=1.01), n_pairs=6, outcome="not the cause"
    )
    document = explanation(
        ruled_out=("quota", "disk"), not_visible=("memory bandwidth",), trials=(trial,), overhead=(1.0, 1.5)
    )
    assert [*closing_sentences(document)] == [
        "Not the cause: with malloc, speed is 1.000× (95% CI 0.990–1.010).",
        "Ruled out, below 1%: CPU quota and disk.",
        "Not visible without hardware counters: memory bandwidth.",
        "Recording slowed the runs: 1.00× and 1.50× the time without it.",
    ]


@pytest.mark.parametrize(
    ("with_it", "outcome"),
    [
        ([1.0, 1.02, 0.98], "confirmed"),
        ([2.0, 2.01, 1.99], "not the cause"),
        ([4.0, 4.1, 3.9], "slower"),
        ([1.0, 3.0, 2.0], "inconclusive"),
    ],
)
def test_a_change_is_judged_in_pairs(with_it, outcome):
    assert judge_trial(Change("x", ("env", "A=1")), [2.0, 2.02, 1.98], with_it, 0.95).outcome == outcome


def test_changes_are_named_and_prefixes_are_commands():
    assert [c.name for c in changes("arenas,gc", ["env A=1"])] == ["arenas", "gc", "env A=1"]
    for names, prefixes in (("turbo", []), (None, ["no-such-program x"]), (None, ["'"]), (None, [""])):
        with pytest.raises(StudyError):
            changes(names, prefixes)


def test_the_table_shows_each_part_and_what_is_not_explained():
    doc = explanation_table(explanation())
    assert [row[:4] for row in doc.rows] == [
        [70, 60, 80, "waiting for a lock in insert, called by worker"],
        [30, None, None, "more CPU time for the same work in spin"], [0, 0, 0, "not explained"],
    ]  # fmt: skip
    table_layout(doc)


def test_what_the_table_does_not_show_is_one_row_and_the_column_adds_up():
    small = tuple(
        LossPart(kind="kernel", what=f"call{i}", share=Share(value=0.02), before_s=0, after_s=0.02) for i in range(25)
    )
    parts = (LossPart(kind="lock", what="insert", share=Share(value=0.4), before_s=0, after_s=0.4), *small)
    doc = explanation_table(explanation(parts=parts, unexplained=Share(value=0.1)))
    assert [row[0] for row in doc.rows if row[3] == "other causes, each smaller"] == [36]
    assert sum(row[0] for row in doc.rows) == 100


def test_factors_of_efficiency_multiply():
    parts = {LossCause("user", ()): 1.0}
    before = LevelRuns(1, [CpuBudget(1.0, 1.0, parts, busiest_s=(1.0,))], [1.0])
    after = LevelRuns(2, [CpuBudget(1.6, 0.8, {LossCause("user", ()): 1.25}, busiest_s=(0.72, 0.36))], [1.0])
    first, second = efficiencies(before, after)
    assert (first.load_balance, first.communication, first.computation) == (1.0, 1.0, 1.0)
    assert [round(x, 3) for x in (second.load_balance, second.communication, second.computation)] == [0.75, 0.9, 0.8]
    table = efficiency_table(explanation(efficiency=(first, second)))
    assert table is not None and table.rows[1] == [2, 0.54, 0.675, 0.75, 0.9, 0.8]
    assert "load balance 75%" in " ".join(closing_sentences(explanation(efficiency=(first, second))))


def test_the_bars_of_the_chart_sum_to_the_capacity():
    document = explanation(capacity_s=(1.2, 2.2))
    rows = explanation_chart.stacked_parts(document)
    assert [round(sum(row[i] for row in rows), 9) for i in (1, 2)] == [1.2, 2.2]
    assert rows[0][0] == "the program's own work"


def test_the_study_of_a_result_has_its_table_and_chart(tmp_path):
    study = findings(table_of(tmp_path, [({"threads": n}, recorded()) for n in (1, 2)], ONE_FACTOR), tmp_path)
    assert add_explanation(study, tmp_path) is study
    document = explanation(study_hash=study.study.hash)
    (tmp_path / FILE).write_text(document.model_dump_json())
    explained = add_explanation(study, tmp_path)
    assert explained.parts[PART].data == document.model_dump(mode="json", exclude={"stacks"})
    assert [doc.id for doc in explained.tables[len(study.tables) :]] == ["explanation"]
    assert [figure.id for figure in explanation_chart.figures(explained)] == ["explanation"]
    assert explanation_chart.figures(study) == []
    claim = DecidedClaim(id="S0-1", sentence="Two threads gain nothing.", quantity="speedup", decision="holds")
    page = html.page(explained.model_copy(update={"published_claims": [claim]}))
    assert "70% of the loss: waiting for a lock in insert, called by worker. All parts:" in page
    assert 'id="table-explanation"' in page
    for text in ("{", document.model_copy(update={"study_hash": "other"}).model_dump_json()):
        (tmp_path / FILE).write_text(text)
        assert add_explanation(study, tmp_path).warnings[len(study.warnings) :]


@pytest.fixture
def curve(tmp_path):
    walls = {1: 8.0, 2: 4.0, 4: 3.9}
    runs = [({"threads": n}, recorded(wall_s=wall, cpus=(0, 1, 2, 3))) for n, wall in walls.items() for _ in range(3)]
    text = ONE_FACTOR.replace("levels = [1, 2]", "levels = [1, 2, 4]")
    return table_of(tmp_path, runs, text)


def test_the_step_that_loses_most_is_explained(curve):
    # 8, 8 and 15.6 CPU seconds: two threads lose nothing.
    first, second = choose_pair(curve, "threads", {})
    assert (first["threads"], second["threads"]) == (2, 4)
    first, second = choose_pair(curve, "threads", {}, [1, 4])
    assert (first["threads"], second["threads"]) == (1, 4)
    with pytest.raises(StudyError):
        choose_pair(curve, "threads", {}, [1, 3])


@pytest.mark.parametrize(
    ("texts", "chosen"),
    [
        (["threads=1,4"], ("threads", "1,4", [])),
        (["threads=4", "lock=none,cas"], (None, None, None)),
        (["threads=1,512"], (None, None, None)),
        ([], (None, None, None)),
    ],
)
def test_a_published_study_is_explained_by_its_levels_where_it_has_them(curve, monkeypatch, texts, chosen):
    monkeypatch.setattr("scalograph.study.catalogue.explained_levels", lambda name: texts)
    options = choose_published(curve, ExplainOptions())
    assert (options.along, options.levels, options.where or chosen[2]) == chosen
    assert choose_published(curve, ExplainOptions(levels="1,2")).along is None


def test_wake_ups_are_asked_for_only_where_they_are_granted(tmp_path):
    with_, without = (record_command(tmp_path / "f", Rates(7, 99), wakes) for wakes in (True, False))
    assert sum("sched_waking" in word for word in with_) == 1
    assert not any("sched_waking" in word for word in without)
    assert "context-switches/period=7/" in without


def test_a_cause_without_a_function_is_only_its_kind():
    assert (
        cause_text(LossPart(kind="ready", share=Share(value=1.0), before_s=0, after_s=1))
        == "ready, but behind others on a CPU"
    )


def test_stacks_of_both_levels_are_exported_for_speedscope(tmp_path):
    lock = LossCause("lock", (Frame("insert", "prog"), Frame("main", "prog")), service="db")
    work = LossCause("user", (Frame("spin", "prog"), Frame("main", "prog")))
    levels = (
        LevelRuns(n, [CpuBudget(1.0, 1.0, parts), CpuBudget(1.0, 1.0, {})], [2.0, 1.0])
        for n, parts in ((1, {work: 4.0}), (2, {work: 2.0, lock: 8.0}))
    )
    stacks = compare_stacks(*levels)
    assert [(stack.frames, stack.before_s, stack.after_s) for stack in stacks] == [
        (("main", "insert"), 0.0, 2.0), (("main", "spin"), 1.0, 0.5)
    ]  # fmt: skip
    design = {"configurations": [{"threads": n} for n in (1, 2)], "runs": [1, 1]}
    runs = [({"threads": n}, recorded()) for n in (1, 2)]
    write_journal(tmp_path / "journal.jsonl", runs, ONE_FACTOR, design=design)
    study_hash = load_findings(tmp_path).study.hash

    def export(**changes):
        (tmp_path / FILE).write_text(explanation(**{"study_hash": study_hash, **changes}).model_dump_json())
        return in_process("export", tmp_path, "--to", "x.speedscope.json", cwd=tmp_path)

    assert "2 stacks" in export(stacks=stacks).stdout
    written = json.loads((tmp_path / "x.speedscope.json").read_text())
    names = [frame["name"] for frame in written["shared"]["frames"]]
    shown = {}
    for each in written["profiles"]:
        stacks = [[names[index] for index in stack] for stack in each["samples"]]
        shown[each["name"]] = [*zip(stacks, each["weights"], strict=True)]
    waiting, working = ["waiting for a lock", "db", "main", "insert"], ["the program's own work", "main", "spin"]
    assert shown == {
        "more with 2 threads": [(waiting, 2.0)], "less with 2 threads": [(working, 0.5)],
        "1 thread": [(working, 1.0)], "2 threads": [(waiting, 2.0), (working, 0.5)],
    }  # fmt: skip
    assert [profile["endValue"] for profile in written["profiles"]] == [2.0, 0.5, 1.0, 2.5]
    assert export().returncode == 2 and "scalograph explain" in export().stderr
    assert export(study_hash="other").returncode == 6
