"""Offer the load of a parallel build, and the first builds' faults, to published claims."""

from collections.abc import Mapping, Sequence

from scalograph.analysis.estimate import Estimate, count_ratio
from scalograph.protocol.published_claim import OfferedValue
from scalograph.questions.parallel_build.document import Builds, LaterBuilds

QUANTITIES = {
    "load_over_jobs": "runnable tasks over the number of jobs, in the largest tenth of the first half of a build",
    "load_last_over_first_third": "typical runnable tasks in the last third of a build over those in the first",
    "major_faults_of_first_builds": "pages that the discarded builds waited for, together",
    "first_over_later_faults": "pages that a discarded build waited for, over those of a later build",
}
WARM = "the first builds waited for no page: the page cache already held the tree and the compiler"


def quantities(document: Builds) -> Mapping[str, Sequence[OfferedValue]]:
    """Offer one load for each configuration with phases and more jobs than CPUs, and the faults of the study."""
    crowded = [load for load in document.loads if load.jobs > load.n_cpus and load.phases]
    counts = [load.n_major_faults for load in document.first if load.n_major_faults is not None]
    total = float(sum(counts))
    faults = OfferedValue(Estimate(value=total, low=total, high=total), unseen="" if total else WARM)
    offers = {
        "load_over_jobs": [OfferedValue(load.most_over_jobs, load.configuration) for load in crowded],
        "load_last_over_first_third": [OfferedValue(load.last_over_first, load.configuration) for load in crowded],
        "major_faults_of_first_builds": [faults] if counts else [],
        "first_over_later_faults": _compare_faults(counts, document.later, faults.unseen),
    }
    return {name: figures for name, figures in offers.items() if figures}


def _compare_faults(counts: Sequence[int], later: LaterBuilds | None, unseen: str) -> Sequence[OfferedValue]:
    """Compare the first builds with later ones: those may wait for pages, too."""
    if not counts or later is None:
        return ()
    spread = later.variance * later.n / later.n_major_faults if later.n_major_faults else 1.0
    ratio = count_ratio((sum(counts), len(counts)), (later.n_major_faults, later.n), spread)
    return [OfferedValue(ratio, unseen=unseen)]
