"""The searches of `find` as a user has them, and a claim on groups of settings, most on a machine that is made up."""

import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.kit.command import degraded, in_process, simulated
from tests.kit.results import COMPLETE, complete, findings_in
from tests.kit.studies import a_study, write_study

N_CPUS = len(os.sched_getaffinity(0))
SIZES = range(1, 201)
# A level of a gains, one of b loses; c and d do nothing.
LEVELS = {"a": (1, 2, 3), "b": (1, 2, 3), "c": (0, 1), "d": ("x", "y", "z")}
SETTINGS = [word for name, levels in LEVELS.items() for word in ("--factor", f"{name}={','.join(map(str, levels))}")]
# The time jumps at 20 threads; one version takes as many milliseconds as its size, the other always 40.
WALLS = (
    {f"true {threads}": 0.16 if threads >= 20 else 0.08 for threads in range(1, 65)}
    | {f"true {version} {size}": size / 1000 for version in ("plain", "1") for size in SIZES}
    | {f"true {version} {size}": 0.04 for version in ("other", "2") for size in SIZES}
    | {f"true {a} {b} {c} {d}": 0.1 * (0.9 if a == 2 else 1.0) * (1.08 if b == 3 else 1.0)
       for a, b, c, d in product(*LEVELS.values())}
    | {"true": 0.1}
)  # fmt: skip
CLIFF = ("cliff", "--max-reruns", 0, "--range", "1:64")
EVEN = ("break-even", "--max-reruns", 0, "--versions", "plain,other")
THREADS, SIZE, ALL = (("--", "true", *words.split()) for words in ("{threads}", "{version} {size}", "{a} {b} {c} {d}"))
needs_cpus = pytest.mark.skipif(N_CPUS < 2, reason="one CPU: there is nothing to search")


def find(folder: Path, *words: object, codes: tuple[int, ...] = COMPLETE) -> "subprocess.CompletedProcess[str]":
    return complete("find", *words, cwd=folder, env=simulated(folder, WALLS), codes=codes)


def answer(folder: Path, *words: object) -> dict[str, Any]:
    """Return the answer of a search as one document, whose study is kept in `results`."""
    return dict(json.loads(find(folder, *words[:1], "--json", "-o", "results", *words[1:]).stdout))


def kept_study(folder: Path) -> str:
    return (folder / "results" / "study.toml").read_text()


# Searches of few runs: the words of each, the title of the table of its levels, and what its plan says.
SEARCHES = [
    ((*CLIFF, "--max-runs", 14, *THREADS), "Levels that were measured", ""),
    ((*EVEN, "--size", "size=20,30,60,90", "--max-runs", 14, *SIZE), "Pairs that were measured",
     "a pair at a time where it decides most"),
    (("tunables", *SETTINGS, "--max-reruns", 0, *ALL), "Settings against the default", ""),
    (("best", "-v", "threads=1:64", "--max-reruns", 0, "--max-runs", 14, *THREADS), "may be the fastest", ""),
    pytest.param(("effective-cpus", "--max-runs", 12, "--", "true"), "Levels that were measured", "", marks=needs_cpus),
]  # fmt: skip


@pytest.mark.parametrize(("search", "table", "plan"), SEARCHES)
def test_a_search_has_a_table_and_its_study(tmp_path: Path, search: tuple[object, ...], table: str, plan: str) -> None:
    question, *words = search
    done = find(tmp_path, question, "--tables", "-o", "results", *words)
    assert table in done.stdout
    assert done.stdout.splitlines()[-1] == "again   scalograph run results/study.toml"
    assert f'question = "{question}"' in kept_study(tmp_path)
    assert table in complete("report", "results", "--tables", cwd=tmp_path).stdout
    plans = [in_process("plan", "results/study.toml", *more, cwd=tmp_path).stdout for more in ((), ("--json",))]
    assert plan in plans[0] and json.loads(plans[1])["question"] == question


