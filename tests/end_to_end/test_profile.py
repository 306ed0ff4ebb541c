"""`scalograph profile`: runs apart, with a recorder, of the study that the journal tells of and of no other."""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from scalograph.cli import explaining
from scalograph.control.capacity import find_quota_refusal
from scalograph.errors import HostError
from scalograph.profile import explain_recorder
from scalograph.profile.perf_runs import refuse_unable
from scalograph.profile.recording import why_unrecordable
from scalograph.profile.recording_site import RecordingSite
from scalograph.system.platform_facts import find_jvms
from tests.kit.command import LONG_S, in_process, machine, scalograph
from tests.kit.findings import ONE_FACTOR, write_journal
from tests.kit.records import recorded
from tests.kit.results import complete, findings_in
from tests.kit.studies import a_study, write_study
from tests.kit.workloads import QUICK as QUICK_JVM

QUICK = " ".join(QUICK_JVM)

POOL = {"version": "pool", "n": 3000, "q": 60, "prerun": 10}


def a_pool(**parameters: object) -> str:
    return a_study(
        {"p": [1, 4, 8], "jvm": {"control": "jvm-options", "levels": [QUICK]}}, baseline={"p": 1},
        workload={"use": "fork-join", "parameters": {**POOL, **parameters}},
        protocol={"runs": 1, "iterations": 40, "think": "1ms", "max_reruns": 0},
    )  # fmt: skip


PROGRAM = """
#include <stdlib.h>
__attribute__((noinline)) void inner(long n) { for (volatile long i = 0; i < 9 * n; i++); }
__attribute__((noinline)) void outer(long n) { inner(n); for (volatile long i = 0; i < n; i++); }
int main(int argc, char **argv) { for (int i = 0; i < 100; i++) outer(atol(argv[1]) * 1000); return 0; }
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a study that has ended; skips where its JVM cannot be recorded."""
    jvms = find_jvms()
    why = "no JVM was found" if not jvms else why_unrecordable(jvms[0])
    if why or not any(jvm.javac for jvm in jvms):
        pytest.skip(f"needs a JDK: {why or 'no javac was found'}")
    folder = tmp_path_factory.mktemp("profiled")
    complete("run", write_study(folder, a_pool()), "-o", "results", cwd=folder)
    return folder / "results"


def test_workers_park_and_the_journal_stays(results: Path, tmp_path: Path) -> None:
    journal = (results / "journal.jsonl").read_bytes()
    (tmp_path / "scratch").mkdir()
    env = {"TMPDIR": str(tmp_path / "scratch")}
    done = complete("profile", results, "--period", "1ms", "--iterations", 300, cwd=results.parent, env=env, codes=(0,))
    assert "predominant" in done.stdout and "parks" in done.stdout
    assert (results / "journal.jsonl").read_bytes() == journal
    assert [*(tmp_path / "scratch").iterdir()] == []
    found = json.loads((results / "profile.json").read_text())["profiled"]
    assert [one["configuration"] for one in found] == [{"p": p, "jvm": QUICK} for p in (1, 4, 8)]
    for one in found:
        seen = one["seen"]
        assert one["n_tasks"] == 300 and one["measured"] > 0 and one["switches"] > 0
        assert seen["n_lost"] == 0 and seen["n_samples"] > 0 and seen["stacks"][0]["frames"]
        parked = {part["on"]: part["n"] for part in seen["parks"]["on"]}
        assert parked[""] > 0  # the client pauses before each task
        assert parked["java.util.concurrent.ForkJoinPool"] > 0
    complete("analyze", results, cwd=results.parent, codes=(0,))
    ids = [table["id"] for table in findings_in(results)["tables"]]
    assert {"profile", "profile-waits"} <= set(ids)


def test_only_what_was_asked_for_in_as_many_iterations_as_the_study_has(results: Path) -> None:
    only = ("--where", "p=8", "--where", "p=1")
    done = complete("profile", results, "--json", *only, cwd=results.parent, codes=(0,))
    found = json.loads(done.stdout)["profiled"]
    assert [(one["configuration"]["p"], one["n_tasks"]) for one in found] == [(1, 40), (8, 40)]


