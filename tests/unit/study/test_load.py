import json

import pytest

from scalograph.errors import StudyError
from scalograph.identity import as_journaled, study_hash
from scalograph.study import Study, parse, quickened

from .example import VALID


def mistakes(text: str) -> list[str]:
    with pytest.raises(StudyError) as caught:
        parse(text)
    return [str(problem) for problem in caught.value.problems]


def test_a_valid_study() -> None:
    study = parse(VALID)
    assert study.seed == 0
    assert study.factors["threads"].levels == [1, 2, 4]
    assert study.protocol.timeout_s == 10
    assert study.protocol.confidence == 0.95
    assert list(study.responses) == ["wall", "cpu"]


def test_every_mistake_at_once_in_order_of_lines() -> None:
    text = VALID.replace('title = "Does it scale?"', 'titel = "x"').replace("seed = 0", 'seed = "0"')
    text = text.replace('timeout = "10s"', "timeout = 10").replace("threads = 1", "thread = 1")
    found = mistakes(text)
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


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('levels = "1,2,4"', 'levels = ""', "study.toml:11: factors.threads.levels: found an empty item"),
        ('levels = "1,2,4"', "levels = []", "study.toml:11: factors.threads.levels: found no level"),
        ('levels = "1,2,4"', "levels = [[1]]", "study.toml:11: factors.threads.levels"),
        ("[factors.lock]", "[factors.Lock]", "study.toml:13: factors.Lock"),
        ('["none", "cas"]', '["none", "none"]', "study.toml:14: factors.lock.levels: found level 'none' twice"),
        ("runs = 3", "runs = 0", "study.toml:17: protocol.runs: found 0, expected greater than or equal to 1"),
        ("runs = 3", "runs = true", "study.toml:17: protocol.runs: found True"),
        ("runs = 3", "runs = 3\nwarmup = 3", "study.toml:16: protocol: found warmup = 3 of 1 iterations"),
        ('name = "hello"', 'name = "../x"', "study.toml:2: name: found '../x'"),
        ('work = "total"', 'work = "some"', "study.toml:4: work: found 'some', expected 'total' or 'per-worker'"),
        ("version = 1", "version = 2", "study.toml:1: version: found 2"),
        ("command =", 'use = "x"\ncommand =', "study.toml:7: workload: found both or neither of `use` and `command`"),
        ("[baseline]", "[[exclude]]\nlock = ['x']\n[baseline]", "study.toml:21: exclude[0].lock: level 'x' is not"),
        ("threads = 1", "threads = 3", "study.toml:21: baseline.threads: level 3 is not among"),
        ("version = 1", "version = ", "study.toml: not TOML"),
    ],
)
def test_rejects(old: str, new: str, message: str) -> None:
    assert old in VALID
    found = mistakes(VALID.replace(old, new, 1))
    assert any(line.startswith(message) for line in found), found


def test_a_journaled_study_reads_back_equal() -> None:
    study = parse(VALID + '[responses.ops]\nfrom = "value.ops"\nbetter = "higher"\n')
    document = json.loads(json.dumps(as_journaled(study)))
    again = Study.model_validate(document, context={"journal": True})
    assert again == study
    assert study_hash(again) == study_hash(study)


def test_the_hash_follows_what_is_asked_and_not_how_it_is_shown() -> None:
    study = parse(VALID)
    assert study_hash(parse(VALID.replace("Does it scale?", "Other words"))) == study_hash(study)
    assert study_hash(parse(VALID.replace("seed = 0", "seed = 1"))) != study_hash(study)
    assert study_hash(parse(VALID.replace("runs = 3", "runs = 4"))) != study_hash(study)
    assert study_hash(study, b"other sources") != study_hash(study)
    assert study_hash(parse(VALID.replace("runs = 3", 'runs = 3\nbudget = "1min"'))) == study_hash(study)


def test_quick_changes_what_it_names_and_nothing_else() -> None:
    text = VALID + '[quick]\nprotocol = { runs = 2, budget = "4min" }\nfactors = { threads = "1,2" }\n'
    study, quick = parse(text), quickened(parse(text))
    assert quick.protocol.runs == 2
    assert quick.protocol.budget_s == 240
    assert quick.protocol.timeout_s == study.protocol.timeout_s
    assert quick.factors["threads"].levels == [1, 2]
    assert quick.factors["lock"] == study.factors["lock"]


def test_a_quick_form_that_is_no_study_is_refused() -> None:
    with pytest.raises(StudyError, match="runs"):
        quickened(parse(VALID + "[quick]\nprotocol = { runs = 0 }\n"))


def test_the_example_of_the_protocol_page_is_a_study() -> None:
    from pathlib import Path

    page = Path(__file__).parents[3] / "protocol" / "study.md"
    text = page.read_text().split("```toml\n")[1].split("```")[0]
    assert parse(text).name == "hello-threads"
