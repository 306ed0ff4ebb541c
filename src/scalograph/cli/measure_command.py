"""`scalograph measure`."""

from scalograph.cli.bundles import bundled
from scalograph.cli.options import CommandOptions, SweepOptions


def _measure(sweep: SweepOptions, options: CommandOptions) -> int:
    """Measure a command, over levels of CPUs, threads or whatever it takes; keeps a study.toml of what was done.

    \b
    scalograph measure -- ./prog                              how long does it take?
    scalograph measure --cpus 1:all -- ./prog                 does it use more CPUs?
    scalograph measure --threads 1,2,4 -- ./prog -t {threads}
    scalograph measure --jobs 1:8 --prepare 'make clean' -- make -j{jobs}
    scalograph measure --copies 1:4 -- ./prog                 copies at once
    """
    from scalograph.cli.adhoc.from_options import swept_study
    from scalograph.cli.measure_output import measured

    return measured(swept_study(sweep, options), sweep, options)


command = bundled(_measure, SweepOptions, CommandOptions)
