"""A parallel build in words: which number of jobs is the fastest, how parallel it was, and what that costs."""

from collections.abc import Sequence
from statistics import mean

from scalograph.findings.curves import primary
from scalograph.findings.names import setting, title, varying
from scalograph.findings.table import Table
from scalograph.questions.parallel_build.model_groups import USER, Group, best, disturbed, inflation, user_time
from scalograph.questions.parallel_build.model_timelines import Known

MAX_SENTENCES = 8  # groups that are told; all are in the tables


def build_sentences(table: Table, groups: Sequence[Group], factor: str, known: Known) -> list[str]:
    """Say of each group, those of the most CPUs first, for there jobs run side by side."""
    ordered = sorted(groups, key=lambda group: -_n_cpus(group))
    said = [text for group in ordered for text in _sentences(table, group, factor, known, len(ordered))]
    shown = said[:MAX_SENTENCES]
    if len(said) > len(shown):
        shown.append(f"{len(said) - len(shown)} further ones are in the tables.")
    return shown


def _n_cpus(group: Group) -> int:
    return max(row.n_cpus for sample in group.samples.values() for row in sample.every)


def _sentences(table: Table, group: Group, factor: str, known: Known, n_groups: int) -> list[str]:
    where = setting(table, varying(table, group.fixed))
    head = f"With {where}, " if where else ""
    fastest, parallel = _best(table, group, factor, n_groups), _parallel(table, group, factor, known)
    said = "; ".join(text for text in (fastest, parallel, _inflation(table, group, factor)) if text)
    return [_sentence(head + said)] if said else []


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _best(table: Table, group: Group, factor: str, n_groups: int) -> str:
    found = [c for c in best(table, group, n_groups) if c.may_be_best] if _times(table) else []
    if disturbed(group, primary(table)):
        return ""
    if not found:
        return ""
    name = title(table, factor)
    levels = [f"{c.level:g}" for c in found]
    if len(levels) == 1:
        return f"{name} {levels[0]} is the fastest"
    if len(levels) == len(group.samples):
        return f"no {name} can be told to be the fastest"
    return f"the fastest {name} is one of {', '.join(levels)}, which cannot be told apart"


def _times(table: Table) -> bool:
    return table.study.responses[primary(table)].better == "lower"


def _parallel(table: Table, group: Group, factor: str, known: Known) -> str:
    """Of the level whose runs were the most parallel."""
    runs = {level: known[key] for level, s in group.samples.items() if (key := tuple(s.treatment.values())) in known}
    if not runs:
        return ""
    level = max(runs, key=lambda level: mean(run.mean for run in runs[level]))
    found = runs[level]
    text = f"{title(table, factor)} {level} has {mean(r.mean for r in found):.2f} tasks on a CPU of {found[0].limit:g}"
    if group.samples[level].falls_back:
        text += ", while others had the CPUs too"
    elif found[0].limit > 1:
        wall, below, tail = (mean(getattr(r, name) for r in found) for name in ("wall_s", "below_s", "tail_s"))
        text += f", fewer for {below:.2g} of its {wall:.3g} s, and at its end at most one for {tail:.2g} s"
    return text


def _inflation(table: Table, group: Group, factor: str) -> str:
    response = user_time(table)
    found = inflation(table, group)
    if not found or table.study.responses[response].source not in USER:
        return ""
    level, last = list(found.items())[-1]
    ratio = last.ratio
    if ratio.value is None or ratio.low is None or ratio.high is None:
        return ""
    low, high = 100 * (ratio.low - 1), 100 * (ratio.high - 1)
    end = ": no more than does not matter" if last.label == "equivalent" else ""
    change = f"{100 * (ratio.value - 1):+.2g} % [{low:+.2g}, {high:+.2g}]"
    of = f"{title(table, response)} ({100 * ratio.confidence:.0f} %)"
    return f"{title(table, factor)} {level} takes {change} {of}{end}"
