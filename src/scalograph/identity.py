"""What must be the same for two runs to belong to one study, and how a difference is shown."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scalograph.errors import Problem, StudyError
from scalograph.study import Study

# A difference in these makes another machine; the boot, the host's name and the governor do not.
MACHINE_KEYS = ("cpu_model", "n_cpus", "memory_bytes", "kernel", "jvms")

# Parts of a study that do not change what is measured.
SHOWN = ("title", "tables", "published", "quick")


def as_journaled(study: Study) -> dict[str, Any]:
    """The study as a plain document: numbers with their units in the names."""
    return study.model_dump(mode="json", by_alias=False)


def study_hash(study: Study, sources: bytes = b"") -> str:
    """Identifies what is asked: the study with its levels spelled out, and the workload's sources.

    What only shows the results (titles, tables, published figures, the quick form) may change between runs, and so may
    the time budget: it ends the same order of runs earlier or later.
    """
    document = as_journaled(study)
    for shown in SHOWN:
        document.pop(shown)
    document["protocol"].pop("budget_s")
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode() + b"\0" + sources).hexdigest()


def hash_folder(folder: Path) -> bytes:
    """Digest of the files of a workload, by path and content; files made by builds are not in it."""
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        digest.update(file.relative_to(folder).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.digest()


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[Problem]:
    """What differs between the journal's first event and this start, one problem each."""
    found: list[Problem] = []
    for key in ("seed", "study_hash"):
        if before[key] != now[key]:
            found.append(_problem(key, before[key], now[key]))
    if before["study_hash"] != now["study_hash"]:
        found += [_problem(f"study.{path}", a, b) for path, a, b in _walk(before["study"], now["study"])]
    for key in MACHINE_KEYS:
        if before["machine"].get(key) != now["machine"].get(key):
            found.append(_problem(key, before["machine"].get(key), now["machine"].get(key)))
    return found


def refuse(problems: list[Problem], accepted: list[str]) -> None:
    """Stop a resume that would mix two studies.

    Raises:
        StudyError: for each difference that was not accepted by name.
    """
    left = [p for p in problems if _key(p) not in accepted]
    if left:
        raise StudyError(left)


def _key(problem: Problem) -> str:
    key = problem.where.removeprefix("resume: ")
    return "study_hash" if key.startswith("study.") else key


def _problem(key: str, before: Any, now: Any) -> Problem:
    fix = f"start anew, or add --accept-difference {'study_hash' if key.startswith('study.') else key}"
    return Problem(f"resume: {key}", f"now {now!r}", f"{before!r} as in the journal", fix)


def _walk(a: Any, b: Any, path: str = "") -> list[tuple[str, Any, Any]]:
    if isinstance(a, dict) and isinstance(b, dict):
        keys = [*a, *(key for key in b if key not in a)]
        return [d for key in keys for d in _walk(a.get(key), b.get(key), f"{path}.{key}".lstrip("."))]
    free = path.split(".")[0] in SHOWN or path == "protocol.budget_s"
    return [] if a == b or free else [(path, a, b)]
