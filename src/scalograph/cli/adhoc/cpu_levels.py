"""Which CPU counts a search may try: every one where they are few, else eight in each doubling."""

EVERY, FIRST, IN_A_DOUBLING = 64, 32, 8


def cpu_levels(n_cpus: int, most: int | None = None) -> str:
    """Levels as text, up to all CPUs of a host or to `most` of them.

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
