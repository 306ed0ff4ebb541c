"""Files from before names changed are read for good (tests/recorded/before-rename)."""

import csv
import gzip
import io
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from scalograph.control.kernel_files import KERNEL
from scalograph.control.settings import Setting
from scalograph.control.store import CHANGES, Store, lock_machine
from scalograph.machine.ceiling.saved_ceiling import read_ceiling
from scalograph.protocol.findings import Findings
from scalograph.protocol.noise_floor import read_noise
from scalograph.run.provenance import sources_digest
from scalograph.study.identity import parse_journaled_study, study_hash
from scalograph.study.load import parse
from scalograph.study.program import program
from scalograph.study.shipped import shipped_study
from tests.golden.differences import shown
from tests.kit import ROOT
from tests.kit.command import simulated
from tests.kit.results import complete, events_in, run_names_in
from tests.unit.control import paper, paper_kernel

KEPT = ROOT / "tests" / "recorded" / "before-rename"
# Another machine than the one of the fixture; never `study_hash`.
MACHINE = ("cpu_model", "n_cpus", "memory_bytes", "kernel")
ACCEPTED = [word for key in MACHINE for word in ("--accept-difference", key)]
RESUME = ("run", "study.toml", "-o", "results", "--resume", *ACCEPTED)
STUDIES = [json.loads(line) for line in gzip.decompress((KEPT / "studies.jsonl.gz").read_bytes()).splitlines()]
DECLARED = sorted((KEPT / "examples/study_accepted").glob("*.toml"))


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    folder = tmp_path / "kept"
    shutil.copytree(KEPT, folder)
    for packed in folder.rglob("*.gz"):
        packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
        packed.unlink()
    return folder


@pytest.fixture
def results(kept: Path) -> Path:
    """Return results of the unfinished study, as a kill leaves them."""
    folder = kept / "study" / "results"
    folder.mkdir()
    for name in ("study.toml", "published.csv"):
        shutil.copy(kept / "study" / name, folder)
    (kept / "study/unfinished.jsonl").rename(folder / "journal.jsonl")
    return folder


def estimates(file: Path) -> dict[str, Any]:
    """Return what the document says in numbers and codes, whatever its keys are called on the disk."""
    found = Findings.model_validate_json(file.read_text())
    points = [(curve.group, point) for curve in found.curves for point in curve.points]
    assert points and all(point.responses for _, point in points)
    return {
        "hash": found.study.hash,
        "runs": [found.runs.n_asked, found.runs.n_done, found.runs.n_failed, found.runs.n_warmup, found.runs.verdicts],
        "levels": [[group, point.level] for group, point in points],
        "responses": [
            {name: response.model_dump(mode="json") for name, response in point.responses.items()}
            for _, point in points
        ],
        "speedups": [point.speedup and point.speedup.value for _, point in points],
        "claims": [[claim.id, claim.decision] for claim in found.published_claims],
        "tables": sorted(table.id for table in found.tables),
    }


def test_a_journal_is_analyzed_and_exported_to_the_same_numbers(kept: Path, results: Path) -> None:
    complete("analyze", "results", cwd=kept / "study", codes=(0,))
    differing = shown(estimates(kept / "study/findings.json"), estimates(results / "findings.json"))
    assert not differing, differing
    complete("export", "results", "--to", "now.csv", cwd=kept / "study", codes=(0,))
    before, now = (numeric_cells((kept / "study" / name).read_text()) for name in ("observations.csv", "now.csv"))
    assert before == now and len(now) > 50
    # A profile stands beside its study.
    shutil.copy(kept / "study/profile.json", results)
    complete("analyze", "results", cwd=kept / "study", codes=(0,))
    done = complete("report", "results", "--table", "profile", cwd=kept / "study", codes=(0,))
    assert "C.d < E.f" in done.stdout, done.stderr


