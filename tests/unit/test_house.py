"""The house: which way imports point, what stands where, and how large it is. Read from the syntax trees."""

import ast
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache

import pytest

from scalograph.run.hosts import host_names
from scalograph.study.control_names import CONTROLS
from tests.kit import ROOT
from tests.kit.sources import FILES, HOUSE, SOURCES, graph, readers, trees

pytestmark = readers
ROLES = ("check", "model", "search_state", "plan", "answer", "claim", "document", "tables", "chart",
         "published", "find")  # fmt: skip
# Files that stand beside each other in folders of one kind: what they are called says what they are.
ALIKE = {"__init__", "__main__", "registry", "base", "measure", "kept", *ROLES}
# A role imports of its own folder, beside files of the same role, these; `plan` alone reaches the design.
BELOW = {
    "model": set[str](),
    "document": set[str](),
    "check": set[str](),
    "search_state": {"model"},
    "claim": {"document", "model"},
    "tables": {"document", "model"},
    "chart": {"document"},
    "published": {"document"},
}
NUMBERS = {"float", "int", "float | None", "int | None", "Estimate", "Estimate | None"}
# Estimates and flags are values of the documents, made where numbers are.
VALUES = {"scalograph.analysis.estimate", "scalograph.analysis.usl"}
# What a search is, for its state and its answer; the rest of the design is for `plan`.
SEARCHES = {"scalograph.design.search_steps", "scalograph.design.stopping_rule"}
QUESTIONS = sorted(p.name for p in (SOURCES / "questions").iterdir() if (p / "__init__.py").exists())
HEAVY = {"numpy", "scipy", "polars", "plotly", "jinja2"}
# What works on numbers and journals must work on any machine: it cannot even reach what runs something.
OFFLINE = ("analysis", "verdict", "protocol", "findings", "report", "exchange", "profile.recording",
           "profile.profile_tables", *(f"questions.{question}" for question in QUESTIONS))  # fmt: skip
NO_COMMANDS = {"findings", "report", "verdict", "exchange.readers", *(f"questions.{name}" for name in QUESTIONS)}


def direct(name: str) -> set[str]:
    """Modules that a file imports by name, faces left out."""
    return {other for other in graph()[name] if FILES[other].name != "__init__.py"}


def named(tree: ast.Module) -> Iterator[str]:
    """Names that a file imports, those inside functions too; `from a import b` may be `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, "a relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def imports() -> dict[str, set[str]]:
    """Every module and those that it imports by name, faces counted."""
    return {name: FILES.keys() & set(named(tree)) for name, tree in trees().items()}


def reach(room: str) -> set[str]:
    """Every module that a room imports, at first or second hand."""
    waiting = [name for name in imports() if f"{name}.".startswith(f"scalograph.{room}.")]
    found = set(waiting)
    while waiting:
        new = imports()[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def imported(*arguments: str) -> set[str]:
    """Top-level modules that a command imports."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-X", "importtime", "-m", "scalograph", *arguments]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=True)
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    return {line.rsplit("|", 1)[1].strip().partition(".")[0] for line in lines}


@pytest.mark.parametrize(
    "words",
    ["--help", "--version", "check studies/thread-scaling/study.toml", "study --list", "reproduce --help"],
)  # fmt: skip
def test_a_quick_command_imports_nothing_heavy(words: str) -> None:
    found = imported(*words.split())
    assert "typer" in found and not found & HEAVY


def role(name: str) -> str:
    return next((r for r in ROLES if f"{name.rsplit('.', 1)[-1]}_".startswith(f"{r}_")), "")


def test_imports_lead_down_to_no_later_step_and_form_no_circle() -> None:
    below = {name: found - HOUSE.STRINGS for name, found in graph().items() if name != "scalograph.__main__"}
    assert HOUSE.up(below) == []
    assert HOUSE.late(graph()) == []
    assert HOUSE.late({"scalograph.design.grid": {"scalograph.findings.sample"}}) != []
    assert HOUSE.circle(graph()) == []
    assert HOUSE.circle({"a": {"b"}, "b": {"a"}}) != []


def test_imports_by_a_string_lead_down_and_one_that_leads_up_is_seen() -> None:
    found = {name: HOUSE.by_string(name, trees()) for name in graph()}
    assert len(found["scalograph.control.control"]) > 5 and not found["scalograph.exchange.law_registry"]
    assert HOUSE.up(found) == []
    table = ast.parse('SCORE = "scalograph.exchange.fit:laws"')
    caller = ast.parse("from scalograph.study.places import SCORE\nimport_module(SCORE)")
    made = {"scalograph.run.asks": caller, "scalograph.study.places": table, "scalograph.exchange.fit": ast.parse("")}
    found = {name: HOUSE.by_string(name, made) for name in made}
    assert HOUSE.up(found) == ["scalograph.run.asks -> scalograph.exchange.fit"]


