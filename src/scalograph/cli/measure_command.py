"""`scalograph measure`."""

from scalograph.cli.explaining import ExplainedOptions
from scalograph.cli.options import CommandOptions, group_options
from scalograph.cli.sweep_options import SweepOptions


def _measure(sweep: SweepOptions, explained: ExplainedOptions, options: CommandOptions) -> int:
    """Measure a command over CPUs, threads, or other factors; the results include a study.toml.

    \b
    scalograph measure -- ./prog                               # how long does it take?
    scalograph measure --cpus 1:all -- ./prog                  # does it scale?
    scalograph measure --threads 1,2,4 -- ./prog -t {threads}
    scalograph measure --jobs 1:8 --prepare 'make clean' -- make -j{jobs}
    scalograph measure --copies 1:4 -- ./prog                  # identical copies at once
    scalograph measure -v version=old,new -- ./prog-{version}  # is new faster?
    scalograph measure --revisions v1..main --build make -- {version}/prog
    """
    from scalograph.system import quiet

    quiet.remember_start()  # before the imports that take a third of a second, which then need not be waited for
    from scalograph.cli.command_line_study.option_texts import sweep_study
    from scalograph.cli.measure_output import run_measurement

    if sweep.revisions is None and sweep.build is None:
        return run_measurement(sweep_study(sweep, options), sweep, options, explained.explain)
    from scalograph.cli.command_line_study.built_revisions import revision_study

    return run_measurement(revision_study(sweep, options), sweep, options, explained.explain)


command = group_options(_measure, SweepOptions, ExplainedOptions, CommandOptions)
