"""A study beside its workload and its files: what fits, every mistake with its line; one read back from a journal."""

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scalograph.design.resolve import assumed_host, design
from scalograph.errors import StudyError
from scalograph.study.declare import Declared, check, declare, declare_shipped
from scalograph.study.identity import dump_study, parse_journaled_study
from scalograph.study.load import parse
from scalograph.study.shipped import shipped_studies
from tests.kit import refusals
from tests.kit.refusals import refuses, values
from tests.kit.studies import VALID, write_study

REFUSALS = Path(__file__).parent / "refusals.toml"

STUDY = """\
version = 1
name = "hello"
title = "Does it scale?"
work = "total"
seed = 0
[workload]
command = ["prog", "-t{threads}", "{kind}"]
[factors.threads]
levels = "1,2"
[factors.kind]
levels = ["a", "b"]
"""
USED = STUDY.replace('command = ["prog", "-t{threads}", "{kind}"]', 'use = "java-threads"').replace(
    '["a", "b"]', '["platform", "virtual"]'
)
PUBLISHED = '[published]\nfile = "paper.csv"\nmatch = { t = "threads" }\nvalues = { s = "wall" }\n'
COMMAND = '["prog", "-t{threads}", "{kind}"]'
BROKEN = [
    "1", '"x"', "[]", "{}", "[[1]]", "{ a = [1] }", "nan", "true", '"{a}"', '["{"]', "[{}]", "1979-05-27", '"1:all"',
]  # fmt: skip


def mistakes(folder: Path, text: str) -> list[str]:
    return refusals.mistakes(check, write_study(folder, text))


