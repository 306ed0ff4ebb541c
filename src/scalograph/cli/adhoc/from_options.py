"""What the options of `measure` and `find` make of a command: its study."""

from scalograph.cli.adhoc.command_study import CommandStudy
from scalograph.cli.adhoc.option_texts import argv, counts, read_exits, read_factor, responses, steps, unique, variables
from scalograph.cli.options import CommandOptions, SearchOptions
from scalograph.cli.sweep_options import SweepOptions
from scalograph.questions.asked import AskedFactors


def swept_study(sweep: SweepOptions, options: CommandOptions) -> CommandStudy:
    """Make the study of `measure`: every level, as often as asked.

    Raises:
        StudyError: an option has another form, or names a factor twice.
    """
    named = [("threads", counts("--threads", sweep.threads)), ("jobs", counts("--jobs", sweep.jobs))]
    named += [("copies", None if _is_count(sweep.copies) else sweep.copies)]
    named += [*map(read_factor, sweep.factor or ()), ("cpus", sweep.cpus)]
    runs = {"runs": sweep.runs or (100 if sweep.precision else 10), "warmup_runs": sweep.warmup_runs}
    return _study(
        options,
        AskedFactors(
            unique("--factor", [(name, levels) for name, levels in named if levels is not None]),
            per_worker=sweep.per_worker,
            precision=sweep.precision,
        ),
        runs,
        copies=int(sweep.copies) if sweep.copies and _is_count(sweep.copies) else 1,
    )


def searched_study(question: str, factors: AskedFactors, options: SearchOptions) -> CommandStudy:
    """Make the study of `find QUESTION`.

    Raises:
        StudyError: an option has another form.
    """
    runs = {"budget_runs": options.max_runs} if options.max_runs else {}
    runs |= {"runs": factors.runs} if factors.runs else {}
    return _study(options, factors, runs, question=question, asked=f"find {question}")


def _study(
    options: CommandOptions,
    factors: AskedFactors,
    runs: dict[str, int],
    question: str = "sweep",
    asked: str = "measure",
    copies: int = 1,
) -> CommandStudy:
    precision = {"precision": factors.precision} if factors.precision else {}
    limits: dict[str, str | int] = {
        "max_reruns": options.max_reruns,
        "budget": options.budget,
        "timeout": options.timeout,
    }
    return CommandStudy(
        command=_with_place(argv(options.command, options.shell), factors.fills),
        factors=factors.levels,
        copies=copies,
        per_worker=factors.per_worker,
        responses=responses(options.response),
        steps=steps(options.shell, setup=options.setup, prepare=options.prepare, cleanup=options.cleanup),
        env={k: v for k, v in variables(options.env).items() if f"env:{k}" not in factors.controls.values()},
        env_all=options.env_all,
        input="" if options.input is None else str(options.input),
        ok_exits=tuple(read_exits(options.ok_exit)),
        protocol={**runs, **precision, **limits},
        question=question,
        asked=asked,
        roles=factors.roles,
        baseline=factors.baseline,
        lists=factors.lists,
        controls=factors.controls,
        titles=factors.titles,
        plan=factors.plan,
        title=factors.title,
    )


def _with_place(command: tuple[str, ...], name: str | None) -> tuple[str, ...]:
    """Put what the command is to hold behind the program, where it is nowhere."""
    place = f"{{{name}}}"
    return command if name is None or place in command else (command[0], place, *command[1:])


def _is_count(text: str | None) -> bool:
    return bool(text) and str(text).isascii() and str(text).isdecimal()
