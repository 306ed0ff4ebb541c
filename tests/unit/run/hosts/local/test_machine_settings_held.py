"""Settings of the machine through a whole run: set for it, in its record, put back, and told in the findings."""

from pathlib import Path

import pytest

from scalograph.control import kernel_files
from scalograph.control.machine_control import Consent
from scalograph.control.store import Store, lock_machine
from scalograph.errors import HostError, StudyError
from scalograph.findings.run_notes import settings_changes, settings_sentences
from scalograph.protocol.record import Record, make_failed_record
from scalograph.protocol.record_processes import MachineSetting
from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.run.hosts.local.probe import find_probe
from scalograph.run.plan import Plan
from scalograph.run.runner import Runner
from scalograph.study.levels import Run
from scalograph.system.platform_facts import read_counters
from scalograph.text.warning_catalog import warning_text
from tests.kit.refusals import refuses
from tests.kit.studies import a_study, facts_of, plan_of
from tests.unit.control.paper_kernel import content, kernel_writes, planted, store

pytestmark = pytest.mark.guarantee

SWAPPINESS = "{kernel}/proc/sys/vm/swappiness"
STUDY = a_study(
    {
        "swappiness": {"control": "sysctl:vm.swappiness", "levels": [False, 10, 30]},
        "pages": {"control": "thp", "levels": ["never"]},
    },
    workload={"command": ["sh", "-c", f"cat {SWAPPINESS} >&2; test $(cat {SWAPPINESS}) != 30"]},
)
FACTS = facts_of()


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(kernel_files, "_write", kernel_writes)
    made = store(tmp_path / "state", planted(tmp_path / "kernel"))
    monkeypatch.setattr(Store, "locate", lambda: made)
    return made


def planned(kept: Store, text: str = STUDY, consent: Consent = Consent(machine_wide=True)) -> Plan:  # noqa: B008
    return plan_of(kept.kernel.parent, text.replace("{kernel}", str(kept.kernel)), FACTS, consent=consent)


def measured(kept: Store, level: object) -> Record:
    with lock_machine(store=kept):
        return Runner(planned(kept), LocalHost(find_probe())).measure(
            Run("r1", 0, {"swappiness": level, "pages": "never"}, 0)  # type: ignore[dict-item]
        )


def test_a_run_has_its_settings_and_its_record_says_that_they_were_put_back(kept: Store) -> None:
    before = content(kept.kernel)
    record = measured(kept, 10)
    assert content(kept.kernel) == before
    assert (record.run.status, record.copies[0].stderr_tail.strip()) == ("ok", "10")
    assert record.settings == [
        MachineSetting("vm.swappiness", "60", "10", "10", "10", "60"),
        MachineSetting("thp", "madvise", "never", "never", "never", "madvise"),
    ]
    assert record.counters is not None and {*record.counters} == {*(read_counters() or {})}
    record = measured(kept, 30)
    assert (record.run.status, record.settings[0].in_force, record.settings[0].after) == ("failed", "30", "60")


def test_a_setting_that_another_one_changed_fails_the_run(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    started = LocalHost._run_services

    def meddling(self: LocalHost, *args: object) -> Record:
        kernel_writes(kept.kernel / "proc/sys/vm/swappiness", "77")
        return started(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(LocalHost, "_run_services", meddling)
    record = measured(kept, 10)
    assert (record.run.status, record.run.reason) == ("failed", "vm.swappiness: asked for 10, at the end it was 77")
    assert (kept.kernel / "proc/sys/vm/swappiness").read_text() == "60\n"


def test_every_level_is_attempted_before_the_first_run_and_needs_consent(kept: Store) -> None:
    before = content(kept.kernel)
    host, told = LocalHost(find_probe()), list[str]()
    with lock_machine(store=kept):
        host.ready(planned(kept), told.append)
        assert content(kept.kernel) == before
        with pytest.raises(HostError, match=r"vm\.swappiness: asked for 900, the kernel has 200"):
            host.ready(planned(kept, STUDY.replace("30]", "900]")), told.append)
        with pytest.raises(HostError, match=r"conditions\.governor: .*, expected none such"):
            host.ready(planned(kept, f'{STUDY}[conditions]\ngovernor = "none such"\n'), told.append)
    assert content(kept.kernel) == before
    refuses(StudyError, "add --machine-wide", planned, kept, consent=Consent())


def test_findings_say_that_settings_were_restored_or_which_was_not(kept: Store) -> None:
    class Changing:
        def __init__(self, run: str, record: Record) -> None:
            self.run, self.settings = run, settings_changes(record)

    rows = [Changing("r0001", measured(kept, 10)), Changing("r0002", measured(kept, False))]
    (said,) = settings_sentences(rows)
    assert said == warning_text("settings restored", n=2, named="vm.swappiness 60, thp madvise")
    assert said.startswith("Machine settings were changed for 2 runs, then restored and verified after each: vm.")
    left = rows[0]
    left.settings = (("vm.swappiness", "60", "77"),)
    assert [*settings_sentences(rows)] == ["Run r0001 left the setting vm.swappiness at 77; before the run it was 60"]
    assert [*settings_sentences([])] == []
    ended = make_failed_record("").replace_settings([MachineSetting("vm.swappiness", "60", "10", "10", "10", "")])
    assert settings_changes(ended) == (), "a guest and its settings end with the run"