def test_the_root_holds_floors_only_and_faces_import_nothing() -> None:
    entries = {p.stem for p in SOURCES.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert entries == {*HOUSE.FLOOR, "__init__", "__main__"}
    faces = [name for name, path in FILES.items() if path.name == "__init__.py"]
    assert {
        name: graph()[name] - {name.rpartition(".")[0]} for name in faces if graph()[name] - {name.rpartition(".")[0]}
    } == {}


@pytest.mark.parametrize(("room", "known"), [
    ("analysis", {"analysis"}),
    ("study", {"study", "protocol", "text"}),
    ("report", {"report", "protocol", "text"}),
])  # fmt: skip
def test_a_room_knows_few_others(room: str, known: set[str]) -> None:
    found = {other for name in graph() if HOUSE.room(name) == room for other in direct(name) - HOUSE.STRINGS - VALUES}
    assert {HOUSE.room(other) for other in found} - {*known, "errors", ""} == set()


@pytest.mark.parametrize("room", sorted({*OFFLINE, *NO_COMMANDS}))
def test_what_reads_never_reaches_what_runs(room: str) -> None:
    found = {HOUSE.room(name) for name in reach(room)}
    assert len(reach(room)) > 1 and found & {"run", "control"} == set()
    assert room not in NO_COMMANDS or found & {"machine", "cli"} == set()


def test_a_study_and_numbers_know_little_and_the_sources_were_read() -> None:
    # The names of the questions are strings, on whichever floor they are read.
    known = ("study", "protocol", "text", "errors", "")
    found = {name for name in reach("study") if HOUSE.room(name) not in known}
    assert found <= {"scalograph.questions.registry"}
    assert {HOUSE.room(name) for name in reach("analysis")} - {""} <= {"analysis", "errors"}
    assert "scalograph.run.loop" in reach("run.session") and "scalograph.run.hosts.base" in reach("cli")


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_keeps_to_its_folder_and_its_roles(question: str) -> None:
    home = f"scalograph.questions.{question}"
    for name in (n for n in graph() if n.startswith(f"{home}.")):
        others = {o for o in direct(name) if HOUSE.room(o) == "questions" and not o.startswith(f"{home}.")}
        assert {o for o in others if o.count(".") > 2} == set(), f"{name} imports another question"
        own = {role(o) for o in direct(name) if o.startswith(f"{home}.")}
        assert own <= {role(name), *BELOW.get(role(name), ROLES)}, name
        assert role(name) in ROLES, f"{name} has no role"
        if role(name) not in ("plan", "find"):
            assert not {o for o in direct(name) if HOUSE.room(o) == "design"} - SEARCHES, f"{name} imports the design"


def test_a_further_host_costs_a_module_and_a_row() -> None:
    """Nobody imports a host: what names one is its row. Those on one machine or in its folder may share code."""
    rows = {**host_names.HOSTS, **host_names.ELSEWHERE}
    outside = {
        (name, home)
        for home in rows.values()
        for name in HOUSE.importers(graph())[home]
        if not name.startswith("scalograph.run.hosts.")
    }
    assert len(rows) == 5 and outside == set()


def test_a_further_control_costs_a_class_and_a_row() -> None:
    """The class of a control is named in the room of controls alone, and in its row as a string."""
    users: dict[str, set[str]] = defaultdict(set)
    for module, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Name | ast.alias):
                users[getattr(node, "id", getattr(node, "name", ""))].add(module)
    for row in CONTROLS.values():
        home, _, name = row.defined.partition(":")
        outside = {module for module in users[name] - {home} if HOUSE.room(module) != "control"}
        assert outside == set(), f"{name} is known to {outside}"


def test_a_name_stands_for_one_thing() -> None:
    classes, modules = defaultdict(set), defaultdict(set)
    for name, tree in trees().items():
        if not {name.rsplit(".", 1)[-1], role(name)} & ALIKE and FILES[name].name != "__init__.py":
            modules[name.rsplit(".", 1)[-1]].add(name)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes[node.name].add(name)
    assert {k: v for k, v in {**classes, **modules}.items() if len(v) > 1} == {}


def test_an_alias_that_others_import_has_no_name_of_a_class() -> None:
    """An option of the command line is called as what it sets."""
    classes = {node.name for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    aliases = {name: assigned(tree) & classes for name, tree in trees().items() if HOUSE.room(name) != "cli"}
    assert sum(map(len, aliases.values())) > 5, "aliases of one file's own"
    found = [
        f"{name} imports {node.module}.{one.name}"
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for one in node.names
        if one.name in aliases.get(node.module or "", ())
    ]
    assert found == []


def assigned(tree: ast.Module) -> set[str]:
    """Names that a file gives to something at its top."""
    targets = [target for n in tree.body if isinstance(n, ast.Assign) for target in n.targets]
    targets += [n.target for n in tree.body if isinstance(n, ast.AnnAssign)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def test_numbers_become_texts_in_one_room() -> None:
    found = []
    for name, tree in trees().items():
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef) or not node.returns or ast.unparse(node.returns) != "str":
                continue
            kinds = [ast.unparse(a.annotation) for a in node.args.args if a.annotation]
            formats = any(isinstance(part, ast.FormattedValue) and part.format_spec for part in ast.walk(node))
            if formats and kinds and set(kinds) <= NUMBERS and HOUSE.room(name) != "text":
                found.append(f"{name}.{node.name}")
    assert found == []


def may_be_small(name: str) -> bool:
    """A role, a registry, a command, a reader: what is one file whatever its size. `cli.main` is what starts us."""
    leaf = name.rsplit(".", 1)[-1]
    is_row = ".readers." in name or leaf.endswith(("_command", "_registry", "_names")) or leaf == "registry"
    return is_row or role(name) in ROLES or name == "scalograph.cli.main"


def test_no_folder_is_a_heap_and_no_file_or_function_a_fragment_or_a_hall() -> None:
    heaps = {folder: n for folder, n in Counter(path.parent for path in FILES.values()).items() if n > 41}
    assert heaps == {}, "more than forty files, the face not counted"
    found = []
    for name, path in FILES.items():
        n = len(path.read_text(encoding="utf-8").splitlines())
        if path.name not in ("__init__.py", "__main__.py") and not (15 if may_be_small(name) else 60) <= n <= 400:
            found.append(f"{name}: {n} lines")
        for node in ast.walk(trees()[name]):
            if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno + 1 > 45:
                found.append(f"{name}.{node.name}: {(node.end_lineno or 0) - node.lineno + 1} lines")
    assert found == []
