"""A catalogue of two tiny studies, for tests of `reproduce`."""

from pathlib import Path

STUDY = """\
version = 1
name = "{name}"
title = "Study {name}"
work = "total"
seed = 1
[workload]
command = {command}
[factors.n]
levels = "1,2"
[baseline]
n = 1
[protocol]
runs = {runs}
timeout = "10s"
budget = "{budget}"
[quick]
protocol = {{ runs = 2 }}
[[published.claims]]
id = "{claim}"
sentence = "It takes as long."
place = "table 1"
kind = "flat"
along = "n"
published = 1.0
spread = 0.01
"""
CATALOGUE = """\
version = 1
[[studies]]
id = "P0"
name = "sleep"
title = "Sleeping"
year = 1999
line = "How long does sleep last?"
parts = [{ study = "one" }, { study = "two" }]
[studies.claims]
P0-1 = "table 1"
P0-2 = "table 1"
P0-3 = "table 2"
[[studies.open]]
id = "P0-3"
sentence = "Dreams help."
decision = "not yet"
why = "needs dreams"
"""
SLEEP = '["sleep", "0.05{n}"]'


def catalogue(folder: Path, *commands: str, runs: int = 4, budget: str = "60s") -> Path:
    """Write the catalogue, and its two studies beside it, into a folder; each has one of the commands."""
    for i, name in enumerate(("one", "two")):
        command = (*commands, SLEEP, SLEEP)[i]
        text = STUDY.format(name=name, command=command, runs=runs, budget=budget, claim=f"P0-{i + 1}")
        (folder / name).mkdir()
        (folder / name / "study.toml").write_text(text)
    file = folder / "published.toml"
    file.write_text(CATALOGUE)
    return file
