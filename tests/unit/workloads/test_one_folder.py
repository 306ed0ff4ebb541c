"""A workload is one folder: beside the study it is found, prepared, started with its parameters, and believed."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from scalograph.cli.main import _code
from scalograph.errors import Exit
from scalograph.protocol import journal

WORKLOAD = """\
name = "toy"
title = "Adds numbers"
argv = ["{python}", "{here}/toy.py", "{n}", "{prepared}/numbers/one", "{fetched.words}"]
events = true
[[build.fetch]]
artifact = "org.example:words:1:txt"
sha256 = "SHA"
bytes = 6
[prepare]
argv = ["sh", "{here}/prepare.sh", "{into}"]
folder = "numbers"
sources = ["prepare.sh"]
[parameters.n]
type = "int"
default = 1
"""
# Stands for Maven.
MVN = """#!/bin/sh
for word; do case "$word" in -DoutputDirectory=*) out=${word#*=};; esac; done
printf "words\\n" >"$out/words-1.txt"
"""
PREPARE = 'echo 1 >"$1/one"; echo "one, by hand"\n'
TOY = """\
import os, sys, time
n, step = int(sys.argv[1]), int(open(sys.argv[2]).read())
assert open(sys.argv[3]).read() == "words\\n"
events, go = open(os.environ["SCALOGRAPH_EVENTS"], "w"), open(os.environ["SCALOGRAPH_GO"])
print("ready", file=events, flush=True)
go.read(1)
begin = time.monotonic_ns()
total = sum(step for _ in range(n))
end = time.monotonic_ns()
print(f"iteration 0 {begin} {end} {total}\\nvalue total {total}", file=events, flush=True)
"""
STUDY = """\
version = 1
name = "toys"
title = "Toys"
work = "total"
seed = 1
[workload]
use = "toy"
[factors.n]
levels = "1000,2000"
[protocol]
runs = 1
"""


def test_a_folder_beside_the_study_is_all_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("scalograph.cli.pipeline.WAIT_S", 300.0)
    (tmp_path / "toy").mkdir()
    (tmp_path / "mvn").write_text(MVN)
    (tmp_path / "mvn").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    digest = hashlib.sha256(b"words\n").hexdigest()
    declared = WORKLOAD.replace("SHA", digest)
    for name, text in {"workload.toml": declared, "prepare.sh": PREPARE, "toy.py": TOY}.items():
        (tmp_path / "toy" / name).write_text(text)
    (tmp_path / "study.toml").write_text(STUDY)
    output = tmp_path / "results"
    code = _code(["run", str(tmp_path / "study.toml"), "-o", str(output), "--json"])
    assert code in (Exit.DONE, Exit.NO_ANSWER)
    assert json.loads(capsys.readouterr().out)["runs"]["n_asked"] == 2
    first, *events = journal.read(output / "journal.jsonl")
    assert first["uses"]["prepared"] == {"numbers": "one, by hand"}
    assert first["uses"]["fetched"] == {"org.example:words:1:txt": digest}
    runs = {event["configuration"]["n"]: event["record"] for event in events if event["event"] == "run"}
    for n in (1000, 2000):
        assert runs[n].run.status == "ok", runs[n].run.reason
        assert (runs[n].values[0].values, runs[n].iterations[0].work) == ({"total": [n]}, [n])
