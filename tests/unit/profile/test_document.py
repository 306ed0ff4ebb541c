"""The document beside a journal: its tables after those of the study, and nothing of it where it is none."""

from pathlib import Path

import pytest

from scalograph.findings.table import Table
from scalograph.profile.profile_tables import add_profile, profile_tables
from scalograph.profile.recorder import add_median_score
from scalograph.profile.values import FILE, MAX_BYTES, ClassWaits, Profile, ProfiledRun, RecordedTasks, Stack, Waits
from scalograph.protocol.findings import Findings
from scalograph.questions.assemble import findings
from scalograph.report.cells import table_layout
from tests.kit.findings import ONE_FACTOR, table_of
from tests.kit.records import recorded

PARKS = Waits(n=30, mean_s=0.002, on=(ClassWaits(on="java.util.concurrent.ForkJoinPool", n=30, mean_s=0.002),))
STACKS = (Stack(frames=("a.b.C.d", "a.E.f", "G.h", "I.j"), n=150, share=0.75),)
CLAIM = """
[[published.claims]]
id = "S-1"
sentence = "Most samples are in d, called by f."
kind = "profile"
where = { threads = 2 }
stack = ["a.b.C.d", "a.E.f"]
holds = [0.5, 1]
"""
SEEN = RecordedTasks(n_samples=200, stacks=STACKS, parks=PARKS)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return table_of(tmp_path, [({"threads": n}, recorded()) for n in (1, 2)], ONE_FACTOR + CLAIM)


@pytest.fixture
def study(table: Table, tmp_path: Path) -> Findings:
    return findings(table, tmp_path)


def profile(study_hash: str) -> Profile:
    ran = ProfiledRun(
        configuration={"threads": 2}, n_tasks=10, n_iterations=12, seen=SEEN, switches=24, preemptions=6, score=3.0,
        measured=2.0,
    )  # fmt: skip
    lacking = ProfiledRun(configuration={"threads": 1}, reason="the JVM 8 is release 8")
    return Profile(study="small", study_hash=study_hash, at="", period_s=0.01, profiled=(lacking, ran))


def test_tables_tell_stacks_parks_and_switches() -> None:
    stacks, methods, waits = map(table_layout, profile_tables(profile("0" * 64)))
    lacking, ran = ([str(cell) for cell in row] for row in stacks.rows)
    assert lacking[0] == "1" and lacking[-1] == "not profiled: the JVM 8 is release 8"
    assert ran[:4] == ["2", "200", "75", "C.d < E.f < G.h"] and ran[4].strip() == "1.5"
    assert methods.rows == []
    told = {str(heading): str(cell) for heading, cell in zip(waits.headings, waits.rows[0], strict=True)}
    assert told == {
        "threads": "2", "parks a task": "3", "mean park (ms)": "2", "parked for, a task": "ForkJoinPool 3",
        "switches an iteration": "2", "preemptions an iteration": "0.5",
    }  # fmt: skip


def test_a_valid_profile_comes_after_the_tables_of_its_study(study: Findings, table: Table, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(profile(study.study.hash).model_dump_json())
    found = add_profile(study, tmp_path, table)
    assert [table.id for table in found.tables[len(study.tables) :]] == ["profile", "profile-methods", "profile-waits"]
    assert found.warnings == study.warnings and found.answer == study.answer
    assert add_profile(study, None, table) == study


NO_NUMBER = ('"share":0.75', '"share":75')


@pytest.mark.parametrize(("content", "said"), [
    *((content, "expected") for content in ("", "[]", '{"protocol": 3}', "x" * (MAX_BYTES + 1), "\0")),
    ("another study", "expected"), ("a share of 75", "share"),
], ids=range(7))  # fmt: skip
def test_what_is_no_profile_of_it(study: Findings, table: Table, tmp_path: Path, content: str, said: str) -> None:
    whole = profile(study.study.hash).model_dump_json()
    assert '"share":0.75' in whole
    made = {"another study": profile("1" * 64).model_dump_json(), "a share of 75": whole.replace(*NO_NUMBER)}
    (tmp_path / FILE).write_text(made.get(content, content))
    found = add_profile(study, tmp_path, table)
    assert found.tables == study.tables
    (warning,) = found.warnings[len(study.warnings) :]
    assert warning.startswith(FILE) and said in warning


def claim_of(profile: Profile, table: Table, found: Findings, folder: Path) -> tuple[str, str]:
    (folder / FILE).write_text(profile.model_dump_json())
    (claim,) = add_profile(found, folder, table).published_claims
    assert claim.quantity == "share of the samples in C.d < E.f"
    return claim.decision, claim.why


def of(seen: RecordedTasks | None, threads: int = 2) -> ProfiledRun:
    return ProfiledRun(configuration={"threads": threads}, seen=seen, reason="" if seen else "the JVM 8 is release 8")


def sampled(n: int, n_others: int = 0) -> RecordedTasks:
    """So many of 200 samples of the stack that the claim names, below another method; others; the rest is not kept."""
    named = Stack(frames=("a.b.C.d", "a.E.f", "Z.z"), n=n, share=n / 200)
    other = Stack(frames=("a.E.f", "a.b.C.d"), n=n_others, share=n_others / 200)
    return RecordedTasks(n_samples=200, stacks=(named, other) if n_others else (named,))


@pytest.mark.parametrize(("seen", "decision"), [
    (sampled(150), "holds"),
    (sampled(110), "inconclusive"),
    (sampled(10), "inconclusive"),  # the others may be of this stack, too
    (sampled(10, 190), "does not hold"),
    (RecordedTasks(), "not measured"),
    (None, "not measured"),
])  # fmt: skip
def test_a_claim_about_a_stack_is_decided_by_its_share_of_the_samples(
    seen: RecordedTasks | None, decision: str, study: Findings, table: Table, tmp_path: Path
) -> None:
    made = profile(study.study.hash).model_copy(update={"profiled": (of(seen),)})
    assert claim_of(made, table, study, tmp_path)[0] == decision


def test_without_its_profile_a_claim_says_how_to_take_one(study: Findings, table: Table, tmp_path: Path) -> None:
    (claim,) = study.published_claims
    assert (claim.decision, claim.why) == ("not measured", "no profile of it: take one with `scalograph profile`")
    made = profile(study.study.hash).model_copy(update={"profiled": (of(sampled(150), threads=1),)})
    assert claim_of(made, table, study, tmp_path) == ("not measured", "the profile has no 2 threads")


def test_a_recorded_run_stands_beside_measured_times_also_where_some_cannot_be_corrected(tmp_path: Path) -> None:
    others = [{"pid": 7, "name": "hog", "taken_ns": 10**9}]
    corrected = recorded(
        1.5, 1.0, cpus=(0, 1), neighbor_s=0.5, per_cpu_s=(1.0, 0.0), n_tasks=1, wait_ns=500_000_000,
        cpu_source="cgroup", wait_scope="preemption", neighbors=others,
    )  # fmt: skip
    unknown = recorded(2.0, 1.0, neighbor_s=None, wait_ns=None, neighbors=None)
    read = table_of(tmp_path, [({"threads": 1}, corrected), ({"threads": 2}, unknown)], ONE_FACTOR)
    assert read.correction and "undisturbed" not in read.rows[1].scores
    beside = [add_median_score(ProfiledRun(configuration={"threads": n}), read).measured for n in (1, 2)]
    assert beside == [1.5, 2.0]
