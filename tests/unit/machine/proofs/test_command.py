"""What the command prints of proofs, and its exit code."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scalograph.cli.doctor_command import proof_sentence, prove_sanity, summary_sentence
from scalograph.machine.proofs.proof import Proof

pytestmark = pytest.mark.xdist_group("machine")
PROVED = Proof("gate", "No copy begins before the last one is ready", "proved", "5 copies waited")
UNKNOWN = Proof("pinning", "A run stays", "not provable", "one CPU only", fix="start it with more")
FAILED = Proof("crash", "A crash names its signal", "failed", "signal None", "11", "believe nothing; kept: /tmp/x")
TAKE = "from scalograph.control.store import lock_machine\nwith lock_machine(): pass"


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """The command's exit code and what it prints if the proofs are these; the command around them is the real one."""

    def run(*proofs: Proof, json: bool = False, meanwhile: Callable[[], Any] = lambda: None) -> tuple[int, str]:
        def prove(host: Any) -> list[Proof]:
            meanwhile()
            return list(proofs)

        monkeypatch.setattr("scalograph.machine.proofs.run_proofs.prove", prove)
        monkeypatch.setattr("scalograph.cli.pipeline.WAIT_S", 300.0)
        code = prove_sanity(json=json)
        return code, capsys.readouterr().out

    return run


@pytest.mark.parametrize(("proofs", "code", "said"), [
    ([PROVED], 0, "1 of 1 proved, 0 failed, 0 not provable here: on this machine a run is what its record says."),
    ([PROVED, UNKNOWN], 0, "1 of 2 proved, 0 failed, 1 not provable here: nothing was found wrong; "),
    ([PROVED, FAILED, UNKNOWN], 3, "1 of 3 proved, 1 failed, 1 not provable here: do not rely on "),
])  # fmt: skip
def test_only_failures_are(proofs: list[Proof], code: int, said: str, printed: Callable[..., tuple[int, str]]) -> None:
    ended, out = printed(*proofs)
    assert ended == code and out.splitlines()[-1].startswith(said)


def test_json_holds_every_proof(printed: Callable[..., tuple[int, str]]) -> None:
    code, out = printed(FAILED, UNKNOWN, json=True)
    told = json.loads(out)
    assert (code, told["sentence"]) == (3, summary_sentence([FAILED, UNKNOWN]))
    assert told["proofs"][0] == {
        "name": "crash", "what": "A crash names its signal", "status": "failed", "found": "signal None",
        "expected": "11", "fix": "believe nothing; kept: /tmp/x",
    }  # fmt: skip


@pytest.mark.parametrize(("proof", "said"), [
    (PROVED, "5 copies waited"), (UNKNOWN, "one CPU only; what would help: start it with more"),
    (FAILED, "A crash names its signal: not so. Found signal None, expected 11; believe nothing; kept: /tmp/x"),
])  # fmt: skip
def test_one_plain_sentence_each(proof: Proof, said: str) -> None:
    assert proof_sentence(proof) == said


def test_the_machine_is_locked_and_the_terminal_safe(printed: Callable[..., tuple[int, str]]) -> None:
    codes: list[int] = []
    other = [sys.executable, "-c", TAKE]
    _, out = printed(
        Proof("a", "b", "proved", "found \x1b[31m"),
        meanwhile=lambda: codes.append(subprocess.run(other, capture_output=True, check=False).returncode),
    )
    assert codes == [1] and "\x1b" not in out
