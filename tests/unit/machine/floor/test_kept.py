"""What is kept: read by earlier releases, and what they wrote read here."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from scalograph.control.host_facts import read_host_facts
from scalograph.errors import HostError
from scalograph.machine.doctor import examine
from scalograph.machine.examine import Check
from scalograph.protocol.noise_floor import Floor, SavedNoise, noise_file, read_noise, save_noise
from tests.kit.studies import facts_of
from tests.unit.control.trees import planted, write
from tests.unit.machine.floor.test_floor import noise_floor, quiet, rows, table

# The fields of release 0.1.0: all required but the last of each pair of machine facts.
EARLIER = {
    "study": "thread-scaling", "at": "2026-01-02T03:04:05Z", "sd_log_percent": 1.25, "minimum_detectable_percent": 2.5,
    "n": 10, "cpu_model": "AMD EPYC", "n_cpus": 2, "kernel": "6.18.44",
}  # fmt: skip
NOISE = SavedNoise.model_validate(EARLIER)
FLOOR = noise_floor(table([*rows(quiet()), *rows(quiet(0.03), 2)]))


def kept(measured: Floor = FLOOR) -> SavedNoise:
    return SavedNoise.model_validate({**EARLIER, "study": "noise-floor", "results": "/r", "floor": measured})


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path / "state"), "PATH": ""}


@pytest.fixture
def doctor(tmp_path: Path, environ: dict[str, str]) -> Callable[..., Check]:
    """What doctor says of noise that is saved on a recorded guest."""
    root = planted(tmp_path / "root", "two-cpu-guest")

    def check_noise(noise: SavedNoise | None = None) -> Check:
        if noise:
            save_noise(noise, environ)
        report = examine(read_host_facts(root, ()), {"capabilities": []}, root, environ, tmp_path)
        (check,) = [check for check in report.checks if check.name == "noise"]
        return check

    return check_noise


def test_noise_is_of_a_kind_of_machine(doctor: Callable[..., Check]) -> None:
    assert doctor().found == "not measured yet"
    expected = "runs differ by 1.2%: 10 runs detect effects from 2.5% (thread-scaling, 2026-01-02T03:04:05Z)"
    assert doctor(NOISE).found == expected
    assert doctor(NOISE.model_copy(update={"n_cpus": 4})).found == "measured on another machine only"
    two = facts_of(2, cpu_model="AMD EPYC")
    assert NOISE.is_of(two) and NOISE.is_of(two.model_copy(update={"kernel": "7.0"}))
    assert not NOISE.is_of(two.model_copy(update={"cpu_model": "other"}))


def test_places_of_the_noise(tmp_path: Path) -> None:
    assert noise_file({"HOME": "/h", "XDG_STATE_HOME": "relative"}) == Path("/h/.local/state/scalograph/noise.json")
    (tmp_path / "file").write_text("")
    with pytest.raises(HostError, match="expected a writable folder; set XDG_STATE_HOME"):
        save_noise(NOISE, {"XDG_STATE_HOME": str(tmp_path / "file")})


def test_kept_and_read_again_here_and_by_an_earlier_release(environ: dict[str, str]) -> None:
    save_noise(kept(), environ)
    assert read_noise(environ) == kept()
    document = json.loads(kept().model_dump_json())
    assert EARLIER.keys() <= document.keys()
    assert {name: type(document[name]) for name in EARLIER} == {name: type(value) for name, value in EARLIER.items()}
    write(noise_file(environ), json.dumps(EARLIER))
    found = read_noise(environ)
    assert found == NOISE and (found.floor, found.results, found.sd_log_percent) == (None, None, 1.25)


@pytest.mark.parametrize("content", [
    "", "{", "[]", '{"sd_log_percent": NaN}', json.dumps({"study": "x"}),
    *(json.dumps({**EARLIER, "floor": floor}) for floor in ({"parts": 1}, {"parts": [{"n_cpus": 0, "n": 1}]}, [])),
])  # fmt: skip
def test_what_cannot_be_read_is_none(environ: dict[str, str], content: str) -> None:
    write(noise_file(environ), content)
    assert read_noise(environ) is None


def test_doctor_tells_both_numbers_of_cpus_and_warns_of_an_objection(doctor: Callable[..., Check]) -> None:
    check = doctor(kept())
    assert (check.status, check.why) == ("info", "")
    one, both = (part.spread.sd_log_percent for part in FLOOR.parts if part.spread)
    differ = f"runs differ by {one:.2g}% on 1 CPU, {both:.2g}% on 2 CPUs: 10 runs detect effects from"
    assert check.found.startswith(differ)
    check = doctor(kept(noise_floor(table(list(rows(quiet() * [1.05, 1]))))))
    assert check.status == "warning" and "A differs from B" in check.why
