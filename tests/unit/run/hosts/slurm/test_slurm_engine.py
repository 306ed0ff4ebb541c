"""What Slurm's commands are asked, and how their answers are read."""

from pathlib import Path

import pytest

from scalograph.design.resolve import assumed_host
from scalograph.errors import HostError
from scalograph.run.hosts.slurm import slurm_engine
from scalograph.run.hosts.slurm.engine import EngineAwayError, JobEnd, JobRequest, JobState, RefusedJobError
from scalograph.run.hosts.slurm.slurm_engine import SlurmEngine, parse_limit
from scalograph.run.plan import plan
from scalograph.study.declare import declare
from tests.kit.processes import write_program
from tests.kit.refusals import refuses
from tests.kit.studies import a_study, write_study
from tests.unit.run.hosts.slurm.fake_slurm import calls, stand_in


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return stand_in(tmp_path, monkeypatch)


def answer(state: Path, program: str, text: str) -> None:
    """Let a command print a text; one that begins with ! goes to stderr with an exit code."""
    to = ">&2; exit 1" if text.startswith("!") else ""
    (state / "answer").write_text(text.removeprefix("!"))
    write_program(state.parent / "slurm-programs" / program, f"cat {state}/answer {to}")


def request(folder: Path, **more: str) -> JobRequest:
    script = folder / "job.sh"
    return JobRequest(name="scalograph-1", script=script, arguments=("a",), folder=folder, nodes=3, limit_s=61, **more)


@pytest.mark.parametrize(("text", "expected"), [
    ("RUNNING|None\n", JobState("running", "running")),
    ("PENDING|QOSMaxJobsPerUserLimit\n", JobState("pending", "pending (QOSMaxJobsPerUserLimit)")),
    ("TIMEOUT|TimeLimit\n", JobState("ended", "timeout (TimeLimit)")), ("", None),
    ("!slurm_load_jobs error: Invalid job id specified\n", None),
])  # fmt: skip
def test_states(state: Path, text: str, expected: JobState | None) -> None:
    answer(state, "squeue", text)
    assert SlurmEngine().state("7") == expected


@pytest.mark.parametrize(("shown", "accounted", "expected"), [
    ("JobId=7 JobState=CANCELLED Reason=None X=1", "", JobEnd("it was cancelled", by_others=True)),
    ("JobId=7 JobState=NODE_FAIL Reason=NodeDown X=1", "", JobEnd("a node failed: NodeDown")),
    ("!slurm_load_jobs error: Invalid job id specified", "CANCELLED by 1000\n",
     JobEnd("it was cancelled: by 1000", by_others=True)),
    ("!slurm_load_jobs error: Invalid job id specified", "TIMEOUT\n", JobEnd("its time limit was over")),
    ("!slurm_load_jobs error: Invalid job id specified", "!Slurm accounting storage is disabled\n", None),
])  # fmt: skip
def test_ends(state: Path, tmp_path: Path, shown: str, accounted: str, expected: JobEnd | None) -> None:
    answer(state, "scontrol", shown)
    (state / "answer").rename(state / "shown")
    programs = tmp_path / "slurm-programs"
    program = (programs / "scontrol").read_text().replace("/answer", "/shown")
    write_program(programs / "scontrol", program)
    answer(state, "sacct", accounted)
    assert SlurmEngine().end("7") == expected


def test_a_job_is_exclusive_never_requeued_and_has_whole_minutes(state: Path, tmp_path: Path) -> None:
    answer(state, "scontrol", "LicenseName=machine Total=1 Used=0\n")
    (tmp_path / "job.sh").write_text("true")
    assert SlurmEngine("big").submit(request(tmp_path, constraint="a&b")) == "101"
    (call,) = calls(state, "sbatch")
    for word in ("--exclusive", "--no-requeue", "--nodes=3", "--time=2", "--partition=big", "--constraint=a&b",
                 "--licenses=machine:1"):  # fmt: skip
        assert word in call.split()


@pytest.mark.parametrize(("text", "error", "problem"), [
    ("!sbatch: error: Batch job submission failed: Requested node configuration is not available\n", RefusedJobError,
     "Batch job submission failed: Requested node configuration is not available"),
    ("!sbatch: error: Socket timed out on send/recv operation\n", EngineAwayError, "timed"),
    ("hello\n", RefusedJobError, "told 'hello'"),
])  # fmt: skip
def test_refusals(state: Path, tmp_path: Path, text: str, error: type[HostError], problem: str) -> None:
    answer(state, "sbatch", text)
    refuses(error, problem, SlurmEngine().submit, request(tmp_path))


def test_a_command_that_does_not_end_counts_as_away(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm_engine, "CALL_S", 0.05)
    write_program(state.parent / "slurm-programs" / "squeue", "exec sleep 5")
    refuses(EngineAwayError, "no answer within 0.05 s", SlurmEngine().state, "7")


def test_nodes_that_are_down_do_not_count(state: Path) -> None:
    facts = SlurmEngine("big").facts()
    assert facts.cluster and facts.cluster.n_nodes == 64 and facts.memory_bytes == 4096 << 20
    (state / "nodes").write_text("try*|try|4|4|1024|down*|1:00:00\n")
    refuses(HostError, "no node of try takes jobs", SlurmEngine().facts)
    (state / "nodes").write_text("garbage\n")
    refuses(HostError, "told 'garbage'", SlurmEngine().facts)


def test_without_slurm_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    refuses(HostError, "no sbatch, squeue, scontrol, scancel, sinfo, srun on PATH", SlurmEngine)


@pytest.mark.parametrize(("text", "seconds"), [
    ("30:00", 1800.0), ("1:00:00", 3600.0), ("2-0", 172_800.0), ("1-02:30", 95_400.0), ("UNLIMITED", None),
])  # fmt: skip
def test_time_limits(text: str, seconds: float | None) -> None:
    assert parse_limit(text) == seconds


def test_commands_without_a_cluster_lead_to_one_to_try(state: Path) -> None:
    answer(state, "sinfo", "!sinfo: fatal: Could not establish a configuration source\n")
    refuses(HostError, "Could not establish a configuration source(.|\n)*cluster.md", SlurmEngine().facts)


def test_a_plan_for_an_assumed_cluster_needs_no_slurm(tmp_path: Path) -> None:
    factors = {"nodes": {"levels": [1, 64], "control": "cluster:nodes"}}
    factors["p"] = {"levels": ["a", "b"], "control": "cluster:partition"}
    declared = declare(write_study(tmp_path, a_study(factors)))
    planned = plan(declared, assumed_host(declared.study, 2), starts=False)
    assert len(planned.design.configurations) == 4 and planned.facts.reached == "slurm"
