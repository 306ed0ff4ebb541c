"""Blocks as jobs: what is submitted, what comes back, and what is said and left behind when something goes wrong."""

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from scalograph.errors import HostError
from scalograph.protocol.record import Record, RunFigures, make_failed_record
from scalograph.protocol.record_processes import TASKS, JobStep
from scalograph.run.hosts.host_names import is_elsewhere, open_host
from scalograph.run.hosts.local.probe import find_probe
from scalograph.run.hosts.local.probe_process import ProbeAnswer
from scalograph.run.hosts.slurm import job_queue, slurm_host
from scalograph.run.hosts.slurm.slurm_host import SlurmHost
from scalograph.run.interrupts import Interrupts
from scalograph.run.plan import Plan, plan
from scalograph.run.runner import Runner
from scalograph.study.declare import declare
from scalograph.study.levels import Run
from scalograph.verdict.judge import judge
from tests.kit.processes import wait_until
from tests.kit.refusals import refuses
from tests.kit.studies import a_study, write_study
from tests.unit.run.hosts.slurm.fake_slurm import calls, hasten, stand_in

pytestmark = pytest.mark.skipif(bool(find_probe().warning), reason="no native probe")
NODES = {"levels": [1, 2], "control": "cluster:nodes"}


class Cluster:
    """A host on the stand-in, with what it told and the state of the queue."""

    def __init__(self, folder: Path, state: Path) -> None:
        self.folder, self.state, self.told = folder, state, list[str]()

    def ready(self, host: SlurmHost, *argv: str, **tables: Any) -> Plan:
        factors = tables.pop("factors", {"nodes": NODES})
        text = a_study(factors, workload={"command": [*argv]}, protocol={"timeout": "20s", "runs": 2}, **tables)
        planned = host.ready(plan(declare(write_study(self.folder / "study", text)), host.facts()), self.told.append)
        (self.folder / "results").mkdir(exist_ok=True)
        host.keep_in(self.folder / "results")
        return planned

    def measure(self, host: SlurmHost, planned: Plan, n: int | None = None) -> list[Record]:
        runner = Runner(planned, host)
        return [runner.measure(run) for run in [*planned.runs.planned_runs()][:n]]

    def active(self) -> list[str]:
        return [job.name for job in (self.state / "jobs").iterdir() if not (job / "state").exists()]

    def put(self, name: str, text: str) -> None:
        (self.state / name).write_text(text)


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    hasten(monkeypatch)
    cluster = Cluster(tmp_path, stand_in(tmp_path, monkeypatch))
    yield cluster
    wait_until(lambda: not cluster.active())


@pytest.fixture
def host(cluster: Cluster) -> Iterator[SlurmHost]:
    with open_host("slurm") as opened:
        assert isinstance(opened, SlurmHost)
        yield opened


def test_a_block_is_one_job_whose_runs_start_on_the_nodes_they_ask_for(cluster: Cluster, host: SlurmHost) -> None:
    planned = cluster.ready(host, "sh", "-c", "echo $SLURM_JOB_ID >&2")
    records = cluster.measure(host, planned)
    assert [record.run.status for record in records] == ["ok"] * 4, records[0].run.reason
    assert [record.job.job for record in records if record.job] == ["101", "101", "102", "102"]
    nodes = {len(record.job.nodes) for record in records if record.job}
    assert nodes == {1, 2} and all(record.run.wall_ns for record in records)
    for record in records:  # this srun starts one task, whatever it is asked for
        assert record.job and [task.rank for task in record.job.tasks] == [0]
        lacking = [entry.why for entry in record.run.degraded if entry.what == TASKS]
        assert lacking == (["1 of 2 tasks were not watched"] if len(record.job.nodes) == 2 else [])
        assert (record.run.cpu_ns is None) == bool(lacking)
    submitted = calls(cluster.state, "sbatch")
    assert len(submitted) == 2 and all("--exclusive --no-requeue" in call for call in submitted)
    assert all("--nodes=2 " in call for call in submitted)
    assert {record.copies[0].stderr_tail for record in records[:2]} == {"101\n"}
    assert "2 jobs (2 of 2 nodes)" in cluster.told[-1]


