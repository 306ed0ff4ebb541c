"""What a parallel build offers to the claims of a paper: its load, and the first builds' faults."""

from collections.abc import Mapping, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.published_claim import OfferedFigure
from scalograph.questions.parallel_build.document import Builds

QUANTITIES = {
    "load_over_jobs": "runnable tasks over the number of jobs, in the largest tenth of the first half of a build",
    "load_last_over_first_third": "typical runnable tasks in the last third of a build over those in the first",
    "major_faults_of_first_builds": "pages that the discarded builds waited for, together",
}
WARM = "the first builds waited for no page: the page cache already held the tree and the compiler"


def quantities(document: Builds) -> Mapping[str, Sequence[OfferedFigure]]:
    """Offer one figure of the load for each configuration whose build has phases and more jobs than CPUs.

    Args:
        document: the builds.

    Returns:
        By name, those that are known; the faults are one figure of the whole study, or why none could be seen.
    """
    crowded = [one for one in document.loads if one.jobs > one.n_cpus and one.phases]
    counts = [one.n_major_faults for one in document.first if one.n_major_faults is not None]
    total = float(sum(counts))
    faults = OfferedFigure(Estimate(value=total, low=total, high=total), unseen="" if total else WARM)
    found = {
        "load_over_jobs": [OfferedFigure(one.most_over_jobs, one.treatment) for one in crowded],
        "load_last_over_first_third": [OfferedFigure(one.last_over_first, one.treatment) for one in crowded],
        "major_faults_of_first_builds": [faults] if counts else [],
    }
    return {name: figures for name, figures in found.items() if figures}
