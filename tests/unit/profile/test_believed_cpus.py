"""What programs believe: by what each runtime says itself, and what is told of it."""

import re
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec import structs

from scalograph.cli.command_line_study.load_study import load_study
from scalograph.cli.sweep_options import LoadOptions
from scalograph.profile.believed_cpus import BeliefCheck, believed_note
from scalograph.protocol.record import CopyEvent, Record, Values
from scalograph.questions.asked import amount_levels
from scalograph.questions.size.model import AmountSearch
from scalograph.run.hosts.base import Host, Specification
from scalograph.run.runner import Runner
from scalograph.study.levels import Run
from scalograph.system.runtimes import RUNTIMES, ask_installed, find_runtime, interpreter_of
from tests.kit import records, simulated
from tests.kit.processes import write_program
from tests.kit.studies import a_study, plan_of

SAID = {
    "Java": "[0.01s][trace][os] active_processor_count: determined by OSContainer: {n}\n",
    "Python": "{n}\n", "Node": "{n}\n",
    "Go": "SCHED 0ms: gomaxprocs={n} idleprocs=1 threads=3 spinningthreads=0\n",
    "OpenMP": "  OMP_DYNAMIC = 'FALSE'\n  [host] OMP_NUM_THREADS = '{n}'\n", "Rayon": "",
}  # fmt: skip
PROGRAMS = {"Java": "/usr/bin/java", "Python": "python3.11", "Node": "node"}


@dataclass
class Machine:
    """A host on which a program sees so many CPUs, obeys its variable or not, and takes 1 s, or less with it."""

    name: str
    sees: int = 4
    obeys: bool = True
    faster: float = 1.25
    specs: list[Specification] = field(default_factory=list)

    def apply_settings(self, *_: object) -> Any:
        return nullcontext()

    def measure(self, spec: Specification) -> Record:
        self.specs.append(spec)
        launch, row = spec.launches[0], RUNTIMES[self.name]
        is_set = row.value.format(1) in launch.env.get(row.variable, "")
        n = 1 if is_set and self.obeys else self.sees
        record = records.record(wall_s=1 / self.faster if is_set else 1 + 0.001 * len(self.specs))
        copy = CopyEvent(copy_index=0, command=0, stdout=SAID[self.name].format(n=n), stderr_tail="")
        return structs.replace(record, copies=[copy]).replace_values(n_tasks=n + 1)


def note(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wall_s: float = 1.0, quota: float = 0.5
) -> str:
    monkeypatch.setattr("scalograph.profile.believed_cpus.find_runtime", lambda program, path: machine.name)
    text = a_study(
        {"q": {"control": "nice", "levels": [0]}}, command=f"{PROGRAMS.get(machine.name, './prog')} -Xmx1g x"
    )
    planned = plan_of(tmp_path, text)
    host = cast(Host, machine)
    runner = Runner(planned, host)
    runner.most_limited = (quota, Run("r", 0, {"q": 0}, 0), wall_s)
    return believed_note(planned, host, runner, str)


@pytest.mark.parametrize("name", RUNTIMES)
def test_each_runtime_is_asked_and_the_variable_is_measured_in_pairs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(name)
    told = note(machine, tmp_path, monkeypatch)
    row = RUNTIMES[name]
    assert told.startswith(
        f"{name} sees 4 CPUs under a quota of 0.5; with {row.variable}={row.value.format(1)}, speed is 1.2"
    )
    assert " [1.2" in told and told.endswith("(6 pairs of 1.01 s)")
    asks = 1 if name == "Node" else 2  # of a pool, its threads are counted with the variable and without
    assert len(machine.specs) == asks + 12
    is_set = [row.variable in spec.launches[0].env for spec in machine.specs[asks:]]
    assert is_set == 3 * [False, True, True, False]
    if name == "Java":
        assert machine.specs[0].launches[0].argv == ("/usr/bin/java", "-Xmx1g", "-Xlog:os=trace:stderr", "-version")


def test_a_variable_that_has_no_effect_is_said_to_have_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine("Python", obeys=False)
    told = note(machine, tmp_path, monkeypatch)
    assert told.endswith("quota of 0.5; PYTHON_CPU_COUNT=1 does not change that in this version")
    assert len(machine.specs) == 2


def test_who_believes_right_is_not_mentioned_and_long_runs_are_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert note(Machine("Go", sees=1), tmp_path, monkeypatch) == ""
    assert note(Machine("Go", sees=2), tmp_path, monkeypatch, quota=1.5) == ""
    told = note(machine := Machine("Go"), tmp_path, monkeypatch, wall_s=20.0)
    assert told.endswith("with GOMAXPROCS=1, speed was not measured: runs are too long") and len(machine.specs) == 2


def test_a_runtime_is_known_by_its_program_or_by_what_that_holds(tmp_path: Path) -> None:
    assert [find_runtime(name) for name in ("/opt/jdk/bin/java", "python3", "nodejs", "node", "sh")] == [
        "Java", "Python", "Node", "Node", ""
    ]  # fmt: skip
    for name, row in RUNTIMES.items():
        for mark in row.marks:
            file = tmp_path / "program"
            file.write_bytes(b"\x7fELF" + bytes(50) + mark + bytes(9))
            file.chmod(0o755)
            assert find_runtime(str(file)) == name
    (tmp_path / "program").write_bytes(b"#!/bin/sh\n libgomp.so")
    assert find_runtime(str(tmp_path / "program")) == "" == find_runtime(str(tmp_path / "none"))


