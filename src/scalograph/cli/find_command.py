"""`scalograph find`: questions that are searched, each run where it tells most."""

from collections.abc import Callable
from importlib import import_module

import typer

from scalograph.cli.bundles import bundled
from scalograph.cli.options import SearchOptions
from scalograph.questions.asked import QuestionOptions

group = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)
# Each question's `find.py` (scalograph.questions.asked), and the class of its options.
QUESTIONS = {
    "break-even": ("scalograph.questions.break_even.find", "BreakEvenOptions"),
    "effective-cpus": ("scalograph.questions.effective_cpus.find", "EffectiveCpusOptions"),
    "cliff": ("scalograph.questions.cliff.find", "CliffOptions"),
}


@group.callback()
def _find() -> None:
    """Search for one figure of a command: each run is made where it tells most.

    \b
    scalograph find effective-cpus -- ./prog                         how many CPUs does it really use?
    scalograph find cliff --range 1:512 -- ./prog -t {threads}       where does its time jump?
    scalograph find break-even --size 16:65536 -- ./prog {version} {size}
                                                                     from which size on does parallel pay?
    """


def _search(question: str) -> Callable[..., int]:
    """One command, with the options that the question declares before those of every search."""
    module, name = QUESTIONS[question]
    bundle = getattr(import_module(module), name)

    def search(asked: QuestionOptions, options: SearchOptions) -> int:
        from scalograph.cli.adhoc.from_options import searched_study
        from scalograph.cli.measure_output import carried_out
        from scalograph.cli.search_output import tell_search

        study = searched_study(question, asked.factors(), options)
        return carried_out(study, options, lambda conducted: tell_search(conducted, module, options.json))

    search.__doc__ = bundle.__doc__
    return bundled(search, bundle, SearchOptions)


for _question in QUESTIONS:
    group.command(_question)(_search(_question))
