"""What a parallel build offers to the claims of a paper: its load, and the first builds' faults."""

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.plain import Model
from scalograph.questions.parallel_build.document import BuildLoad, Builds
from scalograph.text.quantities import counted

WARM = "the first builds waited for no page: the page cache already held the tree and the compiler"


def quantities(document: Model) -> dict[str, list[tuple[str, Estimate]] | str]:
    """Offer these figures, one for each configuration on the most CPUs with more jobs than CPUs.

    `load_over_jobs`: the largest tenth of the first half, over the number of jobs.
    `load_last_over_first_third_with_modules`, `.._without_modules`: typical load of these thirds of a build.
    `major_faults_of_first_builds`: pages that all discarded builds together waited for; or why that cannot be seen.
    """
    assert isinstance(document, Builds)
    most = max((one.n_cpus for one in document.loads), default=0)
    crowded = [one for one in document.loads if one.n_cpus == most > 1 and one.jobs > one.n_cpus and one.phases]
    two, single = ([one for one in crowded if (len(one.phases) > 1) == is_two] for is_two in (True, False))
    return {
        "load_over_jobs": [(one.label, one.most_over_jobs) for one in crowded],
        "load_last_over_first_third_with_modules": _falls(two),
        "load_last_over_first_third_without_modules": _falls(single),
        "major_faults_of_first_builds": _first(document),
    }


def _falls(loads: list[BuildLoad]) -> list[tuple[str, Estimate]]:
    return [(one.label, one.last_over_first) for one in loads]


def _first(document: Builds) -> list[tuple[str, Estimate]] | str:
    counts = [one.n_major_faults for one in document.first if one.n_major_faults is not None]
    if counts and not any(counts):
        return WARM
    total = float(sum(counts))
    return [(f"first {counted(len(counts), 'build')}", Estimate(value=total, low=total, high=total))] if counts else []