def test_a_script_has_the_runtime_of_its_interpreter_and_what_is_installed_says_what_it_sees(tmp_path: Path) -> None:
    script = tmp_path / "app"
    for first, program in (
        ("/usr/bin/env -S A=1 python3 -u", "python3"),
        ("/usr/bin/python3.11", "/usr/bin/python3.11"),
    ):
        script.write_text(f"#!{first}\nimport os\n")
        script.chmod(0o755)
        assert interpreter_of(str(script)) == program and find_runtime(program) == "Python"
    assert interpreter_of("none", str(tmp_path)) == "none"
    write_program(tmp_path / "python3", "echo 7")
    write_program(tmp_path / "node", "exit 1")
    assert ask_installed({"PATH": f"{tmp_path}:/usr/bin:/bin"} | {"HOME": "/"})["Python"] == 7


SERVICE = LoadOptions(
    serve="./app {port}", get="http://127.0.0.1:{port}/", rate="50", limit=["p99<50ms"], quota="0.1:2", cpus="2"
)


@dataclass
class ServiceMachine(Machine):
    """A server that keeps its limit from 0.8 CPUs on, and from 0.4 with the variable."""

    def measure(self, spec: Specification) -> Record:
        self.specs.append(spec)
        (server, *_), row = spec.launches, RUNTIMES[self.name]
        is_set = row.value.format(1) in server.env.get(row.variable, "")
        wrote = SAID[self.name].format(n=1 if is_set else self.sees)
        noise = 1 + 0.02 * (len(self.specs) % 3 - 1)
        took = 50e6 * noise * (0.4 if is_set else 0.8) / (server.own_quota_cpus or 1)
        record = records.record(wall_s=2.0)
        copies = [CopyEvent(copy_index=0, command=0, stdout=wrote, stderr_tail=wrote)]
        return structs.replace(record, copies=copies, values=[Values(copy_index=0, values={"p99_ns": [took]})])


@pytest.mark.parametrize("name", ["Go", "Java"])
def test_a_service_is_asked_and_what_it_needs_with_the_variable_is_searched(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scalograph.profile.believed_cpus.find_runtime", lambda program, path: name)
    planned = plan_of(tmp_path, load_study(SERVICE), 4)
    search = AmountSearch("quota", amount_levels("0.1:2", "quota"), {})
    while (level := search.next_level) is not None:
        search.observe(level, 0.8 / level)
    machine = ServiceMachine(name)
    host = cast(Host, machine)
    runner = Runner(planned, host)
    levels = {**planned.design.configurations[0], "quota": search.at[-1]}
    runner.most_limited = (0.5, Run("r", 0, levels, 0), 2.0)
    text = BeliefCheck(planned, host, runner, str, search).note()
    row = RUNTIMES[name]
    assert text.startswith(
        f"{name} sees 4 CPUs under a quota of 0.804; with {row.variable}={row.value.format(1)}, it needs"
    )
    need, low, high = map(float, re.findall(r"[0-9.]+", text.rpartition("needs")[2]))
    assert low <= 0.4 <= high and low <= need <= high <= 1.2 * low
    asked = machine.specs[0].launches
    assert [launch.name for launch in asked] == ([""] if row.asks else ["server", "driver"])
    assert asked[0].own_quota_cpus == pytest.approx(0.8, rel=0.02)
    assert all(spec.launches[0].own_quota_cpus <= 0.9 for spec in machine.specs), "no more than without it"


class CommandMachine(ServiceMachine):
    """A command that takes its limit, 2 s, under 0.8 CPUs, and under half of it with the variable."""

    def measure(self, spec: Specification) -> Record:
        record = super().measure(spec)
        (launch,) = spec.launches
        is_set = RUNTIMES[self.name].variable in launch.env
        noise = 1 + 0.02 * (len(self.specs) % 3 - 1)
        timed = records.record(wall_s=noise * (0.8 if is_set else 1.6) / (launch.quota_cpus or 1))
        return structs.replace(record, run=timed.run)


def test_the_search_of_a_command_is_read_from_its_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scalograph.profile.believed_cpus.find_runtime", lambda program, path: "Go")
    levels = {"quota": {"control": "quota", "levels": amount_levels("0.1:2", "quota"), "unit": "CPUs"}}
    limited = {"wall": {"from": "window.wall", "unit": "s", "limit": 2.0}}
    study = a_study(levels, question="size", responses=limited, command="./prog")
    session, _ = simulated.run(tmp_path, simulated.Machine(lambda t: 1.6 / float(t["quota"])), study, 4)
    planned = plan_of(tmp_path / "again", study, 4)
    host = cast(Host, CommandMachine("Go"))
    runner = Runner(planned, host)
    runner.most_limited = (0.9, Run("r", 0, planned.design.configurations[0], 0), 2.0)
    text = believed_note(planned, host, runner, str, session.results.journal)
    _, low, high = map(float, re.findall(r"[0-9.]+", text.rpartition("needs")[2]))
    assert " sees 4 CPUs under a quota of " in text and low <= 0.4 <= high <= 1.2 * low
    runner.most_limited = (0.9, Run("r", 0, planned.design.configurations[0], 0), 60.0)
    assert "speed was not measured: runs are too long" in believed_note(
        planned, host, runner, str, session.results.journal
    )
