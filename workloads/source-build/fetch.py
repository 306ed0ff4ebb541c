"""Fills a folder with a source tree: fetch.py TREE INTO. Most are fetched, a synthetic one is made.

apt does the fetching, with a configuration of its own in INTO: nothing under /etc/apt or /var/lib/apt is changed. The
mirror is the one that this machine uses. apt checks the signature of the index, and each file by the index.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import NoReturn

from synthetic import generate
from trees import TREES, Tree

PARTS, LIST = Path("/etc/apt/sources.list.d"), Path("/etc/apt/sources.list")
BY_HAND = "or build a tree of your own: tree = own, source = its folder"


def refuse(found: str, fix: str) -> NoReturn:
    """End with one sentence."""
    sys.exit(f"{found}; {fix}")


def check(tree: Tree) -> None:
    """Every program that fetching or building needs."""
    if tree.package and shutil.which("apt-get") is None:
        refuse("found no apt-get, which fetches the source tree", f"use a Debian or a relative of it, {BY_HAND}")
    if missing := [package for program, package in tree.needs if shutil.which(program) is None]:
        refuse(
            f"missing to build {tree.package or 'the tree'}: {', '.join(missing)}", f"apt install {' '.join(missing)}"
        )


def sources(parts: Path = PARTS, one_line: Path = LIST) -> dict[str, str]:
    """The machine's own sources of packages, as sources of source packages: name of a file -> its text."""
    found = {}
    for file in sorted(parts.glob("*.sources")):
        found[file.name] = re.sub(r"(?m)^Types:.*$", "Types: deb-src", file.read_text(encoding="utf-8"))
    for file in [one_line, *sorted(parts.glob("*.list"))]:
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        if kept := [re.sub(r"^\s*deb\s", "deb-src ", line) for line in lines if re.match(r"\s*deb\s", line)]:
            found[f"{file.stem}.list"] = "\n".join([*kept, ""])
    return found


def configured(place: Path) -> list[str]:
    """Options of apt that keep it inside `place`."""
    for folder in ("lists/partial", "archives/partial", "parts"):
        (place / folder).mkdir(parents=True)
    (place / "status").touch()
    known = sources()
    if not known:
        refuse("found no source of packages below /etc/apt", BY_HAND)
    for name, text in known.items():
        (place / "parts" / name).write_text(text, encoding="utf-8")
    own = {
        "Dir::State": place, "Dir::State::lists": place / "lists", "Dir::State::status": place / "status",
        "Dir::Cache": place, "Dir::Etc::sourcelist": "/dev/null", "Dir::Etc::sourceparts": place / "parts",
        "APT::Sandbox::User": "",  # as whoever we are: the folder is ours
        "Acquire::Languages": "none", "Acquire::Retries": 3, "APT::Update::Error-Mode": "any",
    }  # fmt: skip
    return [word for name, value in own.items() for word in ("-o", f"{name}={value}")]


def apt(options: list[str], *words: str, cwd: Path) -> str | None:
    """Run apt-get; its first error in one line, without the mirror's address, or None."""
    done = subprocess.run(["apt-get", *options, *words], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    errors = [line for line in done.stderr.splitlines() if line.startswith("E:")] or ["E: no reason given"]
    said = re.sub(r"\S+://\S+", "the mirror", errors[0].removeprefix("E: "))
    said = re.sub(r"\s*\[IP: [^\]]*\]", "", said)
    return f"apt-get {words[0]} failed: {said}"


def download(package: str, options: list[str], place: Path) -> None:
    """The files of a source package, in `place`: as the release has it, which stays, else the newest."""
    attempts = [["-t", release]] if (release := codename()) else []
    for target in [*attempts, []]:
        failed = apt([*options, *target], "source", "--download-only", package, cwd=place)
        if failed is None:
            return
    refuse(str(failed), f"try again later; {BY_HAND}")


def codename(file: Path = Path("/etc/os-release")) -> str | None:
    """Of the distribution's release."""
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    found = re.search(r'(?m)^VERSION_CODENAME="?([a-z]+)', text)
    return found[1] if found else None


def fetch(tree: Tree, into: Path) -> dict[str, object]:
    """Unpack the tree to INTO/tree; says what it is."""
    place = into / "apt"
    options = configured(place)
    if failed := apt(options, "update", cwd=into):
        refuse(failed, f"look at the network and try: apt-get update; {BY_HAND}")
    got = place / "got"
    got.mkdir()
    download(tree.package, options, got)
    (description,) = got.glob("*.dsc")
    version = re.search(r"(?m)^Version: (\S+)", description.read_text(encoding="utf-8"))
    (packed,) = (file for file in got.glob("*.orig.tar.*") if file.suffix != ".asc")
    with packed.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    with tarfile.open(packed) as archive:
        # The index vouches for the file; the filter came with Python 3.11.4.
        safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(place / "unpacked", **safe)  # noqa: S202
    (unpacked,) = (place / "unpacked").iterdir()
    unpacked.rename(into / "tree")
    shutil.rmtree(place)
    return {"package": tree.package, "version": version[1] if version else "?", "file": packed.name, "sha256": digest}


def configure(tree: Tree, into: Path) -> None:
    """Make INTO/config, the configuration that every run begins with."""
    if tree.config is None:
        return
    work = into / "work"
    work.mkdir()
    make = ["make", "-C", str(into / "tree"), f"O={work}"]
    environ = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS")}
    # The last word on an option holds; olddefconfig then settles what depends on it.
    options = "".join(f"CONFIG_{option}\n" for option in tree.options)
    for target, more in ((tree.config, options), ("olddefconfig", "")):
        done = subprocess.run([*make, target], env=environ, capture_output=True, text=True, check=False)
        if done.returncode:
            refuse(f"make {target} failed: {(done.stderr.strip().splitlines() or ['?'])[-1]}", BY_HAND)
        with (work / ".config").open("a", encoding="utf-8") as stream:
            stream.write(more)
    (work / ".config").rename(into / "config")
    shutil.rmtree(work)


def main(name: str, into: Path) -> None:
    if name == "own":
        print("a tree of one's own")
        return
    tree = TREES[name]
    check(tree)
    known = fetch(tree, into) if tree.package else generate(into)
    configure(tree, into)
    (into / "source.json").write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    print(f"{known['package']} {known['version']}, {known['file']}, sha256 {known['sha256']}")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