def test_a_study_is_resumed_by_its_one_missing_run(kept: Path, results: Path) -> None:
    before = run_names_in(results)
    complete(*RESUME, cwd=kept / "study")
    assert run_names_in(results) == [*before, "b0002-0005"]
    (resumed,) = events_in(results, "resume")
    assert set(resumed["accepted"]) <= set(MACHINE)
    complete("analyze", "results", cwd=kept / "study")


@pytest.mark.parametrize(
    ("file", "change"), [("study.toml", ("pause_ms = 2", "pause_ms = 3")), ("work/work.py", ("1000", "1001"))]
)
def test_a_study_that_differs_is_not_resumed(kept: Path, results: Path, file: str, change: tuple[str, str]) -> None:
    edited = kept / "study" / file
    edited.write_text(edited.read_text().replace(*change))
    before = (results / "journal.jsonl").read_bytes()
    done = complete(*RESUME, cwd=kept / "study", codes=(2,))
    assert "resume: study_hash" in done.stderr
    assert (results / "journal.jsonl").read_bytes() == before


def test_the_plan_of_a_study_has_the_same_order_of_runs(kept: Path) -> None:
    complete("plan", "study.toml", "-o", "planned", cwd=kept / "study", codes=(0,))
    before, now = (
        [
            (line["run"], *(level for part in line.values() if isinstance(part, dict) for level in part.values()))
            for line in map(json.loads, file.read_text().splitlines()[1:])
        ]
        for file in (kept / "study/design.jsonl", kept / "study/planned/design.jsonl")
    )
    assert before == now and len(before[0]) == 4


@pytest.mark.parametrize("left", ["journal.jsonl", "findings.json"])
def test_two_results_are_compared(kept: Path, left: str) -> None:
    for file in kept.glob("history/*/*.json*"):
        if file.name != left:
            file.unlink()
    # What noise leaves open within the usual margin is not called equivalent.
    for words, code in {"second --margin 20%": 0, "third": 7, "fourth": 7, "second": 8}.items():
        complete("compare", "first", *words.split(), cwd=kept / "history", codes=(code,))


def test_a_folder_of_results_has_a_history(kept: Path) -> None:
    done = complete("history", "history", "--json", cwd=kept, codes=(0,))
    levels = {result["name"]: round(result["level"]["value"], 1) for result in json.loads(done.stdout)["results"]}
    assert levels == {"first": 1.0, "second": 1.0, "third": 1.2, "fourth": 1.2}


def numeric_cells(text: str) -> list[list[float]]:
    """Return the numbers of each row of a table, without its header and its words."""
    cells = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?|nan|inf", re.IGNORECASE)
    return [[float(cell) for cell in row if cells.fullmatch(cell)] for row in [*csv.reader(io.StringIO(text))][1:]]


def test_findings_without_a_journal_are_reported(kept: Path) -> None:
    folder = kept / "history/first"
    (folder / "journal.jsonl").unlink()
    done = complete("report", "first", "--tables", cwd=kept / "history", codes=(0,))
    assert "How does the time change with threads?" in done.stdout
    found = Findings.model_validate_json((folder / "findings.json").read_text())
    assert found.study.hash in (folder / "report.html").read_text()


def test_a_reproduction_is_shown_and_gone_on_with(kept: Path) -> None:
    folder, env = kept / "reproduction", simulated(kept, {f"sleep 0.05{n}": 0.05 for n in (1, 2)})
    before = (folder / "results/one/journal.jsonl").read_bytes()
    complete("report", "results", cwd=folder, codes=(0,))
    assert 'id="claim-P0-3"' in (folder / "results/reproduce.html").read_text()
    again = ("reproduce", "--resume", "-o", "results", "--catalogue", "published.toml")
    complete(*again, cwd=folder, env=env)
    assert (folder / "results/one/journal.jsonl").read_bytes() == before
    document = json.loads((folder / "results/reproduction.json").read_text())
    assert [part["state"] for part in document["parts"]] == ["done", "done"]
    assert len(run_names_in(folder / "results/two")) >= 8


