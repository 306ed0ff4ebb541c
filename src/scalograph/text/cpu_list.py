"""CPU numbers as the kernel writes them."""

from collections.abc import Iterable


def format_cpu_list(cpus: Iterable[int]) -> str:
    """Format CPU numbers as a kernel CPU list.

    >>> format_cpu_list([8, 0, 1, 2])
    '0-2,8'
    """
    runs: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def named_cpus(cpus: Iterable[int]) -> str:
    """Name CPUs in a sentence.

    >>> named_cpus([1]), named_cpus([0, 1])
    ('CPU 1', 'CPUs 0-1')
    """
    numbers = set(cpus)
    return f"CPU{'s' * (len(numbers) != 1)} {format_cpu_list(numbers)}"
