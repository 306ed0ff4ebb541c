"""A setting of the whole machine: changed for a run, and restored after it; and what a session may do to it."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from errno import errorcode
from pathlib import Path

from scalograph.control.control import Control, HeldSetting, Level, LevelError, find_control
from scalograph.control.held_settings import KernelValue, hold_setting, setting_label
from scalograph.control.kernel_files import MAX_VALUE, normalize_value
from scalograph.control.settings import Setting, SettingChange
from scalograph.errors import HostError, Problem, StudyError
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.record import Record
from scalograph.study.model import Study

MACHINE_SETTINGS = "machine"


def why_no_settings(root: Path = Path("/")) -> str | None:
    """Explain why settings of the machine are refused, by opening one that every kernel has; None if they are not."""
    try:
        os.close(os.open(root / "proc/sys/vm/swappiness", os.O_WRONLY | os.O_CLOEXEC))
    except FileNotFoundError:  # a recorded tree, or a kernel without: each setting is attempted by itself
        return None
    except OSError as error:
        return f"{errorcode.get(error.errno or 0, 'OSError')}: /proc/sys may not be written"
    return None


class MachineControl(Control, ABC):
    """Levels are values of the setting as text or a number; `false` leaves it as it is.

    The run's record has the values before, in and after the run. A session must be allowed to change such a setting
    (`scalograph.control.machine_control`). `label` is its name in records, and for `--dangerous`.
    """

    setting: Setting

    def __init__(self, name: str = "") -> None:
        self.name, self.label = name, setting_label(self.setting, name)

    @abstractmethod
    def check(self, value: str, facts: HostFacts) -> None:
        """Raise LevelError for a text that is no value of the setting, as far as that is known without it."""

    def dangers(self, value: str, facts: HostFacts) -> str | None:
        """Explain why a value may end or harm what else runs on the machine; None if it does not."""
        return None

    def changes(self, value: KernelValue) -> Sequence[SettingChange]:
        """Return what is undone after a run, the last one first: more than one if the kernel changes others with it."""
        return (value.change(),)

    def text(self, level: Level, facts: HostFacts) -> str:
        """Return a level as the kernel writes it."""
        return normalize_value(str(level))

    def program(self, level: Level, facts: HostFacts) -> str | None:
        """Return the program that keeps a level in force while it runs; None where the kernel keeps it."""
        return None

    def value(self) -> KernelValue:
        return KernelValue(self.setting, self.name)

    def apply_settings(self, level: Level, facts: HostFacts) -> AbstractContextManager[HeldSetting | None]:
        if level is False:
            return nullcontext()
        return hold_setting(self.value(), self.text(level, facts), self.changes)

    def attempt(self, level: Level, facts: HostFacts) -> None:
        """Set a level and restore it: a study should not end in its last hour because it is refused.

        Raises HostError if the kernel refuses it, or takes another value.
        """
        with self.apply_settings(level, facts) as held:
            if held and held.in_force != held.asked:
                mismatch = f"asked for {held.asked}, the kernel has {held.in_force}"
                raise HostError(held.name, mismatch, "a value that it keeps", "change the level")

    def read_back(self, level: Level, facts: HostFacts, record: Record) -> list[str]:
        if level is False:
            return []
        asked = self.text(level, facts)
        settings = [setting for setting in record.settings if setting.name == self.label]
        pairs = [("in force was", setting.in_force) for setting in settings] + [
            ("at the end it was", setting.at_end) for setting in settings
        ]
        return [f"{self.label}: asked for {asked}, {words} {value}" for words, value in pairs if value != asked][:1]

    def check_level(self, level: Level, facts: HostFacts) -> None:
        if level is False:
            return
        text = str(level)
        if level is True or not text.strip() or len(text) > MAX_VALUE or not normalize_value(text).isprintable():
            expected = f"a value of at most {MAX_VALUE} characters, or false to leave it as it is"
            raise LevelError(f"{self.label} = {str(level)[:60]!r}", expected, "correct it")
        if reason := facts.refused.get(MACHINE_SETTINGS):
            fix = "leave it out; for the reason: scalograph doctor --all"
            raise LevelError(f"{self.label} {text} is refused here ({reason})", "false", fix)
        self.check(normalize_value(text), facts)


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
