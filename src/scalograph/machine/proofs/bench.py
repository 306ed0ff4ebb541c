"""The path that a measurement takes, from a declared study to a verdict, for the studies beside sanity workloads."""

import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from scalograph.errors import HostError, Terminated
from scalograph.machine.proofs.marks import end_marked
from scalograph.machine.proofs.own_settings import empty_leaves, settings
from scalograph.machine.proofs.proof import NotProvableError, expect
from scalograph.machine.proofs.ran import Ran, Watch, read
from scalograph.protocol.facts import HostFacts
from scalograph.run import session
from scalograph.run.hosts.local import LocalHost
from scalograph.run.hosts.ready import build_program
from scalograph.run.session import Conducted, Plan
from scalograph.study.declare import Declared, declare
from scalograph.study.program import Program, program
from scalograph.study.shipped import shipped


class Bench:
    """Runs the study of a sanity workload and reads its journal back. Each study runs once, however many ask.

    The machine must be locked. At its end no process with its mark is left.

    Args:
        facts: of this host.
        probe: program and arguments of the probe.
        folder: for results, one folder a study.
        tell: is told which study begins.
    """

    def __init__(
        self, facts: HostFacts, probe: Sequence[str], folder: Path, tell: Callable[[str], None] = lambda text: None
    ) -> None:
        self.facts, self.folder, self.used = facts, folder, set[Path]()
        self._probe, self._tell = tuple(probe), tell
        self.before, self.leaves_before = settings(), empty_leaves()
        self.mark = f"scalograph-sanity-{uuid4().hex}"
        self.done: dict[Path, list[Ran]] = {}

    def __enter__(self) -> "Bench":
        return self

    def __exit__(self, *_: object) -> None:
        end_marked(self.mark)

    def run(self, name: str, file: str = "study.toml", facts: HostFacts | None = None, label: str = "") -> list[Ran]:
        """All runs of a study.

        Args:
            name: of the workload, `pinning` say.
            file: the study beside it.
            facts: of a smaller host than this one.
            label: of the results, where the same study runs twice.

        Raises:
            NotProvableError: the workload cannot be compiled here.
            ScalographError: the path itself gave up.
        """
        folder = self.folder / (label or f"{name}-{Path(file).stem}")
        self.used.add(folder)
        if folder not in self.done:
            self._tell(folder.name)
            planned = session.plan(self._declared(name, file), facts or self.facts)
            host = LocalHost(planned.design, planned.facts, _built(planned), self._probe)
            self.done[folder] = self._run(planned, host, folder)
        return self.done[folder]

    def _declared(self, name: str, file: str) -> Declared:
        """As the study says, with a mark that finds its processes in those workloads that can bear one."""
        declared = declare(shipped(f"sanity/{name}") / file)
        use = declared.study.workload
        if "token" not in program(use, declared.folder).values:
            return declared
        use = use.model_copy(update={"parameters": {**use.parameters, "token": self.mark}})
        return replace(declared, study=declared.study.model_copy(update={"workload": use}))

    def _run(self, planned: Plan, host: LocalHost, folder: Path) -> list[Ran]:
        host.check()
        made, watch = session.begin(planned, folder), Watch(self.mark)
        done = session.conduct(planned, made, host, Path(self._probe[0]).name, watch.watching, None)
        _go_on(done, host)
        runs = read(made.journal, lambda treatment: host.launch(treatment).cpus, watch.left)
        expect(len(runs) == planned.design.n_runs, f"{len(runs)} runs in the journal", f"{planned.design.n_runs}")
        return runs


def _built(planned: Plan) -> Program:
    try:
        return build_program(planned.program, planned.facts)
    except HostError as error:
        problem = error.problems[0]
        why = f"its workload was not compiled: {problem.where}: {problem.found}"
        raise NotProvableError(why, problem.fix or "apt install gcc libc6-dev") from error


def _go_on(done: Conducted, host: LocalHost) -> None:
    """An interrupted study ends all, as the signal meant."""
    if done.reason == "interrupted":
        raise Terminated if signal.SIGTERM in (host.signal, done.signal) else KeyboardInterrupt
