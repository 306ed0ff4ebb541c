"""What is asked of a JVM, which configurations are taken, and which part of a run counts."""

import time
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest

from scalograph.errors import HostError
from scalograph.profile.recorder import make_time_filter
from scalograph.profile.recording import recorder_options, recorder_settings, why_unrecordable
from scalograph.profile.values import choose_configurations
from scalograph.protocol.facts import Jvm
from tests.kit.records import record


def chosen(n: int, baseline: dict[str, int] | None = None) -> list[int]:
    return [int(levels["p"]) for levels in choose_configurations([{"p": p} for p in range(n)], {**(baseline or {})})]


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 30, 100])
def test_the_first_the_last_and_evenly_between(n: int) -> None:
    taken = chosen(n)
    assert len(taken) == min(n, 8) and taken[0] == 0 and taken[-1] == n - 1
    steps = [after - before for before, after in pairwise(taken)]
    assert all(step >= 1 for step in steps) and max(steps, default=0) - min(steps, default=0) <= 1


@pytest.mark.parametrize("baseline", range(30))
def test_a_baseline_is_among_them(baseline: int) -> None:
    taken = chosen(30, {"p": baseline})
    assert baseline in taken and len(set(taken)) == 8 and taken == sorted(taken)
    assert (taken[0], taken[-1]) == (0, 29)


def test_short_waits_are_recorded_without_stacks_and_samples_with() -> None:
    events = ET.fromstring(recorder_settings(0.01))
    found = {event.get("name"): {setting.get("name"): setting.text for setting in event} for event in events}
    assert found["jdk.ExecutionSample"] == {"enabled": "true", "period": "10 ms"}
    assert found["jdk.ThreadPark"] == {"enabled": "true", "threshold": "0 ms", "stackTrace": "false"}


def test_all_files_of_the_recorder_lie_in_one_folder_whose_name_ends_no_value(tmp_path: Path) -> None:
    words = recorder_options(tmp_path, 0.001)
    assert any(word.startswith("-XX:StartFlightRecording=") and "dumponexit=true" in word for word in words)
    parts = [part for word in words for part in word.replace(",", "=").split("=")]
    assert all(part.startswith(str(tmp_path)) for part in parts if "/" in part)
    assert "<" in (tmp_path / "settings.jfc").read_text()
    (tmp_path / "a,b").mkdir()
    with pytest.raises(HostError, match="without a comma"):
        recorder_options(tmp_path / "a,b", 0.01)


def test_a_jvm_without_a_recorder_is_named(tmp_path: Path) -> None:
    java = str(tmp_path / "java")
    assert "JVM 8" in str(why_unrecordable(Jvm(name="8", java=java, release=8, build="8")))
    jvm = Jvm(name="17-other", java=java, release=17, build="17")
    assert "17-other has no program jfr" in str(why_unrecordable(jvm))
    (tmp_path / "jfr").touch(mode=0o755)
    assert why_unrecordable(jvm) is None


def test_iterations_after_the_warmup_count() -> None:
    made = record(iterations=[(1.0, 1.0, 1), (2.0, 1.0, 1), (4.0, 1.0, 1)], wall_s=9.0)
    gate_s = (time.time_ns() - time.monotonic_ns()) / 1e9
    counts = make_time_filter(made, 1)
    assert [counts(gate_s + at) for at in (0.5, 1.5, 6.5, 7.5)] == [False, True, True, False]
    whole = make_time_filter(record(wall_s=9.0), 0)
    assert [whole(gate_s + at) for at in (-0.5, 0.5, 8.5, 9.5)] == [False, True, True, False]
