"""Which release made a public program slower? `find commit` over its packaged releases, beside all of them measured.

Beautiful Soup (pure Python) parses the same document in each release. pip brings the releases; each becomes a commit of
a repository. The truth is every release measured, and its largest change from one release to the next. Beside it `git
bisect run`, as it is done by hand: the best of three runs, the middle between both ends as threshold.
"""

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from command_common import ENVIRONMENT, Figure, command, main

PACKAGE = "beautifulsoup4"
RELEASES = [
    *("4.9.3", "4.10.0", "4.11.1", "4.11.2", "4.12.0", "4.12.1", "4.12.2", "4.12.3", "4.13.1", "4.13.2", "4.13.3"),
    *("4.13.4", "4.13.5", "4.14.0", "4.14.1", "4.14.2", "4.14.3"),
]
NEEDS = ("soupsieve==2.8", "typing_extensions==4.15.0")
RUNS, BISECTIONS = 10, 5
PARSE = """import sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
from bs4 import BeautifulSoup
lines = [f'<div id="d{i}"><p>Text {i} <a href="/{i}">a &amp; b</a></p><ul><li>1</li><li>2</li></ul></div>'
         for i in range(1500)]
soup = BeautifulSoup("<html><body>" + "".join(lines) + "</body></html>", "html.parser")
len(soup.find_all("a")), str(soup)
"""


def packages(folder: Path) -> None:
    """Install each release into a folder of its own, and what they all need beside them."""
    for name, wanted in ((release, [f"{PACKAGE}=={release}"]) for release in RELEASES):
        _pip(folder / name, wanted)
    _pip(folder / "needs", NEEDS)
    (folder / "parse.py").write_text(PARSE, encoding="utf-8")


def _pip(target: Path, wanted: Sequence[str]) -> None:
    argv = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-compile",
        "--target",
        str(target),
        *wanted,
    ]
    subprocess.run(argv, check=True, stderr=subprocess.DEVNULL)


def repository(folder: Path) -> Path:
    """Make a repository with one commit a release, tagged with its number."""
    path = folder / "repository"
    git(path.parent, "init", "--quiet", str(path))
    (path / ".gitignore").write_text("__pycache__\n", encoding="utf-8")
    for release in RELEASES:
        subprocess.run(["rm", "-rf", path / "bs4"], check=True)
        subprocess.run(["cp", "-r", folder / release / "bs4", path / "bs4"], check=True)
        git(path, "add", "--all")
        git(path, "commit", "--quiet", "--allow-empty", "-m", f"Release {release}")
        git(path, "tag", release)
    return path


def git(cwd: Path, *arguments: str) -> str:
    """Return what a git command prints."""
    who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "advice.detachedHead=false")
    return subprocess.run(["git", *who, *arguments], cwd=cwd, check=True, capture_output=True, text=True).stdout


def parsing(folder: Path, program: str) -> list[str]:
    """Return the command that parses with the package in a folder."""
    return [sys.executable, "-I", str(folder / "parse.py"), program, str(folder / "needs")]


def found_steps(folder: Path, repository: Path) -> tuple[list[Mapping[str, Any]], int]:
    """Return the steps that `find commit` names, the largest first, and its runs."""
    ends = ("--good", RELEASES[0], "--bad", RELEASES[-1])
    words = ("find", "commit", *ends, "--json", "--wait-lock", "10m", "-o", str(folder / "results"))
    argv = command(*words, "--", *parsing(folder, "{version}"))
    done = subprocess.run(argv, env=ENVIRONMENT, cwd=repository, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 5):
        raise SystemExit(f"exit code {done.returncode}: {done.stderr[-500:]}")
    part = json.loads(done.stdout)
    return part["steps"], part["n"]


def true_steps(folder: Path) -> list[float]:
    """Return how much longer each release takes than the one before it, by all of them in random order, as a factor."""
    rounds = []
    for _ in range(RUNS):
        took = {}
        for release in random.sample(RELEASES, len(RELEASES)):
            took[release] = _timed(parsing(folder, str(folder / release)))
        rounds.append([took[release] for release in RELEASES])
    return [median(b / a for a, b in each) for each in zip(*(pairwise(took) for took in rounds), strict=True)]


def bisected(folder: Path, repository: Path) -> str:
    """Return the release that `git bisect run` names, with a threshold between both ends."""

    def seconds(path: Path) -> float:
        return min(_timed(parsing(folder, str(path))) for _ in range(3))

    ends = [seconds(folder / release) for release in (RELEASES[0], RELEASES[-1])]
    git(repository, "bisect", "start", RELEASES[-1], RELEASES[0])
    try:
        while True:
            text = git(repository, "bisect", "good" if seconds(repository) < sum(ends) / 2 else "bad")
            if "is the first bad commit" in text:
                return git(repository, "describe", "--tags", text.split()[0]).strip()
    finally:
        git(repository, "bisect", "reset")


def _timed(argv: Sequence[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(argv, check=True, capture_output=True)
    return time.perf_counter() - begin


def figures(quick: bool) -> Iterator[Figure]:
    """Which releases are named, how far their steps are off, and what a bisection names."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        packages(folder)
        path = repository(folder)
        steps, n = found_steps(folder, path)
        factors = true_steps(folder)
        largest = sorted(range(len(factors)), key=factors.__getitem__, reverse=True)
        for i, (step, index) in enumerate(zip(steps, largest, strict=False)):
            named, true = "; ".join(step["candidates"]), RELEASES[index + 1]
            is_wrong = float(f"Release-{true}-" not in named)
            yield Figure(f"step {i + 1}: another release is named", is_wrong, "", 0, f"{named}; measured: {true}")
            low, value, high = step["factor"]
            note = f"{value:.3f} [{low:.3f}, {high:.3f}]; measured: {factors[index]:.3f}"
            yield Figure(f"step {i + 1}: off", 100 * abs(value / factors[index] - 1), "%", 5, note)
        yield Figure("runs", n, "runs")
        for i in range(1 if quick else BISECTIONS):
            right = RELEASES[largest[0] + 1]
            yield Figure(
                f"git bisect run, {i + 1}: another release",
                float((by := bisected(folder, path)) != right),
                "",
                None,
                by,
            )


if __name__ == "__main__":
    main(figures, "one bisection")