def test_sizes_that_would_let_many_nodes_idle_get_jobs_of_their_own(cluster: Cluster, host: SlurmHost) -> None:
    planned = cluster.ready(host, "true", factors={"nodes": {"levels": [1, 2, 4], "control": "cluster:nodes"}})
    assert {record.run.status for record in cluster.measure(host, planned)} == {"ok"}
    asked = sorted(call.partition("--nodes=")[2].split()[0] for call in calls(cluster.state, "sbatch"))
    assert asked == ["2", "2", "4", "4"]


def test_nodes_that_are_one_machine_are_told(cluster: Cluster, host: SlurmHost) -> None:
    (record, *_) = cluster.measure(host, cluster.ready(host, "true"), 1)
    assert record.job and (record.job.n_nodes, record.job.n_machines) == (2, None), "one reference of two came"
    for boots, cause in ((("a", "a"), "one machine"), (("a", "b"), "nodes")):
        (folder,) = (cluster.folder / "results" / "slurm").glob("job-*")
        for node, boot in zip(("n1", "n2"), boots, strict=True):
            (folder / f"{node}.reference").write_text(f"{boot}\n900\n100\n300\n")
        (folder / "r0001.nodes").write_text("n1\nn2\n")
        step = slurm_host.JobFolder(folder).step("r0001")
        judgment = judge(slurm_host.keep_watched_part(record, step))
        assert (judgment.verdict, judgment.causes[0].cause) == ("unverified", cause)
        assert step.reference_ns == [200, 200]


def task(status: str = "ok", reason: str | None = None, cpu_ns: int = 0) -> ProbeAnswer:
    events = [
        {"event": "header", "run": "task", "protocol": 1, "probe": "1", "kind": "native", "containment": "best effort",
         "backend": "plain", "degraded": []},
        {"event": "run", "run": "task", "status": status, "reason": reason, "wall_ns": 9, "cpu_ns": cpu_ns,
         "user_ns": cpu_ns, "system_ns": 0, "cpu_source": "rusage", "neighbor_ns": 5, "degraded": []},
    ]  # fmt: skip
    return ProbeAnswer(0, b"".join(json.dumps(event).encode() + b"\n" for event in events), "")


def of_step(status: str = "ok", reason: str | None = None) -> Record:
    job = JobStep(engine="slurm", job="7", nodes=["n1", "n2"], n_nodes=2, n_machines=2)
    return replace(make_failed_record(""), job=job, run=RunFigures(status, reason, wall_ns=20))


def test_what_the_tasks_of_all_nodes_used_is_that_of_the_run() -> None:
    answers = [(0, "n1", task(cpu_ns=100)), (1, "n2", task(cpu_ns=300))]
    record = slurm_host.join_tasks(of_step(), answers, 2)
    assert (record.run.cpu_ns, record.run.user_ns, record.run.wall_ns) == (400, 400, 20)
    assert record.run.neighbor_ns is None, "tasks of one node take each other's CPUs"
    assert record.job and [(each.rank, each.node, each.cpu_ns) for each in record.job.tasks] == [
        (0, "n1", 100), (1, "n2", 300)
    ]  # fmt: skip
    assert record.job.load_balance == 200 / 300
    assert "its tasks were watched" in judge(record).causes[0].text


def test_a_task_that_was_not_watched_leaves_the_run_unverified_with_the_reason() -> None:
    for broken in ([], [(1, "n2", ProbeAnswer(0, b"{", ""))]):
        record = slurm_host.join_tasks(of_step(), [(0, "n1", task(cpu_ns=100)), *broken], 2)
        judgment = judge(record)
        assert record.run.cpu_ns is None and judgment.verdict == "unverified"
        assert judgment.causes[0].text == "1 of 2 tasks were not watched"


