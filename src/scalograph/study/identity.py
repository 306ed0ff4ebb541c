"""Decide whether runs belong to one study, and explain differences."""

import errno
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os.path import normpath, pardir
from pathlib import Path, PurePosixPath
from typing import Any

from scalograph.errors import Problem, StudyError
from scalograph.protocol.bounded import MAX_SOURCE_BYTES, digest_files
from scalograph.protocol.journal import wrap_event_errors
from scalograph.study.check_published import check_claims
from scalograph.study.cross_checks import Mistake, check_question_rules, check_references, table
from scalograph.study.load import quick_form
from scalograph.study.model import Study
from scalograph.study.toml_text import format_path


def parse_journaled_study(document: Any) -> Study:
    """Parse the study of a `study` or `resume` event. Raises ValueError for an invalid one."""
    study = Study.model_validate(document, context={"journal": True})
    for path, text, expected, _ in _mistakes(study):
        raise ValueError(f"study.{format_path(path)}: {text}, expected {expected}")
    return study


def _mistakes(study: Study) -> Iterator[Mistake]:
    """Find mistakes that no declared study has.

    Levels are those of one host: what a study excludes, or quotes of a paper, may be none of them. The protocol may
    be that of a quick form, or of options.
    """
    raw = study.model_dump(by_alias=True, exclude_defaults=True)
    raw.pop("protocol", None)
    factors = raw["factors"]
    named = {**raw, "factors": {name: {**factor, "levels": None} for name, factor in factors.items()}}
    yield from check_references(named)
    published = table(raw, "published")
    # Another release may have offered other quantities.
    claims = [{key: claim[key] for key in claim if key != "quantity"} for claim in published.get("claims", [])]
    yield from check_claims({**named, "published": {**published, "claims": claims} if claims else published})
    listed = {name: {"levels": factor["levels"]} for name, factor in factors.items()}
    yield from check_references({"factors": listed, "baseline": table(raw, "baseline")})
    yield from check_question_rules(raw)
    file = study.published.file if study.published else ""
    if PurePosixPath(file).is_absolute() or PurePosixPath(normpath(file)).parts[:1] == (pardir,):
        expected = "a file inside the study's folder"
        yield ("published", "file"), f'"{file}" leads outside the study\'s folder', expected, "name one"


# A difference in these means another machine; one in the boot, the host's name or the governor does not.
MACHINE_KEYS = ("cpu_model", "n_cpus", "memory_bytes", "kernel")
USED_KEYS = ("jvms", "program", "fetched", "prepared", "files", "kernels")
# Each kernel keeps some of the memory to itself: where it is a factor, that is no other machine.
KEPT_MEMORY = 1 / 32
# Runs under another seed or of other configurations belong to another design: nothing makes both one study.
NEVER = ("seed", "configurations")

# A start that asks for further runs accepts by this name that they are more than before, and nothing else.
MORE_RUNS = "--runs"

# Parts of a study that do not change what is measured.
SHOWN = ("title", "reference", "tables", "compare", "published", "quick")
# Nor do these keys of `protocol`: they end the same order of runs earlier or later, or say what to do meanwhile.
FREE = ("budget_s", "budget_runs", "wait_quiet_s", "when_busy", "max_idle", "max_node_hours", "node_reference_s")
# Files of one workload.
MAX_SOURCES = 100_000


def dump_study(study: Study) -> dict[str, Any]:
    """Return the study as a plain document, with units in the names of numbers."""
    return study.model_dump(mode="json", by_alias=False)


def study_hash(study: Study, sources: bytes = b"") -> str:
    """Return the hash of the study with its levels resolved, and the workload's sources.

    What only shows the results (titles, groups of factors, tables, published figures, the quick form) may change
    between runs; so may budgets and what is done on a busy machine.
    """
    document = dump_study(study)
    for shown in SHOWN:
        document.pop(shown, None)
    for factor in document["factors"].values():
        factor.pop("group", None)
    for free in FREE:
        document["protocol"].pop(free, None)
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode() + b"\0" + sources).hexdigest()


def hash_folder(folder: Path) -> bytes:
    """Return the digest of a workload's files by path and content, without its page and files made by builds."""
    digest = hashlib.sha256()
    try:
        digest_files(digest, folder, sorted(_sources(folder)), MAX_SOURCE_BYTES)
    except (OSError, RecursionError) as error:
        reason = "folders nested too deeply" if isinstance(error, RecursionError) else error.strerror
        fix = "keep data elsewhere, and name its place in the command"
        where = str(getattr(error, "filename", None) or folder)
        raise StudyError.one(where, f"cannot be read: {reason}", "the sources of a workload", fix) from error
    return digest.digest()


