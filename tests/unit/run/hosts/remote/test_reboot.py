"""A machine that is booted with the kernel of a run: what is asked of it, and each way in which that fails."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scalograph.errors import HostError, StudyError
from scalograph.protocol.record import Record
from scalograph.run.hosts.host_names import open_host
from scalograph.run.hosts.local.probe import find_probe
from scalograph.run.hosts.remote import reboot, ssh
from scalograph.run.hosts.remote.reboot import RebootHost, find_first_kernel
from scalograph.run.plan import Plan
from scalograph.run.runner import Runner
from scalograph.study.levels import Run
from tests.kit.refusals import refuses
from tests.kit.studies import a_study, plan_of
from tests.unit.run.hosts.remote.far_machine import KERNELS, booting_stand_in, program

pytestmark = [pytest.mark.guarantee, pytest.mark.skipif(bool(find_probe().warning), reason="no native probe")]
OLD, NEW = KERNELS


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(reboot, "PAUSE_S", 0.01)
    monkeypatch.setattr(ssh, "LOOK", "cat /proc/stat /proc/stat")
    return booting_stand_in(tmp_path, monkeypatch)


def study(level: str, **workload: list[str]) -> str:
    kernel = {"levels": [level], "control": "kernel"}
    workload = {"command": ["true"], **workload}
    return a_study({"kernel": kernel}, workload=workload, protocol={"runs": 1, "timeout": "10s"})


@contextmanager
def planned(folder: Path, said: list[str]) -> Iterator[tuple[RebootHost, Plan]]:
    with open_host("reboot:there") as host:
        assert isinstance(host, RebootHost)
        yield host, host.ready(plan_of(folder, study("all"), host.facts()), said.append)


def measured(host: RebootHost, made: Plan, kernel: str) -> Record:
    return Runner(made, host).measure(Run("r1", 0, {"kernel": kernel}, 0))


def asked(state: Path) -> list[str]:
    return (state / "asked").read_text().split()


def test_the_kernel_of_a_run_is_booted_and_the_first_one_at_the_end(state: Path, tmp_path: Path) -> None:
    said = list[str]()
    with planned(tmp_path, said) as (host, made):
        assert [one["kernel"] for one in made.design.configurations] == [OLD, NEW]
        records = [measured(host, made, kernel) for kernel in (OLD, NEW, NEW)]
        (state / "boot_id").write_text("99999999-0000-4000-8000-000000000000\n")
        failed = measured(host, made, NEW).run
        assert (failed.status, failed.reason) == ("failed", "that machine was booted anew, and not by us")
        assert measured(host, made, NEW).run.status == "ok" and asked(state) == [NEW]
    assert asked(state) == [NEW, OLD] and [one.run.status for one in records] == ["ok"] * 3
    assert [str(one.boot_id)[:8] for one in records] == ["00000000", "00000001", "00000001"]
    told = [text for text in said if "busy" not in text and "up after" not in text]
    assert told == [f"there: boots kernel {kernel}" for kernel in asked(state)] and len(told) < len(said)
    assert not first_kernel(tmp_path).exists()
    machine = made.first_event("probe")["machine"]
    assert (machine["reached"], machine["kernel"], machine["boot_id"]) == ("ssh", None, None)


def first_kernel(folder: Path) -> Path:
    return folder / "far" / ".local/state/scalograph/first-kernel"


def test_what_a_killed_start_left_is_told_and_put_right_by_the_next(state: Path, tmp_path: Path) -> None:
    with planned(tmp_path, []) as (host, made):
        assert measured(host, made, NEW).run.status == "ok"
        host._tell = None  # as if it had been killed: nothing is done at its end
    assert first_kernel(tmp_path).read_text() == f"{OLD} {NEW}\n"
    with open_host("reboot:there") as planning:
        assert planning.facts().offered_kernels == (OLD, NEW)
    assert asked(state) == [NEW]
    said = list[str]()
    with planned(tmp_path, said) as (host, made):
        assert measured(host, made, NEW).run.status == "ok"
    left = f"there runs kernel {NEW} since a start that was killed: at the end {OLD} is booted, which ran before"
    assert [text for text in said if "busy" not in text] == [left, f"there: boots kernel {OLD}"]
    assert asked(state) == [NEW, OLD] and not first_kernel(tmp_path).exists()


def test_a_kept_first_kernel_counts_only_while_the_one_booted_instead_runs(state: Path, tmp_path: Path) -> None:
    first_kernel(tmp_path).parent.mkdir(parents=True)
    for kept, found in ((f"{NEW} {OLD}", NEW), (f"{NEW} 6.9.9-other", None), (f"{OLD} {OLD}", None), ("a b", None)):
        first_kernel(tmp_path).write_text(f"{kept}\n")
        assert find_first_kernel("there", OLD) == found
    first_kernel(tmp_path).write_text(f"6.9.9-gone {OLD}\n")
    with planned(tmp_path, []):
        pass
    assert not first_kernel(tmp_path).exists() and not (state / "asked").exists()


def test_a_signal_waits_for_a_boot_and_undoes_it(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = list[str]()
    with planned(tmp_path, said) as (host, made):
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(reboot, "pending_signal", lambda: signal.SIGINT)
            measured(host, made, NEW)
        assert asked(state) == [NEW]
    assert asked(state) == [NEW, OLD]
    waiting = f"waiting until there is up; another Ctrl-C leaves it to the next start to boot kernel {OLD}"
    assert said == [f"there: boots kernel {NEW}", waiting, f"there: boots kernel {OLD}"]


def test_a_boot_that_fails_ends_the_study(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    boots = (tmp_path / "ssh-programs" / "scalograph-boot").read_text()
    with planned(tmp_path, []) as (host, made):
        (tmp_path / "far" / ".local").write_text("no folder")
        refuses(HostError, r"^--host reboot:there: .*mkdir: ", measured, host, made, NEW)
        assert not (state / "asked").exists()
        (tmp_path / "far" / ".local").unlink()
        program(tmp_path, "scalograph-boot", "echo 'no such entry' >&2; exit 1")
        with pytest.raises(HostError, match=r"^--host reboot:there: scalograph-boot 6.12.1-far: no such entry, "):
            measured(host, made, NEW)
        program(tmp_path, "scalograph-boot", "exit 0")
        monkeypatch.setattr(reboot, "BOOT_S", 0.05)
        refuses(HostError, r"not booted 0.05 s after scalograph-boot: it goes on as before", measured, host, made, NEW)
        monkeypatch.setattr(reboot, "BOOT_S", 20.0)
        # On its way up it has no programs for a moment.
        program(tmp_path, "uname", f'rm {state}/odd 2>/dev/null && exit 127\n[ "$1" = -r ] && exec cat {state}/release')
        program(tmp_path, "scalograph-boot", boots.replace("${BOOTS:-$1}", "6.9.9-other") + f"\ntouch {state}/odd")
        booted = r"scalograph-boot 6.12.1-far booted 6.9.9-other, expected kernel 6.12.1-far"
        refuses(HostError, booted, measured, host, made, NEW)
        program(tmp_path, "scalograph-boot", boots)
        facts = host._machine.facts.model_copy(update={"cpus": ()})
        monkeypatch.setattr(type(host._machine), "read_current_facts", lambda machine: facts)
        refuses(HostError, r"CPUs \[\] under kernel 6.12.1-far", measured, host, made, NEW)
    assert asked(state) == [NEW, NEW, OLD]


def test_what_cannot_be_booted_is_refused(state: Path, tmp_path: Path) -> None:
    said = r"'cloud', which is not installed there, expected one of 6.1.0-9-far, 6.12"
    with open_host("reboot:there") as host:
        refuses(StudyError, said, plan_of, tmp_path, study("cloud"), host.facts())
        with pytest.raises(HostError, match=r"workload.setup: before reboots"):
            host.ready(plan_of(tmp_path, study("all", setup=["true"]), host.facts()), str)
    with pytest.raises(StudyError, match='"reboot:-v", expected reboot:NAME'), open_host("reboot:-v"):
        pass
    program(tmp_path, "ls", "echo config")
    with pytest.raises(HostError, match=r"^--host reboot:there: no kernel in /boot"), open_host("reboot:there"):
        pass
    (tmp_path / "ssh-programs" / "scalograph-boot").unlink()
    with pytest.raises(HostError, match="--host reboot:there: no program scalograph-boot"), open_host("reboot:there"):
        pass
