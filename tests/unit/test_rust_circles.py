"""Imports of Rust files form no circle: no file reaches itself through the files that it names."""

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.kit import ROOT

CRATES = [ROOT / "probe", *sorted(path.parent for path in (ROOT / "workloads").glob("*/Cargo.toml"))]
# Kept journals rest on the bytes of a workload's sources, so the circles of `load` stay.
STAY = {("crate::mix_file", "crate::mix"), ("crate::worker::requests", "crate::worker")}
# `crate::a::B`, `super::{a, b::C}`, wherever it stands.
PATH = re.compile(r"\b(crate|super)::(?:\{([^}]*)\}|([\w:*]+))")


def imports(crate: Path) -> dict[str, set[str]]:
    """Return the modules that each module names; the root is `crate`."""
    texts = {module(path.relative_to(crate / "src")): path.read_text("utf-8") for path in crate.glob("src/**/*.rs")}
    return {name: set(named(name, text, texts)) - {name} for name, text in texts.items()}


def module(path: Path) -> str:
    return "::".join(["crate", *(part for part in path.with_suffix("").parts if part not in ("main", "lib", "mod"))])


def named(name: str, text: str, modules: dict[str, str]) -> Iterator[str]:
    # Inline tests are no part of the program, and may use what builds on their file.
    text = re.sub(r"//.*", "", text.partition("#[cfg(test)]\nmod tests {")[0])
    yield from (f"{name}::{child}" for child in re.findall(r"^(?:pub )?mod (\w+);", text, re.M))
    for root, braces, path in PATH.findall(text):
        base = name.rpartition("::")[0] if root == "super" else root
        for part in filter(str.strip, (braces or path).split(",")):
            parts = f"{base}::{part.strip()}".split("::")
            yield next(m for n in range(len(parts), 0, -1) if (m := "::".join(parts[:n])) in modules)


@pytest.mark.parametrize("crate", CRATES, ids=lambda crate: crate.name)
def test_imports_form_no_circle(crate: Path) -> None:
    graph = imports(crate)
    assert len(graph["crate"]) > 5
    TopologicalSorter({a: {b for b in others if (a, b) not in STAY} for a, others in graph.items()}).prepare()


def test_a_circle_is_seen() -> None:
    with pytest.raises(CycleError, match=r"crate::mix|crate::worker"):
        TopologicalSorter(imports(ROOT / "workloads" / "load")).prepare()
