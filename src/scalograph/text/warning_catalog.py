"""Warnings: of each code what was found, what it does to the result, and what to do about it.

The forms are filled as those of answers are (`answer_form.fill`): a code and its values decide every word.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from scalograph.text.answer_form import fill

# Code | what was found | effect on the result | remedy | flag in tables. Before `@have` stands the number of
# configurations. The first rows are flags of those, gravest first.
_SHORT = {
    "@wait": "Rerun with --wait-quiet 10m.", "@more": "Rerun with more runs.",
    "@doctor": "Run scalograph doctor to see what the check needs.",
}  # fmt: skip
_TABLE = """
none | @have no successful run | no results for these | | no successful run
uncorrected | @have disturbed runs only | these cannot be corrected | @wait | disturbed, cannot be corrected
disturbed | @include disturbed runs | their times are upper bounds | @wait | includes disturbed runs
disturbed rate | @include disturbed runs | their rates are lower bounds | @wait
disturbed value | @include disturbed runs | their values may be wrong | @wait
baseline | @have a disturbed baseline | their speedups are upper bounds | @wait | its baseline includes disturbed runs
timeout | @include runs ended by the timeout | the other runs are the faster ones | Rerun with a longer timeout. | \
includes runs ended by the timeout
physics | @have impossible values | do not rely on these
functional | @include runs in an emulated guest | their times are excluded | | functional, not timing
one machine | @include runs whose nodes are one machine | these show function, not timing | | functional, not timing
unverified | @include runs not checked for interference | their times may be too long | @doctor | {unverified} of \
{runs} runs not checked for interference
unverified rate | @include runs not checked for interference | their rates may be too low
unverified value | @include runs not checked for interference | their values may be wrong
off | @have a systematic error of 5% or more | slightly disturbed runs are included | @wait | systematic error up to \
{off}: slightly disturbed runs are included
unsteady | @have no steady state | no iteration is representative | Rerun with more iterations. | no steady state
late | @have too short a warm-up | first iterations are too slow | Raise warmup. | still warming up
cold | @include cold first runs | these differ from later runs | Raise warmup_runs. | its first runs were cold
single | @have one run | no confidence interval | @more | one run
imprecise | @have wider intervals than requested | | @more | less precise than requested
confined | @have fewer CPUs than given | the program restricted itself
survivors | @have processes left behind | their later CPU time is not counted | | left processes behind

corrected | Corrected for other processes ({share:percent} of the time) | no clean runs confirm the correction | @wait
corrected checked | Corrected for other processes ({share:percent} of the time), confirmed by {n} clean runs
corrected few | {n} of {of} runs corrected for other processes
corrected alone | Corrected for other processes ({share:percent} of the time) | the time may still be too long | @wait
withdrawn | The correction for other processes does not fit this program | disturbed runs are excluded | @wait

used | {used} of {of} runs used[[; {lost} excluded {cause}]][[; {included} disturbed runs are included]]
open | The runs are sound, but do not decide the question
unchecked | {n:runs} could not be checked for interference; included
excluded | Runs excluded ({cause}): {n}; worst: {worst}
included | Disturbed runs included ({cause}): {n}; worst: {worst}
not checked | Runs not checked ({cause}), included: {n}; worst: {worst}
short | @have fewer clean runs than requested
interrupted | Interrupted after {n}[[ of {of}]] runs; --resume continues
more time | {time} more[[ (--runs {runs})]] would narrow ±{half}%[[ at {at}]] to about {reached}
error | Systematic error at most {percent}%[[, except in flagged configurations ({n})]]
small | An effect of {effect:digits}% is within the systematic error of {percent}%
flagged | The answer uses a flagged value ({where})[[ and {more} more]] | {flag}
flags shown | {n} of {of} values shown are flagged | {flag}
no success | No run succeeded
no run | No run was made[[: {why}]]
mostly failed | {n} of {of} runs failed
mostly invalid | {n} of {of} runs have impossible values | a clock or a counter is wrong
mostly disturbed | {n} of {of} runs were disturbed[[ by {cause}]] | | @wait
busy | {n} of {of} runs were disturbed | only CPU times are usable, and may be slightly too long | @wait
invalid | {n} of {of} runs have impossible values | excluded, but a clock or a counter is wrong
failed | {n} of {of} runs failed | the others may not be typical
mostly unchecked | {n} of {of} runs could not be checked for interference | included; their times may be too long | \
@doctor

