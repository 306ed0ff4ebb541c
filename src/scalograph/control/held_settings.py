"""One setting of the machine, changed while a context lasts: written ahead, read back, restored, and read once more."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from errno import errorcode
from pathlib import Path

from scalograph.control.control import HeldSetting
from scalograph.control.kernel_files import KERNEL, MAX_VALUE
from scalograph.control.settings import Setting, SettingChange
from scalograph.control.store import Store, apply_change, lock_machine
from scalograph.errors import HostError
from scalograph.study.control_names import Reset

_ELSEWHERE = "leave the factor out"
_FIXES = {
    "EROFS": f"run outside the container, or {_ELSEWHERE}",
    "EACCES": f"run as root, or {_ELSEWHERE}",
    "EPERM": f"run as root, or {_ELSEWHERE}",
    "ENOENT": f"correct its name, or {_ELSEWHERE}: this kernel does not have it",
    "EINVAL": "use a value that this kernel takes",
}


def setting_label(setting: Setting, name: str) -> str:
    """Return the label of a setting in records and messages: of a sysctl its own name.

    >>> setting_label(Setting.SYSCTL, "vm.swappiness"), setting_label(Setting.IO_SCHEDULER, "sda")
    ('vm.swappiness', 'io-scheduler:sda')
    >>> setting_label(Setting.THP, "")
    'thp'
    """
    return name if setting == Setting.SYSCTL else f"{setting.value}:{name}".rstrip(":")


def refusal_error(error: OSError, name: str, what: str) -> HostError:
    """Return the error of a refusal by the kernel: of what, for which reason, and what would help."""
    code = errorcode.get(error.errno or 0, "")
    reason = f"{code}: {os.strerror(error.errno)}" if error.errno else str(error)
    return HostError(name, f"{what} ({reason})", "", _FIXES.get(code, _ELSEWHERE))


class KernelValue:
    """One setting of the kernel below the folder of a store, the machine's by default.

    `name` tells settings of one kind apart; empty if there is one only.
    """

    def __init__(self, setting: Setting, name: str = "", store: Store | None = None) -> None:
        self.setting, self.name, self.store = setting, name, store or Store.locate()
        self.label = setting_label(setting, name)
        self._place = KERNEL[setting].place(self.store.kernel, name)

    def read(self) -> str:
        """Return what is in force. Raises HostError if it cannot be read, or is longer than what may be changed."""
        try:
            value = self._place.value()
        except OSError as error:
            raise refusal_error(error, self.label, "cannot be read") from error
        if len(value) > MAX_VALUE:
            raise HostError(self.label, f"{len(value)} characters", f"at most {MAX_VALUE}", _ELSEWHERE)
        return value

    def put(self, value: str) -> None:
        """Write a value; the kernel may take another one. Raises HostError with the kernel's reason."""
        try:
            self._place.set(value)
        except OSError as error:
            raise refusal_error(error, self.label, f"cannot be set to {value}") from error

    def change(self) -> SettingChange:
        """Return the recorded change from its current value. Raises HostError."""
        return SettingChange(setting=self.setting, name=self.name, old=self.read())


# What is undone in the end, the last one first, where the kernel changes more with a setting than that.
Changes = Callable[[KernelValue], Sequence[SettingChange]]


@contextmanager
def hold_setting(
    value: KernelValue, asked: str, changes: Changes = lambda value: (value.change(),)
) -> Iterator[HeldSetting]:
    """Set a setting to the value `asked` while the context lasts; the machine is locked meanwhile.

    `changes` lists what is undone. `at_end` and `after` of what is yielded are known when the context has ended.

    Raises HostError if it cannot be read, set or restored, with the kernel's reason.
    """
    with lock_machine(store=value.store):
        held = HeldSetting(value.label, before=value.read(), asked=asked)
        # What is as asked is not written: there would be nothing to restore.
        undo = () if held.before == asked else changes(value)
        change = apply_change(undo[-1], lambda: value.put(asked), value.store, undo[:-1]) if undo else nullcontext()
        with change:
            held.in_force = value.read()
            yield held
            held.at_end = value.read()
        held.after = value.read()


def check_reset(reset: Reset, root: Path = Path("/")) -> None:
    """Check that caches may be dropped here; nothing is dropped. Raises HostError with the kernel's reason."""
    if reset.drop_caches:
        with _open_drop_caches(root):
            pass


def perform_reset(reset: Reset, root: Path = Path("/")) -> None:
    """Write dirty pages back, then drop caches, as declared: the kernel drops only clean ones. Raises HostError."""
    if reset.sync:
        os.sync()
    if reset.drop_caches:
        with _open_drop_caches(root) as fd:
            os.write(fd, b"%d\n" % reset.drop_caches)


@contextmanager
def _open_drop_caches(root: Path) -> Iterator[int]:
    try:
        fd = os.open(root / "proc/sys/vm/drop_caches", os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            yield fd
        finally:
            os.close(fd)
    except OSError as error:
        raise refusal_error(error, "reset.drop_caches", "cannot be done") from error
