"""Studies as they are read, and their hashes; large ones are read, or refused, in a moment."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scalograph.errors import StudyError
from scalograph.study import identity
from scalograph.study.identity import dump_study, hash_folder, parse_journaled_study, study_hash
from scalograph.study.load import parse, quick_form
from scalograph.study.model import Study
from scalograph.system.private_dir import remove_tree
from tests.kit import ROOT
from tests.kit.refusals import mistakes, refuses, values
from tests.kit.studies import VALID

REFUSALS = Path(__file__).parent / "refusals.toml"


def test_a_valid_study() -> None:
    study = parse(VALID)
    assert study.seed == 0 and study.factors["threads"].levels == [1, 2, 4] and study.protocol.timeout_s == 10
    assert study.protocol.confidence == 0.95 and list(study.responses) == ["wall", "cpu"]
    assert parse(VALID).protocol.max_reruns == 1
    assert parse(VALID.replace("runs = 3", "max_reruns = 0")).protocol.max_reruns == 0

    page = ROOT / "protocol" / "study.md"
    text = page.read_text().split("```toml\n")[1].split("```")[0]
    assert parse(text).name == "hello-threads"


def test_every_mistake_at_once_in_order_of_lines() -> None:
    text = VALID.replace('title = "Does it scale?"', 'titel = "x"').replace("seed = 0", 'seed = "0"')
    text = text.replace('timeout = "10s"', "timeout = 10").replace("threads = 1", "thread = 1")
    found = mistakes(parse, text)
    assert found == [
        "study.toml: title: missing, expected a value for `title`; add it (protocol/study.md lists the keys)",
        found[1],
        "study.toml:5: seed: found '0', expected a valid integer",
        'study.toml:18: protocol.timeout: found 10, expected text with a unit such as "10ms" or "95%"',
        'study.toml:21: baseline.thread: factor "thread" is not declared, expected one of lock, threads; '
        'did you mean "threads"?',
    ]
    assert found[1].startswith("study.toml:3: titel: unknown key, expected one of")
    assert found[1].endswith('did you mean "title"?')
    text = VALID.replace('"1,2,4"', "[[1], nan]").replace("command", "copies = 1.5\ncommand")
    assert len(mistakes(parse, text.replace("threads = 1", ""))) == 2
    claim = '[[published.claims]]\nid = "a"\nsentence = "b"\nkind = { a = 1 }\nholds = [0, 1]\n'
    (found,) = mistakes(parse, VALID + claim)
    assert "published.claims[0].kind" in found


@pytest.mark.parametrize(("old", "new", "message"), [
    *values(REFUSALS, "study"),
    ("version = 1", "version = " + "9" * 5000, "study.toml:1: a word above 256 characters"),
    ("version = 1", "version = " + "[" * 5000, "study.toml:1: values nested too deeply"),
    ("seed = 0", f"seed = {1 << 63}", "study.toml:5: seed: found 9223372036854775808"),
])  # fmt: skip
def test_rejects(old: str, new: str, message: str) -> None:
    assert old in VALID
    found = mistakes(parse, VALID.replace(old, new, 1))
    assert any(line.startswith(message) for line in found), found


def test_a_journaled_study_reads_back_equal_and_the_hash_follows_what_is_asked() -> None:
    study = parse(VALID + '[responses.ops]\nfrom = "value.ops"\nbetter = "higher"\n')
    document = json.loads(json.dumps(dump_study(study)))
    again = Study.model_validate(document, context={"journal": True})
    assert again == study and study_hash(again) == study_hash(study)
    study = parse(VALID)
    assert study_hash(parse(VALID.replace("Does it scale?", "Other words"))) == study_hash(study)
    assert study_hash(parse(VALID.replace("seed = 0", "seed = 1"))) != study_hash(study)
    assert study_hash(parse(VALID.replace("runs = 3", "runs = 4"))) != study_hash(study)
    assert study_hash(study, b"other sources") != study_hash(study)
    assert study_hash(parse(VALID.replace("runs = 3", 'runs = 3\nbudget = "1min"'))) == study_hash(study)


def test_a_sentinel_is_part_of_what_is_asked_and_follows_a_reference_if_it_is_not() -> None:
    plain, compared = parse(VALID), parse(VALID + "[reference]\nthreads = 1\n")
    assert (plain.watches_speed, compared.watches_speed) == (False, True)
    assert "sentinel" not in dump_study(plain)["protocol"]
    for asked in (True, False):
        stated = f"runs = 3\nsentinel = {str(asked).lower()}"
        study = parse(VALID.replace("runs = 3", stated) + "[reference]\nthreads = 1\n")
        assert study.watches_speed is asked and study_hash(study) != study_hash(compared)
        assert parse_journaled_study(json.loads(json.dumps(dump_study(study)))) == study


def test_quick_changes_what_it_names_and_nothing_else() -> None:
    text = VALID + '[quick]\nprotocol = { runs = 2, budget = "4min" }\nfactors = { threads = "1,2" }\n'
    study, quick = parse(text), quick_form(parse(text))
    assert quick.protocol.runs == 2 and quick.protocol.budget_s == 240
    assert quick.protocol.timeout_s == study.protocol.timeout_s and quick.factors["threads"].levels == [1, 2]
    assert quick.factors["lock"] == study.factors["lock"]
    more = '[[exclude]]\nthreads = [4]\n[[tables]]\ntitle = "t"\nrows = "lock"\nresponse = "wall"\n'
    more += "where = { threads = 4 }\n"
    assert quick_form(parse(VALID + more + '[quick]\nfactors = { threads = "1,2" }\n'))


@pytest.mark.parametrize(("level", "is_valid"), [("7", True), ("0", False), ("-1", False), ('"x"', False)])
def test_a_baseline_that_no_host_has(level: str, is_valid: bool) -> None:
    text = VALID.replace('"1,2,4"', '"1:all"').replace("threads = 1", f"threads = {level}")
    if is_valid:
        assert parse(text)
    else:
        assert mistakes(parse, text) == [
            f"study.toml:21: baseline.threads: level {level.replace(chr(34), chr(39))} is not among the levels of "
            'threads, expected one of "1:all"'
        ]


@pytest.mark.parametrize(("quick", "message"), values(REFUSALS, "quick"))
def test_the_quick_form_is_checked_with_the_study(quick: str, message: str) -> None:
    (found,) = mistakes(parse, VALID + "[quick]\n" + quick + "\n")
    assert found.startswith(message)


def test_the_quick_form_fits_its_question_and_counts_copies() -> None:
    text = VALID.replace('work = "total"', 'work = "total"\nquestion = "break-even"').replace("runs = 3\n", "")
    text = text.replace("threads = 1\n", 'lock = "none"\n') + "[quick.factors]\n"
    assert parse(text + "threads = [1, 4]\n").quick.factors == {"threads": [1, 4]}
    (found,) = mistakes(parse, text + 'lock = ["none", "cas", "mutex"]\n')
    assert found.startswith("study.toml:23: quick.factors.lock.levels: 3 levels")
    text = VALID.replace("command", 'copies = "{threads}"\ncommand')
    assert parse(text).workload.copies == "{threads}"
    (found,) = mistakes(parse, text + "[quick]\nfactors = { threads = [1, 5000] }\n")
    assert found.startswith("study.toml:24: quick.factors.threads: level 5000 counts copies")


@pytest.mark.parametrize(
    ("name", "message"), [("MAX_SOURCE_BYTES", "larger than 7 bytes"), ("MAX_SOURCES", "more than 7 files")]
)
def test_more_than_sources_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str) -> None:
    for n in range(8):
        (tmp_path / f"{n}.c").write_text("x")
    assert hash_folder(tmp_path) == hash_folder(tmp_path)
    monkeypatch.setattr(identity, name, 7)
    with pytest.raises(StudyError, match=f"{tmp_path}: cannot be read: {message}, expected the sources of a workload"):
        hash_folder(tmp_path)


def test_a_hash_is_that_of_all_files_but_the_page(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    hashes = [hash_folder(tmp_path)]
    for name in ("README.md", "main.c", "inner/README.md", "main.c"):
        (tmp_path / name).write_text(f"{name} {len(hashes)}")
        hashes.append(hash_folder(tmp_path))
    assert hashes[0] == hashes[1] and len(set(hashes)) == 4


def test_folders_nested_too_deeply_are_refused(tmp_path: Path) -> None:
    at = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1000):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    refuses(StudyError, "folders nested too deeply", hash_folder, tmp_path)
    remove_tree(tmp_path / "d")
    assert [*tmp_path.iterdir()] == []


# Of all studies here together, imports counted; each alone took longer.
LIMIT_S, LIMIT_BYTES = 12, 1 << 30
READ = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
resource.setrlimit(resource.RLIMIT_AS, ({bytes}, {bytes}))
from pathlib import Path
from scalograph.errors import StudyError
from scalograph.study.declare import check
file = Path(sys.argv[1]) / "study.toml"
for text in json.load(sys.stdin):
    file.write_text(text)
    try:
        check(file)
        print("valid")
    except StudyError as error:
        print(len(error.problems), *error.problems[:3], sep=" | ")
"""
BASE = VALID.replace('"{threads}"', '"{threads}", "{lock}"')
WIDE = BASE.replace('levels = "1,2,4"', 'levels = "1:4096"')
LARGE = {
    BASE + "[" + " " * 900_000 + "\n": "not TOML",
    BASE + "a." * 20_000 + "a = 1\n": "a word above 256 characters",
    BASE + "a . " * 250_000 + "a = 1\n": "a key of more than 8 parts",
    BASE + "a = " + "[" * 500_000: "values nested too deeply",
    BASE + "a = [" + "[" * 12 + "1" + "]" * 12 + "]\n": 'factor "a" is not declared',
    BASE + "a = 0x" + "f" * 900_000: "a word above 256 characters",
    BASE + '"\\\n' * 49_000: "not TOML",
    BASE + "x = [" + '"""a""",' * 60_000 + "]\n": 'factor "x" is not declared',
    BASE + "\n" * 1_000_000: "lines, expected at most 50000",
    WIDE + "[[exclude]]\nthreads = [1]\n" * 20_000: "keys, tables and lists, expected at most 20000",
    WIDE + "[[exclude]]\nthreads = [1]\n" * 1000: "valid",
    WIDE + "".join(f"[[exclude]]\nthreads = [{', '.join(map(str, range(n, n + 20)))}]\n" for n in range(5000, 6000)): (
        "level 5000 is not among the levels of threads, expected 1, 2, 3,"
    ),
    BASE + "".join(f"[responses.r{n}]\nfrom = 'output'\npattern = '((x{{100}}){{10}})'\n" for n in range(200)): (
        "200 of them, expected at most 64"
    ),
    BASE + "".join(f"k{n} = 1\n" for n in range(15_000)): "15001 of them, expected at most 16",
    BASE.replace('"-t"', ", ".join(['"' + "{threads}" * 111 + '"'] * 900)): "characters, expected at most 131072",
    BASE + "".join(f"[factors.f{n}]\nlevels = '1:4096'\n" for n in range(5000)): "5002 of them, expected at most 16",
}  # fmt: skip


def test_each_is_answered_by_one_message(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", READ.format(seconds=LIMIT_S, bytes=LIMIT_BYTES), str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        argv, env=env, input=json.dumps([*LARGE]), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    told = done.stdout.splitlines()
    assert len(told) == len(LARGE)
    for line, message in zip(told, LARGE.values(), strict=True):
        assert message in line and len(line) < 2000
