"""Proofs about workloads that end badly: each has one record and one verdict, whatever it tried."""

from scalograph.machine.proofs.proof import expect, expect_failure, expect_no_processes, expect_success
from scalograph.machine.proofs.proof_context import ProofContext
from scalograph.machine.proofs.proof_run import ProofRun

_STDERR_BYTES = 65_536
_SIGKILL = 9
# Of iterations like these, a line of the journal (4 MiB) holds fewer.
_MAX_ITERATIONS = 100_000


def check_crash(context: ProofContext) -> str:
    """Check runs that end by a signal of their own."""
    runs = context.run("crash")
    for ran in runs:
        expect_failure(ran, "signal")
        _expect_end(ran, None, ran.configuration["signal"])
        kept = ran.record.copies[0].stderr_tail
        expect(kept == "about to crash\n", f"standard error {kept[-80:]!r}", repr("about to crash\n"))
    return f"{len(runs)} crashes, each with the number of its signal, no exit code, and failed"


def check_exit_code(context: ProofContext) -> str:
    """Check every way to end by itself; 69 gives a reason."""
    runs = context.run("exit-code")
    for ran in runs:
        code = ran.configuration["code"]
        if code:
            expect_failure(ran, "failed", "asked to end with 69" if code == 69 else "")
        else:
            expect_success(ran)
        _expect_end(ran, code, None)
    return f"{len(runs)} exit codes arrived: 0 is ok, all others failed, 69 with its sentence"


def check_garbage(context: ProofContext) -> str:
    """Check lines that follow no form."""
    runs = context.run("garbage")
    for ran in runs:
        expect_failure(ran, "protocol", "hello" if ran.configuration["kind"] == "text" else "")
    return f"{len(runs)} ways to break the line protocol: each ended the run with status protocol, and failed"


def check_timeout(context: ProofContext, name: str) -> str:
    """Check a workload that refuses to end, or never says ready."""
    runs = context.run(name)
    for ran in runs:
        expect_failure(ran, "timeout")
        expect_no_processes(ran)
        signals = [copy.signal for copy in ran.record.copies]
        expected = [_SIGKILL] * ran.configuration["copies"]
        expect(signals == expected, f"copies ended by signals {signals}", str(expected))
        expect("ready" not in (ran.record.run.reason or ""), ran.record.run.reason, "the timeout of the run")
    return f"{len(runs)} runs ended at their timeout, with all of their processes, and failed"


def check_much_output(context: ProofContext) -> str:
    """Check more output than anyone keeps."""
    runs = context.run("much-output")
    for ran in runs:
        expect_success(ran)
        (copy,) = ran.record.copies
        n = len(copy.stderr_tail)
        expect(copy.stdout is None and n <= _STDERR_BYTES, f"{n} bytes kept", f"at most {_STDERR_BYTES}, no output")
        expect(copy.stderr_tail.endswith("the last line\n"), f"kept {copy.stderr_tail[-20:]!r}", "the last line")
    most = max(ran.configuration["mib"] for ran in runs)
    return f"of {most} MiB the end was saved, and the run was ok"


def check_iterations(context: ProofContext) -> str:
    """Check as many iterations as were asked for, then others, then more than a line of the journal holds."""
    for ran in context.run("many-iterations", "asked.toml"):
        expect_success(ran)
        parts = ran.record.iterations
        pairs = [pair for part in parts for pair in zip(part.index, part.work, strict=True)]
        indexes = [index for index, work in pairs if index == work]
        expect(indexes == list(range(20_000)), f"{len(indexes)} iterations, or not in order", "20000 in order")
    for ran in context.run("many-iterations"):
        n = ran.configuration["iterations"]
        if n > _MAX_ITERATIONS:
            expect_failure(ran, "failed", "too large for the journal")
        elif n > 1:
            expected = (f"reported {n} of 1 iterations",)
            expect((ran.verdict, ran.causes) == ("failed", expected), f"{ran.verdict}, {ran.causes}", expected[0])
        else:
            expect_success(ran)
    return "20000 arrived in order; more than were asked for, or than a journal holds, are failed runs"


def _expect_end(ran: ProofRun, code: int | None, signal: int | None) -> None:
    ends = [(copy.exit_code, copy.signal) for copy in ran.record.copies]
    expect(ends == [(code, signal)], f"exit code and signal {ends}", str([(code, signal)]))