declared order | Runs were made in declared order | a drift of the machine looks like an effect | Rerun with order = \
"blocks".
accepted | The environment changed at a resume ({keys}) | earlier runs may differ
undeclared | Undeclared difference between runs: {first}[[ (and {more} more)]]
noisy | Runs of one configuration differ by {sd:digits}% | too noisy to compare | @more
noisy alone | Runs differ by {sd:digits}% | the typical value is uncertain | @more
bimodal | {what} are bimodal, {apart} apart | the mean is not representative
identical | All runs of {n} of {of} configurations have the same value | the clock may be too coarse
drift unchecked | {n} blocks are too few to check for drift | {enough} are enough
drift | The machine drifted between blocks (p = {p:digits}) | intervals of single configurations are too narrow, by \
{factor:digits} times or more (±{half:digits}% or more); comparisons within blocks hold
cold runs | Cold first runs[[ of the {whole}]] ({n}) {verb} {read} from disk, later runs {later} | their values \
differ by {change:signed} | Rerun with warmup_runs = {warmup}.
length excluded | {which} runs were excluded more often ({most:percent} vs. {least:percent})[[; times at {at} are \
probably too low]]
level excluded | Runs at {at} were excluded most often ({share:percent} vs. {overall:percent} overall) | their times \
are probably too low
detectable | Smallest detectable difference[[ in {response}]]: {percent:digits}%[[ (n = {n})]]
no noise | Runs of a typical configuration do not differ
all noise | Runs differ too much to detect any effect

even | Each configuration: {low:percent} of its runs excluded
by length | {low:percent} to {high:percent} of the runs excluded, depending on their length: {short:percent} of the \
shortest third, {long:percent} of the longest (p = {p:digits})
uneven | {low:percent} to {high:percent} of the runs excluded, more than by chance (p = {p:digits})
few | {low:percent} to {high:percent} of the runs excluded; too few outside of busy blocks to compare
chance | {low:percent} to {high:percent} of the runs excluded, as uneven as by chance (p = {p:digits})

undecided | {reason}
search open | The search ended[[ after {n} runs]] before its answer was certain
nothing known | Nothing is known of {what}
few settings | Too few runs to compare settings
wide settings | Intervals may reach {wide:at_most} to each side | the target was {target:at_most}
early end | The runs end before {unmade}
pairs differ | Pairs of runs differ by {noise:digits}% | intervals may be too narrow
no smooth surface | Pairs that fit no smooth surface: {n} of {of} | there is a cliff, or runs were disturbed
points open | {share:digits}% of the range is undecided after {n} pairs[[; about {more} more are needed]]
points unconfirmed | {n} pairs decide the whole range; {more} more would confirm it
generator limits | The load generator saturates first in {n} of {of} configurations
generator waits | The load generator waited for a CPU in {n} of {of} configurations
wrong answers | Wrong answers: {share:at_most} in the worst configuration[[; the first: {first}]]

