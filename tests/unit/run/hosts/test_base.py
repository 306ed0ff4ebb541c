"""What every host promises (`base.Host`), each on this machine: by a QEMU that is a probe, and an ssh that stays here.

A further host is a row here: how a test prepares it, and how its probe is taken away.
"""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scalograph.control.control import Launch
from scalograph.errors import HostError
from scalograph.protocol.facts import KernelPackage
from scalograph.protocol.record import Record
from scalograph.run.hosts.base import Host, Specification
from scalograph.run.hosts.guests import guest
from scalograph.run.hosts.host_names import ELSEWHERE, HOSTS, NAMELESS, is_elsewhere, open_host
from scalograph.run.hosts.local.local_host import MAX_NOT_STARTED
from scalograph.run.hosts.local.probe import find_probe
from scalograph.run.hosts.remote import reboot, ssh
from scalograph.run.hosts.slurm import slurm_host
from scalograph.run.interrupts import Interrupts
from scalograph.run.plan import Plan, plan
from scalograph.run.runner import Runner
from scalograph.study.declare import declare
from scalograph.study.levels import Run
from tests.kit.processes import write_program
from tests.kit.records import record
from tests.kit.refusals import refuses
from tests.kit.studies import a_study, write_study
from tests.unit.run.hosts.guests.test_guest_process import UP, programs
from tests.unit.run.hosts.remote.far_machine import booting_stand_in, stand_in
from tests.unit.run.hosts.slurm import fake_slurm

pytestmark = pytest.mark.skipif(bool(find_probe().warning), reason="no native probe")
Patch = pytest.MonkeyPatch


def prepare_local(folder: Path, patch: Patch) -> Callable[[], object]:
    probe = folder / "probe"
    probe.symlink_to(find_probe().argv[0])
    patch.setenv("SCALOGRAPH_PROBE", str(probe))
    return probe.unlink


def prepare_guest(folder: Path, patch: Patch) -> Callable[[], object]:
    """Let QEMU be the probe that would be within."""
    kernel = KernelPackage(level="cloud", release="6.1.0", package="p", version="1", sha256="0")
    (folder / "kernel" / "modules").mkdir(parents=True)
    qemu = programs(folder, f"{UP}; {find_probe().argv[0]}; echo $? > $boot/exit")
    for name, value in {
        "find_programs": lambda: qemu, "offered_kernels": lambda: ("6.1-cloud",), "_KVM": folder / "none",
        "fetch_kernel": lambda level, tell: (kernel, folder / "kernel"),
    }.items():  # fmt: skip
        patch.setattr(guest, name, value)
    return (folder / "qemu").unlink


def prepare_ssh(folder: Path, patch: Patch, make: Callable[[Path, Patch], object] = stand_in) -> Callable[[], object]:
    patch.setattr(ssh, "LOOK", "cat /proc/stat /proc/stat")
    patch.setattr(reboot, "PAUSE_S", 0.01)
    make(folder, patch)
    return lambda: write_program(folder / "ssh-programs" / "there", "echo 'No route to host' >&2; exit 255")


def prepare_slurm(folder: Path, patch: Patch) -> Callable[[], object]:
    patch.chdir(folder)
    fake_slurm.hasten(patch)
    state = fake_slurm.stand_in(folder, patch)
    return lambda: (state / "lost").write_text("NODE_FAIL\n" * MAX_NOT_STARTED * slurm_host.MAX_LOST)


PREPARE: dict[str, Callable[[Path, Patch], Callable[[], object]]] = {
    "local": prepare_local,
    "guest": prepare_guest,
    "ssh:there": prepare_ssh,
    "slurm:try": prepare_slurm,
    "reboot:there": lambda folder, patch: prepare_ssh(folder, patch, booting_stand_in),
}


class Opened:
    def __init__(self, host: Host, folder: Path, take_probe: Callable[[], object]) -> None:
        self.host, self.folder, self.take_probe = host, folder, take_probe

    def ready(self, *argv: str, **workload: Any) -> Plan:
        text = a_study({"n": [7]}, workload={"command": [*argv, "{n}"], **workload}, protocol={"timeout": "10s"})
        return self.host.ready(plan(declare(write_study(self.folder, text)), self.host.facts()), str)

    def measure(self, *argv: str, **workload: Any) -> Record:
        return self.measure_planned(self.ready(*argv, **workload))

    def measure_planned(self, planned: Plan) -> Record:
        return Runner(planned, self.host).measure(Run("r1", 0, {"n": 7}, 0))


@pytest.fixture(params=[*HOSTS, *(f"{kind}:{'try' if kind in NAMELESS else 'there'}" for kind in ELSEWHERE)])
def opened(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: Patch) -> Iterator[Opened]:
    take_probe = PREPARE[request.param](tmp_path, monkeypatch)
    with open_host(request.param) as host:
        assert bool(host.facts().reached) == is_elsewhere(request.param)
        yield Opened(host, tmp_path / "study", take_probe)


def test_it_tells_what_it_is_how_busy_it_is_and_that_nothing_was_kept(opened: Opened) -> None:
    host, planned = opened.host, opened.ready("true")
    facts = host.facts()
    assert facts == host.facts() and facts.n_cpus >= 1 and msgspec.json.encode(facts.machine())
    assert all(0 <= share <= 1 for share in host.sample_load().busy.values())
    with host.apply_settings(planned, {"n": 7}) as held:
        assert list(held or ()) == []
    assert [*host.collect_service_ends(False), *host.collect_service_ends(True)] == []
    host.close()  # again at the end of the test: what is released stays so


