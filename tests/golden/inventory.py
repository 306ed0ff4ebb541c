"""All that a user can name: commands, options, questions, controls, keys of documents, columns, attributes.

Each entry is one text. What a script renames or moves is found again: entries are made by looking, not by hand.
"""

import csv
import io
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from msgspec.json import schema
from pydantic import BaseModel, TypeAdapter

import scalograph
from scalograph import analysis
from scalograph.cli.app import app
from scalograph.errors import Exit
from scalograph.protocol.findings import Findings
from scalograph.protocol.record import Record
from scalograph.protocol.reproduction import Reproduction
from scalograph.questions.registry import QUESTIONS, READINGS, role, roles_present
from scalograph.run.hosts.host_names import ELSEWHERE, HOSTS
from scalograph.study.control_names import CONTROLS
from scalograph.study.reader_names import READERS
from scalograph.study.shipped import shipped_studies, shipped_workloads
from tests.golden.answers import COMMANDS as ANSWERED
from tests.golden.answers import RECORDED, lay_out
from tests.golden.kept import JOURNALS, NAMES, kept_findings
from tests.kit.command import in_process, simulated

FILE = Path(__file__).resolve().parent / "inventory.json"
# Keys below these are of one machine or one study.
_FREE = ("machine", "verdicts", "failures", "group", "configuration", "where", "responses", "params")
_ESTIMATE = {"value", "low", "high"}
# Of what is run here, deeper keys depend on the machine.
_RUNS, _DEPTH_OF_RUNS = ("measure", "ab"), 2
_POINTS = "n,throughput\n1,10\n2,19\n4,35\n8,58\n1,10.1\n2,19.2\n4,34\n8,57\n"
_TIMES = {f"sleep 0.0{n}": 0.04 / n for n in (1, 2, 4)}
# What is run for its document; `{...}` of a command line stays as it is.
DOCUMENTS: dict[str, tuple[str, ...]] = {
    **ANSWERED,
    "analyze": ("analyze", "postgres-clients"),
    "check": ("check", "declared/study.toml"),
    "plan": ("plan", "declared/study.toml"),
    "fit": ("fit", "points.csv"),
    "gate": ("gate", "history/first", "--against", "history/second", "--margin", "5%", "--format", "json"),
    "study": ("study", "--list"),
    "reproduce": ("reproduce", "--list"),
    "measure": ("measure", "--threads", "1,2,4", "--runs", "3", "--", "sleep", "0.0{threads}"),
    "ab": ("ab", "--a", "1", "--b", "2", "--pairs", "9", "--", "sleep", "0.0{version}"),
}


def inventory(folder: Path) -> list[str]:
    """Return every entry, sorted; commands are run in an empty folder."""
    lay_out(folder)
    shutil.copytree(JOURNALS / "postgres-clients", folder / "postgres-clients")
    shutil.copytree(RECORDED / "before-rename" / "study", folder / "declared")
    (folder / "points.csv").write_text(_POINTS)
    sources = (_commands(), _registries(), _models(), _printed_documents(folder), _columns(folder), _notebook(folder))
    return sorted({entry for source in sources for entry in source})


def _commands() -> Iterator[str]:
    yield from _command("scalograph", app)


def _command(name: str, command: Any) -> Iterator[str]:
    yield f"command {name}"
    for option in command.params:
        names = [*option.opts, *option.secondary_opts] if option.param_type_name == "option" else [option.name.upper()]
        yield from (f"option {name} {one}" for one in names)
    if hasattr(command, "list_commands"):
        context = typer.Context(command)
        for inner in command.list_commands(context):
            yield from _command(f"{name} {inner}", command.get_command(context, inner))


def _registries() -> Iterator[str]:
    named: dict[str, Iterable[str]] = {
        "question": QUESTIONS, "reading": READINGS, "search of a command line": roles_present("find"),
        "source of published quantities": roles_present("published"), "chart of": roles_present("chart"),
        "reader": READERS, "host": [*HOSTS, *(f"{name}:NAME" for name in ELSEWHERE)], "control": CONTROLS,
        "study": shipped_studies(), "workload": shipped_workloads(),
        "exit code": (f"{code.value} {code.name}" for code in Exit),
    }  # fmt: skip
    for kind, names in named.items():
        yield from (f"{kind} {name}" for name in names)


def _models() -> Iterator[str]:
    """Keys of the documents that have a schema; those of study files are what `check` prints for an editor."""
    for name, model in {"findings": Findings, "reproduction": Reproduction}.items():
        yield from (f"key of {name}: {path}" for path in _keys(model.model_json_schema()))
    yield from (f"key of run record: {path}" for path in _keys(schema(Record)))
    for question in roles_present("document"):
        for model in _documents(question):
            yield from (f"key of {question}, {model.__name__}: {path}" for path in _keys(model.model_json_schema()))