def test_settings_of_a_session_that_died_are_put_back(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, state = kept / "root", kept / "restore"
    tree = paper.PaperTree(paper.machine(root), root)
    paper_kernel.planted(root)
    boot = root / "proc/sys/kernel/random/boot_id"
    boot.parent.mkdir(parents=True)
    boot.write_text(json.loads((state / CHANGES).read_text())["boot_id"] + "\n")
    state.chmod(0o700)
    (state / CHANGES).chmod(0o600)
    monkeypatch.setattr("scalograph.control.kernel_files._write", paper_kernel.kernel_writes)
    before = paper_kernel.content(root)
    tree.delegate(True)
    tree.make_leaf(paper.LEAF)
    changes = {
        (Setting.SYSCTL, "vm.swappiness"): "10", (Setting.THP, ""): "never", (Setting.GOVERNOR, ""): "powersave",
        (Setting.IO_SCHEDULER, "sda"): "none", (Setting.ONLINE, ""): "0-1", (Setting.TURBO, ""): "off",
    }  # fmt: skip
    for (setting, name), value in changes.items():
        KERNEL[setting].place(root, name).set(value)
    assert paper_kernel.content(root) != before
    with lock_machine(store=Store(state, tree, root=root, kernel=root)) as restored:
        assert len(restored) == 8
    assert paper_kernel.content(root) == before | {"sys/block/sda/queue/iosched/async_depth": "256"}
    assert not (state / CHANGES).exists() and not tree.has_leaf(paper.LEAF)


def test_a_kept_noise_floor_and_ceiling_are_read() -> None:
    environ = {"XDG_STATE_HOME": str(KEPT / "state")}
    noise, ceiling = read_noise(environ), read_ceiling(environ)
    assert noise is not None and noise.floor is not None
    assert [part.n for part in noise.floor.parts] and noise.floor.parts[0].spread is not None
    assert noise.sd_log_percent == noise.floor.parts[0].spread.sd_log_percent
    assert ceiling is not None and ceiling.key == "0" * 64
    assert all([part.n_cpus for part in parts] == [1, 2] for parts in ceiling.ceiling.kinds.values())


def test_a_journal_with_every_event_is_analyzed(kept: Path) -> None:
    done = complete("analyze", "journal_events.jsonl", "--json", cwd=kept / "examples")
    document = Findings.model_validate_json(done.stdout)
    assert document.runs.n_done + document.runs.n_repeated == 5 and document.runs.n_failed == 1


@pytest.mark.parametrize("name", ["findings", "findings_1", "reproduction"])
def test_every_golden_document_is_reported(kept: Path, name: str) -> None:
    kind, codes = ("reproduction", (0,)) if name == "reproduction" else ("findings", (0, 4, 5))
    for n, text in enumerate((kept / f"examples/{name}.jsonl").read_text().splitlines()):
        folder = kept / f"document{n}"
        folder.mkdir()
        (folder / f"{kind}.json").write_text(text)
        done = complete("report", folder.name, "--tables", cwd=kept, codes=codes)
        if kind == "findings":
            assert json.loads(text)["study"]["title"] in done.stdout
        else:
            assert (folder / "reproduce.html").exists(), done.stderr


@pytest.mark.parametrize("file", DECLARED, ids=lambda file: file.stem)
def test_a_study_is_declared_as_it_was(file: Path) -> None:
    hashes = json.loads((file.parent / "hashes.json").read_text())
    assert study_hash(parse(file.read_text())) == hashes[file.stem]


@pytest.mark.parametrize("kept_study", STUDIES, ids=lambda kept: f"{kept['study']['name']}-{kept['study_hash']}"[:40])
def test_the_study_of_a_journal_has_the_hash_that_it_had(kept_study: dict[str, Any]) -> None:
    study = parse_journaled_study(kept_study["study"])
    assert study_hash(study) == kept_study["hash_without_sources"]
    if kept_study["study_hash"] is not None:
        started = program(study.workload, shipped_study(study.name))
        assert study_hash(study, sources_digest(started)) == kept_study["study_hash"]
