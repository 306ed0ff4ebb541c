"""The path that a measurement takes, from a declared study to a verdict, for the studies beside sanity workloads."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from scalograph.errors import HostError
from scalograph.machine.proofs.marks import end_marked
from scalograph.machine.proofs.own_settings import empty_leaves, settings
from scalograph.machine.proofs.proof import NotProvableError, expect
from scalograph.machine.proofs.ran import Leftovers, Ran, read
from scalograph.protocol.facts import HostFacts
from scalograph.run.begin import begin
from scalograph.run.hosts.base import Host
from scalograph.run.interrupts import interruption
from scalograph.run.launches import launches
from scalograph.run.plan import Plan, plan
from scalograph.run.runner import Runner
from scalograph.run.session import run_session
from scalograph.study.declare import Declared, declare
from scalograph.study.program import program
from scalograph.study.shipped import shipped


class Bench:
    """Runs the study of a sanity workload and reads its journal back. Each study runs once, however many ask.

    The machine must be locked. At its end no process with its mark is left.

    Args:
        host: where they run.
        folder: for results, one folder a study.
        tell: is told which study begins.
    """

    def __init__(self, host: Host, folder: Path, tell: Callable[[str], None] = lambda text: None) -> None:
        self.facts, self.folder, self.used = host.facts(), folder, set[Path]()
        self._host, self._tell = host, tell
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
            planned = plan(self._declared(name, file), facts or self.facts)
            self.done[folder] = self._run(self._ready(planned), folder)
        return self.done[folder]

    def _declared(self, name: str, file: str) -> Declared:
        """As the study says, with a mark that finds its processes in those workloads that can bear one."""
        declared = declare(shipped(f"sanity/{name}") / file)
        use = declared.study.workload
        if "token" not in program(use, declared.folder).values:
            return declared
        use = use.model_copy(update={"parameters": {**use.parameters, "token": self.mark}})
        return replace(declared, study=declared.study.model_copy(update={"workload": use}))

    def _ready(self, planned: Plan) -> Plan:
        try:
            return self._host.ready(planned, lambda text: None)
        except HostError as error:
            problem = error.problems[0]
            why = f"its workload was not made ready: {problem.where}: {problem.found}"
            raise NotProvableError(why, problem.fix or "apt install gcc libc6-dev") from error

    def _run(self, planned: Plan, folder: Path) -> list[Ran]:
        made, watch = begin(planned, folder), Leftovers(self.mark)
        instrument, probe = Runner(planned, self._host), self._host.probe.name
        done = run_session(planned, made, instrument, probe, watch.watching, None)
        if done.reason == "interrupted":  # it ends all, as the signal meant
            raise interruption(done.signal)
        runs = read(made.journal, lambda treatment: launches(planned, treatment)[0].cpus, watch.left)
        expect(len(runs) == planned.design.n_runs, f"{len(runs)} runs in the journal", f"{planned.design.n_runs}")
        return runs