def _documents(question: str) -> Iterator[type[BaseModel]]:
    """Find the models of a question's part that no other model of it holds."""
    module = role(question, "document")
    here = [m for m in vars(module).values() if isinstance(m, type) and issubclass(m, BaseModel)]
    here = [model for model in here if model.__module__ == module.__name__]
    held = {name for model in here for name in model.model_json_schema().get("$defs", {})}
    yield from (model for model in here if model.__name__ not in held)


def _keys(document: Mapping[str, Any]) -> set[str]:
    """Return the paths of all keys of a JSON schema; a list is `[]`, a table with free keys `*`."""
    return {*_paths(document, document.get("$defs", {}), "", ())}


def _paths(node: Mapping[str, Any], models: Mapping[str, Any], at: str, within: tuple[str, ...]) -> Iterator[str]:
    if (reference := node.get("$ref")) is not None:
        name = reference.rpartition("/")[2]
        if name not in within and not models[name].get("properties", {}).keys() >= _ESTIMATE:
            yield from _paths(models[name], models, at, (*within, name))
    for choice in (*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ())):
        yield from _paths(choice, models, at, within)
    for key, value in node.get("properties", {}).items():
        path = f"{at}.{key}".lstrip(".")
        yield path
        yield from _paths(value, models, path, within)
    for key, mark in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(node.get(key), Mapping):
            yield from _paths(node[key], models, f"{at}{mark}".lstrip("."), within)


def _printed_documents(folder: Path) -> Iterator[str]:
    """Keys that commands print with --json, and those of study files."""
    env = simulated(folder, _TIMES)
    for name, words in DOCUMENTS.items():
        at = words.index("--") if "--" in words else len(words)
        as_document = () if "json" in words else ("--json",)
        done = in_process(*words[:at], *as_document, *words[at:], cwd=folder, env=env)
        assert done.stdout.startswith(("{", "[")), f"{name}: {done.stderr}"
        paths = _printed(json.loads(done.stdout), "")
        paths = (path for path in paths if words[0] not in _RUNS or path.count(".") < _DEPTH_OF_RUNS)
        yield from (f"key of {words[0]} --json: {path}" for path in paths)
    for question in roles_present("find"):
        for found in filter(lambda found: found.study.question == question, _golden_findings()):
            paths = _printed(role(question, "find").figures(found), "")
            yield from (f"key of find {question} --json: {path}" for path in paths)
    declared = json.loads(in_process("check", "--schema", cwd=folder).stdout)
    yield from (f"key of study.toml: {path}" for path in _keys(declared))


def _golden_findings() -> list[Findings]:
    return [Findings.model_validate(kept_findings(name)) for name in NAMES]


def _printed(node: Any, at: str) -> Iterator[str]:
    if isinstance(node, dict) and not node.keys() >= _ESTIMATE:
        for key, value in node.items():
            path = f"{at}.{key}".lstrip(".")
            yield path
            if key not in _FREE:
                yield from _printed(value, path)
    elif isinstance(node, list):
        for value in node:
            yield from _printed(value, f"{at}[]")


def _columns(folder: Path) -> Iterator[str]:
    source = JOURNALS / "postgres-clients" / "journal.jsonl.gz"
    for form in ("observations", "runs", "points"):
        done = in_process("export", source, "--as", form, "--to", "out.csv", cwd=folder)
        assert done.returncode == 0, done.stderr
        header = next(csv.reader(io.StringIO((folder / "out.csv").read_text())))
        yield from (f"column of export --as {form}: {name}" for name in header)
    endings = getattr(import_module("scalograph.cli.export_command"), "FORMS", {})
    yield from (f"ending of export: {ending}" for ending in endings)


def _notebook(folder: Path) -> Iterator[str]:
    yield from (f"name scalograph.{name}" for name in dir(scalograph) if name in scalograph._OFFERED)
    yield from (f"name scalograph.analysis.{name}" for name in analysis.__all__)
    opened = scalograph.open(folder / "postgres-clients")
    curve = next(iter(opened.curves.values()))
    values = {"open(...)": opened, "open(...).curves": opened.curves, "open(...).curves[NAME]": curve}
    for name, value in values.items():
        public = [attribute for attribute in dir(value) if not attribute.startswith("_")]
        yield from (f"attribute {name}.{attribute}" for attribute in public)
    yield from (f"column of a curve: {name}" for name in curve.columns())
    estimate = TypeAdapter(scalograph.Estimate).json_schema()
    yield from (f"attribute Estimate.{name}" for name in estimate["properties"])


def kept_entries() -> list[str]:
    """Return the entries on the disk."""
    return list(json.loads(FILE.read_text(encoding="utf-8")))


def keep_entries(entries: list[str]) -> None:
    """Write the entries, one a line."""
    FILE.write_text(json.dumps(entries, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
