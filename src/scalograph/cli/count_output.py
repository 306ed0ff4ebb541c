"""Run `ab --count`, and print whether the work of the new build grew."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from scalograph.cli.answer_output import answer, export_document
from scalograph.cli.command_line_study.declaration import map_error
from scalograph.cli.console import say, terminal_echo
from scalograph.cli.gate_command import append_summary
from scalograph.cli.options import CommandOptions
from scalograph.cli.overrides import seconds_of
from scalograph.cli.pipeline import machine_lock
from scalograph.errors import Exit, HostError, StudyError
from scalograph.exchange.markdown import summary
from scalograph.profile.instruction_counts import (
    SEVERITY,
    CountAnswer,
    CountedConfiguration,
    count_instructions,
    find_valgrind,
)
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import AnswerCase
from scalograph.protocol.results import write_text
from scalograph.questions.claims import case, state
from scalograph.report.screen import Screen
from scalograph.run.hosts.host_names import LOCAL, open_host
from scalograph.run.plan import plan
from scalograph.study.declare import declare
from scalograph.system.private_dir import scratch
from scalograph.text.answer_form import three_digits
from scalograph.text.format import DASH
from scalograph.text.summaries import DOT, machine_words

MINUS = "\N{MINUS SIGN}"
# Far above the spread of most programs, and above the effect of another path length.
MARGIN = 0.001
CODES: dict[CountAnswer, Exit] = {
    "failed": Exit.CONFIGURATION_FAILED, "more": Exit.MORE_WORK, "inconclusive": Exit.INCONCLUSIVE,
}  # fmt: skip
_SCOPE = "this says nothing about time"
_DIFFERENT = (
    "{other!s} executes {by:three_digits} %s instructions than {reference}[[ with {level}]]"
    "[[ ({low:three_digits} to {high:three_digits} in single runs)]]; " + _SCOPE + "."
)
FORMS = {
    "more": _DIFFERENT % "more",
    "fewer": _DIFFERENT % "fewer",
    "equivalent": "{other!s} executes as many instructions as {reference}, within {margin:exact}; " + _SCOPE + ".",
    "inconclusive": "Inconclusive: the runs of one build differ by {spread:three_digits}[[ with {level}]]; "
    "{other} and {reference} differ by {by:three_digits}.",
    "budget": "Inconclusive: {reason} {level}. Set a larger --budget.",
    "failed": "No answer: {reason}.",
    "beside": "More instructions in {n} of {all} configurations[[; fewer in {fewer}]][[; inconclusive in {left}]].",
}


@dataclass(frozen=True, kw_only=True)
class CountQuestion:
    """The two builds by their labels, and the margin; `summary` is the file for the answer in Markdown."""

    reference: str
    other: str
    margin: float
    summary: Path | None


def refuse_timed_options(options: CommandOptions) -> None:
    """Raise StudyError for an option that concerns times or saved results."""
    beside = {
        "--response": options.response, "--output": options.output, "--wait-quiet": options.wait_quiet,
        "--when-busy": options.when_busy, "--host": options.host != LOCAL,
    }  # fmt: skip
    if names := [name for name, value in beside.items() if value]:
        text = f"--count and {names[0]} exclude each other"
        raise StudyError.one("", text, "", f"leave out {names[0]}: nothing is timed or saved")


def run_count(text: str, question: CountQuestion, options: CommandOptions) -> int:
    """Count the instructions of the study that `text` declares; print the answer and return the exit code."""
    refuse_timed_options(options)
    with scratch("count-study") as folder:
        write_text(folder / "study.toml", text)
        try:
            declared, budget_s = declare(folder / "study.toml"), seconds_of("--budget", options.budget)
            valgrind, version = find_valgrind()
            with machine_lock(seconds_of("--wait-lock", options.wait_lock)), open_host() as host:
                planned = host.ready(plan(declared, host.facts()), say)
                echo = terminal_echo() if options.show_output else None
                counted = [*count_instructions(planned, host, valgrind, budget_s or 0.0, say, echo)]
                facts = host.facts()
        except (StudyError, HostError) as error:
            raise map_error(error) from error
    return _print_counts(counted, question, options, facts, version)


def _print_counts(
    counted: Sequence[CountedConfiguration], question: CountQuestion, options: CommandOptions, facts: HostFacts,
    version: str,
) -> int:  # fmt: skip
    shown = Screen(
        title=f"Does {question.other} execute more instructions than {question.reference}?",
        machine=DOT.join(filter(None, [machine_words(facts.machine()), version])),
        claim=count_claim(counted, question),
    )
    verdict = worst_of(counted, question.margin).answer(question.margin)
    document = count_document(counted, question, verdict, version)
    if question.summary is not None:
        append_summary(question.summary, summary(shown, document["answer"]))
    answer(shown, [("again", shlex.join(["scalograph", *sys.argv[1:]]))], document=document if options.json else None)
    export_document(options.export_json, shown, document)
    return CODES.get(verdict, Exit.DONE)


def worst_of(counted: Sequence[CountedConfiguration], margin: float) -> CountedConfiguration:
    """Return the configuration that decides: the gravest answer, and of these the largest difference."""
    return min(counted, key=lambda each: (SEVERITY.index(each.answer(margin)), -abs((each.ratio or 1.0) - 1)))


def count_document(
    counted: Sequence[CountedConfiguration], question: CountQuestion, verdict: CountAnswer, version: str
) -> dict[str, Any]:
    """Return the document of `ab --count --json`; a failed configuration leaves the answer inconclusive, as in `ab`."""
    return {
        "reference": question.reference, "other": question.other, "unit": "instructions", "valgrind": version,
        "answer": "inconclusive" if verdict == "failed" else verdict, "margin": question.margin,
        "configurations": [each.document(question.margin) for each in counted],
    }  # fmt: skip


def count_claim(counted: Sequence[CountedConfiguration], question: CountQuestion) -> Claim:
    """State whether the work grew, by the configuration that decides."""
    worst, answers = worst_of(counted, question.margin), [each.answer(question.margin) for each in counted]
    cases = [_case(worst, question, worst.answer(question.margin))]
    if len({*answers}) > 1 and cases[0].case == "more":
        rest = {"fewer": answers.count("fewer") or None, "left": answers.count("inconclusive") or None}
        cases.append(case("beside", n=answers.count("more"), all=len(answers), **rest))
    return state(FORMS, cases, _matrix(counted, question))


def _case(worst: CountedConfiguration, question: CountQuestion, verdict: CountAnswer) -> AnswerCase:
    level = _level_text(worst)
    if worst.ratio is None or worst.spread is None:
        return case("budget" if verdict == "inconclusive" else "failed", reason=worst.reason, level=level)
    by, ends = abs(worst.ratio - 1), sorted(abs(end - 1) for end in worst.ends())
    low, high = ends if worst.spread else (None, None)
    return case(
        verdict, reference=question.reference, other=question.other, margin=question.margin, by=by, level=level,
        spread=worst.spread, low=low, high=high,
    )  # fmt: skip


def _level_text(counted: CountedConfiguration) -> str:
    return ", ".join(f"{name}={level}" for name, level in counted.levels.items())


def _matrix(counted: Sequence[CountedConfiguration], question: CountQuestion) -> Matrix | None:
    rows = [
        MatrixRow(label=_level_text(each) or "all processes", cells=[MatrixCell(text=text) for text in _cells(each)])
        for each in counted
        if each.ratio is not None
    ]
    columns = [question.reference, question.other, "change"]
    return Matrix(title="instructions, user mode", columns=columns, rows=rows[:24]) if rows else None


def _cells(each: CountedConfiguration) -> list[str]:
    change = (each.ratio or 1.0) - 1
    shown = f"{'+' * (change > 0)}{MINUS * (change < 0)}{three_digits(abs(change))}"
    return [*(f"{fmean(runs):,.0f}" if runs else DASH for runs in (each.reference, each.other)), shown]