def test_a_failed_run_names_the_task_that_failed_by_itself() -> None:
    answers = [(0, "n1", task("interrupted", "SIGTERM")), (1, "n2", task("signal", "copy 0 was killed by signal 9"))]
    record = slurm_host.join_tasks(of_step("failed", "copy 0 exited with 143"), answers, 2)
    assert record.run.reason == "copy 0 exited with 143; task 1 on n2 was killed by signal 9"


@pytest.mark.parametrize(("lost", "reason"), [
    ("NODE_FAIL", "a node failed"), ("PREEMPTED", "another job took its place (preempted)"),
    ("TIMEOUT TimeLimit", "its time limit was over: TimeL"), ("FAILED NonZeroExitCode", "it failed: NonZeroExitCode"),
    ("OUT_OF_MEMORY OutOfMemory", "its memory was used up (out of memory)"),
])  # fmt: skip
def test_runs_of_a_job_that_was_lost_go_into_another_one(
    cluster: Cluster, host: SlurmHost, lost: str, reason: str
) -> None:
    planned = cluster.ready(host, "true")
    cluster.put("lost", f"{lost}\n")
    records = cluster.measure(host, planned, 2)
    assert [record.run.status for record in records] == ["ok"] * 2
    assert [record.job and record.job.lost for record in records] == [[cluster.told[-1]], []]
    assert len(calls(cluster.state, "sbatch")) == 2 and f"job 101 ended before its runs: {reason}" in cluster.told[-1]


def test_a_run_that_loses_job_after_job_fails_with_the_reason(cluster: Cluster, host: SlurmHost) -> None:
    planned = cluster.ready(host, "true")
    cluster.put("lost", "NODE_FAIL\n" * slurm_host.MAX_LOST)
    first, second = cluster.measure(host, planned, 2)
    assert first.run.status == "failed" and "a node failed" in (first.run.reason or "")
    assert second.run.status == "ok" and second.job is not None


def test_a_job_that_others_cancel_ends_the_session_and_is_resumed(cluster: Cluster, host: SlurmHost) -> None:
    planned = cluster.ready(host, "true")
    cluster.put("lost", "CANCELLED\n")
    refuses(HostError, "job 101 ended before its runs: it was cancelled", cluster.measure, host, planned)
    with open_host("slurm") as again:
        assert isinstance(again, SlurmHost)
        records = cluster.measure(again, cluster.ready(again, "true"), 2)
    assert [record.job.job for record in records if record.job] == ["102", "102"]


def test_a_controller_that_was_away_may_have_cancelled_a_job_itself(cluster: Cluster, host: SlurmHost) -> None:
    planned = cluster.ready(host, "true")
    cluster.put("lost", "CANCELLED\n")
    cluster.put("unanswered", "")  # sbatch, and then the controller is away
    records = cluster.measure(host, planned, 2)
    assert [record.job.job for record in records if record.job] == ["102", "102"]
    assert any("it was cancelled, after the controller had been away" in text for text in cluster.told)


def test_a_refused_job_is_told_in_the_queues_own_words(cluster: Cluster, host: SlurmHost) -> None:
    planned = cluster.ready(host, "true")
    cluster.put("refused", "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (limit)\n")
    refuses(HostError, r"Job violates accounting/QOS policy \(limit\)", cluster.measure, host, planned)


def test_a_controller_that_is_away_is_asked_again_and_no_job_is_there_twice(cluster: Cluster, host: SlurmHost) -> None:
    planned = cluster.ready(host, "true")
    cluster.put("away", "2")
    cluster.put("unanswered", "")
    assert {record.run.status for record in cluster.measure(host, planned, 2)} == {"ok"}
    assert len([*(cluster.state / "jobs").iterdir()]) == 1
    assert "Unable to contact slurm controller" in "\n".join(cluster.told)


