"""The golden lines of protocol/examples, both directions, as Python reads and writes them."""

import json
from typing import Any

import msgspec
import pytest

from scalograph.protocol.events import EVENTS, convert_document, parse_event, parse_events
from scalograph.protocol.record import Record
from scalograph.run.hosts.python_probe import lines, spec
from tests.kit import EXAMPLES


def rows(name: str) -> list[str]:
    found = (EXAMPLES / name).read_text(encoding="utf-8").splitlines()
    assert found
    return found


@pytest.mark.parametrize("line", rows("probe_spec.jsonl"))
def test_a_golden_specification_is_accepted_as_written(line: str) -> None:
    given = json.loads(line)
    found = spec.parse(given)
    assert (found.run, found.timeout_ns) == (given["run"], given["timeout_ns"])
    assert (found.events, found.stdout) == (given.get("events", False), given.get("stdout", "null"))
    for command, asked in zip(found.commands, given["commands"], strict=True):
        assert (list(command.argv), dict(command.env)) == (asked["argv"], asked["env"])
        assert (command.nice, command.name) == (asked.get("nice"), asked.get("name", ""))
        assert command.copies == asked.get("copies", 1) == len(command.masks)
        assert (command.ports is not None) == (asked.get("role") == "service")


@pytest.mark.parametrize("line", rows("probe_spec_rejected.jsonl"))
def test_a_golden_mistake_is_refused_where_it_is(line: str) -> None:
    golden = json.loads(line)
    with pytest.raises(spec.RefusalError) as caught:
        spec.parse(golden["spec"])
    assert (caught.value.fields["where"], caught.value.code) == (golden["where"], 2)
    assert all(caught.value.fields.values())


@pytest.mark.parametrize("line", rows("probe_events.jsonl"))
def test_a_golden_event_survives_the_round_trip(line: str) -> None:
    given = json.loads(line)
    run, part = parse_event(line)
    assert given.pop("run") == run
    assert isinstance(part, EVENTS[given.pop("event")])
    assert told_of(msgspec.to_builtins(part), given) == given


def told_of(whole: Any, given: Any) -> Any:
    """Return what a part of a document has of the keys that were given: others have defaults."""
    if isinstance(given, dict):
        return {name: told_of(whole[name], value) for name, value in given.items()}
    if isinstance(given, list) and isinstance(whole, list) and len(whole) == len(given):
        return [told_of(*pair) for pair in zip(whole, given, strict=True)]
    return whole


def golden_runs() -> dict[str, list[str]]:
    runs: dict[str, list[str]] = {}
    for line in rows("probe_events.jsonl"):
        runs.setdefault(json.loads(line)["run"], []).append(line)
    return {name: found for name, found in runs.items() if len(found) > 1}


def test_golden_events_group_into_records_that_the_journal_can_keep() -> None:
    records = {name: parse_events(found, name) for name, found in golden_runs().items()}
    assert {name: record.run.status for name, record in records.items()} == {"r1": "ok", "r2": "timeout", "r6": "ok"}
    assert records["r1"].iterations[0].index == [0, 1, 2]
    assert records["r1"].timeline is not None and records["r2"].timeline is None
    served = records["r6"]
    assert [(process.name, process.role) for process in served.processes] == [("app", "service"), ("driver", "driver")]
    assert [phase.name for phase in served.phases[0].phases] == ["warmup", "steady"]
    assert served.histograms[0].index == [127, 130, 7295]
    for record in records.values():
        assert convert_document(msgspec.json.decode(msgspec.json.encode(record)), Record, "record") == record
        assert set(msgspec.to_builtins(record)) == set(Record.__struct_fields__)


def test_golden_workload_lines_are_accepted() -> None:
    speech = lines.Speech()
    speech.feed("".join(line + "\n" for line in rows("workload_lines.txt")).encode(), lines.Limits())
    speech.finish()
    assert speech.ready
    assert speech.iterations == [(0, 1000000, 2500000, 4096, None), (1, 2600000, 4100000, 4096, 1480000)]
    assert speech.values == {"nice": [-5], "ops_per_second": [12345.5]}
    assert speech.phases == [("steady", 2600000, 4100000)]
    assert speech.histograms == {("steady", "get_page"): {127: 12, 130: 901, 7295: 3}}


@pytest.mark.parametrize("line", rows("workload_lines_rejected.txt"))
def test_a_golden_broken_line_ends_the_run(line: str) -> None:
    with pytest.raises(lines.BrokenLineError):
        lines.Speech().feed(line.encode() + b"\n", lines.Limits())