def test_where_the_time_jumps(tmp_path: Path) -> None:
    assert "effective-cpus" in complete("find", "--help", cwd=tmp_path, codes=(0,)).stdout
    cliff = answer(tmp_path, *CLIFF, *THREADS)
    low, high = cliff["interval"]
    assert cliff["decided"] and cliff["probability"] >= 0.95 and cliff["runs"] <= 60
    assert low < 20 <= high and low <= cliff["location"] <= high
    assert 'levels = "1:64"' in kept_study(tmp_path)


def test_the_line_of_two_versions(tmp_path: Path) -> None:
    even = answer(tmp_path, *EVEN, "--size", "8:200", *SIZE)
    (line,) = even["lines"]
    assert (even["factor"], even["baseline"], even["other"]) == ("version", "plain", "other")
    assert even["decided"] and even["n"] <= 24
    assert line["kind"] == "from" and line["low"] <= line["location"] <= line["high"]
    assert 30 < line["location"] < 55
    assert 'role = "size"' in kept_study(tmp_path) and 'version = "plain"' in kept_study(tmp_path)


def test_versions_may_be_numbers(tmp_path: Path) -> None:
    few = ("--max-reruns", 0, "--versions", "1,2", "--size", "20,30,60,90", "--max-runs", 6)
    even = json.loads(find(tmp_path, "break-even", "--json", *few, *SIZE).stdout)
    # Too few pairs: nothing is known, and that is said.
    assert (even["decided"], even["n"], even["lines"]) == (False, 0, [])
    assert "too few pairs" in even["answer"][0]
    assert "version = 1\n" in next((tmp_path / "scalograph-results").glob("*/latest/study.toml")).read_text()


def test_two_of_four_matter_and_the_gain_is_confirmed(tmp_path: Path) -> None:
    tunables = answer(tmp_path, "tunables", *SETTINGS, "--max-reruns", 0, *ALL)
    assert tunables["matter"] == ["a", "b"] and tunables["decided"]
    (gain,) = tunables["combinations"]
    assert gain["levels"] == {"a": 2} and gain["gain"]["low"] < 1 / 0.9 < gain["gain"]["high"]


def test_the_best_of_a_grid_is_confirmed(tmp_path: Path) -> None:
    grid = [word for name, levels in LEVELS.items() for word in ("-v", f"{name}={','.join(map(str, levels))}")]
    best = answer(tmp_path, "best", *grid, "--default", "a=1,b=3", "--max-reruns", 0, *ALL)
    assert best["decided"] and best["winner"]["levels"]["a"] == 2 and best["winner"]["levels"]["b"] != 3
    assert best["default"]["levels"] == {"a": 1, "b": 3, "c": 0, "d": "x"} and best["n_configurations"] == 54
    speed = best["winner"]["speed"]
    assert speed["low"] < 1.08 / 0.9 < speed["high"] and "[baseline]\na = 1\nb = 3" in kept_study(tmp_path)


def test_too_few_runs_are_told_before_they_are_made(tmp_path: Path) -> None:
    done = find(tmp_path, "tunables", *SETTINGS, "--max-runs", 8, *ALL)
    assert "7 settings; 8 runs at most, too few to compare them: the first block has 10" in done.stderr
    assert "No answer: less than one block of runs so far (8)." in done.stdout


