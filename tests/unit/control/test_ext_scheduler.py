"""The scheduler of the machine: programs that stand in for those of sched_ext, on a kernel of plain files."""

import os
from dataclasses import astuple
from pathlib import Path

import pytest

from scalograph.control.control import LevelError, find_control
from scalograph.control.ext_scheduler import SCHEDULER, SHIPS, SchedulerControl, current_scheduler, find_schedulers
from scalograph.control.host_facts import read_host_facts
from scalograph.control.store import Store
from scalograph.errors import HostError
from scalograph.protocol.record import make_failed_record
from scalograph.protocol.record_processes import MachineSetting
from tests.kit.processes import write_program
from tests.kit.studies import facts_of
from tests.unit.control.trees import write

FREE = facts_of(0)
# A kernel that sees its program end takes its own scheduler again.
TAKEN = """\
trap 'echo disabled > {home}/state; rm -r {home}/root; exit 0' INT
mkdir -p {home}/root && echo {ops} > {home}/root/ops && echo enabled > {home}/state
while :; do sleep 0.02; done
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of sched_ext in a kernel that has it; programs beside it are on PATH."""
    made = tmp_path / "sys/kernel/sched_ext"
    made.mkdir(parents=True)
    (made / "state").write_text("disabled\n")
    monkeypatch.setattr(Store, "locate", lambda: Store(None, None, kernel=tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return made


def program(home: Path, name: str, code: str) -> None:
    write_program(home.parents[2] / name, code)


@pytest.mark.parametrize("ops", ["simple", "simple_1.0.5_g1234_x86_64_unknown_linux_gnu"])
def test_a_scheduler_is_at_work_for_a_run_and_no_longer(ops: str, home: Path) -> None:
    program(home, "scx_simple", TAKEN.format(home=home, ops=ops))
    with SchedulerControl().apply_settings("scx_simple", FREE) as held:
        assert current_scheduler(home.parents[2]) == "scx_simple"
    assert held and astuple(held)[1:] == ("default", "scx_simple", "scx_simple", "scx_simple", "default")
    SchedulerControl().attempt("scx_simple", FREE)
    assert current_scheduler(home.parents[2]) == "default"


def test_one_that_the_kernel_throws_out_fails_the_run(home: Path) -> None:
    program(home, "scx_simple", TAKEN.format(home=home, ops="simple"))
    with SchedulerControl().apply_settings("scx_simple", FREE) as held:
        (home / "state").write_text("disabled\n")
    assert held is not None
    record = make_failed_record("").replace_settings([MachineSetting(**vars(held))])
    assert SchedulerControl().read_back("scx_simple", FREE, record) == [
        "scheduler: asked for scx_simple, at the end it was default"
    ]


def test_it_is_ended_whatever_happens_in_the_run(home: Path) -> None:
    program(home, "scx_simple", f"echo $$ > {home}/pid\n" + TAKEN.format(home=home, ops="simple"))
    with pytest.raises(KeyboardInterrupt), SchedulerControl().apply_settings("scx_simple", FREE):
        raise KeyboardInterrupt
    assert current_scheduler(home.parents[2]) == "default"
    assert not Path(f"/proc/{(home / 'pid').read_text().strip()}").exists()


@pytest.mark.parametrize(("code", "expected"), [
    ("echo 'libbpf: failed to load' >&2; exit 3", "scx_simple ended with exit code 3; it said: 'libbpf: failed to"),
    ("exec sleep 20", "not taken in 0.3 s"),
    ("trap '' INT\n" + TAKEN.replace("trap", "#"), "scx_other, though its program has ended"),
])  # fmt: skip
def test_what_does_not_work_or_stays(code: str, expected: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("START_S", "_END_S"):
        monkeypatch.setattr(f"scalograph.control.ext_scheduler.{name}", 0.3)
    program(home, "scx_simple", code.format(home=home, ops="other"))
    with pytest.raises(HostError, match=expected), SchedulerControl().apply_settings("scx_simple", FREE):
        pass


def test_another_one_at_work_is_left_alone_and_told_before_a_run(home: Path, tmp_path: Path) -> None:
    write(home / "root/ops", "lavd_1.0.8\n")
    write(home / "state", "enabled\n")
    there = FREE.model_copy(update={"refused": read_host_facts(tmp_path, ()).refused})
    for level in ("default", "scx_simple"):
        with pytest.raises(HostError, match="scx_lavd is at work"), SchedulerControl().apply_settings(level, FREE):
            pass
        with pytest.raises(LevelError, match="scx_lavd is at work, and not started by us"):
            find_control("scheduler").resolve([level], there)
    with SchedulerControl().apply_settings(False, FREE) as held:
        assert held is None
    assert find_control("scheduler").resolve([False], there) == [False]


def test_programs_on_path_are_found_and_others_started_where_the_facts_have_them(home: Path, tmp_path: Path) -> None:
    program(home, "scx_simple", "")
    program(home, "scx_Not", "")
    write(tmp_path / "scx_plain", "")
    found = find_schedulers()
    assert [name for name, path in found.items() if path.startswith(str(tmp_path))] == ["scx_simple"]
    assert found["scx_fifo"] == SHIPS
    program(home, "main", TAKEN.format(home=home, ops="fifo"))
    built = FREE.model_copy(update={"schedulers": {"scx_fifo": str(tmp_path / "main")}})
    with SchedulerControl().apply_settings("scx_fifo", built) as held:
        assert held is not None and held.in_force == "scx_fifo"


def test_a_kernel_without_sched_ext_says_so(tmp_path: Path) -> None:
    assert read_host_facts(tmp_path, ()).refused[SCHEDULER] == "this kernel has no sched_ext"
    write(tmp_path / "sys/kernel/sched_ext/state", "disabled\n")
    assert SCHEDULER not in read_host_facts(tmp_path, ()).refused
    assert current_scheduler(tmp_path) == "default"
