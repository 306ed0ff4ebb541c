"""What a run asks of a cluster: its nodes, the tasks and CPUs on each, how they are started, and on which partition."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from scalograph.control.control import Control, Launch, Level, LevelError
from scalograph.protocol.facts import HostFacts
from scalograph.study.scalars import suggest

# What starts the tasks of a run: Slurm's own (perhaps with its MPI plugin named), MPI's, or nothing on one node.
LAUNCHER = re.compile(r"srun(:[a-z0-9_]{1,32})?|mpirun|none", re.ASCII)
PARTITION = re.compile(r"[\w.-]{1,64}", re.ASCII)
# Features and what Slurm joins them with: "gpu&avx512", "[rack1|rack2]".
CONSTRAINT = re.compile(r"[\w.&|*,()\[\]-]{1,256}", re.ASCII)
_TEXTS: Mapping[str, tuple[re.Pattern[str], str]] = {
    "launcher": (LAUNCHER, "srun, srun:PLUGIN, mpirun, or none"),
    "partition": (PARTITION, "the name of a partition"),
    "constraint": (CONSTRAINT, "features of nodes, such as avx512"),
}
# Levels that are counts, and what each is limited by.
_LIMITS: Mapping[str, Callable[[HostFacts], int]] = {
    "nodes": lambda facts: facts.cluster.n_nodes if facts.cluster else 0,
    "tasks-per-node": lambda facts: facts.n_cpus,
    "cpus-per-task": lambda facts: facts.n_cpus,
}


class ClusterControl(Control):
    """Levels of one request to a cluster: `nodes`, `tasks-per-node`, `cpus-per-task`, `constraint`, and others."""

    may_conflict = True

    def __init__(self, name: str) -> None:
        """`name` is what follows `cluster:` in the study."""
        self._name = name

    def check_level(self, level: Level, facts: HostFacts) -> None:
        if facts.cluster is None:
            raise LevelError(f"{self._name} on one machine", "a cluster", "add --host slurm")
        if self._name in _TEXTS:
            pattern, expected = _TEXTS[self._name]
            if not isinstance(level, str) or not pattern.fullmatch(level):
                raise LevelError(f"{self._name} {str(level)[:60]!r}", expected, "correct it")
            if self._name == "partition" and level not in facts.cluster.partitions:
                names = sorted(facts.cluster.partitions)
                raise LevelError(f'no partition "{level}"', f"one of {', '.join(names)}", suggest(level, names) or "")
            return
        # The nodes of another partition may be more, or have fewer CPUs: Slurm then refuses the job.
        most = _LIMITS[self._name](facts)
        if isinstance(level, bool) or not isinstance(level, int) or not 1 <= level <= most:
            fix = "use fewer; sinfo shows nodes that are down or drained" if self._name == "nodes" else "use fewer"
            raise LevelError(f"{self._name} {str(level)[:60]}", f"1 to {most}, as the partition has", fix)

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        request = {**launch.request, self._name: level}
        tasks, cpus = (int(request.get(name, 1)) for name in ("tasks-per-node", "cpus-per-task"))
        if tasks * cpus > facts.n_cpus:
            needed = f"{tasks} tasks of {cpus} CPUs on a node"
            raise LevelError(needed, f"at most {facts.n_cpus} CPUs", "exclude this combination")
        return replace(launch, request=request)