def test_a_controller_that_stays_away_ends_the_session(
    cluster: Cluster, host: SlurmHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = cluster.ready(host, "true")
    monkeypatch.setattr(job_queue, "AWAY_S", 0.1)
    cluster.put("away", "1000")
    refuses(HostError, "Unable to contact slurm controller", cluster.measure, host, planned)
    cluster.put("away", "0")


def interrupted(cluster: Cluster, host: SlurmHost, number: int) -> Record:
    """Return the record of a run during which a signal comes, once its job runs."""
    planned = cluster.ready(host, "sleep", "20", factors={"nodes": {"levels": [1, 2], "control": "cluster:nodes"}})

    def look(job: str, state: Callable[[str], Any] = host._engine.state) -> Any:
        host._engine.state = state  # type: ignore[method-assign]
        signal.raise_signal(number)
        return state(job)

    host._engine.state = look  # type: ignore[method-assign]
    with Interrupts():
        (record,) = cluster.measure(host, planned, 1)
    return record


def test_ctrl_c_cancels_all_jobs_of_ours(cluster: Cluster) -> None:
    with open_host("slurm") as host:
        assert isinstance(host, SlurmHost)
        assert interrupted(cluster, host, signal.SIGINT).run.status == "interrupted"
    assert calls(cluster.state, "scancel") == ["--quiet 101"] and cluster.active() == []


def test_after_a_closed_terminal_jobs_go_on_and_a_later_session_takes_them_over(cluster: Cluster) -> None:
    with open_host("slurm") as host:
        assert isinstance(host, SlurmHost)
        assert interrupted(cluster, host, signal.SIGTERM).run.status == "interrupted"
    assert cluster.active() == ["101"] and "job 101 goes on: --resume awaits its runs" in cluster.told[-1]
    with open_host("slurm") as later:
        assert isinstance(later, SlurmHost)
        planned = cluster.ready(later, "sleep", "20")
        assert "job 101 of an earlier session is running" in cluster.told[-1]
        assert all(later._queue.job_of(run.run) for run in planned.runs.planned_runs() if run.block == 0)
    assert cluster.active() == [], "the later session did not await it"


def test_answers_of_a_job_that_ended_meanwhile_are_collected(cluster: Cluster, host: SlurmHost) -> None:
    planned = cluster.ready(host, "true")
    first = cluster.measure(host, planned, 2)
    with open_host("slurm") as later:
        assert isinstance(later, SlurmHost)
        again = cluster.measure(later, cluster.ready(later, "true"), 2)
        assert again == first
        cluster.measure(later, cluster.ready(later, "true", "other"), 1)  # of another program nothing is taken
    assert len(calls(cluster.state, "sbatch")) == 2


@pytest.mark.parametrize(("factors", "problem"), [
    ({"nodes": {"levels": [5], "control": "cluster:nodes"}}, "1 to 4, as the partition has"),
    ({"n": {"levels": [3], "control": "cluster:tasks-per-node"},
      "c": {"levels": [2], "control": "cluster:cpus-per-task"}}, "3 tasks of 2 CPUs on a node"),
    ({"p": {"levels": ["tri"], "control": "cluster:partition"}}, 'no partition "tri"'),
    ({"l": {"levels": ["rsh"], "control": "cluster:launcher"}}, "srun, srun:PLUGIN, mpirun, or none"),
    ({"n": {"levels": [1], "control": "cpus"}}, "not done over slurm"),
])  # fmt: skip
def test_what_the_cluster_does_not_have_is_refused_before_any_job(
    cluster: Cluster, host: SlurmHost, factors: Any, problem: str
) -> None:
    refuses(Exception, problem, cluster.ready, host, "true", factors=factors)
    assert not (cluster.folder / "results").exists()


def test_its_name_may_have_a_partition(cluster: Cluster) -> None:
    assert is_elsewhere("slurm") and is_elsewhere("slurm:big")
    with open_host("slurm:big") as host:
        facts = host.facts()
    assert facts.cluster and (facts.cluster.n_nodes, facts.n_cpus, facts.cluster.limit_s) == (64, 8, None)
    with open_host("slurm:bog") as host:
        refuses(HostError, 'no partition "bog"', host.facts)


def test_runs_beyond_the_plan_get_a_job_of_their_own(cluster: Cluster, host: SlurmHost) -> None:
    planned = cluster.ready(host, "true")
    record = Runner(planned, host).measure(Run("r0001r1", 0, {"nodes": 2}, 0))
    assert record.run.status == "ok" and len(calls(cluster.state, "sbatch")) == 1


def test_inside_an_allocation_nothing_is_submitted(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"ID": "77", "NODELIST": "n1,n2", "NUM_NODES": "2", "PARTITION": "try"}.items():
        monkeypatch.setenv(f"SLURM_JOB_{name}", value)
    with open_host("slurm") as host:
        assert isinstance(host, SlurmHost)
        records = cluster.measure(host, cluster.ready(host, "true"))
        assert [(record.run.status, record.job and record.job.n_nodes) for record in records] == [("ok", 2)] * 4
        refuses(Exception, "1 to 2, as the partition has", cluster.ready, host, "true", factors={
            "nodes": {"levels": [4], "control": "cluster:nodes"}
        })  # fmt: skip
        assert interrupted(cluster, host, signal.SIGINT).run.status == "interrupted"
    assert not (cluster.state / "jobs").exists() or not [*(cluster.state / "jobs").iterdir()]
    refuses(HostError, "slurm:big inside an allocation", open_host("slurm:big").__enter__)


def test_a_slow_node_is_named_once(cluster: Cluster, host: SlurmHost) -> None:
    planned = cluster.ready(host, "true")
    cluster.measure(host, planned, 1)
    (folder,) = map(slurm_host.JobFolder, (cluster.folder / "results" / "slurm").glob("job-*"))
    for node, time in (("n1", 1000), ("n2", 1065), ("n3", 1001)):
        (folder.path / f"{node}.reference").write_text(f"boot-{node}\n5000\n{time}\n{time}\n{time}\n")
    for other in folder.path.glob("*.reference"):
        if other.stem not in ("n1", "n2", "n3"):
            other.unlink()
    assert [*folder.slow_nodes()] == ["n2"]
    host._examined.clear()
    for _ in range(2):
        host._name_slow_nodes(folder)
    assert cluster.told.count("node n2 is 6.4% slower than the median node, alone") == 1
    (folder.path / "n3.reference").write_text("boot-n1\n5000\n1001\n")
    assert folder.slow_nodes() == {}, "nodes of one machine"


def test_a_full_file_system_is_named(cluster: Cluster, host: SlurmHost, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = cluster.ready(host, "true")
    monkeypatch.setattr(slurm_host, "is_full", lambda folder: True)
    cluster.put("lost", "FAILED NonZeroExitCode\n")
    cluster.measure(host, planned, 1)
    assert "it failed: NonZeroExitCode; its file system is full" in cluster.told[-1]


@pytest.mark.parametrize("said", [
    "srun: error: Unable to confirm allocation for job 7: Job is pending execution",
    "srun: error: Node failure on n2", "srun: error: Task launch for StepId=7.1 failed on node n2: Socket timed out",
])  # fmt: skip
def test_a_run_that_the_cluster_failed_has_not_happened(cluster: Cluster, host: SlurmHost, said: str) -> None:
    mark = cluster.folder / "once"
    once = f"if [ ! -e {mark} ]; then touch {mark}; echo '{said}' >&2; exit 1; fi"
    (first, *_) = cluster.measure(host, cluster.ready(host, "sh", "-c", once), 1)
    assert first.run.status == "ok" and said.removeprefix("srun: error: ")[:20] in "".join(cluster.told)
    assert len(calls(cluster.state, "sbatch")) == 2