# The score is the work that was counted, not a time: however busy this machine is, it is the same.
SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int is(const char *name, const char *value) { const char *v = getenv(name); return v && !strcmp(v, value); }
int main(void) {
    volatile long done = 0;
    long n = 20000;
    if (is("POOL", "big")) n /= 8;
    if (is("CHECKS", "2")) n *= 6;
    for (long i = 0; i < n; i++) done++;
    printf("steps %ld\n", done);
    return is("MODE", "broken") ? 3 : 0;
}
"""
VARIABLES = {"POOL": "small,big", "CHECKS": "0,1,2", "MODE": "plain,broken"} | {f"IDLE_{k}": "a,b" for k in range(5)}


def test_a_program_that_two_of_eight_variables_change(tmp_path: Path) -> None:
    (tmp_path / "prog.c").write_text(SOURCE)
    subprocess.run(["cc", "-O1", "-o", "prog", "prog.c"], cwd=tmp_path, check=True)
    settings = [word for name, levels in VARIABLES.items() for word in ("--env", f"{name}={levels}")]
    score = ("--response", "steps(steps):lower: steps ([0-9]+)", "--max-reruns", 0, "--max-runs", 30)
    words = (*settings, *score, "--json", "-o", "out", "--", "./prog")
    tunables = json.loads(in_process("find", "tunables", *words, cwd=tmp_path, env=degraded(tmp_path)).stdout)
    assert {*tunables["matter"]} == {"pool", "checks"}
    (broken,) = [setting for setting in tunables["settings"] if setting["factor"] == "mode"]
    assert broken["n_failed"] == broken["n"] > 5 and broken["fails_p"] < 0.001 and broken["left_out"]
    gains = {(it["factor"], it["level"]): it["gain"] and it["gain"]["value"] for it in tunables["settings"]}
    assert gains["pool", "big"] == pytest.approx(8) and gains["checks", 2] == pytest.approx(1 / 6)


# A search that finds no answer in so many runs says so, as one on a noisy machine does: both are asserted.
ONCE = ("effective-cpus", "--max-reruns", 0, "--max-runs", 12)
# Divides a fixed work over so many processes, and says how many CPUs it believes in.
PROGRAM = """\
import os
import sys

