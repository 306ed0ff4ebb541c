"""The command lines that reproduce a result."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from scalograph.errors import StudyError
from scalograph.protocol.bounded import read_whole
from scalograph.study.control_names import control_row
from scalograph.study.identity import FREE
from scalograph.study.load import load, quick_form
from scalograph.study.model import Factor, Protocol, Study, WorkloadUse
from scalograph.study.scalars import Level
from scalograph.study.shipped import shipped_studies, shipped_study, shipped_workloads
from scalograph.study.toml_text import MAX_BYTES

# Of `FREE`, how a start says it.
_OPTIONS = {
    "budget_s": "--budget", "budget_runs": "--max-runs", "wait_quiet_s": "--wait-quiet", "when_busy": "--when-busy",
    "runs": "--runs",
}  # fmt: skip


def reproduction_commands(study: Study, copy: Path, machine: Mapping[str, Any] | None = None) -> list[str]:
    """Return the command lines that reproduce a result and show it.

    The journal holds the study as it was run, levels resolved; its declaration, which a run copies to the results
    folder, tells which options made it so.
    """
    where = [*_host_options(study, machine or {})]
    shipped = shipped_study(study.name) / "study.toml" if study.name in shipped_studies() else None
    if shipped and not _is_other_text(copy, shipped):
        again = [" ".join([f"scalograph study {study.name}", *_options(study, shipped), *where])]
    else:
        again = [_run_command(study, copy, where)] if copy.is_file() else []
    return [*again, "scalograph report ."]


def _run_command(study: Study, copy: Path, where: Sequence[str]) -> str:
    """Note the folder to run in if the copy alone would not find the workload."""
    there = study.workload.cwd != "scratch"
    called = " ".join([f"scalograph run {'RESULTS/' if there else ''}study.toml", *_options(study, copy), *where])
    if there:
        return f"{called}    # from the folder where it was started"
    return f"{called}    # from the study's own folder" if _brings_files(study.workload) else called


def _brings_files(use: WorkloadUse) -> bool:
    if use.use is not None:
        return use.use not in shipped_workloads()
    argvs = [argv for argv in (use.command, use.setup, use.prepare, use.cleanup) if argv]
    beside = any("/" in argv[0] and not argv[0].startswith(("/", "{")) for argv in argvs)
    return beside or any("{here}" in word for argv in argvs for word in argv)


def _is_other_text(copy: Path, shipped: Path) -> bool:
    """Return whether the study only shares its name with a built-in one."""
    try:
        return copy.is_file() and read_whole(copy, MAX_BYTES) != shipped.read_bytes()
    except OSError:
        return True


def _options(study: Study, file: Path) -> list[str]:
    try:
        declared = load(file)
        shorter = quick_form(declared)
    except StudyError:  # of another release: the command would say so itself
        return []
    quick = _distance(shorter, study) < _distance(declared, study)
    return [*(["--quick"] if quick else []), *_start_options(study.protocol, (shorter if quick else declared).protocol)]


def _host_options(study: Study, machine: Mapping[str, Any]) -> Iterator[str]:
    if machine.get("accelerator"):
        yield "--host guest"  # its settings are its own
        return
    if machine.get("reached"):
        yield f"--host {machine['reached']}" if machine.get("cluster") else f"--host {machine['reached']}:NAME"
    if study.reset.drop_caches or any(map(_is_machine_wide, study.factors.values())):
        yield "--machine-wide"


def _is_machine_wide(factor: Factor) -> bool:
    row = control_row(factor.control) if factor.control else None
    return row is not None and row.machine_wide and any(level is not False for level in factor.levels)


def _start_options(asked: Protocol, declared: Protocol) -> Iterator[str]:
    for key, option in _OPTIONS.items():
        value = getattr(asked, key)
        if value not in (None, getattr(declared, key)):
            yield f"{option} {value:.15g}s" if isinstance(value, float) else f"{option} {value}"


def _distance(declared: Study, study: Study) -> int:
    """Return 0 if the declaration gives this study, 1 if it does with other run counts, else 2."""
    return next((n for n, free in enumerate((FREE, (*FREE, "runs"))) if _leads_to(declared, study, free)), 2)


def _leads_to(declared: Study, study: Study, free: Sequence[str]) -> bool:
    """Return whether a declaration, with levels resolved on some host, is this study, free options aside."""
    changes = {name: Protocol.model_fields[name].default for name in free}
    timeless = [form.protocol.model_copy(update=changes) for form in (declared, study)]
    if timeless[0] != timeless[1] or declared.exclude != study.exclude or [*declared.factors] != [*study.factors]:
        return False
    return all(_may_become(factor, study.factors[name].levels) for name, factor in declared.factors.items())


def _may_become(declared: Factor, levels: list[Level] | str) -> bool:
    if isinstance(declared.levels, str) or isinstance(levels, str):
        return True  # text waits for a host
    if declared.control == "jvm" and {"all", "default"} & set(declared.levels):
        return True  # so do its names
    if declared.most_gib and levels == declared.levels[:1]:
        return True  # the machine has more memory
    return levels == [level for level in declared.levels if level in levels or level not in declared.if_granted]
