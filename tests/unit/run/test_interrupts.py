"""What ends us in order, and what was told to be ignored."""

import signal
from collections.abc import Iterator

import pytest

from scalograph.errors import Terminated
from scalograph.run.interrupts import SIGNALS, Interrupts, raise_on_signals

pytestmark = pytest.mark.guarantee


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:  # whatever the shell left
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_would_kill_us_lets_us_put_settings_back(number: signal.Signals) -> None:
    raise_on_signals()
    with pytest.raises(Terminated):
        signal.raise_signal(number)


def test_the_second_sighup_of_a_lost_terminal_breaks_nothing_off() -> None:
    raise_on_signals()
    with pytest.raises(Terminated):
        signal.raise_signal(signal.SIGHUP)
    signal.raise_signal(signal.SIGHUP)


def test_under_nohup_we_go_on() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    raise_on_signals()
    signal.raise_signal(signal.SIGHUP)
    with Interrupts() as interrupts:
        signal.raise_signal(signal.SIGHUP)
    assert interrupts.number is None and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
