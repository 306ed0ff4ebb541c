"""What a session may do to the whole machine: nothing unless allowed; what may harm others only by name."""

from collections.abc import Iterator
from dataclasses import dataclass

from scalograph.control.control import find_control
from scalograph.control.kernel_files import normalize_value
from scalograph.control.machine_control import MachineControl
from scalograph.errors import Problem, StudyError
from scalograph.protocol.facts import HostFacts
from scalograph.study.model import Study

ALLOW, NAME = "--machine-wide", "--dangerous"


@dataclass(frozen=True)
class Consent:
    """What a session may do: change settings of the whole machine, and `dangerous` ones of these names."""

    machine_wide: bool = False
    dangerous: tuple[str, ...] = ()

    def restrict_to(self, study: Study) -> "Consent":
        """Return the part of it that a study needs."""
        labels = {control.label: control for control in machine_controls(study).values()}
        needed = self.machine_wide and bool(labels or study.reset.drop_caches)
        return Consent(needed, tuple(name for name in self.dangerous if name in labels))

    def words(self) -> list[str]:
        """Return it as command-line arguments."""
        return [*[ALLOW] * self.machine_wide, *(word for name in self.dangerous for word in (NAME, name))]


NO_CONSENT = Consent()


def refuse_unnamed(study: Study, facts: HostFacts, consent: Consent) -> None:
    """Refuse a study that changes more of the machine than its session may.

    Raises StudyError, which names each setting, and what to add to the command.
    """
    if problems := [*_find_problems(study, facts, consent)]:
        raise StudyError(problems)


def _find_problems(study: Study, facts: HostFacts, consent: Consent) -> Iterator[Problem]:
    controls = machine_controls(study)
    for name, control in controls.items():
        levels, where = [level for level in study.factors[name].levels if level is not False], f"factors.{name}"
        if levels and not consent.machine_wide:
            yield Problem(where, f"{control.label} is a setting of the whole machine", ALLOW, f"add {ALLOW}")
        harms = {level: danger for level in levels if (danger := control.dangers(normalize_value(str(level)), facts))}
        if harms and control.label not in consent.dangerous:
            level, danger = next(iter(harms.items()))
            word = f"{NAME} {control.label}"
            yield Problem(where, f"{control.label} = {level}: {danger}", word, f"leave it out, or add {word}")
    if study.reset.drop_caches and not consent.machine_wide:
        yield Problem("reset.drop_caches", "it drops the caches of all programs", ALLOW, f"add {ALLOW}")
    for name in consent.dangerous:
        if name not in {control.label for control in controls.values()}:
            yield Problem(NAME, f'"{name}"', "a setting that a factor of the study changes", "leave it out")


def machine_controls(study: Study) -> dict[str, MachineControl]:
    """Return the controls of settings of the whole machine, by factor."""
    controls = {name: find_control(factor.control) for name, factor in study.factors.items() if factor.control}
    return {name: control for name, control in controls.items() if isinstance(control, MachineControl)}
