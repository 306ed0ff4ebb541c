"""`find effective-cpus`: its options, the CPU counts that it may try, and the answer as JSON."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from scalograph.questions.asked import AskedFactors, Option
from scalograph.questions.effective_cpus.document import EffectiveCpus, EffectiveGroups

if TYPE_CHECKING:
    from scalograph.protocol.findings import Findings

# Every count where they are few, else eight in each doubling.
EVERY, FIRST, IN_A_DOUBLING = 64, 32, 8


@dataclass(frozen=True)
class EffectiveCpusOptions:
    """How many CPUs does a command use, and what limits it? Takes about ten runs.

    \b
    scalograph find effective-cpus -- ./prog
    scalograph find effective-cpus --threads 8 -- ./prog -t {threads}
    scalograph find effective-cpus --max-cpus 16 --prepare 'make clean' -- make -j64
    scalograph find effective-cpus --response 'believed_cpus: using ([0-9]+) cores' -- ./prog
    """

    max_cpus: Annotated[int | None, Option("Largest number of CPUs to try (default all)", min=2)] = None
    threads: Annotated[int | None, Option("Value to substitute for {threads}", min=1)] = None

    def factors(self) -> AskedFactors:
        threads = {"threads": str(self.threads)} if self.threads else {}
        return AskedFactors({**threads, "cpus": cpu_levels(len(os.sched_getaffinity(0)), self.max_cpus)})


OPTIONS = EffectiveCpusOptions


def figures(findings: "Findings") -> dict[str, Any]:
    """Return the answer for `--json`; `sentence` is that of the verdict, as everywhere."""
    part = findings.document("effective-cpus", EffectiveGroups)
    (group,) = part.groups if part else [EffectiveCpus(group={}, factor="cpus")]
    sentences = {"limit_sentence": group.sentence, "sentence": findings.trust.sentence}
    return {**group.model_dump(mode="json"), **sentences, "runs": findings.runs.model_dump(mode="json")}


def cpu_levels(n_cpus: int, most: int | None = None) -> str:
    """Return levels as text, up to all CPUs of a host or to `most` of them.

    Hundreds of counts could not be told apart, and each would be weighed after every run.

    >>> cpu_levels(12), cpu_levels(12, 4), cpu_levels(12, 64)
    ('1:all', '1:4', '1:all')
    >>> cpu_levels(72)
    '1:32,36,40,44,48,52,56,60,64,72,all'
    """
    top = n_cpus if most is None else min(n_cpus, most)
    last = "all" if top == n_cpus else str(top)
    if top <= EVERY:
        return f"1:{last}"
    levels, step = [FIRST], FIRST // IN_A_DOUBLING
    while levels[-1] + step <= top:
        levels += [levels[-1] + step]
        step *= 2 if levels[-1] == 2 * IN_A_DOUBLING * step else 1
    return ",".join([f"1:{FIRST}", *map(str, levels[1:]), *([last] if last == "all" or levels[-1] != top else [])])
