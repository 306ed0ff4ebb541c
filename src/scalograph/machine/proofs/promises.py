"""What is to be proved, in the order in which a person reads it."""

from collections.abc import Callable
from dataclasses import dataclass

from scalograph.machine.proofs import (
    ends,
    places,
    restored,
    trees,
)
from scalograph.machine.proofs.bench import Bench


@dataclass(frozen=True)
class Promise:
    """One property.

    Attributes:
        name: short, unique.
        what: the property, one sentence.
        doubt: what is not to be believed where it fails.
        check: says what was found; raises DisprovedError or NotProvableError.
    """

    name: str
    what: str
    doubt: str
    check: Callable[[Bench], str]


_ENDS = "a run that goes wrong may count as a result"
_TIME = "believe no CPU time, and no efficiency"
_LEFT = "what one run leaves behind disturbs the next"

PROMISES = (
    Promise("pinning", "A run uses the CPUs that were asked for and no other", "believe no curve over CPUs",
          places.pinning),
    Promise("pinning: kernel", "The kernel's own records show no run outside its mask", "believe no curve over CPUs",
          places.kernel_agrees),
    Promise("CPU count", "A program believes in as many CPUs as it was given, and uses no more",
          "believe no curve over CPUs", places.cpu_count),
    Promise("gate", "No copy begins before the last one is ready", "believe no study with several copies",
          places.gate),
    Promise("containment: daemon", "A process that leaves its session ends with its run", _LEFT, trees.daemon),
    Promise("containment: children", "Children that nobody waits for end with their run", _LEFT, trees.children),
    Promise("containment: hops", "A process that forks without rest ends with its run", _LEFT, trees.hops),
    Promise("containment: cgroup", "The cgroup of a run is removed with it", _LEFT, restored.leaf_gone),
    Promise("CPU time: children", "The CPU time of children is counted, once", _TIME, trees.time_of_children),
    Promise("CPU time: daemon", "The CPU time of a process that nobody waits for is counted, once", _TIME,
          trees.time_of_daemons),
    Promise("crash", "A crash names its signal and has failed", _ENDS, ends.crash),
    Promise("exit code", "An exit code arrives, and is a failure unless it is 0", _ENDS, ends.exit_code),
    Promise("garbage", "A broken line ends its run, which has failed", _ENDS, ends.garbage),
    Promise("hang", "What never ends is ended at its timeout, and has failed", _ENDS, ends.hang),
    Promise("never ready", "What never says ready is not held, and ends at its timeout", _ENDS, ends.never_ready),
    Promise("much output", "Output without end is read and not kept", "long runs may be held up by their output",
          ends.much_output),
    Promise("many iterations", "All iterations arrive in order; other counts than asked for are a failure",
          "believe no figure of a single iteration", ends.iterations),
    Promise("settings in force", "Policy and nice value are those that were asked for",
          "believe no study of policies or nice values", restored.in_force),
    Promise("exclusive CPUs", "Exclusive CPUs are to be had, and are given back", "leave isolation out of studies",
          restored.exclusive),
    Promise("settings restored", "Afterwards this process and the machine are set as before",
          "look at the setting and put it right", restored.as_before),
)  # fmt: skip
