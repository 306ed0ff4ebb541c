"""What is kept: read by earlier releases, and what they wrote read here."""

import json
from pathlib import Path

import pytest

from scalograph.control.host_facts import read_host_facts
from scalograph.machine.doctor import examine
from scalograph.machine.floor.saved_noise import SavedNoise, noise_file, read_noise, save_noise
from scalograph.protocol.noise_floor import Floor
from tests.unit.control.trees import planted, write
from tests.unit.machine.floor.test_floor import noise_floor, quiet, rows, table

# The fields of release 0.1.0: all required but the last of each pair of machine facts.
EARLIER = {
    "study": "thread-scaling", "at": "2026-01-02T03:04:05Z", "sd_log_percent": 1.25, "minimum_detectable_percent": 2.5,
    "n": 10, "cpu_model": "AMD EPYC", "n_cpus": 2, "kernel": "6.18.44",
}  # fmt: skip
FLOOR = noise_floor(table([*rows(quiet()), *rows(quiet(0.03), 2)]))


def kept(measured: Floor = FLOOR) -> SavedNoise:
    return SavedNoise.model_validate({**EARLIER, "study": "noise-floor", "results": "/r", "floor": measured})


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path), "PATH": ""}


def test_kept_and_read_again_here_and_by_an_earlier_release(environ: dict[str, str]) -> None:
    save_noise(kept(), environ)
    assert read_noise(environ) == kept()
    document = json.loads(kept().model_dump_json())
    assert EARLIER.keys() <= document.keys()
    assert {name: type(document[name]) for name in EARLIER} == {name: type(value) for name, value in EARLIER.items()}
    write(noise_file(environ), json.dumps(EARLIER))
    found = read_noise(environ)
    assert found and (found.floor, found.results, found.sd_log_percent) == (None, None, 1.25)


@pytest.mark.parametrize("floor", [{"parts": 1}, {"parts": [{"n_cpus": 0, "n": 1}]}, []])
def test_a_broken_floor_is_none(environ: dict[str, str], floor: object) -> None:
    write(noise_file(environ), json.dumps({**EARLIER, "floor": floor}))
    assert read_noise(environ) is None


def test_doctor_tells_both_numbers_of_cpus_and_warns_of_an_objection(tmp_path: Path, environ: dict[str, str]) -> None:
    root = planted(tmp_path / "root", "two-cpu-guest")

    def noise(measured: Floor) -> tuple[str, str, str]:
        save_noise(kept(measured), environ)
        report = examine(read_host_facts(root, ()), {"capabilities": []}, root, environ, tmp_path)
        (check,) = [check for check in report.checks if check.name == "noise"]
        return check.status, check.found, check.why

    status, found, why = noise(FLOOR)
    assert (status, why) == ("info", "")
    one, both = (part.spread.sd_log_percent for part in FLOOR.parts if part.spread)
    assert found.startswith(f"runs differ by {one:.2g} % on 1 CPU, {both:.2g} % on 2 CPUs: 10 runs show effects from")
    status, _, why = noise(noise_floor(table(list(rows(quiet() * [1.05, 1])))))
    assert status == "warning" and "A differs from B" in why
