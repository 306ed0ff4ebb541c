"""Levels for which something is not installed are left out by name; where nothing is left, one message says why."""

from pathlib import Path

import pytest

from scalograph.errors import HostError
from scalograph.run.hosts.local.prepare_host import build_planned
from scalograph.run.plan import Plan
from tests.kit.refusals import refuses
from tests.kit.studies import a_study, plan_of

WORKLOAD = """\
name = "front"
title = "What stands in front"
argv = ["{{prepared}}/{{front}}", "{{n}}"]
parameters.front = {{ type = "text", default = "none", choices = ["none", "haproxy", "nginx", "broken", "tomcat"] }}
parameters.n = {{ type = "int", default = 1 }}
[[build]]
when = {{ front = ["tomcat"] }}
fetch = [{{ artifact = "org.example:tomcat:1", sha256 = "{0}", bytes = 3603091 }}]
[prepare]
argv = ["{{python}}", "{{here}}/look.py", "{{front}}"]
folder = "{{front}}"
sources = ["look.py"]
"""
LOOK = """\
import sys
from pathlib import Path
front = sys.argv[1]
if front in ("haproxy", "nginx"):
    print(f"it looks\\n{front}: not found; install it with: apt-get install {front}", file=sys.stderr)
    sys.exit(69)
if front == "broken":
    sys.exit("the disk is full")
print(f"uses {Path(sys.argv[0]).resolve()}\\n{front} 1.0")
"""
TOLD = "not found; install it with: apt-get install"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", "/nowhere")
    (tmp_path / "front").mkdir()
    (tmp_path / "front/workload.toml").write_text(WORKLOAD.format("0" * 64))
    (tmp_path / "front/look.py").write_text(LOOK)
    return tmp_path


def ready(place: Path, *levels: str, more: str = "") -> Plan:
    text = a_study({"n": [1, 2], "front": [*levels]}, workload={"use": "front"}) + more
    return build_planned(plan_of(place, text), lambda text: None)


def test_levels_whose_program_is_missing_are_left_out_with_what_installs_it(place: Path) -> None:
    made = ready(place, "none", "haproxy", "nginx")
    assert [dict(one) for one in made.design.configurations] == [{"n": 1, "front": "none"}, {"n": 2, "front": "none"}]
    assert made.design.dropped == (
        f"2 configurations not planned: front = haproxy: haproxy: {TOLD} haproxy",
        f"2 configurations not planned: front = nginx: nginx: {TOLD} nginx",
    )
    assert made.runs.runs_per_configuration() == [5, 5] and Path(made.program.values["prepared"], "none").is_dir()
    (said,) = ready(place, "none", "tomcat").design.dropped
    assert "front = tomcat: no Maven, which fetches 1 file, 3.6 MB (tomcat 1); install it with" in said
    more = '[[exclude]]\nfront = ["none"]\nn = [1]'
    made = ready(place, "none", "haproxy", more=more)
    assert made.design.configurations == ({"n": 2, "front": "none"},)
    assert made.design.dropped[0].startswith("2 configurations not planned: front = haproxy: ")


@pytest.mark.parametrize(
    ("levels", "more"),
    [(("haproxy",), ""), (("nginx", "haproxy"), ""), (("none", "haproxy"), '[baseline]\nfront = "none"')],
)
def test_where_nothing_is_left_to_compare_one_message_says_why(place: Path, levels: tuple[str, ...], more: str) -> None:
    with pytest.raises(HostError, match=rf"workload front: cannot be prepared: it looks\nhaproxy: {TOLD}") as caught:
        ready(place, *levels, more=more)
    assert ("also missing: nginx" in str(caught.value)) == ("nginx" in levels)


def test_a_preparation_that_fails_otherwise_ends_the_study(place: Path) -> None:
    refuses(HostError, "the disk is full", ready, place, "none", "broken")