def test_another_study_is_refused_by_what_differs(results: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(results, tmp_path / "copy")
    (copy / "profile.json").unlink(missing_ok=True)
    write_study(copy, a_pool(q=61))
    done = complete("profile", copy, cwd=tmp_path, codes=(2,))
    assert "another study" in done.stderr and "parameters.q" in done.stderr
    assert not (copy / "profile.json").exists()


def native(folder: Path, copies: int = 1) -> Path:
    once = {"runs": 1, "max_reruns": 0}
    write_study(folder, a_study({"n": [100]}, command="{here}/prog {n}", workload={"copies": copies}, protocol=once))
    (folder / "prog.c").write_text(PROGRAM)
    flags = ("-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls")
    subprocess.run(["cc", *flags, "-o", folder / "prog", folder / "prog.c"], check=True)
    complete("run", "study.toml", "-o", "results", cwd=folder)
    return folder / "results"


@pytest.mark.skipif(not shutil.which("perf"), reason="perf is missing: apt-get install linux-perf")
@pytest.mark.parametrize("copies", [1, 2])
def test_programs_without_java_are_sampled_by_perf(copies: int, tmp_path: Path) -> None:
    """Nine tenths of their work are in `inner`, which `outer` calls; two copies are recorded with the machine."""
    try:
        refuse_unable(RecordingSite(tmp_path), is_wide=copies > 1)
    except HostError as error:
        pytest.skip(str(error))
    results = native(tmp_path, copies)
    options = ("--period", "4ms", "--study", "study.toml", "--wait-lock", "5m")
    complete("profile", results, *options, cwd=tmp_path, codes=(0,))
    profile = json.loads((results / "profile.json").read_text())
    (seen,) = (run["seen"] for run in profile["profiled"])
    assert profile["recorder"] == "perf" and seen["stacks"][0]["frames"][:3] == ["inner", "outer", "main"]
    assert seen["n_samples"] > 0 and 0 < seen["stacks"][0]["share"] <= 1


def test_results_without_a_journal_are_refused(tmp_path: Path) -> None:
    done = in_process("profile", tmp_path, cwd=tmp_path)
    error, hint = done.stderr.splitlines()
    assert done.returncode == 6 and "journal.jsonl: no such file" in error and hint == "hint: run the study first"


SLEEPER = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) void nap_locked(void)
{
    pthread_mutex_lock(&lock);
    usleep(5000);
    pthread_mutex_unlock(&lock);
}
static void *work(void *n)
{
    for (long i = (long)n; i > 0; i--)
        nap_locked();
    return NULL;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    pthread_t threads[8];
    for (int i = 0; i < n; i++)
        pthread_create(threads + i, NULL, work, (void *)(24L / n));
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"""


@pytest.mark.skipif(not shutil.which("perf"), reason="perf is missing: apt-get install linux-perf")
def test_a_lock_that_is_held_asleep_is_named_with_its_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No CPU is used: what else runs on this machine changes nothing. One recording of each level shows it."""
    explain = explaining.keep_explanation
    monkeypatch.setattr(
        explaining,
        "keep_explanation",
        lambda folder, options, *more: explain(folder, replace(options, recordings=1), *more),
    )
    monkeypatch.setattr(explain_recorder, "PAIRS", 2)
    # Nothing of it is inlined, and perf looks for long.
    monkeypatch.setattr("scalograph.profile.perf_runs.read_inlined", lambda *_: None)
    try:
        refuse_unable(RecordingSite(tmp_path))
    except HostError as error:
        pytest.skip(str(error))
    (tmp_path / "prog.c").write_text(SLEEPER)
    subprocess.run(["cc", "-g", "-O1", "-pthread", "-o", "prog", "prog.c"], cwd=tmp_path, check=True)
    options = ("--threads", "1,2", "--runs", 1, "-o", "results", "--explain", "--json")
    done = complete("measure", *options, "--", "./prog", "{threads}", cwd=tmp_path)
    document = json.loads(done.stdout)["explanation"]
    parts = {part["kind"]: part for part in reversed(document["parts"])}  # the largest of each kind
    assert parts["lock"]["what"] == parts["sleep"]["what"] == "nap_locked"
    assert parts["lock"]["before_s"] == 0 < parts["lock"]["share"]["value"]
    whole = sum(part["share"]["value"] for part in document["parts"]) + document["unexplained"]["value"]
    assert whole == pytest.approx(1.0)
    again = ("--levels", "2,1", "--recordings", 1, "--what-if", "env NOTHING=1")
    done = complete("explain", "results", *again, cwd=tmp_path, codes=(0,))
    assert "with env NOTHING=1, speed is" in done.stdout
    written = json.loads((tmp_path / "results" / "explanation.json").read_text())
    assert (written["levels"], written["n_runs"], written["lost_cpus"]["low"]) == ([2, 1], [1, 1], None)
    done = complete("explain", "results", "--try", "quota", cwd=tmp_path, codes=(2,))
    assert "--try quota: no quota holds" in done.stderr
    complete("analyze", "results", cwd=tmp_path)
    assert "explanation" in [table["id"] for table in findings_in(tmp_path / "results")["tables"]]


@machine
@pytest.mark.skipif(not shutil.which("perf"), reason="perf is missing: apt-get install linux-perf")
def test_a_quota_of_the_study_is_lifted_in_pairs(tmp_path: Path) -> None:
    """The planted program without a cause, under a quota: only that it answers and sums, whatever else runs here."""
    try:
        refuse_unable(RecordingSite(tmp_path))
    except HostError as error:
        pytest.skip(str(error))
    if refused := find_quota_refusal():
        pytest.skip(refused.why)
    factors = {"threads": [1, 2], "quota": {"control": "quota", "levels": [0.2]}}
    use = {"use": "planted", "parameters": {"cause": "scales", "units": 100}}
    write_study(tmp_path, a_study(factors, workload=use, protocol={"runs": 1, "max_reruns": 0}))
    lock = ("--wait-lock", "5min")
    scalograph("run", "study.toml", "-o", "results", *lock, cwd=tmp_path, timeout=LONG_S)
    options = ("--levels", "1,2", "--recordings", 1, "--try", "quota", "--json")
    done = scalograph("explain", "results", *options, *lock, cwd=tmp_path, timeout=LONG_S)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    whole = sum(part["share"]["value"] for part in document["parts"]) + document["unexplained"]["value"]
    assert whole == pytest.approx(1.0)
    (trial,) = document["trials"]
    assert (trial["name"], trial["n_pairs"]) == ("quota", 6)
    assert trial["speed"]["value"] > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--", "true"), "true: no results, and no levels"),
        (("--threads", "1,2", "--try", "turbo", "--", "true"), "--try turbo"),
        (("{results}", "--levels", "1,3"), "--levels: 1,3"),
        (("{results}", "--levels", "1,1"), "--levels: 1,1"),
        (("{results}", "--levels", "2"), "--levels 2"),
        (("{results}", "--along", "jobs"), "--along"),
        (("{results}", "--where", "threads=9"), "--where threads=9"),
        (("{results}", "--try", "turbo"), "--try turbo"),
        (("{results}", "--what-if", "no-such-program"), "--what-if no-such-program"),
    ],
)
def test_what_cannot_be_explained_is_refused_before_anything_runs(
    arguments: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    runs = [({"threads": n}, recorded()) for n in (1, 2)]
    (tmp_path / "results").mkdir()
    design = {"configurations": [{"threads": n} for n in (1, 2)], "runs": [1, 1]}
    write_journal(tmp_path / "results" / "journal.jsonl", runs, ONE_FACTOR, design=design)
    given = [text.format(results="results") for text in arguments]
    done = complete("explain", *given, cwd=tmp_path, codes=(2,))
    assert words in done.stderr
    assert [file.name for file in (tmp_path / "results").iterdir()] == ["journal.jsonl"]
