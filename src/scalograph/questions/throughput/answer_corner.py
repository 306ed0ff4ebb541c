"""Does the configuration with the most of everything carry the most?"""

from statistics import geometric_mean

from scalograph.analysis.contenders import contenders
from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import Taken
from scalograph.findings.names import varied
from scalograph.findings.sample import Sample, grouped
from scalograph.findings.table import Table
from scalograph.questions.throughput.answer_points import is_count, rates_of
from scalograph.questions.throughput.document import Corner
from scalograph.text.quantities import inverse

# Configurations that are compared, each with each.
MOST = 64


def corners(table: Table, taken: Taken) -> list[Corner]:
    """Compare the highest level of all counted factors with the best of the others, in each setting of the rest.

    Args:
        table: the study.
        taken: the runs that count.
    """
    counted = [name for name in varied(table) if all(is_count(t[name]) for t in table.treatments)]
    if not counted:
        return []
    found = []
    for group, members in grouped(taken.values(), *counted).items():
        rates = [(sample, rates_of(table, sample)) for sample in members]
        known = [(sample, blocks) for sample, blocks in rates if blocks and min(blocks.values()) > 0]
        over = _over_best(counted, known) if 1 < len(known) <= MOST else None
        found += [Corner(group=dict(group), over_best=over)] if over else []
    return found


def _over_best(counted: list[str], known: list[tuple[Sample, dict[int, float]]]) -> Estimate | None:
    """Rate of the far corner over that of the best of the others; None where it has no runs."""
    top = {name: max(sample.treatment[name] for sample, _ in known) for name in counted}
    corner = next((i for i, (sample, _) in enumerate(known) if top.items() <= sample.treatment.items()), None)
    if corner is None:
        return None
    times = {float(i): {block: 1 / rate for block, rate in blocks.items()} for i, (_, blocks) in enumerate(known)}
    found = next((one for one in contenders(times) if one.level == corner), None)
    if found is None:
        best = max(geometric_mean(blocks.values()) for i, (_, blocks) in enumerate(known) if i != corner)
        return Estimate(geometric_mean(known[corner][1].values()) / best, warnings=("too few runs to compare",))
    return inverse(found.over_best)