output decides | Its output decides its work: {piped} with its output in a pipe, {null} without (to measure that: \
--stdout pipe)
believes | {runtime} sees {n} CPUs under a quota of {quota}; {effect}
busy start | CPU busy at the start of block {block}[[ after waiting {waited}]] ({seen})
waited | Block {block} started on a quiet machine after waiting {waited}
block invalid | Block {block} unusable: {n} of {of} runs have impossible values; not repeated
block busy | Block {block} unusable: {n} of {of} runs were disturbed; not repeated (to wait: --wait-quiet 10m; to use \
CPU times: --when-busy cpu-time)
block busy stop | Block {block} unusable: {n} of {of} runs were disturbed; stopped, as requested
block busy cpu-time | Block {block} unusable: {n} of {of} runs were disturbed; continuing with CPU times
block again | Block {block} unusable: {n} of {of} runs were disturbed; repeated, each time after waiting for quiet \
(--wait-quiet)
search invalid | Not measurable: {n} of {of} runs have impossible values[[, the last {row} in a row]]
search busy | Machine too busy: {n} of {of} runs were disturbed[[, the last {row} in a row]] (to wait: --wait-quiet \
10m)
many | {first}; {more} later blocks too
partners | CPU time and CPUs used exclude {named}, which worked for the runs
possible partners | CPU time and CPUs used exclude {named}, which may have worked for the runs
jobs lost | Jobs lost and made again: {n}; {first}
memory reclaimed | Memory limit of {limit} reached in {n:runs}; the kernel reclaimed pages | their times may \
include reading pages again
setting left | Run {run} left the setting {name} at {after}; before the run it was {before}
settings restored | Machine settings were changed for {n:runs}, then restored and verified after each: {named}
"""


def noted_sentences(warnings: Iterable[str]) -> list[str]:
    """Return the warnings about the program itself: its output decides its work, or it believes in other CPUs."""
    marks = CATALOG["output decides"].what.partition(":")[0], _BELIEVES
    return [f"{text}." for text in warnings if any(mark in text for mark in marks)]


class WarningForm(NamedTuple):
    """What was found, its effect on the result, and the remedy; `flag` stands at a configuration in tables."""

    what: str
    effect: str = ""
    remedy: str = ""
    flag: str = ""


def _parse_table() -> dict[str, WarningForm]:
    text = re.sub(r"@(wait|more|doctor)", lambda short: _SHORT[short[0]], _TABLE)
    for verb, of_one in (("have", "has"), ("include", "includes")):
        text = text.replace(f"@{verb} ", f"[[{{many}} of {{of}} configurations {verb} ]][[{{one}} {of_one} ]]")
    rows = (map(str.strip, line.split(" |")) for line in text.splitlines() if line)
    return {code: WarningForm(*forms) for code, *forms in rows}


CATALOG = _parse_table()
_BELIEVES = " CPUs under a quota of "

# What disturbed a run, and why runs are excluded that only one of them disturbed.
NAMES = {"neighbor": "other processes", "steal": "CPU steal", "observer": "the probe"}
REASONS = {"neighbor": "because other processes used the CPU", "steal": "because the hypervisor used the CPU"}


def _fill(form: str, values: Mapping[str, Any]) -> str:
    """Fill a form; of `n` of the configurations of a study, one is a singular subject.

    >>> [_fill(CATALOG["survivors"].what, {"n": n, "of": of}) for n, of in ((2, 3), (1, 3))]
    ['2 of 3 configurations have processes left behind', '1 of 3 configurations has processes left behind']
    """
    n, of = values.get("n"), values.get("of")
    single = "the only configuration" if of == 1 else f"1 of {of} configurations"
    return fill(form, {"many": None if n == 1 else n, "one": single if n == 1 else None, **values})


def warning_text(code: str, **values: Any) -> str:
    """Return what was found.

    >>> warning_text("used", used=20, of=22, lost=2, cause="(CPU steal)")
    '20 of 22 runs used; 2 excluded (CPU steal)'
    """
    return _fill(CATALOG[code].what, values)


def flag_text(code: str, **values: Any) -> str:
    """Return the flag of a configuration.

    >>> flag_text("disturbed")
    'includes disturbed runs'
    """
    return CATALOG[code].flag.format(**values)


class Caveat(NamedTuple):
    """A reason to doubt a study: its code and values, and whether it concerns the whole study.

    >>> Caveat("failed", {"n": 4, "of": 36}).text
    '4 of 36 runs failed; the others may not be typical'
    """

    code: str
    values: Mapping[str, Any] = {}
    whole: bool = True

    @property
    def text(self) -> str:
        """Return what was found and its effect."""
        form = CATALOG[self.code]
        return _fill("; ".join(filter(None, (form.what, form.effect))), self.values)

    @property
    def remedy(self) -> str:
        """Return what to do about it; empty if nothing helps."""
        return fill(CATALOG[self.code].remedy, self.values)
