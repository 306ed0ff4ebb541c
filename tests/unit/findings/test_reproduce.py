from pathlib import Path
from typing import Any

import pytest

from scalograph.findings.reproduce import reproduction_commands
from scalograph.study.load import load, parse, quick_form
from scalograph.study.model import Study
from scalograph.study.shipped import shipped_study
from tests.kit.studies import VALID

QUICK = (
    VALID.replace("./prog", "prog")
    + '\n[quick]\nprotocol = { runs = 2, budget = "1min" }\n\n[quick.factors]\nthreads = [1, 2]\n'
)


def started(study: Study, **options: Any) -> Study:
    return study.model_copy(update={"protocol": study.protocol.model_copy(update=options)})


@pytest.mark.parametrize(("run", "line"), [
    (parse(QUICK), "scalograph run study.toml"),
    (quick_form(parse(QUICK)), "scalograph run study.toml --quick"),
    (started(quick_form(parse(QUICK)), budget_s=60.0), "scalograph run study.toml --quick"),
    (started(quick_form(parse(QUICK)), budget_s=90.0), "scalograph run study.toml --quick --budget 90s"),
    (started(parse(QUICK), budget_s=0.5), "scalograph run study.toml --budget 0.5s"),
    (started(parse(QUICK), budget_runs=9, wait_quiet_s=600.0),
     "scalograph run study.toml --max-runs 9 --wait-quiet 600s"),
    (started(quick_form(parse(QUICK)), runs=9), "scalograph run study.toml --quick --runs 9"),
    (started(parse(QUICK), runs=9), "scalograph run study.toml --runs 9"),
    (started(parse(QUICK), when_busy="stop"), "scalograph run study.toml --when-busy stop"),
])  # fmt: skip
def test_options_are_told_from_the_declaration(tmp_path: Path, run: Study, line: str) -> None:
    copy = tmp_path / "study.toml"
    copy.write_text(QUICK)
    assert reproduction_commands(run, copy) == [line, "scalograph report ."]


@pytest.mark.parametrize("workload", [
    {"use": "sleepy"},
    {"use": None, "command": ["./prog"]},
    {"use": None, "command": ["sh", "-c", "{here}/prog"]},
    {"prepare": ["bin/clear"]},
])  # fmt: skip
def test_a_study_that_brings_its_program_runs_from_its_own_folder(tmp_path: Path, workload: dict[str, Any]) -> None:
    study, copy = parse(QUICK), tmp_path / "study.toml"
    copy.write_text(QUICK)
    study = study.model_copy(update={"workload": study.workload.model_copy(update=workload)})
    assert reproduction_commands(study, copy)[0] == "scalograph run study.toml    # from the study's own folder"


def test_what_cannot_be_read_leaves_options_out_and_the_callers_folder_is_named(tmp_path: Path) -> None:
    copy = tmp_path / "study.toml"
    copy.write_text("version = 2\n")
    assert reproduction_commands(parse(QUICK), copy)[0] == "scalograph run study.toml"
    assert reproduction_commands(parse(QUICK), tmp_path / "none.toml") == ["scalograph report ."]
    copy = tmp_path / "study.toml"
    copy.write_text(QUICK.replace("[workload]\n", '[workload]\ncwd = "caller"\n'))
    line = "scalograph run RESULTS/study.toml --quick    # from the folder where it was started"
    assert reproduction_commands(quick_form(load(copy)), copy)[0] == line


def test_a_study_that_ships_is_called_by_its_name_unless_it_was_changed(tmp_path: Path) -> None:
    file = shipped_study("thread-scaling") / "study.toml"
    study, copy = load(file), tmp_path / "study.toml"
    assert reproduction_commands(quick_form(study), copy)[0] == "scalograph study thread-scaling --quick"
    copy.write_bytes(file.read_bytes())
    assert reproduction_commands(study, copy)[0] == "scalograph study thread-scaling"
    copy.write_text(file.read_text() + "# mine\n")
    assert reproduction_commands(study, copy)[0] == "scalograph run study.toml"
    study = load(shipped_study("kernels") / "study.toml")
    kernel = study.factors["kernel"].model_copy(update={"levels": ["6.1-cloud", "6.1-rt"]})
    spelled = study.model_copy(update={"factors": {**study.factors, "kernel": kernel}})
    assert reproduction_commands(spelled, tmp_path / "none")[0] == "scalograph study kernels"
    assert reproduction_commands(quick_form(study), tmp_path / "none")[0] == "scalograph study kernels --quick"


@pytest.mark.parametrize(("factor", "machine", "options"), [
    ("", {"accelerator": "tcg"}, " --host guest"),
    ('[factors.swap]\ncontrol = "sysctl:vm.swappiness"\nlevels = [false, 1]\n', {"accelerator": "kvm"},
     " --host guest"),
    ('[factors.swap]\ncontrol = "sysctl:vm.swappiness"\nlevels = [false, 1]\n', {}, " --machine-wide"),
    ('[factors.swap]\ncontrol = "sysctl:vm.swappiness"\nlevels = [false]\n', {}, ""),
    ("[reset]\ndrop_caches = 3\n", {}, " --machine-wide"),
    ("", {"reached": "ssh"}, " --host ssh:NAME"),
])  # fmt: skip
def test_the_host_and_what_it_allows(tmp_path: Path, factor: str, machine: dict[str, str], options: str) -> None:
    copy = tmp_path / "study.toml"
    copy.write_text(QUICK + factor)
    assert reproduction_commands(load(copy), copy, machine)[0] == f"scalograph run study.toml{options}"
