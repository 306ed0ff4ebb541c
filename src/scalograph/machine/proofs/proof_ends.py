"""Proofs about workloads that end badly: each has one record and one verdict, whatever it tried."""

from scalograph.machine.proofs.proof import expect, has_failed, nothing_left, went_well
from scalograph.machine.proofs.proof_context import Bench
from scalograph.machine.proofs.proof_run import Ran

_STDERR_BYTES = 65_536
_SIGKILL = 9
# Of iterations like these, a line of the journal (4 MiB) holds fewer.
_MOST = 100_000


def crash(bench: Bench) -> str:
    """A signal of its own."""
    runs = bench.run("crash")
    for ran in runs:
        has_failed(ran, "signal")
        _ended(ran, None, ran.treatment["signal"])
        _said(ran, "about to crash\n")
    return f"{len(runs)} crashes, each with the number of its signal, no exit code, and failed"


def exit_code(bench: Bench) -> str:
    """Every way to end by itself; 69 says why."""
    runs = bench.run("exit-code")
    for ran in runs:
        code = ran.treatment["code"]
        if code:
            has_failed(ran, "failed", "asked to end with 69" if code == 69 else "")
        else:
            went_well(ran)
        _ended(ran, code, None)
    return f"{len(runs)} exit codes arrived: 0 is ok, all others failed, 69 with its sentence"


def garbage(bench: Bench) -> str:
    """Lines that follow no form."""
    runs = bench.run("garbage")
    for ran in runs:
        has_failed(ran, "protocol", "hello" if ran.treatment["kind"] == "text" else "")
    return f"{len(runs)} ways to break the line protocol: each ended the run with status protocol, and failed"


def hang(bench: Bench) -> str:
    """It refuses to end."""
    return _timed_out(bench.run("hang"))


def never_ready(bench: Bench) -> str:
    """It says nothing; nobody else waits for it, so it is not held."""
    return _timed_out(bench.run("never-ready"))


def _timed_out(runs: list[Ran]) -> str:
    for ran in runs:
        has_failed(ran, "timeout")
        nothing_left(ran)
        signals = [copy.signal for copy in ran.record.copies]
        expected = [_SIGKILL] * ran.treatment["copies"]
        expect(signals == expected, f"copies ended by signals {signals}", str(expected))
        expect("ready" not in (ran.record.run.reason or ""), ran.record.run.reason, "the timeout of the run")
    return f"{len(runs)} runs ended at their timeout, with all of their processes, and failed"


def much_output(bench: Bench) -> str:
    """More than anyone keeps."""
    runs = bench.run("much-output")
    for ran in runs:
        went_well(ran)
        (copy,) = ran.record.copies
        n = len(copy.stderr_tail)
        expect(copy.stdout is None and n <= _STDERR_BYTES, f"{n} bytes kept", f"at most {_STDERR_BYTES}, no output")
        expect(copy.stderr_tail.endswith("the last line\n"), f"kept {copy.stderr_tail[-20:]!r}", "the last line")
    most = max(ran.treatment["mib"] for ran in runs)
    return f"of {most} MiB the end was kept, and the run was ok"


def iterations(bench: Bench) -> str:
    """As many as were asked for, then others, then more than a line of the journal holds."""
    for ran in bench.run("many-iterations", "asked.toml"):
        went_well(ran)
        found = _works(ran)
        expect(found == list(range(20_000)), f"{len(found)} iterations, or not in order", "20000 in order")
    for ran in bench.run("many-iterations"):
        n = ran.treatment["iterations"]
        if n > _MOST:
            has_failed(ran, "failed", "too large for the journal")
        elif n > 1:
            expected = (f"reported {n} of 1 iterations",)
            expect((ran.verdict, ran.causes) == ("failed", expected), f"{ran.verdict}, {ran.causes}", expected[0])
        else:
            went_well(ran)
    return "20000 arrived in order; more than were asked for, or than a journal holds, are failed runs"


def _works(ran: Ran) -> list[int]:
    parts = ran.record.iterations
    pairs = [(i, work) for part in parts for i, work in zip(part.index, part.work, strict=True)]
    return [i for i, work in pairs if i == work]


def _ended(ran: Ran, code: int | None, signal: int | None) -> None:
    ends = [(copy.exit_code, copy.signal) for copy in ran.record.copies]
    expect(ends == [(code, signal)], f"exit code and signal {ends}", str([(code, signal)]))


def _said(ran: Ran, text: str) -> None:
    kept = ran.record.copies[0].stderr_tail
    expect(kept == text, f"standard error {kept[-80:]!r}", repr(text))