def test_a_run_has_its_levels_its_steps_and_an_empty_folder(opened: Opened) -> None:
    steps = {step: ["sh", "-c", f"echo {step} >> {opened.folder}/done"] for step in ("setup", "prepare", "cleanup")}
    if isinstance(opened.host, reboot.RebootHost):
        del steps["setup"]
    planned = opened.ready("sh", "-c", "pwd >&2; find . -mindepth 1 >&2; touch left; echo $0 >&2", **steps)
    first, second = (opened.measure_planned(planned) for _ in range(2))
    words = [record.copies[0].stderr_tail.split() for record in (first, second)]
    assert [(record.run.status, record.run.reason) for record in (first, second)] == [("ok", None)] * 2
    assert [level for _, level in words] == ["7", "7"] and words[0][0] != words[1][0]
    assert (opened.folder / "done").read_text().split() == [*steps][:-2] + ["prepare", "cleanup"] * 2
    assert not any(Path(folder).exists() for folder, _ in words[:1]), "of a run nothing stays"


@pytest.mark.parametrize(("argv", "prepare", "reason"), [
    ("exit 3", "exit 0", "copy 0 exited with 3"),
    ("exit 0", "echo no >&2; exit 5", "prepare failed: sh: exit code 5; it said"),
])  # fmt: skip
def test_what_fails_is_a_record_and_is_cleaned_up(opened: Opened, argv: str, prepare: str, reason: str) -> None:
    cleanup = ["touch", f"{opened.folder}/cleaned"]
    record = opened.measure("sh", "-c", argv, prepare=["sh", "-c", prepare], cleanup=cleanup)
    assert record.run.status == "failed" and reason in (record.run.reason or "")
    assert (opened.folder / "cleaned").exists()


@pytest.mark.guarantee
def test_after_a_signal_nothing_is_started(opened: Opened) -> None:
    planned = opened.ready("touch", f"{opened.folder}/started", prepare=["touch", f"{opened.folder}/prepared"])
    with Interrupts():
        signal.raise_signal(signal.SIGTERM)
        assert opened.measure_planned(planned).run.status == "interrupted"
    assert [file.name for file in opened.folder.iterdir()] == ["study.toml"]


def test_a_program_that_is_not_there_is_named(opened: Opened) -> None:
    refuses(HostError, 'no program "no-such-program" on PATH', opened.ready, "no-such-program")


def test_runs_that_cannot_begin_fail_and_at_last_end_the_study(opened: Opened) -> None:
    planned = opened.ready("true")
    opened.take_probe()
    for _ in range(MAX_NOT_STARTED - 1):
        assert opened.measure_planned(planned).run.status == "failed"
    if isinstance(opened.host, guest.GuestHost):  # one that does not boot is a failed run, however often
        assert "did not boot" in (opened.measure_planned(planned).run.reason or "")
        return
    refuses(HostError, r"No such file|No route to host|a node failed", opened.measure_planned, planned)


@pytest.mark.parametrize(("piped", "stdout", "expected"), [
    ({"wall_ns": 230_000_000, "cpu_ns": 220_000_000}, None, "230 ms with its output in a pipe, 1 ms without"),
    ({"wall_ns": 230_000_000, "cpu_ns": 900_000}, None, ""),  # it waited: no other work
    ({"wall_ns": 2_000_000, "cpu_ns": 1_800_000}, None, ""),
    ({"wall_ns": 230_000_000, "cpu_ns": 220_000_000}, "null", ""),  # that was chosen
])  # fmt: skip
def test_a_short_run_is_tried_once_with_its_output_in_a_pipe(
    tmp_path: Path, monkeypatch: Patch, piped: dict[str, int], stdout: str | None, expected: str
) -> None:
    asked = list[str | None]()

    def measure(spec: Specification) -> Record:
        asked.append(spec.line(tmp_path)["stdout"])
        return record(**(piped if spec.stdout == "pipe" else {"wall_ns": 1_000_000, "cpu_ns": 900_000}))

    with open_host("local") as host:
        use = {"command": ["true", "{n}"], **({"stdout": stdout} if stdout else {})}
        declared = declare(write_study(tmp_path / "study", a_study({"n": [7]}, workload=use)))
        planned = host.ready(plan(declared, host.facts()), str)
        monkeypatch.setattr(host, "measure", measure)
        runner = Runner(planned, host, tries_pipe=True)
        for _ in range(3):
            assert runner.measure(Run("r1", 0, {"n": 7}, 0)).run.wall_ns == 1_000_000
    assert asked == ["null", *(["pipe"] if stdout is None else []), "null", "null"]
    note = runner.output_note()
    assert expected in note and bool(note) == bool(expected) and runner.output_note() == ""


@pytest.mark.parametrize(("stdout", "capture", "line"), [
    (None, False, "null"), ("null", False, "null"), ("pipe", False, "pipe"), ("tty", False, "tty"),
    ("tty", True, "tty"),
    ("pipe", True, "capture"), ("o.txt", False, "/run/o.txt"), ("/o.txt", False, "/o.txt"),
])  # fmt: skip
def test_output_goes_to_a_pipe_a_terminal_or_a_file_of_the_run(stdout: str | None, capture: bool, line: str) -> None:
    launch = Launch(argv=("true",), env={})
    spec = Specification(Run("r1", 0, {}, 0), (launch,), False, capture, 1.0, True, {}, stdout=stdout)
    said = spec.line(Path("/run"))
    assert (said["stdout"], said["stdout_limit_bytes"] == 0) == (line, stdout == "tty" and not capture)