@pytest.mark.parametrize(("old", "new", "message"), values(REFUSALS, "command"))
def test_a_command_that_does_not_fit(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in STUDY
    (found,) = mistakes(tmp_path, STUDY.replace(old, new, 1))
    assert found.startswith(message)


@pytest.mark.parametrize(("response", "message"), values(REFUSALS, "response"))
def test_a_response_that_no_run_has_or_in_another_unit(tmp_path: Path, response: str, message: str) -> None:
    (said,) = mistakes(tmp_path, f"{STUDY}[responses.r]\n{response}\n")
    assert message in said
    assert 'did you mean "max_rss"?' in said or "unit" in said


@pytest.mark.parametrize("text", [
    STUDY + '[responses.r]\nfrom = "window.cpu"\n',
    STUDY + '[responses.r]\nfrom = "run.cpu_percent"\nunit = "%"\n',
    STUDY + '[responses.r]\nfrom = "value.x"\nunit = "ms"\n',
    STUDY.replace(COMMAND, '["prog", "{threads}", "{kind}", "{here}/x", "{python}", "{iterations}{warmup}{think_ns}"]'),
    STUDY.replace(COMMAND, '["{java}", "{jvm_options}", "{threads}", "{kind}"]'),
    STUDY.replace(COMMAND, '["prog", "{kind}"]\ncopies = "{threads}"'),
    STUDY + PUBLISHED,
])  # fmt: skip
def test_units_commands_and_published_figures_that_fit(tmp_path: Path, text: str) -> None:
    (tmp_path / "paper.csv").write_text("os,t,s\nx,1,2\n")
    (tmp_path / "study.toml").write_text(text)
    check(tmp_path)


def test_mistakes_come_together_each_once_and_with_its_own_place(tmp_path: Path) -> None:
    (found,) = mistakes(tmp_path, STUDY.replace("{threads}", "{theads}"))
    assert found.endswith('did you mean "threads"?')
    (tmp_path / "own").mkdir()
    (tmp_path / "own/workload.toml").write_text('name = "own"\ntitle = "t"\nargv = ["x", "{y}"]\n')
    (found,) = mistakes(tmp_path, USED.replace("java-threads", "own"))
    assert found.startswith("study.toml:7: workload.use: own/workload.toml: ") and "unknown name {y}" in found
    text = USED.replace("seed = 0", "").replace("java-threads", "java-thread") + PUBLISHED
    assert [line.split(": ")[1] for line in mistakes(tmp_path, text)] == ["seed", "workload.use", "published.file"]


@pytest.mark.parametrize(("old", "new", "message"), values(REFUSALS, "used"))
def test_a_study_that_does_not_fit_its_workload(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in USED
    (found,) = mistakes(tmp_path, USED.replace(old, new, 1))
    assert found.startswith(message)


@pytest.mark.parametrize(("name", "content", "messages"), [
    ("../paper.csv", None, ['study.toml:13: published.file: "../paper.csv" leads outside']),
    ("a\\u0000b", None, ["study.toml:13: published.file"]),
    ("none.csv", None, ['study.toml:13: published.file: no file "none.csv"']),
    ("sub/report.html", b"t,s\n", ['study.toml:13: published.file: "sub/report.html", expected a name']),
    ("paper.csv", b"T,s\n", ['study.toml:14: published.match.t: no column "t" in paper.csv']),
    ("paper.csv", b"", ["study.toml:14: published.match.t: no", "study.toml:15: published.values.s"]),
    ("paper.csv", b"\xff", ["study.toml:13: published.file: paper.csv cannot be read"]),
])  # fmt: skip
def test_published_figures_not_shown(tmp_path: Path, name: str, content: bytes | None, messages: list[str]) -> None:
    if content is not None:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    found = mistakes(tmp_path, STUDY + PUBLISHED.replace("paper.csv", name))
    assert len(found) == len(messages)
    assert all(line.startswith(message) for line, message in zip(found, messages, strict=True)), found


@pytest.mark.parametrize(("more", "message"), values(REFUSALS, "ranges"))
def test_ranges_and_rows_of_columns_that_are_not_there(tmp_path: Path, more: str, message: str) -> None:
    (tmp_path / "paper.csv").write_text("os,t,s\nx,1,2\n")
    assert any(line.startswith(message) for line in mistakes(tmp_path, f"{STUDY}{PUBLISHED}{more}\n"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_stands_behind_a_key_there_is_no_traceback(tmp_path: Path, data: st.DataObject) -> None:
    lines = (STUDY + PUBLISHED + "[baseline]\nthreads = 1\n[quick]\nfactors = { threads = [1] }\n").splitlines()
    keys = [number for number, line in enumerate(lines) if "=" in line]
    for number in data.draw(st.lists(st.sampled_from(keys), min_size=1, max_size=4)):
        lines[number] = lines[number].partition("=")[0] + "= " + data.draw(st.sampled_from(BROKEN))
    (tmp_path / "study.toml").write_text("\n".join(lines) + "\n")
    with suppress(StudyError):
        assert check(tmp_path).name


@pytest.mark.parametrize("name", shipped_studies())
def test_what_ships_is_valid_in_both_forms(name: str) -> None:
    full, quick = declare_shipped(name), declare_shipped(name, quick=True)
    assert check(full.file) == full.study == declare(full.folder).study
    fewer_runs = planned_on_two_cpus(quick) < planned_on_two_cpus(full)
    ends_sooner = (quick.study.protocol.budget_s or math.inf) < (full.study.protocol.budget_s or math.inf)
    assert fewer_runs or ends_sooner


def planned_on_two_cpus(declared: Declared) -> int:
    return design(declared.study, assumed_host(declared.study, 2)).n_runs


CLAIM = """
[[published.claims]]
id = "a"
sentence = "b"
kind = "ratio"
where = { lock = "none" }
of = { threads = 1 }
over = { threads = 4 }
holds = [1.0, 4.0]
"""


def test_what_was_planned_is_read_back_and_a_host_may_lack_some_of_it() -> None:
    for name in shipped_studies():
        study = declare_shipped(name, quick=True).study
        made = design(study, assumed_host(study, 2)).study
        assert parse_journaled_study(json.loads(json.dumps(dump_study(made)))) == made, name
    # Nor does it say anything of a search how many runs its quick form asked for.
    wide = VALID.replace('levels = ["none", "cas"]', 'levels = ["none", "cas"]\nif_granted = ["cas"]') + CLAIM
    document = dump_study(parse(wide + "[[exclude]]\nthreads = [4]\n"))
    document["factors"]["threads"]["levels"] = [1, 2]
    document["factors"]["lock"]["levels"] = ["none"]
    document["question"], document["protocol"]["runs"] = "cliff", 3
    assert parse_journaled_study(document).exclude == [{"threads": [4]}]


@pytest.mark.parametrize(("changes", "where"), [
    ({"question": "break-even", "baseline": {}}, "baseline"),
    ({"question": "break-even"}, "factors.threads.levels"),
    ({"question": "cliff"}, "factors"),
    ({"baseline": {"core": 1}}, "baseline.core"),
    ({"baseline": {"threads": 3}}, "baseline.threads"),
    ({"reference": {"core": 1}}, "reference.core"),
    ({"exclude": [{"core": [1]}]}, r"exclude\[0\].core"),
    ({"tables": [{"title": "t", "rows": "core", "response": "wall"}]}, r"tables\[0\].rows"),
    ({"tables": [{"title": "t", "rows": "lock", "response": "speed"}]}, r"tables\[0\].response"),
])  # fmt: skip
def test_what_could_not_be_declared_is_refused_by_its_place(changes: dict[str, Any], where: str) -> None:
    refuses(ValueError, rf"^study\.{where}: ", parse_journaled_study, {**dump_study(parse(VALID)), **changes})


@pytest.mark.parametrize("changes", [{"where": {"core": 1}}, {"of": {"core": 1}}, {"along": "core"}, {"response": "x"}])
def test_a_claim_of_what_is_not_declared_is_refused(changes: dict[str, Any]) -> None:
    document = dump_study(parse(VALID + CLAIM))
    document["published"]["claims"][0] |= changes
    refuses(ValueError, r"study\.published\.claims\[0\]\.", parse_journaled_study, document)


@pytest.mark.parametrize("file", ["/a/b.csv", "../b.csv", "a/../../b.csv"])
def test_a_published_file_outside_is_refused(file: str) -> None:
    document = dump_study(declare_shipped("break-even").study)
    document["published"]["file"] = file
    with pytest.raises(
        ValueError, match=r'^study\.published\.file: ".*" leads outside the study\'s folder, expected a file'
    ):
        parse_journaled_study(document)