def _sources(folder: Path) -> Iterator[Path]:
    page = folder / "README.md"  # for people: no run reads it
    files = (path for path in folder.rglob("*") if "__pycache__" not in path.parts and path != page and path.is_file())
    for n, file in enumerate(files):
        if n == MAX_SOURCES:
            raise OSError(errno.EFBIG, f"more than {MAX_SOURCES} files", str(folder))
        yield file


@dataclass(frozen=True)
class Difference:
    """A difference between the journal's first event and this start; `key` is of study, machine or use."""

    key: str
    before: Any
    now: Any

    @property
    def name(self) -> str:
        """The name that --accept-difference uses."""
        return "study_hash" if self.key.startswith("study.") else self.key

    def problem(self) -> Problem:
        fix = "start over" if self.name in NEVER else f"start over, or add --accept-difference {self.name}"
        if self.key == "configurations":
            return Problem("resume: configurations", f"now {len(self.now)}, not the same or in another order", "", fix)
        return Problem(f"resume: {self.key}", f"now {self.now!r}", f"{self.before!r} as in the journal", fix)


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[Difference]:
    """Return what differs between the journal's first event and the one this start would write."""
    with wrap_event_errors(before, 1):
        pairs = [
            *((key, before[key], now[key]) for key in ("seed", "study_hash")),
            ("configurations", _configurations(before), _configurations(now)),
            *((key, before["machine"].get(key), now["machine"].get(key)) for key in MACHINE_KEYS),
            *((key, before["uses"].get(key), now["uses"].get(key)) for key in USED_KEYS),
        ]
        if before["study_hash"] != now["study_hash"]:
            pairs += [(f"study.{path}", a, b) for path, a, b in _walk(before["study"], now["study"])]
        is_booted = before["machine"].get("kernel") is None and now["machine"].get("kernel") is None
    differing = [Difference(key, a, b) for key, a, b in pairs if _content(a) != _content(b)]
    return [difference for difference in differing if not (is_booted and _is_kept(difference))]


def runs_difference(differing: Sequence[Difference]) -> Difference | None:
    """Return the difference in runs per configuration, if nothing else of the study differs."""
    keys = {difference.key for difference in differing if difference.name == "study_hash"}
    runs = next((difference for difference in differing if difference.key == "study.protocol.runs"), None)
    return runs if runs and keys == {"study_hash", runs.key} else None


def other_form(before: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """Return the remedy if one event is of the full study and the other of its quick form."""
    with wrap_event_errors(before, 1):
        was, is_ = (parse_journaled_study(event["study"]) for event in (before, now))
        for full, quick, fix in ((is_, was, "add --quick"), (was, is_, "leave --quick out")):
            if study_hash(full) != study_hash(quick) == study_hash(quick_form(full)):
                return fix
    return None


def refuse_differences(differing: list[Difference], accepted: list[str]) -> None:
    """Refuse a resume that would mix two studies."""
    left = [difference for difference in differing if difference.name not in accepted or difference.name in NEVER]
    if left:
        raise StudyError([difference.problem() for difference in left])


def _configurations(event: Mapping[str, Any]) -> list[list[tuple[str, Any]]]:
    return [list(configuration.items()) for configuration in event["design"]["configurations"]]


def _content(value: Any) -> Any:
    """Return what identifies a value: a program is the same in any folder."""
    return value["sha256"] if isinstance(value, dict) and "sha256" in value else value


def _is_kept(difference: Difference) -> bool:
    """Return whether memory differs by no more than a kernel may keep: no module is that small."""
    a, b = difference.before, difference.now
    are_sizes = difference.key == "memory_bytes" and isinstance(a, int) and isinstance(b, int)
    return are_sizes and abs(a - b) <= KEPT_MEMORY * max(a, b)


def _walk(a: Any, b: Any, path: str = "") -> list[tuple[str, Any, Any]]:
    if isinstance(a, dict) and isinstance(b, dict):
        keys = [*a, *(key for key in b if key not in a)]
        return [d for key in keys for d in _walk(a.get(key), b.get(key), f"{path}.{key}".lstrip("."))]
    is_group = path.startswith("factors.") and path.endswith(".group")
    free = path.split(".")[0] in (*SHOWN, "seed") or path in {f"protocol.{name}" for name in FREE}
    return [] if a == b or free or is_group else [(path, a, b)]