n, believed = int(sys.argv[1]), sys.argv[2]
print(f"using {believed} cores")
for _ in range(n):
    if os.fork() == 0:
        x = 1
        for _ in range(400_000 // n):
            x = x * 1103515245 + 12345 & 0x7FFFFFFF
        os._exit(0)
for _ in range(n):
    os.wait()
"""


@pytest.fixture
def burn(tmp_path: Path) -> str:
    (tmp_path / "burn.py").write_text(PROGRAM)
    return "burn.py"


@needs_cpus
def test_one_process_uses_one_cpu_whatever_it_believes(tmp_path: Path, burn: str) -> None:
    options = ("--json", "--response", "believed_cpus: using ([0-9]+) cores", "--", sys.executable, burn, "1", "64")
    effective = json.loads(complete("find", *ONCE, *options, cwd=tmp_path).stdout)
    # Runs that differ too much on a noisy machine end the search without an answer.
    assert (effective["mask"], effective["believed"], effective["workers"]) == (N_CPUS, 64, None)
    assert 0 < effective["used"]["value"] < 1.5
    assert effective["runs"]["n_done"] >= 8 or not effective["decided"]
    assert effective["limit_sentence"] and (effective["decided"] or effective["limit"] == "not sure")


@needs_cpus
def test_what_takes_as_long_on_each_count_uses_one_cpu(tmp_path: Path) -> None:
    """On a machine whose times are made up: on a real one the CPUs may differ in what others leave of them."""
    done = find(tmp_path, "effective-cpus", "--json", "--", "true", codes=(0,))
    effective = json.loads(done.stdout)
    assert (effective["decided"], effective["k_eff"]) == (True, 1), done.stderr


@needs_cpus
def test_as_many_processes_as_cpus(tmp_path: Path, burn: str) -> None:
    command = ("--", sys.executable, burn, "{threads}", "0")
    done = complete("find", *ONCE, "--threads", N_CPUS, "-o", "results", "--tables", *command, cwd=tmp_path)
    assert "Effective CPUs" in done.stdout
    (group,) = findings_in(tmp_path / "results")["parts"]["effective-cpus"]["data"]["groups"]
    if group["decided"]:
        assert 1 <= group["k_eff"] <= N_CPUS
    else:  # runs that differ too much on a noisy machine end the search without an answer, which is said
        assert group["limit"] == "not sure" and group["sentence"]
    assert group["workers"] == N_CPUS


@needs_cpus
def test_the_study_that_it_keeps_is_resumed(tmp_path: Path) -> None:
    few = ("--max-runs", 3, "--max-cpus", 4096, "-o", "results", "--", "sleep", "0.02")
    complete("find", *ONCE, *few, cwd=tmp_path)
    assert 'levels = "1:all"' in kept_study(tmp_path)
    resume = ("--resume", "--max-runs", "10", "-o", "results")
    complete("run", "results/study.toml", *resume, cwd=tmp_path)
    runs = findings_in(tmp_path / "results")["runs"]
    assert 3 < runs["n_done"] + runs["n_repeated"] <= 10
    assert "Effective CPUs" in complete("report", "results", "--tables", cwd=tmp_path, codes=(0,)).stdout


@needs_cpus
def test_a_program_that_fails_on_all_cpus(tmp_path: Path) -> None:
    script = f"test $(nproc) -ne {N_CPUS}"
    done = complete("find", *ONCE, "--shell", "--", script, cwd=tmp_path, codes=(4,))
    assert "failed  2 \N{MULTIPLICATION SIGN} the command exited with 1" in done.stdout
    assert f"level {N_CPUS} failed 2 times: excluded" in done.stderr


# Two settings for a factor of swapping, one for a factor of caches: more settings alone look like more of an effect.
SWAPS = {"swap": (0, 1, 2), "write": (0, 1, 2), "cache": (0, 1), "reserve": (0, 1)}
OF = {"swap": "swapping", "write": "swapping", "cache": "caches", "reserve": "caches"}
GROUPS = {"kind": "contrast", "groups": ["swapping", "caches"]}
STUDY = a_study(
    {name: {"levels": list(levels), "group": OF[name]} for name, levels in SWAPS.items()},
    question="tunables", plan="one-at-a-time", seed=5, protocol={"runs": 4, "max_reruns": 0},
    published={"claims": [
        {"id": "P0-1", "sentence": "Settings of swapping matter more than those of caches.", **GROUPS,
         "holds": [1, "any"]},
        {"id": "P0-2", "sentence": "They matter less.", **GROUPS, "holds": ["any", 1]},
        {"id": "P0-3", "sentence": "Writing matters as much as anything.", "kind": "count",
         "quantity": "sensitivity_rank", "where": {"write": 2}, "holds": [1, 9]},
    ]},
    quick={"factors": {"write": [0]}},
)  # fmt: skip


def claims(folder: Path, swapping: float, caches: float, *words: str) -> list[dict[str, Any]]:
    """The decided claims of a study in which each setting of a group makes runs so many times as fast."""
    walls = {
        f"true {a} {b} {c} {d}": 0.1 / (swapping ** ((a > 0) + (b > 0)) * caches ** (c + d))
        for a, b, c, d in product(*SWAPS.values())
    }
    complete("run", write_study(folder, STUDY), *words, "-o", "results", cwd=folder, env=simulated(folder, walls))
    found: dict[str, Any] = findings_in(folder / "results")
    return list(found["published_claims"])


@pytest.mark.parametrize(("swapping", "caches", "decisions"), [
    (1.2, 1.02, ["holds", "does not hold"]), (1.02, 1.2, ["does not hold", "holds"]),
    (1.0, 1.0, ["inconclusive", "inconclusive"]),
])  # fmt: skip
def test_groups_are_decided_by_contrast(tmp_path: Path, swapping: float, caches: float, decisions: list[str]) -> None:
    found = claims(tmp_path, swapping, caches)
    assert [one["decision"] for one in found] == [*decisions, "holds"]
    assert found[0]["quantity"] == "mean change by the factors of swapping over that by those of caches"


def test_a_form_that_leaves_a_factor_of_a_group_out_does_not_decide(tmp_path: Path) -> None:
    first, _, third = claims(tmp_path, 1.2, 1.02, "--quick")
    assert first["decision"] == third["decision"] == "not measured"
    assert first["why"] == "the quick form leaves out settings of write: run the full form"
    assert third["why"] == "the quick form leaves out write 2: run the full form"
