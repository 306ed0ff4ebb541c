"""How services that stayed up ended: what is a warning, and what only its time is told of."""

from scalograph.protocol.record_processes import EndedService, ServicesEnded
from scalograph.text.load_words import MOST_ENDS, bad_ends, service_end_times


def ended(block: int = 0, stopped_by: str = "TERM", wanted: str = "TERM", **more: object) -> ServicesEnded:
    service = EndedService(name="web", stop_signal=wanted, stopped_by=stopped_by, stop_ns=1_500_000_000)
    return ServicesEnded(block=block, services=[service], **more)  # type: ignore[arg-type]


def test_services_that_end_as_asked_are_told_by_their_time() -> None:
    as_asked = [ended(n_survivors=0), ended(1, "KILL", "KILL", n_survivors=0)]
    assert [*bad_ends(as_asked)] == []
    assert service_end_times(as_asked) == "; ended 2 times, each within 1.5 s"
    assert service_end_times([]) == service_end_times([ServicesEnded(block=0, services=[])]) == ""


def test_what_is_a_warning_of_how_services_ended() -> None:
    assert [*bad_ends([ended(1, "KILL", n_survivors=2)])] == [
        "service web had to be killed after block 2: it ran on for 1.5 s after TERM",
        "services left 2 processes after block 2, killed then",
    ]
    assert [*bad_ends([ended(-1, n_survivors=1)])] == ["services left 1 process after the warm-up runs, killed then"]
    why = "service web ended while drivers worked (exit code 3)"
    assert [*bad_ends([ended(0, "KILL", reason=why)])] == [f"{why}, after block 1"]
    found = [*bad_ends([ended(block, "KILL") for block in range(MOST_ENDS + 3)])]
    assert len(found) == MOST_ENDS + 1 and found[-1] == "and 3 more such ends of services"
