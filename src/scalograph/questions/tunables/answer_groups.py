"""What is known of the groups of factors that a study names: each beside noise alone, and each over each other."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from scalograph.questions.tunables.document import GroupContrast, GroupEffect
from scalograph.questions.tunables.model_fit import SettingFit
from scalograph.questions.tunables.model_groups import GroupSpread, group_ratio, plain_ratio
from scalograph.study.model import Study


def compared_groups(
    study: Study, names: Sequence[str], fit: SettingFit | None, n_runs: int
) -> tuple[list[GroupEffect], list[GroupContrast]]:
    """Tell how much each group moves the performance, and how many times as much as each later one.

    Args:
        study: its factors may name a group.
        names: of the factors of several levels, by their places.
        fit: of all settings; None where there are too few runs.
        n_runs: behind it.
    """
    if fit is None:
        return [], []
    groups = _known(study, names, fit)
    spreads = {group: GroupSpread(fit, factors) for group, factors in groups.items()}
    effects = [_effect(group, [names[j] for j in groups[group]], spread) for group, spread in spreads.items()]
    pairs = [*combinations(spreads, 2)]
    # The intervals of all contrasts hold together (Bonferroni).
    confidence = 1 - (1 - fit.confidence) / max(1, len(pairs))
    return effects, [_contrast(*pair, spreads, confidence, n_runs) for pair in pairs]


def _known(study: Study, names: Sequence[str], fit: SettingFit) -> dict[str, list[int]]:
    """The factors of each group of which a setting is known, as the study has them."""
    found: dict[str, list[int]] = {}
    for j in sorted({j for j, _ in fit.names}):
        if group := study.factors[names[j]].group:
            found.setdefault(group, []).append(j)
    return found


def _effect(group: str, factors: list[str], spread: GroupSpread) -> GroupEffect:
    found = spread.sensitivity
    return GroupEffect(
        group=group, factors=factors, sensitivity=found.value, sensitivity_noise=found.most,
        plain=found.plain, plain_noise=found.noise,
    )  # fmt: skip


def _contrast(
    first: str, second: str, spreads: Mapping[str, GroupSpread], confidence: float, n_runs: int
) -> GroupContrast:
    both = spreads[first], spreads[second]
    plain, noise = plain_ratio(*both)
    ratio = group_ratio(*both, confidence, n_runs)
    return GroupContrast(first=first, second=second, ratio=ratio, plain=plain, plain_noise=noise)
